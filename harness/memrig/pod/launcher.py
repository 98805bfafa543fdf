"""Becomes a process pod's command, with limits set first. Run by path, as a script.

A program of its own, not a `preexec_fn`: code between fork and exec in a process with threads can
dead-lock. Standard library only, and no import of memrig: it starts in milliseconds.
"""

import ctypes
import os
import resource
import signal
import sys

_PR_SET_PDEATHSIG = 1
EXIT_NO_COMMAND = 127
EXIT_ORPHAN = 126


def limit(data_bytes: int, files: int, file_bytes: int) -> None:
    """Sets limits that the command and all its children inherit."""
    for kind, value in (
        (resource.RLIMIT_CORE, 0),
        # Not the address space: Go, Java and numeric libraries reserve far more than they use.
        (resource.RLIMIT_DATA, data_bytes),
        (resource.RLIMIT_NOFILE, files),
        (resource.RLIMIT_FSIZE, file_bytes),
    ):
        _, hard = resource.getrlimit(kind)
        allowed = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (allowed, allowed))


def die_with(parent: int) -> None:
    """Asks the kernel to kill this process when the rig ends, however it ends (Linux only)."""
    if sys.platform != "linux":
        return
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it ended before we asked
        sys.exit(EXIT_ORPHAN)


def main(arguments: list[str]) -> None:
    """``parent data files file-size command…``; parent 0: outlive the rig."""
    parent, data, files, file_size = (int(a) for a in arguments[:4])
    command = arguments[4:]
    limit(data, files, file_size)
    if parent:
        die_with(parent)
    try:
        os.execv(command[0], command)  # noqa: S606 - a list, never a shell
    except OSError as error:
        sys.stderr.write(f"{command[0]}: {error.strerror}\n")
        sys.exit(EXIT_NO_COMMAND)


if __name__ == "__main__":
    main(sys.argv[1:])
