"""Processes of this machine, from /proc. Empty where there is no /proc."""

import os
import signal
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

#: In the environment of every process of a process pod; its value is the pod's id.
POD_VARIABLE = "MEMRIG_POD"

_PROC = Path("/proc")
_ENDED = "ZX"
_POLL_S = 0.01


@dataclass(frozen=True, slots=True)
class ProcessUsage:
    """CPU time with waited-for children, and resident memory now and at its peak."""

    cpu_s: float
    memory_bytes: int
    peak_bytes: int


def marked(pod: str) -> tuple[int, ...]:
    """The processes that were started with a pod's mark, whatever session they moved to."""
    mark = f"{POD_VARIABLE}={pod}".encode()
    found = []
    for pid in _pids():
        with suppress(OSError):  # gone meanwhile, or another user's
            if mark in (_PROC / str(pid) / "environ").read_bytes().split(b"\0"):
                found.append(pid)
    return tuple(found)


def session_members(leader: int) -> tuple[int, ...]:
    """The living processes of a session (session id = its leader's pid)."""
    found = []
    for pid in _pids():
        fields = _stat(pid)
        if fields and fields[3] == str(leader) and fields[0] not in _ENDED:
            found.append(pid)
    return tuple(found)


def usage_of(pids: Iterable[int]) -> ProcessUsage | None:
    """The usage of several processes together; None: none of them could be read."""
    tick = os.sysconf("SC_CLK_TCK")
    total: list[ProcessUsage] = []
    for pid in pids:
        fields = _stat(pid)
        memory = _status(pid)
        if fields and memory:
            # proc(5): utime, stime, cutime, cstime are fields 14 to 17 of stat.
            ticks = sum(int(value) for value in fields[11:15])
            peak, now = memory.get("VmHWM", 0), memory.get("VmRSS", 0)
            total.append(ProcessUsage(ticks / tick, now, peak))
    if not total:
        return None
    return ProcessUsage(
        cpu_s=sum(u.cpu_s for u in total),
        memory_bytes=sum(u.memory_bytes for u in total),
        peak_bytes=sum(u.peak_bytes for u in total),
    )


def kill(pids: Iterable[int]) -> int:
    """Kills processes; returns how many there still were."""
    killed = 0
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
            killed += 1
    return killed


def end_marked(pod: str, within_s: float) -> None:
    """Kills what bears a pod's mark until nothing does, and waits for it to be gone.

    A signal is delivered when the kernel gets round to it, and whoever forks meanwhile leaves a
    child that no list had.
    """
    deadline = time.monotonic() + within_s
    killed: set[int] = set()
    while True:
        found = marked(pod)
        kill(found)
        killed = {pid for pid in killed.union(found) if _runs(pid)}
        if not killed or time.monotonic() > deadline:
            return
        time.sleep(_POLL_S)


def _runs(pid: int) -> bool:
    fields = _stat(pid)
    return bool(fields) and fields[0] not in _ENDED


def _pids() -> Iterator[int]:
    with suppress(OSError):
        for entry in os.listdir(_PROC):  # noqa: PTH208 - names are all that is needed
            if entry.isdigit() and int(entry) != os.getpid():
                yield int(entry)


def _stat(pid: int) -> list[str]:
    """Fields of /proc/pid/stat from the third (the state) on."""
    with suppress(OSError):
        text = (_PROC / str(pid) / "stat").read_text("utf-8", "replace")
        return text.rpartition(")")[2].split()
    return []


def _status(pid: int) -> dict[str, int]:
    """The sizes in /proc/pid/status, in bytes. A zombie has none."""
    values = {}
    with suppress(OSError):
        for line in (_PROC / str(pid) / "status").read_text("utf-8", "replace").splitlines():
            name, _, value = line.partition(":")
            if value.endswith(" kB"):
                values[name] = int(value[:-3]) * 1024
    return values
