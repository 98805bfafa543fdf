"""A model provider of our own: a real HTTP server that speaks both wire formats, as scripted.

It serves ``POST /v1/messages`` (Anthropic), ``/v1/chat/completions`` and ``/v1/embeddings``
(OpenAI), streaming included, on a loopback port. The real SDKs talk to it. A script sees what a
model sees, and nothing else::

    def answer(seen: Seen) -> str | Say | Fault:
        return "Paris" if "capital of France" in seen.text else "I do not know"

    async with LlmStandIn(answer) as standin:
        client = openai.AsyncOpenAI(api_key="k", base_url=standin.openai_url)

    with LlmStandIn.in_thread(answer) as standin:   # for tests that are not async
        client = anthropic.Anthropic(api_key="k", base_url=standin.anthropic_url)

Faults are returned by the script, or queued before it is asked at all::

    standin.fail_next(Fault(status=429, retry_after="0.01"), Fault(cut="clean"))

`standin.seen` holds every request with its headers and body; `standin.answered` counts replies that
were whole. As a process of its own: ``python tests/support/llm_standin.py`` writes its URL to the
standard output and answers "ok" until its standard input ends.

Each reply is one write to the socket: a head and a body in two would wait for each other for 40 ms
where a client delays its acknowledgements.
"""

import asyncio
import base64
import contextlib
import hashlib
import json
import struct
import sys
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, Self

VECTOR = 8


