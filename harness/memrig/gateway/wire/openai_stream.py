"""Streams of OpenAI Chat Completions: assembled into a completion, and made of one."""

from collections.abc import Callable

from memrig.gateway.jsons import Json, as_list, as_object, load_object
from memrig.gateway.wire import sse
from memrig.gateway.wire.base import WireError

_DONE = "[DONE]"
#: Fields that every delta repeats whole, where others carry the next piece.
_WHOLE = {"role", "type", "id", "name"}


def assemble(raw: bytes, error_of: Callable[[Json], WireError]) -> dict[str, object]:
    """The completion that a stream's chunks come to.

    Raises:
        WireError: the stream breaks off, or says that it failed.
    """
    whole: dict[str, object] = {}
    choices: dict[int, dict[str, object]] = {}
    for event in sse.parse(raw):
        if event.data == _DONE:
            break
        chunk = load_object(event.data)
        if chunk is None:
            raise WireError("a chunk of the stream is no JSON object")
        if isinstance(chunk.get("error"), dict):
            raise error_of(chunk)
        whole.update({k: v for k, v in chunk.items() if k != "choices" and v is not None})
        for choice in map(as_object, as_list(chunk.get("choices"))):
            _add(choices, choice)
    else:
        raise WireError(f"the stream broke off before {_DONE}")
    whole["object"] = "chat.completion"
    whole["choices"] = [_finished(choices[index]) for index in sorted(choices)]
    return whole


def _add(choices: dict[int, dict[str, object]], choice: Json) -> None:
    index = choice.get("index")
    index = index if isinstance(index, int) else 0
    known = choices.setdefault(index, {"index": index, "message": {"role": "assistant"}})
    message = as_object(known["message"])
    known["message"] = _merged(message, as_object(choice.get("delta")))
    if isinstance(choice.get("logprobs"), dict):
        known["logprobs"] = _merged(as_object(known.get("logprobs")), as_object(choice["logprobs"]))
    if choice.get("finish_reason") is not None:
        known["finish_reason"] = choice["finish_reason"]


def _merged(known: Json, delta: Json) -> dict[str, object]:
    """A delta's strings and lists go on where the known ones end; so do those of its parts."""
    result = dict(known)
    for name, value in delta.items():
        old = result.get(name)
        if name == "tool_calls":
            result[name] = _merged_calls(as_list(old), as_list(value))
        elif isinstance(old, str) and isinstance(value, str) and name not in _WHOLE:
            result[name] = old + value
        elif isinstance(old, list) and isinstance(value, list):
            result[name] = [*old, *value]
        elif isinstance(old, dict) and isinstance(value, dict):
            result[name] = _merged(old, value)
        elif value is not None or name not in result:
            result[name] = value
    return result


def _merged_calls(known: list[object], deltas: list[object]) -> list[object]:
    calls = {position: as_object(call) for position, call in enumerate(known)}
    for delta in map(as_object, deltas):
        index = delta.get("index")
        index = index if isinstance(index, int) else len(calls)
        calls[index] = _merged(calls.get(index, {}), delta)
    return [calls[index] for index in sorted(calls)]


def _finished(choice: dict[str, object]) -> dict[str, object]:
    message = as_object(choice["message"])
    message.setdefault("content", None)
    for call in map(as_object, as_list(message.get("tool_calls"))):
        call.pop("index", None)
    return choice


def events_of(completion: Json) -> bytes:
    """The stream that a completion would have been: a chunk a choice, its end, then the usage."""
    head = {k: v for k, v in completion.items() if k not in {"choices", "usage", "object"}}
    head["object"] = "chat.completion.chunk"
    parts = []
    for choice in map(as_object, as_list(completion.get("choices"))):
        message = dict(as_object(choice.get("message")))
        if "tool_calls" in message:
            calls = map(as_object, as_list(message["tool_calls"]))
            message["tool_calls"] = [{"index": n, **call} for n, call in enumerate(calls)]
        first = {"index": choice.get("index", 0), "delta": message, "finish_reason": None}
        if choice.get("logprobs") is not None:
            first["logprobs"] = choice["logprobs"]
        last = {**first, "delta": {}, "finish_reason": choice.get("finish_reason")}
        last.pop("logprobs", None)
        parts += [sse.written({**head, "choices": [part]}) for part in (first, last)]
    if completion.get("usage") is not None:
        parts.append(sse.written({**head, "choices": [], "usage": completion["usage"]}))
    parts.append(f"data: {_DONE}\n\n".encode())
    return b"".join(parts)


def without_usage(events: bytes) -> bytes:
    """The same stream without the chunk that carries nothing but the usage."""
    kept = []
    for event in sse.parse(events):
        chunk = load_object(event.data)
        if chunk is not None and not as_list(chunk.get("choices")) and chunk.get("usage"):
            continue
        kept.append(f"data: {event.data}\n\n".encode())
    return b"".join(kept)
