"""One build at a time on a machine, over processes: a file lock that waits without blocking."""

import asyncio
import fcntl
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import platformdirs

from memrig.pod.images.types import Progress

_POLL_S = 0.1


def cache_dir() -> Path:
    """Where wheels, Debian packages and locks are kept; safe to delete at any time."""
    return Path(platformdirs.user_cache_dir("memrig"))


def scratch_dir() -> Path:
    """Where the holder of the build lock puts what it does not keep."""
    return cache_dir() / "scratch"


@asynccontextmanager
async def build_lock(say: Progress) -> AsyncIterator[None]:
    """Holds the machine's build lock.

    Builds share a cache of wheels and of builder stages, and two at once would build the same
    image twice. The kernel frees the lock when its process ends, however it ends.
    """
    path = cache_dir() / "build.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        told = False
        while not _try_lock(descriptor):
            if not told:
                say("waiting for another memrig to finish its build")
                told = True
            await asyncio.sleep(_POLL_S)
        shutil.rmtree(scratch_dir(), ignore_errors=True)  # what a killed build left behind
        scratch_dir().mkdir()
        yield
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