@dataclass(frozen=True, slots=True)
class Seen:
    """One request. `text` is all that a model would read: system and messages, or the inputs."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    number: int

    @property
    def model(self) -> str:
        """The model asked for."""
        return str(self.body.get("model", ""))

    @property
    def stream(self) -> bool:
        """Whether a stream is wanted."""
        return self.body.get("stream") is True

    @property
    def text(self) -> str:
        """System and messages, one after the other."""
        parts = [_flat(self.body.get("system", ""))]
        parts += [_flat(message.get("content")) for message in self.body.get("messages", [])]
        parts.append(_flat(self.body.get("input", "")))
        return "\n".join(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class Say:
    """A reply.

    Args:
        text: what is said.
        tools: calls of tools: name and arguments.
        stop: "end", "length" or "refusal"; calls of tools stop by themselves.
        input_tokens: None: a token for every four characters seen.
        output_tokens: likewise, of what is said.
        served_model: None: the name asked for, with "-served" behind it.
        delay_s: seconds before the reply.
    """

    text: str = ""
    tools: tuple[tuple[str, dict[str, Any]], ...] = ()
    stop: Literal["end", "length", "refusal"] = "end"
    input_tokens: int | None = None
    output_tokens: int | None = None
    served_model: str | None = None
    delay_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Fault:
    """Something else than a good reply. One of:

    - `status`: an error in the provider's shape, with `message`, `code` and `retry_after`;
    - `cut`: the reply breaks off: "clean" ends it as if it were whole, "hard" resets the connection
      within it;
    - `garbage`: 200, and this instead of JSON;
    - `drop`: a whole reply without this field;
    - `stream_error`: an error of this type amid a stream (or instead of a body, with status 200).
    """

    status: int = 0
    message: str = "scripted"
    code: str | None = None
    retry_after: str | None = None
    cut: Literal["", "clean", "hard"] = ""
    garbage: str = ""
    drop: str = ""
    stream_error: str = ""
    delay_s: float = 0.0


Script = Callable[[Seen], "str | Say | Fault"]


def _flat(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        return _flat(content.get("text") or content.get("content") or content.get("input") or "")
    return "\n".join(_flat(part) for part in content or () if not isinstance(part, int))


def _dump(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


@dataclass(frozen=True, slots=True)
class _Reply:
    """A whole body, and the pieces of its stream."""

    value: dict[str, Any]
    pieces: tuple[bytes, ...]


def _pieces(text: str) -> list[str]:
    """A text as a stream delivers it: in small bits, cut within words."""
    return [text[at : at + 5] for at in range(0, len(text), 5)]


def _usage(seen: Seen, say: Say) -> tuple[int, int]:
    sent = len(seen.text) // 4 + 1 if say.input_tokens is None else say.input_tokens
    said = len(say.text) // 4 + 1 if say.output_tokens is None else say.output_tokens
    return sent, said


class _Anthropic:
    """Anthropic's messages and events."""

    STOP = {"end": "end_turn", "length": "max_tokens", "refusal": "refusal"}  # noqa: RUF012
    ERRORS = {429: "rate_limit_error", 529: "overloaded_error", 401: "authentication_error"}  # noqa: RUF012

    def reply(self, seen: Seen, say: Say) -> _Reply:
        sent, said = _usage(seen, say)
        blocks: list[dict[str, Any]] = [{"type": "text", "text": say.text}] if say.text else []
        for number, (name, arguments) in enumerate(say.tools):
            call = {"type": "tool_use", "id": f"toolu_{seen.number}_{number}"}
            blocks.append({**call, "name": name, "input": arguments})
        message = {
            "id": f"msg_{seen.number}",
            "type": "message",
            "role": "assistant",
            "model": say.served_model or f"{seen.model}-served",
            "content": blocks,
            "stop_reason": "tool_use" if say.tools else self.STOP[say.stop],
            "stop_sequence": None,
            "usage": {"input_tokens": sent, "output_tokens": said},
        }
        return _Reply(message, tuple(self._events(message)))

    def _events(self, message: dict[str, Any]) -> Iterator[bytes]:
        usage = {**message["usage"], "output_tokens": 1}
        start = {**message, "content": [], "stop_reason": None, "usage": usage}
        yield self._event("message_start", message=start)
        yield self._event("ping")
        for index, block in enumerate(message["content"]):
            if block["type"] == "text":
                empty = {"type": "text", "text": ""}
                deltas = [{"type": "text_delta", "text": bit} for bit in _pieces(block["text"])]
            else:
                empty = {**block, "input": {}}
                text = json.dumps(block["input"])
                kind = "input_json_delta"
                deltas = [{"type": kind, "partial_json": bit} for bit in _pieces(text)]
            yield self._event("content_block_start", index=index, content_block=empty)
            for delta in deltas:
                yield self._event("content_block_delta", index=index, delta=delta)
            yield self._event("content_block_stop", index=index)
        delta = {"stop_reason": message["stop_reason"], "stop_sequence": None}
        counted = {"output_tokens": message["usage"]["output_tokens"]}
        yield self._event("message_delta", delta=delta, usage=counted)
        yield self._event("message_stop")

    @staticmethod
    def _event(kind: str, **data: object) -> bytes:
        return f"event: {kind}\n".encode() + b"data: " + _dump({"type": kind, **data}) + b"\n\n"

    def error(self, fault: Fault) -> dict[str, Any]:
        fallback = "api_error" if fault.status >= 500 else "invalid_request_error"
        kind = fault.code or self.ERRORS.get(fault.status, fallback)
        return {"type": "error", "error": {"type": kind, "message": fault.message}}

    def stream_error(self, kind: str) -> bytes:
        error = {"type": kind, "message": "scripted"}
        return self._event("error", error=error)


