"""What this machine offers to pods, for `memrig doctor`. Returns data, prints nothing."""

import os
import sys
from pathlib import Path

from memrig.errors import MemrigError, PrerequisiteError
from memrig.pod.check import Check
from memrig.pod.docker.engine import Engine, socket_path
from memrig.pod.docker.facts import EngineFacts
from memrig.pod.docker.floor import engine_checks
from memrig.pod.runtime import (
    MAX_SOCKET_PATH,
    ROOT_VARIABLE,
    check_root,
    runtime_root,
    socket_path_bytes,
)

#: A base image, a few adapters, and their build stages.
_FREE_BYTES = 3 * 1024**3


async def probe_pods() -> tuple[Check, ...]:
    """Every check, in an order in which a failing one explains those that follow."""
    platform = Check("platform", sys.platform == "linux", sys.platform, "pods need Linux")
    checks = [platform, *_runtime_checks()]
    try:
        facts = await engine_facts()
    except MemrigError as error:
        fix = error.fix or "start the Docker daemon"
        return (*checks, Check("Docker daemon", False, error.message, fix, needed=False))
    found = f"{facts.server_version} at {socket_path()}"
    return (
        *checks,
        Check("Docker daemon", True, found),
        *engine_checks(facts),
        Check("cgroup version", True, facts.cgroup_version or "unknown"),
        _storage(facts.root),
    )


async def engine_facts() -> EngineFacts:
    """What the local engine says about itself.

    Raises:
        PrerequisiteError: there is none.
        InfrastructureError: it does not answer.
    """
    engine = Engine(socket_path())
    try:
        return await engine.facts()
    finally:
        engine.close()


def _runtime_checks() -> tuple[Check, ...]:
    root = runtime_root().absolute()
    length = socket_path_bytes(root)
    path = Check(
        "socket path length",
        length < MAX_SOCKET_PATH,
        f"{length} bytes, of {MAX_SOCKET_PATH - 1}",
        f"set {ROOT_VARIABLE} to a short folder, such as /tmp/mr",
    )
    try:
        check_root(root)
    except PrerequisiteError as error:
        return path, Check("runtime folder", False, f"{root} {error.message}", error.fix)
    return path, Check("runtime folder", True, str(root))


def _storage(root: str) -> Check:
    """Free space where the engine keeps images; unknown where this user cannot look."""
    name = "Docker storage"
    try:
        state = os.statvfs(Path(root))
    except OSError as error:
        return Check(name, True, f"{root}: unknown ({error.strerror})", needed=False)
    free = state.f_bavail * state.f_frsize
    return Check(
        name,
        free >= _FREE_BYTES,
        f"{free / 1024**3:.1f} GiB free at {root}",
        "free space: `memrig image prune` and `docker system prune` help",
        needed=False,
    )
