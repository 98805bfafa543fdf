"""Anthropic Messages: requests, replies and errors (docs: Messages API, Errors)."""

import json
from collections.abc import Mapping
from typing import Literal

from memrig.errors import GatewayFault
from memrig.gateway.jsons import Json, as_count, as_list, as_object, as_text, dump, load_object
from memrig.gateway.wire import anthropic_stream
from memrig.gateway.wire.base import (
    STATUS,
    Format,
    Refusal,
    Said,
    WireError,
    WireReply,
    output_estimate,
)
from memrig.model.chat import ChatRequest, Message, ToolCall

_STOP: Mapping[str, Literal["end", "tool_use", "length", "refusal"]] = {
    "tool_use": "tool_use",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}
_TYPES: Mapping[int, str] = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}
_OWN: Mapping[GatewayFault, int] = {**STATUS, "budget": 402, "provider": 529, "malformed": 500}


class AnthropicMessages:
    """POST /v1/messages."""

    format: Format = "anthropic.messages"
    path = "/messages"

    def max_output_tokens(self, body: Json) -> int:
        """The request says so itself: `max_tokens` is required."""
        return output_estimate(as_count(body.get("max_tokens")))

    def prepared(self, body: Json) -> Json:
        """As it is: a stream always reports its usage."""
        return body

    def read(self, raw: bytes, body: Json) -> WireReply:
        """Checks a message, or assembles one from its stream."""
        if body.get("stream") is True:
            value = anthropic_stream.assemble(raw)
            return _reply(value, dump(value), raw)
        parsed = load_object(raw)
        if parsed is None:
            raise WireError("the reply is no JSON object")
        if parsed.get("type") == "error":
            raise anthropic_stream.error_of(parsed)
        return _reply(parsed, raw, b"")

    def stream(self, reply: WireReply, body: Json) -> bytes:  # noqa: ARG002 - one form for all
        """The provider's own events where there are some, else events made of the message."""
        return reply.events or anthropic_stream.events_of(reply.value)

    def refusal(self, kind: GatewayFault, status: int | None, message: str) -> Refusal:
        """Anthropic's error envelope."""
        code = status or _OWN[kind]
        error = {"type": _TYPES.get(code, "api_error"), "message": message}
        return Refusal(code, dump({"type": "error", "error": error}))

    def request(self, request: ChatRequest) -> dict[str, object]:
        """The rig's request as a body."""
        body: dict[str, object] = {
            "model": request.model,
            "max_tokens": request.max_tokens,
            "messages": _messages(request.messages),
        }
        if request.system:
            body["system"] = request.system
        if request.temperature is not None:
            body["temperature"] = request.temperature
        if request.tools:
            body["tools"] = [
                {"name": t.name, "description": t.description, "input_schema": dict(t.schema)}
                for t in request.tools
            ]
        if request.stream:
            body["stream"] = True
        return body

    def said(self, value: Json) -> Said:
        """The text blocks joined, the tool calls, and why it stopped."""
        blocks = [as_object(block) for block in as_list(value.get("content"))]
        text = "".join(as_text(b.get("text")) for b in blocks if b.get("type") == "text")
        calls = tuple(
            ToolCall(
                as_text(b.get("id")),
                as_text(b.get("name")),
                json.dumps(b.get("input", {}), ensure_ascii=False),
            )
            for b in blocks
            if b.get("type") == "tool_use"
        )
        return Said(text, calls, _STOP.get(as_text(value.get("stop_reason")), "end"))


def _messages(messages: tuple[Message, ...]) -> list[dict[str, object]]:
    """Turns of one role after the other are one turn: all results of a turn's calls go together."""
    turns: list[tuple[str, list[dict[str, object]]]] = []
    for message in messages:
        role = "assistant" if message.role == "assistant" else "user"
        if not turns or turns[-1][0] != role:
            turns.append((role, []))
        turns[-1][1].extend(_blocks(message))
    return [{"role": role, "content": _content(blocks)} for role, blocks in turns]


def _content(blocks: list[dict[str, object]]) -> object:
    """One text alone is sent as a string, which is what a person would write."""
    only = blocks[0] if len(blocks) == 1 else {}
    return only["text"] if only.get("type") == "text" else blocks


def _blocks(message: Message) -> list[dict[str, object]]:
    if message.role == "tool":
        result = {"type": "tool_result", "tool_use_id": message.tool_call_id}
        return [{**result, "content": message.text}]
    calls: list[dict[str, object]] = [
        {"type": "tool_use", "id": c.call_id, "name": c.name, "input": _input(c.arguments_json)}
        for c in message.tool_calls
    ]
    # An empty text block is refused, and so is a turn with no block at all.
    text = message.text if message.text or calls else "(empty)"
    said: list[dict[str, object]] = [{"type": "text", "text": text}] if text else []
    return [*said, *calls]


def _input(arguments_json: str) -> dict[str, object]:
    """Arguments must be an object here; what is none is sent back in one."""
    value = load_object(arguments_json)
    return {"unreadable": arguments_json} if value is None else value


def _reply(value: Json, body: bytes, events: bytes) -> WireReply:
    usage = value.get("usage")
    if value.get("type") != "message" or not isinstance(value.get("content"), list):
        raise WireError("the reply is no message with content")
    if not as_text(value.get("stop_reason")):
        raise WireError("the reply has no stop_reason")
    if not isinstance(usage, dict) or not isinstance(usage.get("output_tokens"), int):
        raise WireError("the reply has no usage")
    # Tokens written to and read from the provider's cache were sent, too.
    cached = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return WireReply(
        body=body,
        events=events,
        value=value,
        input_tokens=sum(as_count(usage.get(name)) for name in cached),
        output_tokens=as_count(usage.get("output_tokens")),
        served_model=as_text(value.get("model")),
    )