class _OpenAI:
    """OpenAI's completions and chunks."""

    STOP = {"end": "stop", "length": "length", "refusal": "content_filter"}  # noqa: RUF012

    def reply(self, seen: Seen, say: Say) -> _Reply:
        sent, said = _usage(seen, say)
        message: dict[str, Any] = {"role": "assistant", "content": say.text or None}
        if say.tools:
            message["tool_calls"] = [
                {
                    "id": f"call_{seen.number}_{number}",
                    "type": "function",
                    "function": {"name": name, "arguments": json.dumps(arguments)},
                }
                for number, (name, arguments) in enumerate(say.tools)
            ]
        finish = "tool_calls" if say.tools else self.STOP[say.stop]
        completion = {
            "id": f"chatcmpl-{seen.number}",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": say.served_model or f"{seen.model}-served",
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
            "usage": {
                "prompt_tokens": sent,
                "completion_tokens": said,
                "total_tokens": sent + said,
            },
        }
        wanted = (seen.body.get("stream_options") or {}).get("include_usage") is True
        return _Reply(completion, tuple(self._chunks(completion, wanted)))

    def _chunks(self, completion: dict[str, Any], with_usage: bool) -> Iterator[bytes]:
        head = {k: completion[k] for k in ("id", "created", "model")}
        head["object"] = "chat.completion.chunk"
        choice = completion["choices"][0]

        def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
            part = {"index": 0, "delta": delta, "finish_reason": finish}
            usage = {"usage": None} if with_usage else {}
            return b"data: " + _dump({**head, "choices": [part], **usage}) + b"\n\n"

        yield chunk({"role": "assistant", "content": ""})
        for bit in _pieces(choice["message"]["content"] or ""):
            yield chunk({"content": bit})
        for number, call in enumerate(choice["message"].get("tool_calls", [])):
            name = {"name": call["function"]["name"], "arguments": ""}
            yield chunk({"tool_calls": [{**call, "index": number, "function": name}]})
            for bit in _pieces(call["function"]["arguments"]):
                yield chunk({"tool_calls": [{"index": number, "function": {"arguments": bit}}]})
        yield chunk({}, choice["finish_reason"])
        if with_usage:
            last = {**head, "choices": [], "usage": completion["usage"]}
            yield b"data: " + _dump(last) + b"\n\n"
        yield b"data: [DONE]\n\n"

    def error(self, fault: Fault) -> dict[str, Any]:
        kind = "server_error" if fault.status >= 500 else "invalid_request_error"
        error = {"message": fault.message, "type": kind, "param": None, "code": fault.code}
        return {"error": error}

    def stream_error(self, kind: str) -> bytes:
        error = {"error": {"message": "scripted", "type": kind, "code": None}}
        return b"data: " + _dump(error) + b"\n\n"


