"""A base image from Debian's packages, where no registry has it."""

import asyncio
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from memrig.errors import PrerequisiteError
from memrig.pod.images.apt import install_by_apt
from memrig.pod.images.engine import Engine
from memrig.pod.images.lock import cache_dir, scratch_dir
from memrig.pod.images.rootsteps import IN_NAMESPACE, run_step
from memrig.pod.images.spec import DebianSpec
from memrig.pod.images.types import Progress

_INSTALL_HINT = "apt-get install --no-install-recommends debootstrap"

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


def check_possible(build: str = "base") -> None:
    """Makes sure that this machine can build from Debian packages.

    Args:
        build: what `memrig image build` is given to build it.

    Raises:
        PrerequisiteError: not root, or a program is missing; names the command that installs it.
    """
    if os.geteuid() != 0:
        raise PrerequisiteError(
            "no registry has the base image, and building it from Debian packages needs root",
            fix=f"run `sudo memrig image build {build}` once, or make a registry reachable, or "
            "load a base image that another machine built (docs/images.md, Without a network)",
        )
    missing = [name for name in ("debootstrap", "unshare", "tar") if shutil.which(name) is None]
    if missing:
        raise PrerequisiteError(
            f"no registry has the base image, and building it needs {', '.join(missing)}",
            fix=f"{_INSTALL_HINT}, or make a registry reachable",
        )


async def build_debian(
    engine: Engine, spec: DebianSpec, *, tag: str, labels: Mapping[str, str], say: Progress
) -> str:
    """Builds and imports the base image; returns its id. Takes about a minute the first time.

    Raises:
        PrerequisiteError: debootstrap or apt-get failed (its last lines are in the message).

    The build lock is held.
    """
    packages = cache_dir() / "debian" / spec.suite
    packages.mkdir(parents=True, exist_ok=True)
    root = scratch_dir() / "base"
    try:
        patience = "some minutes" if spec.apt else "~1 min"
        say(f"no registry has it: building the base from Debian {spec.suite} packages ({patience})")
        await _debootstrap(root, spec, packages, say)
        if spec.apt:
            await install_by_apt(root, spec.apt, packages, say)
        say("importing the base image")
        return await _import(engine, root, tag, labels)
    finally:
        await asyncio.shield(asyncio.to_thread(shutil.rmtree, root, True))


async def _debootstrap(root: Path, spec: DebianSpec, packages: Path, say: Progress) -> None:
    include = (f"--include={','.join(spec.packages)}",) if spec.packages else ()
    command = (
        *IN_NAMESPACE, "debootstrap", "--variant=minbase", f"--cache-dir={packages}", *include,
        spec.suite, str(root), spec.mirror,
    )  # fmt: skip
    fix = f"see that {spec.mirror} can be reached, or make an image registry reachable"
    await run_step("debootstrap", command, say, fix=fix)


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
