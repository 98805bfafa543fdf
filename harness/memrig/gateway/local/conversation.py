"""A conversation as a built-in reader takes it in: question, memories, and the shape wanted."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import unescape
from typing import Literal

from memrig.gateway.local.dates import stamp_day
from memrig.gateway.local.text import sentences

Role = Literal["system", "user", "assistant", "tool"]

_MEMORY = re.compile(r"<memory\b([^<>]*)>(.*?)</memory>", re.DOTALL)
_QUESTION = re.compile(r"<question\b([^<>]*)>(.*?)</question>", re.DOTALL)
_RESULT = re.compile(r"<result\b[^<>]*>(.*?)</result>", re.DOTALL)
_ATTRIBUTE = re.compile(r"(\w+)=\"([^\"]*)\"")
_LABELLED = re.compile(
    r"^[ \t]*(?:question|query)[ \t]*[:=][ \t]*(\S.*)$", re.IGNORECASE | re.MULTILINE
)
_TODAY = re.compile(r"^[^\n]{0,20}\b(?:current date|today)\b[^\n]*$", re.IGNORECASE | re.MULTILINE)
#: A line that only announces what the model is to write.
_CUE = re.compile(r"^[\w ()-]{1,40}:\s*$")
_BLOCKS = re.compile(r"\n\s*\n")
_HEAD = 120  #: a block's date stands in its first characters
_KEYS = ("answer", "cited", "confidence", "abstained")
_UNKNOWN = re.compile(r"\bI don't know: [^.\n\"]{3,80}\.")
_LISTS = ("results", "memories", "hits")


@dataclass(frozen=True, slots=True)
class Turn:
    """One message. `called` names the tools that an assistant's message calls."""

    role: Role
    text: str
    called: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool on offer, and the name of its argument that takes a query; empty where it has none."""

    name: str
    query_field: str


@dataclass(frozen=True, slots=True)
class Conversation:
    """What a model was sent. `tools` is empty where none may be called."""

    turns: tuple[Turn, ...]
    tools: tuple[Tool, ...] = ()
    json_mode: bool = False

    @property
    def text(self) -> str:
        """All of it, for counting tokens."""
        return "\n".join(turn.text for turn in self.turns)


@dataclass(frozen=True, slots=True)
class Passage:
    """One memory: what it says, when it was said, and by which handle it is cited."""

    text: str
    date: str = ""
    handle: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be answered, from what, and when it is asked (as the prompt writes it)."""

    question: str
    date: str
    passages: tuple[Passage, ...]


def read(conversation: Conversation) -> Asked:
    """Finds the question and the memories of a conversation.

    The rig's own prompts mark both up. Any other prompt is taken as it is: the question is what is
    labelled so, else the last sentence that ends in a question mark, else the last line; the
    memories are all the rest.
    """
    marked, found = _marked_question(conversation), list(_marked_memories(conversation))
    if marked:
        return Asked(*marked, tuple(found))
    return _plain(conversation, found)


def json_keys(conversation: Conversation) -> tuple[str, ...]:
    """The members of the JSON object that the last message asks for; none where it asks none."""
    last = next((t.text for t in reversed(conversation.turns) if t.role == "user"), "")
    instructions = _instructions(last)
    named = tuple(key for key in _KEYS if re.search(rf"[\"'`]{key}[\"'`]", instructions))
    if "json" in instructions.lower() and "answer" in named:
        return named
    return _KEYS[:3] if conversation.json_mode else ()


def abstention(conversation: Conversation) -> str:
    """The sentence that the instructions give for what is not known; empty where they give none."""
    for turn in conversation.turns:
        told = _instructions(turn.text) if turn.role in {"system", "user"} else ""
        if found := _UNKNOWN.search(told):
            return found[0]
    return ""


def search_tool(conversation: Conversation) -> Tool | None:
    """The tool to search the memory with, while nothing has been searched yet."""
    if any(turn.role == "tool" for turn in conversation.turns):
        return None
    able = [tool for tool in conversation.tools if tool.query_field]
    named = [tool for tool in able if tool.name == "memory_search"]
    return next(iter(named + [tool for tool in able if "search" in tool.name.lower()]), None)


def _instructions(text: str) -> str:
    """A prompt without its memories and its question."""
    for name, pattern in (("memory", _MEMORY), ("question", _QUESTION)):
        whole = _closed(text, name)
        text = pattern.sub(" ", whole) + text[len(whole) :]
    return text


def _closed(text: str, name: str) -> str:
    """A text up to the last end of such an element: what is never closed is not searched for."""
    end = f"</{name}>"
    return text[: text.rfind(end) + len(end)] if end in text else ""


def _marked_question(conversation: Conversation) -> tuple[str, str] | None:
    for turn in reversed(conversation.turns):
        if turn.role in {"user", "system"} and (
            found := _QUESTION.findall(_closed(turn.text, "question"))
        ):
            attributes, text = found[-1]
            return unescape(text).strip(), dict(_ATTRIBUTE.findall(attributes)).get("date", "")
    return None


def _marked_memories(conversation: Conversation) -> Iterator[Passage]:
    for turn in conversation.turns:
        if turn.role == "tool":
            yield from _results(turn.text)
        else:
            for attributes, text in _MEMORY.findall(_closed(turn.text, "memory")):
                given = dict(_ATTRIBUTE.findall(attributes))
                date, handle = given.get("date", ""), given.get("handle", "")
                yield Passage(unescape(text).strip(), date, handle)
            for text in _RESULT.findall(_closed(turn.text, "result")):
                yield from _results(unescape(text))


def _results(text: str) -> Iterator[Passage]:
    """The memories in a tool's result: a JSON list, or an object that holds one; else the text."""
    try:
        value = json.loads(text)
    except ValueError:
        yield Passage(text)
        return
    if isinstance(value, Mapping):
        value = next((value[key] for key in _LISTS if isinstance(value.get(key), list)), [value])
    for item in value if isinstance(value, list) else []:
        if isinstance(item, str):
            yield Passage(item)
        elif isinstance(item, Mapping) and (told := _some(item, "text", "memory", "content")):
            yield Passage(told, _some(item, "date"), _some(item, "handle", "id"))


def _some(item: Mapping[str, object], *keys: str) -> str:
    return next((value for key in keys if isinstance(value := item.get(key), str)), "")


def _plain(conversation: Conversation, found: list[Passage]) -> Asked:
    users = [turn.text for turn in conversation.turns if turn.role == "user"]
    asking = next((text for text in reversed(users) if "?" in text), users[-1] if users else "")
    question = _question_in(asking)
    today = _TODAY.findall(asking)
    if not found:
        rest = [t.text for t in conversation.turns if t.role != "tool"]
        found = list(_blocks("\n\n".join(text.replace(question, " ") for text in rest)))
    return Asked(question, today[-1] if today else "", tuple(found))


def _question_in(text: str) -> str:
    if labelled := _LABELLED.findall(text):
        return str(labelled[-1]).strip()
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    asking = [part for line in lines for part in sentences(line) if part.endswith("?")]
    if asking:
        return asking[-1]
    telling = [line for line in lines if not _CUE.match(line)]
    found = telling or lines
    return found[-1] if found else ""


def _blocks(text: str) -> Iterator[Passage]:
    date = ""
    for block in _BLOCKS.split(text):
        if stamp_day(block[:_HEAD]):
            date = block[:_HEAD]
        if block.strip():
            yield Passage(block.strip(), date)
