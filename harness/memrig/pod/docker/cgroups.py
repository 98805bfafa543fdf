"""A container's counters, from the host's cgroup files: v1 and v2, no engine call needed."""

from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_ROOT = Path("/sys/fs/cgroup")


@dataclass(frozen=True, slots=True)
class Cgroup:
    """Where one container's counters are. A None: that controller was not found."""

    version: int
    memory: Path | None
    cpu: Path | None


@dataclass(frozen=True, slots=True)
class Reading:
    """The counters at one moment. A None could not be read."""

    cpu_s: float | None = None
    peak_bytes: int | None = None
    memory_bytes: int | None = None
    file_bytes: int | None = None
    oom_kills: int | None = None


def find_cgroup(
    pid: int, container: str, *, proc: Path = _PROC, root: Path = _ROOT
) -> Cgroup | None:
    """The cgroup of a container by a process of it, as the host sees that process.

    None where there is no such process here, or where its cgroup is not the container's: the rig
    may itself run in a container whose pids are others.
    """
    try:
        lines = (proc / str(pid) / "cgroup").read_text("utf-8").splitlines()
    except OSError:
        return None
    paths: dict[str, tuple[str, str]] = {}
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if container in path:
            paths |= dict.fromkeys(controllers.split(","), (controllers, path))
    if "memory" in paths or "cpuacct" in paths:
        return Cgroup(1, _v1(root, paths, "memory"), _v1(root, paths, "cpuacct"))
    if "" in paths:
        folder = root / paths[""][1].lstrip("/")
        return Cgroup(2, folder, folder) if folder.is_dir() else None
    return None


def read_cgroup(cgroup: Cgroup) -> Reading:
    """The counters now."""
    if cgroup.version == 1:
        cpu_ns = _number(cgroup.cpu, "cpuacct.usage")
        return Reading(
            cpu_s=None if cpu_ns is None else cpu_ns / 1e9,
            peak_bytes=_number(cgroup.memory, "memory.max_usage_in_bytes"),
            memory_bytes=_number(cgroup.memory, "memory.usage_in_bytes"),
            file_bytes=_field(cgroup.memory, "memory.stat", "total_shmem"),
            oom_kills=_field(cgroup.memory, "memory.oom_control", "oom_kill"),
        )
    cpu_us = _field(cgroup.cpu, "cpu.stat", "usage_usec")
    return Reading(
        cpu_s=None if cpu_us is None else cpu_us / 1e6,
        peak_bytes=_number(cgroup.memory, "memory.peak"),  # since Linux 5.19
        memory_bytes=_number(cgroup.memory, "memory.current"),
        file_bytes=_field(cgroup.memory, "memory.stat", "shmem"),
        oom_kills=_field(cgroup.memory, "memory.events", "oom_kill"),
    )


def _v1(root: Path, paths: dict[str, tuple[str, str]], controller: str) -> Path | None:
    if controller not in paths:
        return None
    mounted_as, path = paths[controller]
    for name in (controller, mounted_as):  # `cpuacct` may be mounted as `cpu,cpuacct` only
        folder = root / name / path.lstrip("/")
        if folder.is_dir():
            return folder
    return None


def _number(folder: Path | None, name: str) -> int | None:
    text = _read(folder, name).strip()
    return int(text) if text.isdigit() else None


def _field(folder: Path | None, name: str, field: str) -> int | None:
    for line in _read(folder, name).splitlines():
        key, _, value = line.partition(" ")
        if key == field and value.strip().isdigit():
            return int(value)
    return None


def _read(folder: Path | None, name: str) -> str:
    if folder is None:
        return ""
    try:
        return (folder / name).read_text("ascii")
    except OSError:  # the container has ended, or the file is not readable by this user
        return ""
