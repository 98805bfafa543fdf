"""A client of the Model Context Protocol over stdio: JSON-RPC 2.0, a message a line.

Of the protocol it knows what a memory needs: initialize, tools/list and tools/call. Source: the
specification of 2025-06-18, https://modelcontextprotocol.io/specification/2025-06-18.
"""

import asyncio
import json
import logging
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from memrig_adapters.types import Json, JsonObject

log = logging.getLogger("memrig_adapters")

_VERSION: Final = "2025-06-18"
_METHOD_NOT_FOUND: Final = -32601
#: A reply may hold a whole memory.
_MAX_LINE_BYTES: Final = 256 * 1024 * 1024
#: How long a server may take to end once its input is closed, as the specification has it end.
_ENDING_S: Final = 2.0
_QUOTED_CHARACTERS: Final = 300


class ServerError(Exception):
    """The MCP server ended, refused a call, or answered with what is no answer."""


class StdioServer:
    """A running MCP server. Calls may overlap; one that is cancelled leaves the others alone.

    Attributes:
        name, version: what the server says it is.
    """

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._next = 0
        self._reading = asyncio.create_task(self._read())
        self.name = self.version = ""

    @classmethod
    async def start(cls, command: Sequence[str], environment: Mapping[str, str]) -> "StdioServer":
        """Starts a server and greets it. What it writes to standard error goes to the log.

        Raises:
            ServerError: there is no such command, or the server ends or refuses.
        """
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                env={**os.environ, **environment},
                limit=_MAX_LINE_BYTES,
                start_new_session=True,
            )
        except OSError as error:
            raise ServerError(f"{command[0]!r} cannot be started: {error.strerror}") from error
        server = cls(process)
        try:
            await server._greet()
        except BaseException:
            await server.stop()
            raise
        return server

    @property
    def running(self) -> bool:
        """Whether the process lives and its output is open."""
        return self._process.returncode is None and not self._reading.done()

    @property
    def pid(self) -> int:
        """The process's number."""
        return self._process.pid

    async def tools(self) -> frozenset[str]:
        """The names of the server's tools.

        Raises:
            ServerError: it ended, refused, or named none.
        """
        names: set[str] = set()
        cursor: dict[str, Json] = {}
        while True:
            page = await self._request("tools/list", cursor)
            try:
                names.update(tool["name"] for tool in page["tools"])
            except (KeyError, TypeError) as error:
                raise ServerError(f"tools/list: no list of tools: {_quoted(page)}") from error
            if not page.get("nextCursor"):
                return frozenset(names)
            cursor = {"cursor": page["nextCursor"]}

    async def call(self, tool: str, arguments: JsonObject) -> dict[str, Any]:
        """Calls a tool; returns its result, `content` and perhaps `structuredContent`.

        Raises:
            ServerError: the server ended, or the tool failed.
        """
        result = await self._request("tools/call", {"name": tool, "arguments": dict(arguments)})
        if result.get("isError"):
            raise ServerError(f"{tool} failed: {_quoted(result.get('content'))}")
        return result

    async def stop(self) -> None:
        """Closes the server's input and waits until it has ended; kills what has not, 2 s later."""
        assert self._process.stdin is not None  # noqa: S101  a pipe was asked for
        self._process.stdin.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(_ENDING_S):
                await self._process.wait()
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        await self._process.wait()
        self._reading.cancel()
        with suppress(asyncio.CancelledError):
            await self._reading

    async def _greet(self) -> None:
        about = await self._request(
            "initialize",
            {
                "protocolVersion": _VERSION,
                "capabilities": {},
                "clientInfo": {"name": "memrig", "version": "0.1.0"},
            },
        )
        info = about.get("serverInfo") or {}
        self.name, self.version = str(info.get("name", "")), str(info.get("version", ""))
        await self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    async def _request(self, method: str, params: JsonObject) -> dict[str, Any]:
        if not self.running:
            raise ServerError(f"{method}: the server {await self._end()}")
        self._next += 1
        number = self._next
        waiting = self._waiting[number] = asyncio.get_running_loop().create_future()
        try:
            await self._send(
                {"jsonrpc": "2.0", "id": number, "method": method, "params": dict(params)}
            )
            reply = await waiting
        except ConnectionError as error:
            raise ServerError(f"{method}: the server {await self._end()}") from error
        finally:
            self._waiting.pop(number, None)
        if "error" in reply:
            raise ServerError(f"{method} was refused: {_quoted(reply['error'])}")
        result = reply.get("result")
        if not isinstance(result, dict):
            raise ServerError(f"{method}: a reply without a result: {_quoted(reply)}")
        return result

    async def _send(self, message: JsonObject) -> None:
        assert self._process.stdin is not None  # noqa: S101  a pipe was asked for
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        await self._process.stdin.drain()

    async def _read(self) -> None:
        """Hands replies to those who wait for them, until the output ends."""
        assert self._process.stdout is not None  # noqa: S101  a pipe was asked for
        try:
            while line := await self._process.stdout.readline():
                try:
                    message = json.loads(line)
                except ValueError:
                    log.warning(
                        "the server wrote no JSON: %s", _quoted(line.decode("utf-8", "replace"))
                    )
                    continue
                if isinstance(message, dict):
                    await self._take(message)
        except (ValueError, ConnectionError) as error:
            log.warning("the server's output cannot be read on: %s", error)
        finally:
            for waiting in self._waiting.values():
                if not waiting.done():
                    waiting.set_exception(ConnectionError("the server's output ended"))

    async def _take(self, message: dict[str, Any]) -> None:
        if "method" not in message:
            waiting = self._waiting.get(message.get("id", 0))
            if waiting is not None and not waiting.done():
                waiting.set_result(message)
        elif "id" in message:  # the server asks: a ping is answered, for the rest there is no one
            reply: dict[str, Json] = {"jsonrpc": "2.0", "id": message["id"]}
            if message["method"] == "ping":
                reply["result"] = {}
            else:
                reply["error"] = {"code": _METHOD_NOT_FOUND, "message": "not offered"}
            with suppress(ConnectionError):
                await self._send(reply)

    async def _end(self) -> str:
        """How the server ended, in words."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_ENDING_S):
                code = await self._process.wait()
                return (
                    f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
                )
        return "has closed its output, but runs"


def _quoted(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _QUOTED_CHARACTERS else text[:_QUOTED_CHARACTERS] + " …"
