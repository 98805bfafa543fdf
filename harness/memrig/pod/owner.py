"""Who owns a pod: one process of one host, told apart from a later one with the same pid.

What a pod leaves on the machine (containers, volumes, folders, processes) carries its owner, so
that a later run can tell an orphan from a pod that is in use.
"""

import os
import platform
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PREFIX = "io.memrig."

_FIELDS = ("run", "trial", "pid", "host", "started", "lease", "keep")


@dataclass(frozen=True, slots=True)
class Owner:
    """The labels of one pod.

    Args:
        run: the run's id.
        trial: the trial's id.
        pid: the owning process.
        host: the machine that `pid` is a process of.
        started: when that process started, in a form that no other process of this host shares,
            not even one after a reboot.
        lease: Unix time in seconds after which the pod may be removed whoever owns it.
        keep: left running on purpose; only `memrig clean` or the lease ends it.
    """

    run: str
    trial: str
    pid: int
    host: str
    started: str
    lease: int
    keep: bool = False

    def labels(self) -> dict[str, str]:
        """As labels of a container or a volume."""
        values = {name: getattr(self, name) for name in _FIELDS}
        values["keep"] = int(self.keep)
        return {PREFIX + name: str(value) for name, value in values.items()}

    @staticmethod
    def from_labels(labels: Mapping[str, str]) -> "Owner | None":
        """The owner that labels name; None where they are not a pod's."""
        try:
            values = {name: labels[PREFIX + name] for name in _FIELDS}
            return Owner(
                run=values["run"],
                trial=values["trial"],
                pid=int(values["pid"]),
                host=values["host"],
                started=values["started"],
                lease=int(values["lease"]),
                keep=values["keep"] == "1",
            )
        except (KeyError, ValueError):
            return None

    @property
    def on_this_host(self) -> bool:
        """Whether `pid` is a process of this machine."""
        return self.host == host_name()

    def lives(self) -> bool:
        """Whether the owning process still runs. Another host's is taken to."""
        return not self.on_this_host or process_token(self.pid) == self.started

    def expired(self, now: float) -> bool:
        """Whether the lease has run out at Unix time `now`."""
        return now > self.lease


def this_process(run: str, trial: str, lease_s: float, *, keep: bool = False) -> Owner:
    """The owner of a pod that this process starts now."""
    return Owner(
        run=run,
        trial=trial,
        pid=os.getpid(),
        host=host_name(),
        started=process_token(os.getpid()) or "unknown",
        lease=int(time.time() + lease_s),
        keep=keep,
    )


@cache
def host_name() -> str:
    """A name for this machine, the same after a reboot."""
    return platform.node() or "localhost"


def process_token(pid: int) -> str | None:
    """What tells a process from any other that had or will have its pid; None: there is none.

    The boot's id and the start time in clock ticks since boot (proc(5), /proc/pid/stat field 22).
    A zombie counts as gone: it runs nothing more.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        return _token_without_proc(pid)
    fields = stat.rpartition(")")[2].split()
    state, started = fields[0], fields[19]
    return None if state in "ZX" else f"{boot[:8]}-{started}"


def _token_without_proc(pid: int) -> str | None:
    if Path("/proc/self/stat").exists():
        return None
    try:  # macOS: a reused pid cannot be told apart, which only ever keeps an orphan for its lease
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except PermissionError:
        pass
    return "alive"
