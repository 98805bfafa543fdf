"""What collecting files on the host has in common: a cache, and a tool that is run for them."""

import asyncio
import os
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

from memrig.pod.images.lock import scratch_dir
from memrig.pod.text import last_lines, plain_text

_TAIL_LINES = 8
_LINE = 240  # pip lists every version of a package that it did not take


async def cached(folder: Path, fill: Callable[[Path], Awaitable[None]]) -> Path:
    """A cache folder, which appears whole or not at all. The build lock is held."""
    if not folder.is_dir():  # noqa: ASYNC240  a stat
        folder.parent.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(dir=scratch_dir()))
        await fill(aside)
        aside.replace(folder)  # noqa: ASYNC240  a rename
    return folder


async def output_of(
    command: Sequence[str], environment: Mapping[str, str], cwd: Path | None = None
) -> tuple[int, str]:
    """Runs a tool to its end: its exit code, and all that it said as plain text."""
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={**os.environ, **environment},
        cwd=cwd,
    )
    try:
        output, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await asyncio.shield(process.wait())
    return process.returncode or 0, plain_text(output.decode("utf-8", "replace"))


def tail_of(output: str, noise: str) -> str:
    """The last lines of what a tool said, each cut, without those that hold `noise`."""
    told = [line for line in output.splitlines() if line.strip() and noise not in line]
    cut = (f"{line[:_LINE]}…" if len(line) > _LINE else line for line in told)
    return last_lines("\n".join(cut), _TAIL_LINES)
