"""One trial's Unix socket, served for as long as the trial lasts."""

import asyncio
import os
import shutil
import socket
import stat
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import uvicorn
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Receive, Scope, Send

from memrig.errors import PrerequisiteError

SOCKET = "llm.sock"
#: sun_path holds 108 bytes on Linux, 104 on macOS; 100 leaves room for a suffix.
_LONGEST_PATH = 100
#: Not TMPDIR: it is often long, and a socket's path must be short.
_SHORT = "/tmp"  # noqa: S108 - mkdtemp makes a folder in it that is ours alone
_PREFIX = "mrg-"
#: A folder younger than this may be about to be listened in.
_SETTLED_S = 60
#: Seconds for calls under way when a trial ends; the pod that made them is gone by then.
_GRACE_S = 0.5
#: Longer than any client keeps an idle connection: a server that closes it first may do so under
#: the next request.
_KEEP_ALIVE_S = 3600


class SocketServer(uvicorn.Server):
    """Uvicorn without its main loop, whose ticks of 0.1 s would be most of a short trial's end.

    It answers no signals and writes no log.
    """

    def __init__(self, app: ASGIApp, path: Path) -> None:
        super().__init__(
            uvicorn.Config(
                _quiet(app),
                uds=str(path),
                http="h11",
                loop="none",
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                proxy_headers=False,
                server_header=False,
                date_header=False,
                timeout_keep_alive=_KEEP_ALIVE_S,
            )
        )

    async def begin(self) -> None:
        """Listens; connections are accepted when this returns. The socket's mode is 0666."""
        self.config.load()
        self.lifespan = self.config.lifespan_class(self.config)
        await self.startup()

    async def end(self) -> None:
        """Stops listening, lets calls finish for a moment, then cuts them off."""
        for server in self.servers:
            server.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        if tasks := set(self.server_state.tasks):
            await asyncio.wait(tasks, timeout=_GRACE_S)
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        if late := set(self.server_state.tasks):
            await asyncio.sleep(0)  # the connections learn that they are lost
            for task in late:
                task.cancel()
            await asyncio.wait(late, timeout=_GRACE_S)


def _quiet(app: ASGIApp) -> ASGIApp:
    """An app whose calls may be cut off by either side: that is no error to log."""

    async def call(scope: Scope, receive: Receive, send: Send) -> None:
        with suppress(asyncio.CancelledError, ClientDisconnect):
            await app(scope, receive, send)

    return call


@asynccontextmanager
async def serving(app: ASGIApp, folder: Path | None) -> AsyncIterator[Path]:
    """Serves an app on a socket in a folder that nobody else can enter.

    Args:
        app: what answers.
        folder: an existing one of mode 0700 with a short path; None: a new one, removed at the end.

    Raises:
        PrerequisiteError: the folder is open to others, or its path too long.
    """
    made = None if folder is not None else Path(tempfile.mkdtemp(prefix=_PREFIX, dir=_SHORT))
    path = (folder or made or Path()) / SOCKET
    try:
        _check(path)
        server = SocketServer(app, path)
        await server.begin()
        try:
            yield path
        finally:
            # Bounded, and shielded: a cancelled trial must leave no socket behind.
            await asyncio.shield(server.end())
    finally:
        path.unlink(missing_ok=True)
        if made is not None:
            shutil.rmtree(made, ignore_errors=True)


def _check(path: Path) -> None:
    length = len(bytes(path))
    if length >= _LONGEST_PATH:
        raise PrerequisiteError(
            f"the socket's path has {length} bytes; under {_LONGEST_PATH} are needed",
            where=str(path),
            fix="give the gateway a folder with a short path",
        )
    if path.parent.stat().st_mode & 0o077:
        raise PrerequisiteError(
            "the socket's folder must have mode 0700, or others could spend this run's money",
            where=str(path.parent),
        )


def sweep_sockets(root: Path = Path(_SHORT)) -> int:
    """Removes the folders of sockets that nobody listens on: their process was killed.

    Returns:
        how many were removed.
    """
    removed = 0
    for folder in root.glob(f"{_PREFIX}*"):
        try:
            state = folder.lstat()
            old = time.time() - state.st_mtime > _SETTLED_S
            ours = stat.S_ISDIR(state.st_mode) and state.st_uid == os.getuid()
            if ours and old and not _listens(folder / SOCKET):
                shutil.rmtree(folder)
                removed += 1
        except OSError:
            continue  # gone by itself, or not ours to remove
    return removed


def _listens(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(str(path)) == 0
