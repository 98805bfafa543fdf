"""Streams of Anthropic Messages: assembled into a message, and made of one."""

import json

from memrig.gateway.jsons import Json, as_list, as_object, as_text, load_object
from memrig.gateway.wire import sse
from memrig.gateway.wire.base import WireError

#: What a delta adds to, by its type: the block's field and the delta's.
_TEXTS = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "signature_delta": ("signature", "signature"),
    "input_json_delta": ("_json", "partial_json"),
}
#: Errors that another try does not mend, and what they come to.
_FINAL = {
    "invalid_request_error": ("rejected", 400),
    "request_too_large": ("rejected", 413),
    "not_found_error": ("rejected", 404),
    "authentication_error": ("auth", 401),
    "permission_error": ("auth", 403),
}


def error_of(value: Json) -> WireError:
    """An error envelope that came with status 200, as a stream's errors do."""
    error = as_object(value.get("error"))
    kind, message = as_text(error.get("type")), as_text(error.get("message"))
    text = f"{kind or 'error'}: {message}"
    if kind in _FINAL:
        fault, status = _FINAL[kind]
        final = "auth" if fault == "auth" else "rejected"
        return WireError(text, kind=final, retryable=False, status=status)  # type: ignore[arg-type]
    return WireError(text, kind="provider", status=529 if kind == "overloaded_error" else None)


def assemble(raw: bytes) -> dict[str, object]:
    """The message that a stream's events come to.

    Raises:
        WireError: the stream breaks off, or says that it failed.
    """
    message: dict[str, object] | None = None
    blocks: dict[int, dict[str, object]] = {}
    ended = False
    for event in sse.parse(raw):
        data = load_object(event.data)
        if data is None:
            raise WireError("an event of the stream is no JSON object")
        kind = data.get("type")
        if kind == "error":
            raise error_of(data)
        if kind == "message_start":
            message = dict(as_object(data.get("message")))
        elif message is not None:
            _apply(data, message, blocks)
        ended = ended or kind == "message_stop"
    if message is None or not ended:
        raise WireError("the stream broke off before message_stop")
    message["content"] = [_finished(blocks[index]) for index in sorted(blocks)]
    return message


def _apply(data: Json, message: dict[str, object], blocks: dict[int, dict[str, object]]) -> None:
    index = data.get("index")
    delta = as_object(data.get("delta"))
    if data.get("type") == "content_block_start" and isinstance(index, int):
        blocks[index] = dict(as_object(data.get("content_block")))
    elif data.get("type") == "content_block_delta" and isinstance(index, int):
        if index not in blocks:
            raise WireError("the stream adds to a block that it never began")
        _extend(blocks[index], delta)
    elif data.get("type") == "message_delta":
        message.update(delta)
        message["usage"] = {**as_object(message.get("usage")), **as_object(data.get("usage"))}


def _extend(block: dict[str, object], delta: Json) -> None:
    kind = as_text(delta.get("type"))
    if kind in _TEXTS:
        field, source = _TEXTS[kind]
        block[field] = as_text(block.get(field)) + as_text(delta.get(source))
    elif kind == "citations_delta":
        block["citations"] = [*as_list(block.get("citations")), delta.get("citation")]


def _finished(block: dict[str, object]) -> dict[str, object]:
    text = block.pop("_json", None)
    if text is not None:
        block["input"] = {} if text == "" else _parsed(as_text(text))
    return block


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError as error:
        raise WireError("a tool's input in the stream is no JSON") from error


def events_of(message: Json) -> bytes:
    """The stream that a message would have been, in as few events as the format allows."""
    usage = as_object(message.get("usage"))
    ends = ("stop_reason", "stop_sequence")
    start = {
        **message,
        "content": [],
        **dict.fromkeys(ends),
        "usage": {**usage, "output_tokens": 1},
    }
    parts = [sse.written({"type": "message_start", "message": start}, "message_start")]
    for index, block in enumerate(as_list(message.get("content"))):
        parts += _block_events(index, as_object(block))
    delta = {name: message.get(name) for name in ends}
    counted = {"output_tokens": usage.get("output_tokens", 0)}
    end = {"type": "message_delta", "delta": delta, "usage": counted}
    parts.append(sse.written(end, "message_delta"))
    parts.append(sse.written({"type": "message_stop"}, "message_stop"))
    return b"".join(parts)


def _block_events(index: int, block: Json) -> list[bytes]:
    start, deltas = _split(block)
    name = "content_block_start"
    parts = [sse.written({"type": name, "index": index, "content_block": start}, name)]
    name = "content_block_delta"
    parts += [sse.written({"type": name, "index": index, "delta": d}, name) for d in deltas]
    name = "content_block_stop"
    return [*parts, sse.written({"type": name, "index": index}, name)]


def _split(block: Json) -> tuple[dict[str, object], list[dict[str, object]]]:
    """What a block begins as, and what is added to it. A kind with no deltas begins whole."""
    kind = block.get("type")
    if kind == "text":
        start = {**block, "text": ""}
        return start, [{"type": "text_delta", "text": block.get("text", "")}]
    if kind == "tool_use":
        text = json.dumps(block.get("input", {}), ensure_ascii=False)
        return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": text}]
    if kind == "thinking":
        start = {**block, "thinking": "", "signature": ""}
        return start, [
            {"type": "thinking_delta", "thinking": block.get("thinking", "")},
            {"type": "signature_delta", "signature": block.get("signature", "")},
        ]
    return dict(block), []
