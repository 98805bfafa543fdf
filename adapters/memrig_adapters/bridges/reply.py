"""What an agent replied, as an answer of the contract; what cannot be one, by name."""

import json
from collections.abc import Iterator, Mapping

from memrig_adapters.types import Answer, Json, JsonObject, ToolUse

#: How much of an agent's own words an error quotes.
_QUOTED = 300


class AgentError(Exception):
    """The agent failed, or replied with what is no answer; the message quotes it."""


def quoted(text: str) -> str:
    """An agent's words for an error: one line, not too long."""
    line = " ".join(text.split())
    return line if len(line) <= _QUOTED else f"{line[:_QUOTED]} …"


def answer_of(reply: Mapping[str, Json]) -> Answer:
    """Reads `answer`, `confidence`, `reasoning`, `tool_calls` and, where it is there, `abstained`.

    Nothing is made up: a confidence that is no number from 0 to 1, and tool calls that are none,
    are left out, and the reasoning says so.

    Raises:
        AgentError: there is no `answer`, or an empty one without `abstained`.
    """
    text = reply.get("answer")
    abstained = reply.get("abstained") is True
    if not isinstance(text, str):
        found = f"{text!r}" if "answer" in reply else f"only {sorted(reply)}"
        raise AgentError(f"the reply has no text under `answer`: {quoted(found)}")
    if not text.strip() and not abstained:
        raise AgentError("the agent's answer is empty")
    notes: list[str] = []
    confidence = _confidence(reply.get("confidence"), notes)
    tools = tuple(_tool_uses(reply.get("tool_calls"), notes))
    reasoning = reply.get("reasoning")
    said = [_text(reasoning)] if reasoning else []
    return Answer(
        text=_utf8(text.strip()),
        confidence=confidence,
        abstained=abstained,
        tool_uses=tools,
        reasoning_trace="\n".join([*said, *(f"[bridge: {note}]" for note in notes)]),
    )


def reply_of_text(text: str) -> Mapping[str, Json]:
    """The reply in a command's output: a JSON object, or else the text itself as the answer."""
    value = read_json(text)
    return value if isinstance(value, dict) else {"answer": text}


def read_json(text: str) -> Json:
    """A JSON value, None where the text is none. NaN, which JSON does not have, becomes a text."""
    try:
        value: Json = json.loads(text, parse_constant=str)
    except (ValueError, RecursionError):
        return None
    return value


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
