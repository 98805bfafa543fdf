"""An agent for the stand-in that answers only from what its tools returned.

It sees what a model sees: instructions, question, tool results. It searches with the question,
then with the labels of the series that it finds there, until these are covered or its budget is
nearly used up, and tells what the figures say. Where a memory holds prose it quotes it. The same
conversation gives the same reply.

As a script of `LlmStandIn`: ``LlmStandIn.in_thread(series_agent)``.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from html import unescape
from typing import Any

from support import telling
from support.llm_standin import Say, Seen
from support.series import Memory, Series, series_of
from support.telling import Said

_QUESTION = re.compile(r"<question[^>]*>(.*?)</question>", re.DOTALL)
_MEMORY = re.compile(r'<memory handle="([^"]*)"(?: date="([^"]*)")?>(.*?)</memory>', re.DOTALL)
_MOST_BYTES = re.compile(r"at most (\d+) bytes")
_MOST_CALLS = re.compile(r"at most (\d+) tool calls in at most (\d+) replies")
_DAY = re.compile(r"\b\d{4}-\d\d-\d\d\b")
_WORD = re.compile(r"[a-z][a-z0-9]{2,}")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_STOP = frozenset(
    _WORD.findall(
        "the and for what which with that this from was were are has have had did does not any "
        "all how why when where who its their they them than then there would should could one "
        "two give name figures numbers please first latest far been between into over now out "
        "value values day days each other others those these about more most also only limit"
    )
)
_ENDING = re.compile(r"(?:ings?|ed|es|s|e)$")

#: Of the bytes that the memory may return, so much is used.
_SPEND = 0.8
_TURNS, _FIRST_HITS, _MOST_HITS = 5, 10, 24
_NAMED, _CHOSEN, _QUOTED = 5, 6, 6


def series_agent(seen: Seen) -> Say | str:
    """The agent, as a script."""
    talk = Talk.read(seen)
    calls = _next_calls(talk) if talk.may_search else ()
    return Say(tools=calls) if calls else _answer(talk)


@dataclass(slots=True)
class Talk:
    """What a conversation came to so far. `searched` are the queries that were sent."""

    question: str
    text: str
    replies: int
    memories: dict[str, Memory] = field(default_factory=dict)
    searched: list[str] = field(default_factory=list)
    used: int = 0
    results: int = 0
    tools: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @classmethod
    def read(cls, seen: Seen) -> "Talk":
        """Reads a request of either wire."""
        messages = seen.body.get("messages", [])
        replies = sum(message["role"] == "assistant" for message in messages)
        question = unescape(_QUESTION.findall(seen.text)[-1])
        talk = cls(question, seen.text, replies, tools=_tools(seen.body))
        for message in messages:
            talk.searched += [call.get("query", "") for call in _calls(message)]
            for result in _results(message):
                talk.take(result)
        for handle, day, text in _MEMORY.findall(seen.text):
            talk.remember({"handle": handle, "date": day, "text": unescape(text)})
        return talk

    def take(self, result: str) -> None:
        """Takes a tool's result in."""
        self.used += len(result.encode())
        try:
            value = json.loads(result)
        except ValueError:
            return
        items = [*(value.get("results") or ()), *(value.get("memories") or ())]
        self.results += len(items)
        for item in items:
            self.remember(item)

    def remember(self, item: Mapping[str, str]) -> None:
        """Keeps the longest text that was shown of a memory."""
        memory = Memory(item["handle"], item.get("date", ""), item.get("text", ""))
        known = self.memories.get(memory.handle)
        if known is None or len(memory.text) > len(known.text):
            self.memories[memory.handle] = memory

    @property
    def may_search(self) -> bool:
        """Whether tools are offered, and budget is left for another round."""
        turns = self._limit(_MOST_CALLS, 2, 8)
        room = self.used < _SPEND * self.bytes_allowed
        return "memory_search" in self.tools and room and self.replies < min(_TURNS, turns - 1)

    @property
    def calls_left(self) -> int:
        """Tool calls that are left, one kept back."""
        return self._limit(_MOST_CALLS, 1, 16) - len(self.searched) - 1

    @property
    def bytes_allowed(self) -> int:
        """Bytes that the memory may return, as the instructions say."""
        return self._limit(_MOST_BYTES, 1, 64 * 1024)

    @property
    def days(self) -> list[str]:
        """The days that the question names."""
        return list(dict.fromkeys(_DAY.findall(self.question)))

    def _limit(self, pattern: re.Pattern[str], group: int, otherwise: int) -> int:
        found = pattern.search(self.text)
        return int(found[group]) if found else otherwise


