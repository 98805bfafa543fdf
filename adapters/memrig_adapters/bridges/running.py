"""Starting what a command line names: an agent's server, or one call of it."""

import asyncio
import contextlib
import os
import shlex
import signal
import socket
import sys
from asyncio.subprocess import Process
from pathlib import Path
from typing import IO, Final

from memrig_adapters.bridges.reply import MAX_REPLY_BYTES, AgentError

DEMO: Final = "demo"
_END_S: Final = 2.0
_POLL_S: Final = 0.05
#: How long outputs are read on when their process is over, but somebody else holds them.
_DRAIN_S: Final = 0.2


def command_line(text: str) -> list[str]:
    """The words of a command line, quoted as in a shell; `demo` stands for the bridge's own agent.

    Raises:
        AgentError: it is empty, or a quote is open.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise AgentError(f"the agent's command {text!r} cannot be read: {error}") from error
    if not words:
        raise AgentError("the agent's command is empty")
    if words[0] == DEMO:
        # By its path: what it does not import it need not wait for.
        demo = str(Path(__file__).with_name("demo.py"))
        words[:1] = [sys.executable, "-I", "-S", demo]
    return words


async def run(
    words: list[str], *, stdin: int | None, pipes: int | IO[bytes] | None, state: str = ""
) -> Process:
    """Starts a process in a group of its own, so that its children end with it.

    Raises:
        AgentError: it cannot be started.
    """
    environment = {**os.environ, **({"MEMRIG_AGENT_STATE": state} if state else {})}
    try:
        return await asyncio.create_subprocess_exec(
            *words, stdin=stdin, stdout=pipes, stderr=pipes, env=environment, process_group=0
        )
    except OSError as error:
        raise AgentError(f"{words[0]} cannot be run: {error.strerror}") from error


async def spoken(process: Process, said: bytes) -> tuple[bytes, bytes]:
    """Gives a process its standard input, and returns its output and its errors when it is over.

    Unlike `communicate` it does not wait for what the process left running, which is ended, and of
    an output without end it keeps the last `MAX_REPLY_BYTES` and one more.
    """
    out, err = bytearray(), bytearray()
    talk = asyncio.gather(
        _say(process.stdin, said), _hear(process.stdout, out), _hear(process.stderr, err)
    )
    try:
        while process.returncode is None and not talk.done():
            await asyncio.wait([talk], timeout=_POLL_S)
        if talk.done():
            await process.wait()
        else:
            kill(process)
            await asyncio.wait([talk], timeout=_DRAIN_S)
    finally:
        talk.cancel()
    return bytes(out), bytes(err)


async def _say(stdin: asyncio.StreamWriter | None, said: bytes) -> None:
    if stdin is None:
        return
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it need not listen
        stdin.write(said)
        await stdin.drain()
    stdin.close()


async def _hear(stream: asyncio.StreamReader | None, heard: bytearray) -> None:
    while stream is not None and (chunk := await stream.read(65536)):
        heard += chunk
        del heard[: -MAX_REPLY_BYTES - 1]


async def end(process: Process) -> None:
    """Asks a process and its children to end, and makes them after two seconds."""
    _signal(process, signal.SIGTERM)
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(process.wait(), _END_S)
    _signal(process, signal.SIGKILL)
    await process.wait()


def kill(process: Process) -> None:
    """Ends a process and its children at once."""
    _signal(process, signal.SIGKILL)


def free_port() -> int:
    """A port of the loopback that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    return port


def _signal(process: Process, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
