"""A Python base image from Debian's packages, for machines where no registry answers."""

import asyncio
import os
import shutil
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from memrig.errors import PrerequisiteError
from memrig.pod.images.engine import Engine
from memrig.pod.images.lock import cache_dir, scratch_dir
from memrig.pod.images.spec import DebianSpec
from memrig.pod.images.types import Progress

_INSTALL_HINT = "apt-get install --no-install-recommends debootstrap"
_TAIL_LINES = 15

#: Of no use in a container that installs nothing from Debian any more. Python's own compiled files
#: stay: without them, every start under a read-only root would compile the library again.
_DEAD_WEIGHT = (
    "./dev/*", "./proc/*", "./sys/*", "./run/*", "./tmp/*",
    "./var/cache/*", "./var/lib/apt/lists/*", "./var/log/*", "./var/lib/dpkg/*-old",
    "./var/lib/dpkg/info/*.md5sums", "./var/lib/dpkg/available",
    "./usr/share/locale/*", "./usr/share/i18n/*", "./usr/share/man/*", "./usr/share/info/*",
    "./usr/share/lintian/*", "./usr/share/bash-completion/*", "./usr/share/zoneinfo/right/*",
    "./usr/share/zoneinfo/posix/*",
    "./usr/share/doc/*/[!c]*", "./usr/share/doc/*/changelog*",
    "./debootstrap", "./etc/resolv.conf", "./etc/hostname",
)  # fmt: skip


def check_possible() -> None:
    """Makes sure that this machine can build from Debian packages.

    Raises:
        PrerequisiteError: not root, or a program is missing; names the command that installs it.
    """
    if os.geteuid() != 0:
        raise PrerequisiteError(
            "no registry answers, and building the base image from Debian packages needs root",
            fix="run `sudo memrig image build base` once, or make a registry reachable, or load a "
            "base image that another machine built (docs/images.md, Offline)",
        )
    missing = [name for name in ("debootstrap", "unshare", "tar") if shutil.which(name) is None]
    if missing:
        raise PrerequisiteError(
            f"no registry answers, and building the base image needs {', '.join(missing)}",
            fix=f"{_INSTALL_HINT}, or make a registry reachable",
        )


async def build_debian(
    engine: Engine, spec: DebianSpec, *, tag: str, labels: Mapping[str, str], say: Progress
) -> str:
    """Builds and imports the base image; returns its id. Takes about a minute the first time.

    Raises:
        PrerequisiteError: debootstrap failed (its last lines are in the message).

    The build lock is held.
    """
    packages = cache_dir() / "debian" / spec.suite
    packages.mkdir(parents=True, exist_ok=True)
    root = scratch_dir() / "base"
    try:
        say(f"no registry answers: building the base from Debian {spec.suite} packages (~1 min)")
        await _debootstrap(root, spec, packages, say)
        say("importing the base image")
        return await _import(engine, root, tag, labels)
    finally:
        await asyncio.shield(asyncio.to_thread(shutil.rmtree, root, True))


async def _debootstrap(root: Path, spec: DebianSpec, packages: Path, say: Progress) -> None:
    # In a mount namespace of its own: whatever debootstrap mounts below `root` is gone when it
    # ends, however it ends, so that removing `root` can never reach the machine's own /proc.
    command = [
        "unshare", "--mount", "--fork", "--kill-child=TERM",
        "debootstrap", "--variant=minbase", f"--cache-dir={packages}",
        f"--include={','.join(spec.packages)}", spec.suite, str(root), spec.mirror,
    ]  # fmt: skip
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={**os.environ, "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"},
        start_new_session=True,
    )
    try:
        tail = await _follow(process, say)
        code = await process.wait()
    finally:
        await _end(process)
    if code != 0:
        raise PrerequisiteError(
            f"debootstrap ended with {code}; its last lines:\n" + "\n".join(tail),
            where="building the base image from Debian packages",
            fix=f"see that {spec.mirror} can be reached, or make an image registry reachable",
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


async def _import(engine: Engine, root: Path, tag: str, labels: Mapping[str, str]) -> str:
    changes = [
        *(f'LABEL {key}="{value}"' for key, value in labels.items()),
        "ENV LANG=C.UTF-8",
        'CMD ["python3"]',
    ]
    read_end, write_end = os.pipe()
    excludes = [f"--exclude={pattern}" for pattern in _DEAD_WEIGHT]
    with os.fdopen(read_end, "rb") as stream:
        try:
            process = await asyncio.create_subprocess_exec(
                "tar", "-C", str(root), "--numeric-owner", "--sort=name", "--anchored",
                "--no-wildcards-match-slash", *excludes, "-c", ".",
                stdin=asyncio.subprocess.DEVNULL, stdout=write_end,
            )  # fmt: skip
        finally:
            os.close(write_end)
        try:
            digest = await asyncio.to_thread(_send, engine, stream, tag, changes)
            code = await process.wait()
        finally:
            if process.returncode is None:
                process.kill()
                await asyncio.shield(process.wait())
    if code != 0:
        engine.remove(digest)
        raise PrerequisiteError(f"tar ended with {code}", where="packing the base image")
    return digest


def _send(engine: Engine, stream: IO[bytes], tag: str, changes: list[str]) -> str:
    return engine.import_tar(stream, tag, changes)
