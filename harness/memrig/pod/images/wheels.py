"""Wheels for an image, collected on the host, so that the build itself needs no network.

Third-party ones come from a hash-locked `requirements.lock`; memrig's own come from the checkout,
or from the package index where memrig was installed without one.
"""

import asyncio
import importlib.metadata
import importlib.util
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from memrig.errors import DataError, PrerequisiteError
from memrig.model.canonical import digest_file, digest_of, short
from memrig.pod.images.collecting import cached, output_of, tail_of
from memrig.pod.images.inputs import hash_tree
from memrig.pod.images.lock import cache_dir, scratch_dir
from memrig.pod.images.sources import LOCAL_PACKAGES, checkout
from memrig.pod.images.types import Progress

#: Go's names of architectures, as the daemon says them, in wheels' words.
_MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}
_MANYLINUX = ("manylinux_2_28", "manylinux2014", "manylinux_2_17")

#: Any fixed time does; this one is the earliest that a zip file can hold.
_EPOCH = "315532800"


def platform_flags(arch: str, python: str) -> tuple[str, ...]:
    """What makes pip choose wheels for the image instead of for this machine.

    Raises:
        PrerequisiteError: no wheels exist for the daemon's architecture.
    """
    machine = _MACHINES.get(arch)
    if machine is None:
        raise PrerequisiteError(
            f"the daemon's architecture is {arch}; images are built for {', '.join(_MACHINES)}",
            fix="give an image that was built elsewhere, by digest",
        )
    platforms = [f"--platform={tag}_{machine}" for tag in _MANYLINUX]
    return (*platforms, f"--python-version={python}", "--implementation=cp", "--only-binary=:all:")


def download_command(lock: Path, into: Path, *, arch: str, python: str) -> tuple[str, ...]:
    """The pip command that collects all that a lock names, and refuses what is not in it."""
    return (
        *_pip("download"), "--require-hashes", "--no-deps", f"--requirement={lock}",
        *platform_flags(arch, python), f"--dest={into}",
    )  # fmt: skip


def _pip(verb: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "pip", verb, "--quiet", "--no-input", "--no-color", "--retries=2")


async def collect_locked(lock: Path, *, arch: str, python: str, say: Progress) -> tuple[Path, ...]:
    """The wheels that a lock names, from the cache or from the package index.

    Raises:
        PrerequisiteError: a package cannot be had; names it.
        DataError: a file of the index has another hash than the lock says.
    """
    key = digest_of({"lock": digest_file(lock), "arch": arch, "python": python})
    folder = cache_dir() / "wheels" / short(key, 32)

    async def fill(into: Path) -> None:
        say(f"collecting the wheels of {lock}")
        command = download_command(lock, into, arch=arch, python=python)
        await _run(command, what=f"collecting the wheels of {lock}")

    return _wheels(await cached(folder, fill))


def _wheels(folder: Path) -> tuple[Path, ...]:
    return tuple(sorted(folder.glob("*.whl")))


def local_hash() -> str:
    """The hash of memrig's own packages that go into an image: sources, or released versions."""
    root = checkout()
    if root is None:
        return digest_of({name: _version(name) for name in LOCAL_PACKAGES})
    return digest_of(
        {name: hash_tree(root / folder, parts) for name, (folder, parts) in LOCAL_PACKAGES.items()}
    )


async def collect_local(expected: str, say: Progress) -> tuple[Path, ...]:
    """The wheels of memrig-proto and memrig-adapters, the same bytes for the same sources.

    Args:
        expected: the `local_hash` that the image's inputs name.
        say: takes lines of text for a human.

    Raises:
        DataError: the sources were changed meanwhile.
        PrerequisiteError: they could not be built, or not be had from the package index.
    """
    folder = cache_dir() / "wheels-local" / short(expected, 32)
    root = checkout()

    async def fill(into: Path) -> None:
        if root is None:
            say("collecting the wheels of memrig-proto and memrig-adapters")
            wanted = [f"{name}=={_version(name)}" for name in LOCAL_PACKAGES]
            command = (*_pip("download"), "--no-deps", "--only-binary=:all:", f"--dest={into}")
            await _run((*command, *wanted), what="collecting memrig's own wheels")
            return
        say("building the wheels of memrig-proto and memrig-adapters")
        for sources, parts in LOCAL_PACKAGES.values():
            await _build_wheel(root / sources, parts, into)
        if await asyncio.to_thread(local_hash) != expected:
            raise DataError("changed while their wheels were built", where=str(root), fix="repeat")

    return _wheels(await cached(folder, fill))


def _version(name: str) -> str:
    # The three distributions are released together; the adapters' need not be installed here.
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return importlib.metadata.version("memrig")


async def _build_wheel(sources: Path, parts: Sequence[str], into: Path) -> None:
    """Builds from a copy of the parts that count: no litter gets in, nothing is left behind."""
    with tempfile.TemporaryDirectory(dir=scratch_dir()) as scratch:
        copy = Path(scratch)
        for part in parts:
            if (sources / part).is_dir():
                litter = shutil.ignore_patterns("__pycache__", "*.pyc")
                await asyncio.to_thread(shutil.copytree, sources / part, copy / part, ignore=litter)
            elif (sources / part).is_file():
                shutil.copyfile(sources / part, copy / part)
        # Without isolation it needs no network; where the build backend is missing, pip fetches it.
        here = importlib.util.find_spec("hatchling") is not None
        isolation = ("--no-build-isolation",) if here else ()
        await _run(
            (*_pip("wheel"), "--no-deps", *isolation, f"--wheel-dir={into}", str(copy)),
            what=f"building the wheel of {sources.name}/",
        )


async def _run(command: Sequence[str], *, what: str) -> None:
    if importlib.util.find_spec("pip") is None:
        raise PrerequisiteError(
            f"{what} needs pip, and {sys.executable} has none",
            fix=f"{sys.executable} -m ensurepip",
        )
    environment = {"SOURCE_DATE_EPOCH": _EPOCH, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    code, output = await output_of(command, environment)
    if code != 0:
        raise explain_pip(output, what=what)


def explain_pip(output: str, *, what: str) -> PrerequisiteError | DataError:
    """The error for a pip that failed: which package, and what to do about it."""
    tail = tail_of(output, "WARNING:")
    if "DO NOT MATCH THE HASHES" in output or "In --require-hashes mode" in output:
        return DataError(
            f"pip refuses what the lock does not name exactly:\n{tail}",
            where=what,
            fix="regenerate the lock: `make image-locks`, or see docs/images.md, Locks",
        )
    missing = re.search(r"No matching distribution found for ([^\s;]+)", output)
    package = f"{missing.group(1)} cannot be had" if missing else "pip failed"
    return PrerequisiteError(
        f"{package}:\n{tail}",
        where=what,
        fix="see that the package index pip is configured for can be reached and has a wheel of it "
        "for this platform; on a machine without one, load the image instead (`memrig image load`)",
    )
