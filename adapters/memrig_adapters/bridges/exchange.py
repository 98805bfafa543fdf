"""HTTP to one agent: a connection that is kept, one request at a time, and no second attempts."""

import asyncio
import contextlib
import json
import select
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Final
from urllib.parse import SplitResult, urlsplit

from memrig_adapters.bridges.reply import MAX_REPLY_BYTES, AgentError

_CONNECT_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back, whatever its status."""

    status: int
    text: str

    @property
    def ok(self) -> bool:
        """Whether the status is 2xx."""
        return 200 <= self.status < 300


class NotThereError(AgentError):
    """Nobody took the connection."""


class Exchange:
    """Posts JSON to an agent. Not for several tasks at once: a bridge makes its calls in turn."""

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        """Checks the address.

        Raises:
            AgentError: it is no http:// or https:// address.
        """
        self._base = _base(url)
        self._headers = {"Content-Type": "application/json", **headers}
        self._connection: HTTPConnection | None = None

    async def post(self, path: str, body: Mapping[str, str]) -> Reply:
        """Sends one request and reads its reply.

        A request is never sent twice: the agent may have learned what it did not acknowledge.

        Raises:
            NotThereError: nobody took the connection; nothing was sent.
            AgentError: the connection broke, or the reply is no HTTP, cut off, or too long.
        """
        connection = self._ready()
        work = asyncio.ensure_future(asyncio.to_thread(self._send, connection, path, body))
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            # The thread cannot be cancelled; it ends when its connection does.
            work.add_done_callback(_forget)
            self.close()
            raise
        except AgentError:
            self.close()
            raise

    def close(self) -> None:
        """Drops the connection, also under a request that is still running."""
        connection, self._connection = self._connection, None
        if connection is not None and connection.sock is not None:
            with contextlib.suppress(OSError):
                connection.sock.shutdown(socket.SHUT_RDWR)
        if connection is not None:
            connection.close()

    def _ready(self) -> HTTPConnection:
        # A kept connection that can be read before anything was asked has been closed by the agent.
        kept = self._connection
        if kept is not None and kept.sock is not None and _readable(kept.sock):
            self.close()
        if self._connection is None:
            made = HTTPSConnection if self._base.scheme == "https" else HTTPConnection
            self._connection = made(self._base.netloc, timeout=_CONNECT_S)
        return self._connection

    def _send(self, connection: HTTPConnection, path: str, body: Mapping[str, str]) -> Reply:
        where = f"POST {self._base.geturl()}{path}"
        try:
            if connection.sock is None:
                connection.connect()
                connection.sock.settimeout(None)  # type: ignore[attr-defined] # deadlines end it
        except OSError as error:
            raise NotThereError(f"{where}: no connection ({error})") from error
        if connection is not self._connection:
            connection.close()
            raise NotThereError(f"{where}: dropped before anything was sent")
        try:
            content = json.dumps(body, ensure_ascii=False).encode()
            connection.request("POST", self._base.path + path, content, self._headers)
            response = connection.getresponse()
            raw = response.read(MAX_REPLY_BYTES + 1)
        except (OSError, HTTPException) as error:
            raise AgentError(f"{where}: {type(error).__name__}: {error}") from error
        if len(raw) > MAX_REPLY_BYTES:
            raise AgentError(f"{where}: the reply has more than {MAX_REPLY_BYTES:,} bytes")
        if missing := response.length:  # a read of at most so much does not complain
            raise AgentError(f"{where}: the reply ended {missing:,} bytes early")
        return Reply(response.status, raw.decode("utf-8", "replace"))


def _base(url: str) -> SplitResult:
    parts = urlsplit(url.rstrip("/"))
    known = parts.scheme in {"http", "https"} and "@" not in parts.netloc
    if not known or not _has_place(parts) or parts.query or parts.fragment:
        raise AgentError(f"the agent's address is {url!r}, expected such as http://127.0.0.1:8000")
    return parts


def _has_place(parts: SplitResult) -> bool:
    try:
        return bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is none
        return False


def _readable(sock: socket.socket) -> bool:
    return bool(select.select([sock], [], [], 0)[0])


def _forget(work: "asyncio.Future[Reply]") -> None:
    """Nobody waits for what it ended with."""
    if not work.cancelled():
        work.exception()
