"""OpenAI Chat Completions: requests, replies and errors, of OpenAI and all who speak its format."""

import re
from collections.abc import Mapping
from typing import Literal

from memrig.errors import GatewayFault
from memrig.gateway.jsons import Json, as_count, as_list, as_object, as_text, dump, load_object
from memrig.gateway.wire import openai_stream
from memrig.gateway.wire.base import (
    STATUS,
    Format,
    Refusal,
    Said,
    WireError,
    WireReply,
    output_estimate,
)
from memrig.model.chat import ChatRequest, Message, ToolCall, estimate_tokens

#: Models that take no `max_tokens` and no temperature but their own.
_REASONING = re.compile(r"^(?:openai/)?(?:o\d|gpt-5)(?!.*chat)")

_STOP: Mapping[str, Literal["end", "tool_use", "length", "refusal"]] = {
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "length": "length",
    "content_filter": "refusal",
}


def refusal(kind: GatewayFault, status: int | None, message: str) -> Refusal:
    """OpenAI's error object, for all of its endpoints."""
    code: str | None = None
    sort = "invalid_request_error"
    status = status or STATUS[kind]
    if kind == "budget":
        sort = code = "insufficient_quota"
    elif kind == "not_allowed":
        code = "model_not_found"
    elif kind in {"auth", "missing_key"}:
        code = "invalid_api_key"
    elif kind in {"provider", "malformed", "not_recorded", "cut_off"}:
        sort, code = "server_error", kind
    error = {"message": message, "type": sort, "param": None, "code": code}
    return Refusal(status, dump({"error": error}))


def error_of(value: Json) -> WireError:
    """An error object that came with status 200, as a stream's or a router's errors do."""
    error = as_object(value.get("error"))
    raw = error.get("code")
    status = raw if isinstance(raw, int) else None
    text = as_text(error.get("message")) or "the reply is an error without a message"
    if status in {401, 403}:
        return WireError(text, kind="auth", retryable=False, status=status)
    if status is not None and 400 <= status < 500 and status not in {402, 408, 409, 429}:
        return WireError(text, kind="rejected", retryable=False, status=status)
    return WireError(text, kind="provider", status=status)


def check_object(raw: bytes) -> dict[str, object]:
    """The object of a reply that was not streamed.

    Raises:
        WireError: it is none, or holds an error.
    """
    value = load_object(raw)
    if value is None:
        raise WireError("the reply is no JSON object")
    if isinstance(value.get("error"), dict):
        raise error_of(value)
    return value


class OpenAIChat:
    """POST /v1/chat/completions."""

    format: Format = "openai.chat"
    path = "/chat/completions"

    def max_output_tokens(self, body: Json) -> int:
        """What the request says, for each of the `n` choices it asks for."""
        stated = as_count(body.get("max_completion_tokens")) or as_count(body.get("max_tokens"))
        return output_estimate(stated, as_count(body.get("n")))

    def prepared(self, body: Json) -> Json:
        """A stream is asked to report its usage, or what it cost would stay unknown."""
        if body.get("stream") is not True or _wants_usage(body):
            return body
        options = {**as_object(body.get("stream_options")), "include_usage": True}
        return {**body, "stream_options": options}

    def read(self, raw: bytes, body: Json) -> WireReply:
        """Checks a completion, or assembles one from its chunks."""
        if body.get("stream") is True:
            value = openai_stream.assemble(raw, error_of)
            return _reply(value, dump(value), raw, body)
        return _reply(check_object(raw), raw, b"", body)

    def stream(self, reply: WireReply, body: Json) -> bytes:
        """The provider's own chunks where there are some, else chunks made of the completion.

        The chunk with the usage goes only to who asked for it: others trip over its empty choices.
        """
        events = reply.events or openai_stream.events_of(reply.value)
        return events if _wants_usage(body) else openai_stream.without_usage(events)

    def refusal(self, kind: GatewayFault, status: int | None, message: str) -> Refusal:
        """OpenAI's error object."""
        return refusal(kind, status, message)

    def request(self, request: ChatRequest) -> dict[str, object]:
        """The rig's request as a body."""
        messages = [_message(message) for message in request.messages]
        if request.system:
            messages.insert(0, {"role": "system", "content": request.system})
        body: dict[str, object] = {"model": request.model, "messages": messages}
        if _REASONING.match(request.model):
            body["max_completion_tokens"] = request.max_tokens
        else:
            body["max_tokens"] = request.max_tokens
            if request.temperature is not None:
                body["temperature"] = request.temperature
        if request.tools:
            body["tools"] = [
                {
                    "type": "function",
                    "function": {
                        "name": tool.name,
                        "description": tool.description,
                        "parameters": dict(tool.schema),
                    },
                }
                for tool in request.tools
            ]
        if request.stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        return body

    def said(self, value: Json) -> Said:
        """The first choice's text, its tool calls, and why it stopped."""
        choice = as_object(as_list(value.get("choices"))[0])
        message = as_object(choice.get("message"))
        calls = tuple(_tool_call(as_object(call)) for call in as_list(message.get("tool_calls")))
        stop = _STOP.get(as_text(choice.get("finish_reason")), "end")
        if refused := as_text(message.get("refusal")):
            return Said(refused, calls, "refusal")
        # Some servers say "stop" beside the calls they want made.
        return Said(_text(message.get("content")), calls, "tool_use" if calls else stop)


def _wants_usage(body: Json) -> bool:
    return as_object(body.get("stream_options")).get("include_usage") is True


def _tool_call(call: Json) -> ToolCall:
    function = as_object(call.get("function"))
    arguments = as_text(function.get("arguments"))
    return ToolCall(as_text(call.get("id")), as_text(function.get("name")), arguments)


def _text(content: object) -> str:
    """Content is a string, or with some servers a list of parts."""
    if isinstance(content, str):
        return content
    return "".join(as_text(as_object(part).get("text")) for part in as_list(content))


def _message(message: Message) -> dict[str, object]:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": message.text}
    result: dict[str, object] = {"role": message.role, "content": message.text}
    if message.tool_calls:
        result["content"] = message.text or None
        result["tool_calls"] = [
            {
                "id": call.call_id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments_json},
            }
            for call in message.tool_calls
        ]
    return result


def _reply(value: Json, body: bytes, events: bytes, request: Json) -> WireReply:
    choices = as_list(value.get("choices"))
    if not choices:
        raise WireError("the reply has no choices")
    for choice in map(as_object, choices):
        if not isinstance(choice.get("message"), dict):
            raise WireError("a choice of the reply has no message")
        if not as_text(choice.get("finish_reason")):
            raise WireError("a choice of the reply has no finish_reason")
    usage = as_object(value.get("usage"))
    sent, said = as_count(usage.get("prompt_tokens")), as_count(usage.get("completion_tokens"))
    if not usage:  # not every server counts; an estimate is nearer than nothing
        sent = estimate_tokens(dump(request).decode("utf-8", "replace"))
        said = estimate_tokens(dump(choices).decode("utf-8", "replace"))
    return WireReply(body, events, value, sent, said, as_text(value.get("model")))