def _tools(body: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The offered tools: their schemas by name, of either wire."""
    offered = {}
    for tool in body.get("tools") or ():
        inner = tool.get("function", tool)
        offered[inner["name"]] = inner.get("parameters") or inner.get("input_schema") or {}
    return offered


def _calls(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The arguments of the calls in a message."""
    if message["role"] != "assistant":
        return []
    wired = [json.loads(c["function"]["arguments"]) for c in message.get("tool_calls") or ()]
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    return wired + [block["input"] for block in blocks if block.get("type") == "tool_use"]


def _results(message: Mapping[str, Any]) -> list[str]:
    """The texts of the tool results in a message."""
    content = message.get("content")
    if message["role"] == "tool":
        return [_flat(content)]
    blocks = content if isinstance(content, list) else []
    return [_flat(block["content"]) for block in blocks if block.get("type") == "tool_result"]


def _flat(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content or ())


# ------------------------------------------------------------------------------------- searching


def _next_calls(talk: Talk) -> tuple[tuple[str, dict[str, Any]], ...]:
    """What to look for next; empty: enough was found, or nothing more will be."""
    if not talk.replies:
        first = _search(talk, talk.question, _FIRST_HITS)
        return (first, *(_search(talk, _about(talk, day), 4, day) for day in talk.days))
    if not talk.memories:
        shorter = " ".join(sorted(_stems(talk.question)))
        return () if shorter in talk.searched or not shorter else (_search(talk, shorter, 10),)
    if talk.days and _on_days(talk, _named(talk.question, series_of(talk.memories.values()))):
        return ()
    return _for_series(talk)


def _for_series(talk: Talk) -> tuple[tuple[str, dict[str, Any]], ...]:
    """A search for the label that is covered least, as long as any is not covered."""
    found = series_of(talk.memories.values())
    wanted = _named(talk.question, found) or _moving(found.values())[:_NAMED]
    left = [series for series in wanted[:_NAMED] if series.label not in talk.searched]
    if not left or talk.calls_left < 1:
        return ()
    each = max(200, talk.used // max(1, talk.results))
    room = int(_SPEND * talk.bytes_allowed) - talk.used
    label = min(left, key=lambda series: len(series.points)).label
    rounds = max(1, min(len(left), _TURNS - talk.replies))
    hits = max(3, min(_MOST_HITS, room // each // rounds))
    return (_search(talk, label, hits),)


def _search(talk: Talk, query: str, limit: int, day: str = "") -> tuple[str, dict[str, Any]]:
    """A call of memory_search; of one day alone where the memory can filter by time."""
    schema = talk.tools["memory_search"].get("properties", {})
    most = schema.get("limit", {}).get("maximum", limit)
    arguments: dict[str, Any] = {"query": query, "limit": max(1, min(limit, most))}
    bounds = schema.get("filters", {}).get("properties", {}).get("timestamp", {})
    names = list(bounds.get("properties", {}))
    if day and len(names) >= 2:
        after = next((name for name in names if "greater" in name or "from" in name), "")
        before = next((name for name in names if "less" in name or "before" in name), "")
        following = (date.fromisoformat(day) + timedelta(days=1)).isoformat()
        if after and before:
            arguments["filters"] = {"timestamp": {after: day, before: following}}
    return "memory_search", arguments


def _about(talk: Talk, day: str) -> str:
    return f"{day} {' '.join(sorted(_stems(talk.question)))}"


# ------------------------------------------------------------------------------------- answering


def _answer(talk: Talk) -> str:
    found = series_of(talk.memories.values())
    sentences = _about_days(talk, found) or _about_series(talk, found)
    sentences = sentences or _quotes(talk)
    if not sentences:
        return _final("I don't know: this is not mentioned in the memories.", (), abstained=True)
    text = " ".join(dict.fromkeys(sentence.text for sentence in sentences))
    cited = dict.fromkeys(handle for sentence in sentences for handle in sentence.handles)
    return _final(text, tuple(cited), abstained=False)


def _final(answer: str, cited: Sequence[str], *, abstained: bool) -> str:
    sure = 0.9 if not abstained else 0.5
    return json.dumps(
        {"answer": answer, "cited": list(cited), "confidence": sure, "abstained": abstained}
    )


def _about_days(talk: Talk, found: Mapping[str, Series]) -> list[Said]:
    if not talk.days:
        return []
    return _on_days(talk, _named(talk.question, found) or list(found.values()))


def _on_days(talk: Talk, chosen: Iterable[Series]) -> list[Said]:
    told = (telling.on_day(series, day) for series in chosen for day in talk.days)
    return [sentence for sentence in told if sentence is not None][:_CHOSEN]


def _about_series(talk: Talk, found: Mapping[str, Series]) -> list[Said]:
    """The series that the question names, and what moved most in the same documents."""
    named = _named(talk.question, found)[:_NAMED]
    handles = {point.handle for series in named for point in series.points}
    near = [
        series
        for series in found.values()
        if not named or any(point.handle in handles for point in series.points)
    ]
    movers = [series for series in _moving(near) if series not in named]
    rest = [series for series in near if series not in named and series not in movers]
    chosen = [*named, *movers, *(() if named else rest)][:_CHOSEN]
    if not any(len(series.points) > 1 for series in chosen):
        return []
    sentences = [sentence for series in chosen for sentence in telling.course(series)]
    if "highest" in talk.question or "lowest" in talk.question:
        sentences += [telling.extreme(series) for series in named]
    sentences += telling.together(chosen)
    best = telling.most(chosen)
    return [*sentences, best] if best else sentences


def _moving(some: Iterable[Series]) -> list[Series]:
    """Series that left their range or swung, the farthest first."""
    several = [series for series in some if len(series.points) > 1]
    left = [s for s in several if telling.onset(s) is not None or telling.turn(s) is not None]
    return sorted(left, key=lambda series: (-telling.moved(series), series.label))


def _named(question: str, found: Mapping[str, Series]) -> list[Series]:
    """Series whose label shares words with the question, the most telling ones first."""
    asked = _stems(question)
    spread = Counter(stem for series in found.values() for stem in _stems(series.label))
    scores = {
        label: sum(1 / spread[stem] for stem in _stems(label) & asked)
        + sum(0.1 for _ in _stems(series.section) & asked)
        for label, series in found.items()
    }
    named = [series for label, series in found.items() if scores[label] > 0]
    return sorted(named, key=lambda series: -scores[series.label])


def _stems(text: str) -> frozenset[str]:
    words = (word for word in _WORD.findall(text.lower()) if word not in _STOP)
    return frozenset(_ENDING.sub("", word) if len(word) > 4 else word for word in words)


def _quotes(talk: Talk) -> list[Said]:
    """The sentences that share most with the question, at most one of each memory."""
    asked = _stems(talk.question)
    best = []
    for memory in talk.memories.values():
        sentences = [part.strip() for part in _SENTENCE.split(memory.text) if part.strip()]
        top = max(sentences, key=lambda part: len(_stems(part) & asked), default="")
        if shared := len(_stems(top) & asked):
            best.append((shared, memory.day, Said(f"{memory.day}: {top}", (memory.handle,))))
    best.sort(key=lambda item: (-item[0], item[1]))
    kept = sorted(best[:_QUOTED], key=lambda item: item[1])
    return [sentence for _, _, sentence in kept]
