"""Commands that put a Debian root together: followed to their end, ended with what they began."""

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence

from memrig.errors import PrerequisiteError
from memrig.pod.images.types import Progress

_TAIL_LINES = 15

#: A mount namespace of its own: whatever a command mounts below a root is gone when it ends,
#: however it ends, so that removing the root can never reach the machine's own /proc.
IN_NAMESPACE = ("unshare", "--mount", "--fork", "--kill-child=TERM")


async def run_step(
    what: str,
    command: Sequence[str],
    say: Progress,
    *,
    fix: str,
    environment: Mapping[str, str] | None = None,
) -> None:
    """Runs one command to its end and passes on what it prints, a line at a time.

    Args:
        what: the command's name, for messages.
        fix: what to do where it fails.
        environment: laid over the rig's own.

    Raises:
        PrerequisiteError: it did not end with 0; its last 15 lines are in the message.
    """
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={**os.environ, "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"}
        | dict(environment or {}),
        start_new_session=True,
    )
    try:
        tail = await _follow(process, say)
        code = await process.wait()
    finally:
        await _end(process)
    if code != 0:
        raise PrerequisiteError(
            f"{what} ended with {code}; its last lines:\n" + "\n".join(tail),
            where="building the base image from Debian packages",
            fix=fix,
        )


async def _follow(process: asyncio.subprocess.Process, say: Progress) -> list[str]:
    tail: list[str] = []
    assert process.stdout is not None  # noqa: S101  it was asked for just above
    async for raw in process.stdout:
        line = raw.decode("utf-8", "replace").rstrip()
        tail = [*tail, line][-_TAIL_LINES:]
        say(line)
    return tail


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        os.killpg(process.pid, signal.SIGTERM)
        await asyncio.shield(process.wait())
