"""A chat model that says what it is told to, and remembers what it was told."""

import json
from collections.abc import Callable, Sequence

from memrig.model.chat import CallContext, ChatReply, ChatRequest, ToolCall, estimate_tokens

Script = ChatReply | Exception | Callable[[ChatRequest], ChatReply]


def says(text: str, **changes: object) -> ChatReply:
    """A reply that is a text."""
    fields: dict[str, object] = {
        "text": text,
        "served_model": "scripted-1",
        "input_tokens": 100,
        "output_tokens": 10,
        "cost_usd": 0.001,
        "ns": 5,
        "key": "k",
    }
    return ChatReply(**fields | changes)  # type: ignore[arg-type]


def calls(*wanted: tuple[str, object], text: str = "", **changes: object) -> ChatReply:
    """A reply that calls tools: names, and arguments as a value or, in a str, as written."""
    made = tuple(
        ToolCall(f"random-{n}-{name}", name, given if isinstance(given, str) else json.dumps(given))
        for n, (name, given) in enumerate(wanted)
    )
    return says(text, tool_calls=made, stop_reason="tool_use", **changes)


def final(answer: str, *cited: str, **members: object) -> ChatReply:
    """An agent's last reply, of the shape it is told."""
    shape = {"answer": answer, "cited": cited, "confidence": 0.5, "abstained": False} | members
    return says(json.dumps(shape))


class ScriptedChat:
    """Implements `Chat`: the replies in order, the last one again and again."""

    def __init__(self, replies: Sequence[Script]) -> None:
        self._replies = list(replies)
        self.requests: list[ChatRequest] = []
        self.contexts: list[CallContext] = []

    async def chat(self, request: ChatRequest, context: CallContext) -> ChatReply:
        self.requests.append(request)
        self.contexts.append(context)
        script = self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
        if isinstance(script, Exception):
            raise script
        return script if isinstance(script, ChatReply) else script(request)

    @property
    def seen(self) -> str:
        """All that a model was sent: texts, arguments and tools, as one text."""
        parts: list[str] = []
        for request in self.requests:
            parts.append(request.system)
            parts += [f"{tool.name} {tool.description} {tool.schema}" for tool in request.tools]
            for message in request.messages:
                parts.append(f"{message.role} {message.tool_call_id} {message.text}")
                parts += [f"{c.call_id} {c.name} {c.arguments_json}" for c in message.tool_calls]
        return "\n".join(parts)


def shown_tokens(request: ChatRequest) -> int:
    """Tokens of a request's first message, by the rule for limits."""
    return estimate_tokens(request.messages[0].text)
