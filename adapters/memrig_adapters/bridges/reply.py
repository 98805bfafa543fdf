"""What an agent replied, as an answer of the contract; what cannot be one, by name."""

import json
import math
from collections.abc import Iterator, Mapping
from typing import Final

from memrig_adapters.types import Answer, Json, JsonObject, ToolUse

#: An answer is text; more than this is a fault, and would not fit into a message of the contract.
MAX_REPLY_BYTES: Final = 8 * 1024 * 1024
#: How much of an agent's own words an error quotes.
_QUOTED: Final = 300


class AgentError(Exception):
    """The agent failed, or replied with what is no answer; the message quotes it."""


def quoted(text: str) -> str:
    """An agent's words for an error: one line, not too long."""
    line = " ".join(text.split())
    return line if len(line) <= _QUOTED else f"{line[:_QUOTED]} …"


def answer_of(reply: Mapping[str, Json]) -> Answer:
    """Reads `answer`, `confidence`, `reasoning`, `tool_calls` and, where it is there, `abstained`.

    Nothing is made up: a confidence that is no number from 0 to 1, and tool calls that are none,
    are left out. An empty answer, or null, declines to answer: agents say so of what they do not
    know. The reasoning tells of either.

    Raises:
        AgentError: there is no `answer`, or one that is neither a text nor a number.
    """
    notes: list[str] = []
    text = _answer_text(reply)
    abstained = reply.get("abstained") is True
    if not text and not abstained:
        notes.append("the answer is empty, and was taken for an abstention")
    confidence = _confidence(reply.get("confidence"), notes)
    tools = tuple(_tool_uses(reply.get("tool_calls"), notes))
    if "\N{REPLACEMENT CHARACTER}" in text:
        notes.append("the answer holds what is no UTF-8")
    reasoning = reply.get("reasoning")
    said = [_text(reasoning)] if reasoning else []
    return Answer(
        text=text,
        confidence=confidence,
        abstained=abstained or not text,
        tool_uses=tools,
        reasoning_trace="\n".join([*said, *(f"[bridge: {note}]" for note in notes)]),
    )


def _answer_text(reply: Mapping[str, Json]) -> str:
    value = reply.get("answer")
    if isinstance(value, int | float) and not isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, str):
        return _utf8(value.strip())
    if "answer" in reply and value is None:
        return ""
    found = f"{value!r}" if "answer" in reply else f"only {sorted(reply)}"
    raise AgentError(f"the reply has no text under `answer`: {quoted(found)}")


def reply_of_text(text: str) -> Mapping[str, Json]:
    """The reply in a command's output: a JSON object, or else the text itself as the answer."""
    value = read_json(text)
    return value if isinstance(value, dict) else {"answer": text}


def read_json(text: str) -> Json:
    """A JSON value, None where the text is none.

    NaN, which JSON does not have, becomes a text, and so does a number beyond all floats.
    """
    try:
        value: Json = json.loads(text, parse_constant=str, parse_float=_finite)
    except (ValueError, RecursionError):
        return None
    return value


def _finite(digits: str) -> float | str:
    value = float(digits)
    return value if math.isfinite(value) else digits


def _confidence(value: Json, notes: list[str]) -> float | None:
    if value is None:
        return None
    # A bool is an int, and NaN is never between.
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
        return float(value)
    notes.append(f"confidence {quoted(repr(value))} is no number from 0 to 1, and was left out")
    return None


def _tool_uses(value: Json, notes: list[str]) -> Iterator[ToolUse]:
    if value is None:
        return
    for call in value if isinstance(value, list) else [value]:
        name = (call.get("tool") or call.get("tool_name")) if isinstance(call, dict) else None
        if not isinstance(call, dict) or not isinstance(name, str):
            notes.append(f"a tool call without a name was left out: {quoted(repr(call))}")
            continue
        arguments = call.get("args", call.get("arguments"))
        given: JsonObject = {"args": arguments} if arguments is not None else {}
        if isinstance(arguments, dict):
            given = arguments
        yield ToolUse(_utf8(name), given, _text(call.get("result")))


def _text(value: Json) -> str:
    if value is None:
        return ""
    return _utf8(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _utf8(text: str) -> str:
    """JSON can carry half a surrogate pair to us; UTF-8 cannot carry it on."""
    return text.encode("utf-8", "replace").decode()
