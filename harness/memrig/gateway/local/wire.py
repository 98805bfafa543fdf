"""Requests and responses of the two chat wires, as a built-in reader speaks them."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence

from memrig.errors import GatewayError
from memrig.gateway.local.conversation import Conversation, Role, Tool, Turn
from memrig.gateway.local.extractive import Reply, reply
from memrig.model.canonical import canonical_json, digest_bytes, short
from memrig.model.chat import estimate_tokens

Body = Mapping[str, object]
_BYTES_PER_TOKEN = 4
_ROLES: Mapping[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
}
#: What a request may say about its delivery, which is not part of what is asked.
_DELIVERY = frozenset({"stream", "stream_options"})


def refused(message: str, fix: str = "") -> GatewayError:
    """An error for a request that no built-in model can answer."""
    return GatewayError(message, kind="rejected", where="built-in models", fix=fix)


def identity(body: Body) -> str:
    """24 hex digits that equal requests share.

    Raises:
        GatewayError: the request holds a value that JSON does not have.
    """
    kept = {key: value for key, value in body.items() if key not in _DELIVERY}
    try:
        return short(digest_bytes(canonical_json(kept)), 24)
    except (TypeError, ValueError) as error:
        raise refused(f"the request is no plain JSON: {error}") from error


def anthropic_messages(body: Body) -> dict[str, object]:
    """Answers a request in the shape of Anthropic Messages."""
    name = identity(body)
    system = _text(body.get("system") or "", "system")
    turns = [Turn("system", system)] if system else []
    for where, item in _messages(body):
        turns.extend(_anthropic_turns(item, where))
    tools = tuple(_tool(t, t, "input_schema") for _, t in _items(body.get("tools"), "tools"))
    chosen = body.get("tool_choice")
    allowed = not (isinstance(chosen, Mapping) and chosen.get("type") == "none")
    said = reply(Conversation(tuple(turns), tools if allowed else ()))
    text, whole = _cut(said.text, body, "max_tokens")
    block: dict[str, object] = {"type": "text", "text": text}
    if said.tool:
        called = dict(said.arguments)
        block = {"type": "tool_use", "id": f"toolu_{name}", "name": said.tool, "input": called}
    stop = "tool_use" if said.tool else "end_turn" if whole else "max_tokens"
    return {
        "id": f"msg_{name}",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [block],
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": _asked_tokens(turns, body), "output_tokens": _said(said, text)},
    }


def openai_chat(body: Body) -> dict[str, object]:
    """Answers a request in the shape of OpenAI Chat Completions."""
    name = identity(body)
    if body.get("n") not in {None, 1}:
        raise refused(f"n is {body['n']!r}; the same answer comes every time", "ask with n = 1")
    turns = [turn for where, item in _messages(body) for turn in _openai_turns(item, where)]
    tools = tuple(
        _tool(t, _map(t.get("function"), f"{where}.function"), "parameters")
        for where, t in _items(body.get("tools"), "tools")
    )
    allowed = tools if body.get("tool_choice") != "none" else ()
    said = reply(Conversation(tuple(turns), allowed, _json_mode(body)))
    limit = "max_tokens" if body.get("max_tokens") is not None else "max_completion_tokens"
    text, whole = _cut(said.text, body, limit)
    message: dict[str, object] = {"role": "assistant", "content": text, "refusal": None}
    if said.tool:
        written = canonical_json(dict(said.arguments)).decode()
        function = {"name": said.tool, "arguments": written}
        call = {"id": f"call_{name}", "type": "function", "function": function}
        message |= {"content": None, "tool_calls": [call]}
    stop = "tool_calls" if said.tool else "stop" if whole else "length"
    asked, told = _asked_tokens(turns, body), _said(said, text)
    return {
        "id": f"chatcmpl-{name}",
        "object": "chat.completion",
        "created": 0,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": stop, "logprobs": None}],
        "usage": {"prompt_tokens": asked, "completion_tokens": told, "total_tokens": asked + told},
    }


def _anthropic_turns(item: Body, where: str) -> Iterator[Turn]:
    role = _role(item, where, ("user", "assistant"))
    content = item.get("content")
    if isinstance(content, str):
        yield Turn(role, content)
        return
    texts, called = [], []
    for place, block in _items(content, f"{where}.content"):
        kind = block.get("type")
        if kind == "tool_result":
            yield Turn("tool", _text(block.get("content") or "", f"{place}.content"))
        elif kind == "tool_use":
            called.append(str(block.get("name")))
        elif kind == "text":
            texts.append(_text(block.get("text"), f"{place}.text"))
        elif kind not in {"thinking", "redacted_thinking"}:
            raise refused(f"{place}: type {kind!r}; built-in models read text alone")
    if texts or called:
        yield Turn(role, "\n".join(texts), tuple(called))


def _openai_turns(item: Body, where: str) -> Iterator[Turn]:
    content = _text(item.get("content") or "", f"{where}.content")
    if item.get("role") == "tool":
        yield Turn("tool", content)
        return
    role = _role(item, where, tuple(_ROLES))
    calls = [_map(c.get("function"), p) for p, c in _items(item.get("tool_calls"), where)]
    yield Turn(role, content, tuple(str(call.get("name")) for call in calls))


def _role(item: Body, where: str, known: Sequence[str]) -> Role:
    role = item.get("role")
    if role not in known:
        raise refused(f"{where}.role is {role!r}, expected one of {', '.join(known)}")
    return _ROLES[str(role)]


def _messages(body: Body) -> Iterator[tuple[str, Body]]:
    found = list(_items(body.get("messages"), "messages"))
    if not found:
        raise refused("messages is empty, expected at least one message")
    yield from found


def _items(value: object, where: str) -> Iterator[tuple[str, Body]]:
    """The objects of a list, each with its place; nothing for None."""
    if value is None:
        return
    if not isinstance(value, list):
        raise refused(f"{where} is {type(value).__name__}, expected a list")
    for n, item in enumerate(value):
        yield f"{where}[{n}]", _map(item, f"{where}[{n}]")


def _map(value: object, where: str) -> Body:
    if not isinstance(value, Mapping):
        raise refused(f"{where} is {type(value).__name__}, expected an object")
    return value


def _text(value: object, where: str) -> str:
    """A string, or the texts of a list of text blocks."""
    if isinstance(value, str):
        return value
    texts = []
    for place, block in _items(value, where):
        if block.get("type") != "text" or not isinstance(text := block.get("text"), str):
            raise refused(f"{place}: built-in models read text alone, got {block.get('type')!r}")
        texts.append(text)
    return "\n".join(texts)


def _tool(outer: Body, inner: Body, schema: str) -> Tool:
    name = inner.get("name")
    if not isinstance(name, str):
        raise refused(f"a tool has the name {name!r}, expected text: {json.dumps(outer)[:80]}")
    shape = inner.get(schema)
    properties = shape.get("properties") if isinstance(shape, Mapping) else None
    fields = [
        key
        for key, value in (properties.items() if isinstance(properties, Mapping) else ())
        if isinstance(value, Mapping) and value.get("type") == "string"
    ]
    return Tool(name, "query" if "query" in fields else "")


def _json_mode(body: Body) -> bool:
    shape = body.get("response_format")
    kind = shape.get("type") if isinstance(shape, Mapping) else None
    if kind == "json_schema":
        message = (
            "response_format json_schema: local/extractive picks sentences, it fills no schema"
        )
        raise refused(message, "use a real model for this call, or plain text")
    return kind == "json_object"


def _cut(text: str, body: Body, limit: str) -> tuple[str, bool]:
    """The text within the request's limit of tokens, and whether it is whole."""
    most = body.get(limit)
    if most is None:
        return text, True
    if type(most) is not int or most < 1:
        raise refused(f"{limit} is {most!r}, expected a whole number from 1")
    if estimate_tokens(text) <= most:
        return text, True
    return text.encode()[: most * _BYTES_PER_TOKEN].decode(errors="ignore"), False


def _asked_tokens(turns: Sequence[Turn], body: Body) -> int:
    tools = json.dumps(body["tools"], sort_keys=True) if body.get("tools") else ""
    return estimate_tokens("\n".join(turn.text for turn in turns) + tools)


def _said(said: Reply, text: str) -> int:
    written = canonical_json(dict(said.arguments)).decode() if said.tool else text
    return estimate_tokens(written)


CHATS: Mapping[str, Callable[[Body], dict[str, object]]] = {
    "anthropic.messages": anthropic_messages,
    "openai.chat": openai_chat,
}