class _Embeddings(_OpenAI):
    """OpenAI's embeddings: vectors that depend on the text alone."""

    def reply(self, seen: Seen, say: Say) -> _Reply:
        given = seen.body.get("input", "")
        texts = given if isinstance(given, list) else [given]
        coded = seen.body.get("encoding_format") == "base64"
        rows = [
            {"object": "embedding", "index": n, "embedding": vector(str(text), coded=coded)}
            for n, text in enumerate(texts)
        ]
        sent = sum(len(str(text)) // 4 + 1 for text in texts)
        usage = {"prompt_tokens": sent, "total_tokens": sent}
        return _Reply({"object": "list", "data": rows, "model": seen.model, "usage": usage}, ())


def vector(text: str, *, coded: bool = False) -> list[float] | str:
    """The vector of a text, as the stand-in gives it."""
    digest = hashlib.sha256(text.encode()).digest()[:VECTOR]
    values = [byte / 256 for byte in digest]
    return base64.b64encode(struct.pack(f"<{VECTOR}f", *values)).decode() if coded else values


_WIRES: dict[str, _Anthropic | _OpenAI] = {
    "/v1/messages": _Anthropic(),
    "/v1/chat/completions": _OpenAI(),
    "/v1/embeddings": _Embeddings(),
}


@dataclass(slots=True)
class LlmStandIn:
    """The server. Use as an async context manager, or in a thread of its own."""

    script: Script = lambda _seen: "ok"
    seen: list[Seen] = field(default_factory=list)
    answered: int = 0
    most_at_once: int = 0
    port: int = 0
    _at_once: int = 0
    _faults: deque[Fault] = field(default_factory=deque)
    _server: asyncio.Server | None = None
    _tasks: set["asyncio.Task[None]"] = field(default_factory=set)

    @property
    def anthropic_url(self) -> str:
        """The base URL for Anthropic's SDK."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def openai_url(self) -> str:
        """The base URL for OpenAI's SDK."""
        return f"{self.anthropic_url}/v1"

    def fail_next(self, *faults: Fault) -> None:
        """The next requests meet these, in order, before the script is asked again."""
        self._faults.extend(faults)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connection, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.close()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks)
            await self._server.wait_closed()

    @classmethod
    @contextmanager
    def in_thread(cls, script: Script = lambda _seen: "ok", port: int = 0) -> Iterator[Self]:
        """The same on a loop of its own, for tests that have none; at a port that was there."""
        standin = cls(script, port=port)
        ready, stop = threading.Event(), asyncio.Event()
        loop = asyncio.new_event_loop()

        async def serve() -> None:
            async with standin:
                ready.set()
                await stop.wait()

        thread = threading.Thread(target=lambda: loop.run_until_complete(serve()), daemon=True)
        thread.start()
        ready.wait(10)
        try:
            yield standin
        finally:
            loop.call_soon_threadsafe(stop.set)
            thread.join(10)
            loop.close()

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            async for path, headers, body in _requests(reader):
                self._at_once += 1
                self.most_at_once = max(self.most_at_once, self._at_once)
                try:
                    open_ = await self._answer(path, headers, body, writer)
                finally:
                    self._at_once -= 1
                if not open_:
                    break
        except (OSError, asyncio.CancelledError):
            return  # the client is gone, or the server is
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _answer(
        self, path: str, headers: dict[str, str], body: bytes, writer: asyncio.StreamWriter
    ) -> bool:
        """Answers one request; False: the connection is at its end."""
        wire = _WIRES.get(path)
        if wire is None:
            writer.write(_http(404, _dump({"error": {"message": f"no {path}"}})))
            return True
        seen = Seen(path, headers, json.loads(body), len(self.seen) + 1)
        self.seen.append(seen)
        said = self._faults.popleft() if self._faults else self.script(seen)
        say = Say(said) if isinstance(said, str) else said
        if say.delay_s:
            await asyncio.sleep(say.delay_s)
        if isinstance(say, Fault):
            return self._fail(say, wire, seen, writer)
        reply = wire.reply(seen, say)
        if seen.stream and reply.pieces:
            writer.write(_http(200, b"".join(reply.pieces), kind="text/event-stream"))
        else:
            writer.write(_http(200, _dump(reply.value)))
        await writer.drain()
        self.answered += 1
        return True

    def _fail(
        self, fault: Fault, wire: _Anthropic | _OpenAI, seen: Seen, writer: asyncio.StreamWriter
    ) -> bool:
        if fault.status:
            extra = {"retry-after": fault.retry_after} if fault.retry_after else {}
            writer.write(_http(fault.status, _dump(wire.error(fault)), extra))
            return True
        if fault.garbage:
            writer.write(_http(200, fault.garbage.encode()))
            return True
        reply = wire.reply(seen, Say("a reply that is not whole"))
        if fault.drop:
            value = {k: v for k, v in reply.value.items() if k != fault.drop}
            writer.write(_http(200, _dump(value)))
            return True
        whole = b"".join(reply.pieces) if seen.stream else _dump(reply.value)
        kind = "text/event-stream" if seen.stream else "application/json"
        if fault.stream_error:
            middle = b"".join(reply.pieces[:3]) if seen.stream else b""
            error = wire.stream_error(fault.stream_error)
            body = middle + error if seen.stream else _dump(_scripted(fault.stream_error))
            writer.write(_http(200, body, kind=kind))
            return True
        begun = b"".join(reply.pieces[: len(reply.pieces) // 2])
        half = begun if seen.stream else whole[: len(whole) // 2]
        # "hard": the length promised is not kept. "clean": it is, but the format's end is missing.
        length = len(whole) if fault.cut == "hard" else len(half)
        writer.write(_http(200, half, kind=kind, length=length))
        return False


def _scripted(kind: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": "scripted", "code": None}}


def _http(
    status: int,
    body: bytes,
    extra: dict[str, str] | None = None,
    *,
    kind: str = "application/json",
    length: int | None = None,
) -> bytes:
    lines = [f"HTTP/1.1 {status} Scripted", f"content-type: {kind}"]
    lines.append(f"content-length: {len(body) if length is None else length}")
    lines += [f"{name}: {value}" for name, value in (extra or {}).items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


async def _requests(
    reader: asyncio.StreamReader,
) -> AsyncIterator[tuple[str, dict[str, str], bytes]]:
    while True:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            first, *lines = head.strip().split("\r\n")
            pairs = (line.split(":", 1) for line in lines)
            headers = {name.lower(): value.strip() for name, value in pairs}
            body = await reader.readexactly(int(headers.get("content-length", 0)))
        except asyncio.IncompleteReadError:
            return
        yield first.split(" ")[1].partition("?")[0], headers, body


def main() -> None:
    """Serves until the standard input ends."""

    async def serve() -> None:
        async with LlmStandIn() as standin:
            sys.stdout.write(f"{standin.anthropic_url}\n")
            sys.stdout.flush()
            await asyncio.to_thread(sys.stdin.read)

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve())


if __name__ == "__main__":
    main()
