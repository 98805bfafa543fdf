"""HTTP to a CEMS server: one request, one reply, no second attempts."""

import asyncio
import contextlib
import json
import socket
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException, HTTPResponse
from typing import Final, TypeAlias
from urllib.parse import urlsplit

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
Object: TypeAlias = dict[str, Json]

_CONNECT_S: Final = 10.0
_MAX_REPLY: Final = 64 * 1024**2
_FULL: Final = 507
_WORDS: Final = 300


class CemsError(Exception):
    """CEMS failed, or answered something that it does not promise."""


class StatusError(CemsError):
    """CEMS answered with another status than 2xx."""

    def __init__(self, where: str, status: int, words: str) -> None:
        self.status = status
        self.words = words
        super().__init__(f"{where}: status {status}: {words or 'no further words'}")


class NotThereError(CemsError):
    """Nobody took the connection."""


class Client:
    """Sends requests, each on a connection of its own.

    What a connection costs is nothing beside what CEMS does for each request: it checks the key
    with bcrypt, about 0.3 s.

    Raises:
        CemsError: the address is not of the form http://host:port.
    """

    def __init__(self, url: str) -> None:
        parts = urlsplit(url.rstrip("/"))
        if parts.scheme != "http" or not parts.hostname or parts.path or parts.query:
            raise CemsError(f"the address of CEMS is {url!r}, expected http://host:port")
        self._place = parts.netloc

    async def call(
        self, method: str, path: str, key: str, body: Mapping[str, Json] | None = None
    ) -> Object:
        """One request; the JSON object of its reply.

        Raises:
            MemoryError: 507: the store is full.
            StatusError: any other status than 2xx.
            NotThereError: nobody took the connection.
            CemsError: the connection broke; no JSON object; or an error in a reply that says 200.
        """
        connection = HTTPConnection(self._place, timeout=_CONNECT_S)
        where = f"{method} {path.partition('?')[0]}"
        work = asyncio.ensure_future(
            asyncio.to_thread(_exchange, connection, where, path, key, body)
        )
        try:
            status, raw = await asyncio.shield(work)
        except asyncio.CancelledError:
            # The thread cannot be cancelled; it ends when its connection does.
            work.add_done_callback(_forget)
            _drop(connection)
            raise
        return _read(where, status, raw)


def _exchange(
    connection: HTTPConnection, where: str, path: str, key: str, body: Mapping[str, Json] | None
) -> tuple[int, bytes]:
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    content = None if body is None else json.dumps(body, ensure_ascii=False).encode()
    try:
        try:
            connection.connect()
        except OSError as error:
            raise NotThereError(f"{where}: no connection ({error})") from error
        connection.sock.settimeout(None)  # the call's own deadline ends it
        try:
            connection.request(where.partition(" ")[0], path, content, headers)
            response = connection.getresponse()
            return response.status, _whole(response, where)
        except (OSError, HTTPException) as error:
            raise CemsError(f"{where}: {type(error).__name__}: {error}") from error
    finally:
        connection.close()


def _whole(response: HTTPResponse, where: str) -> bytes:
    raw = response.read(_MAX_REPLY + 1)
    if len(raw) > _MAX_REPLY:
        raise CemsError(f"{where}: the reply has more than {_MAX_REPLY:,} bytes")
    if missing := response.length:  # a read of at most so much does not complain
        raise CemsError(f"{where}: the reply ended {missing:,} bytes early")
    return raw


def _read(where: str, status: int, raw: bytes) -> Object:
    text = raw.decode("utf-8", "replace")
    try:
        reply: Json = json.loads(text)
    except ValueError:
        reply = None
    if not 200 <= status < 300:
        said = reply.get("error", text) if isinstance(reply, dict) else text
        words = " ".join(str(said).split())[:_WORDS]
        if status == _FULL:
            raise MemoryError(f"{where}: status {status}: {words}")
        raise StatusError(where, status, words)
    if not isinstance(reply, dict):
        raise CemsError(f"{where}: the reply is no JSON object: {text[:_WORDS]!r}")
    if fault := _fault(reply):
        raise CemsError(f"{where}: status {status}, and in its reply: {fault}")
    return reply


def _fault(reply: Object) -> str:
    """The error that a reply of status 200 holds; empty where it holds none."""
    result = reply.get("result")
    entries = result.get("results") if isinstance(result, dict) else reply.get("results")
    for entry in entries if isinstance(entries, list) else []:
        if isinstance(entry, dict) and entry.get("event") == "ERROR":
            return str(entry.get("error") or "event ERROR")[:_WORDS]
    if reply.get("success") is False or reply.get("error"):
        return str(reply.get("error") or "success is false")[:_WORDS]
    return ""


def _drop(connection: HTTPConnection) -> None:
    sock: socket.socket | None = connection.sock
    if sock is not None:
        with contextlib.suppress(OSError):
            sock.shutdown(socket.SHUT_RDWR)


def _forget(work: "asyncio.Future[tuple[int, bytes]]") -> None:
    """Nobody waits for what it ended with."""
    if not work.cancelled():
        work.exception()
