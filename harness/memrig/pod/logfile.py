"""A process pod's log: all that comes out of a pipe, of which only the end is kept."""

import os
import threading
from contextlib import suppress
from pathlib import Path

from memrig.pod.text import last_lines, plain_text

#: Two files of this size, as for a container.
MAX_BYTES = 8 * 1024**2
_CHUNK = 1 << 16
_TAIL_BYTES = 256 * 1024


class CappedLog:
    """Drains a pipe into a file in a thread of its own; a full file replaces the one before it.

    Args:
        path: the newer file; the older one has the suffix ``.1``.
        max_bytes: the size of each.
    """

    def __init__(self, path: Path, max_bytes: int = MAX_BYTES) -> None:
        self._path = path
        self._max_bytes = max_bytes
        self._read_end, self.write_end = os.pipe()
        self._file = path.open("wb", buffering=0)
        self._thread = threading.Thread(target=self._drain, daemon=True, name="pod-log")
        self._thread.start()

    def handed_over(self) -> None:
        """Closes our copy of `write_end`, once the process that writes has its own."""
        if self.write_end >= 0:
            os.close(self.write_end)
            self.write_end = -1

    def close(self) -> None:
        """Ends the thread; what is still in the pipe is read first."""
        self.handed_over()
        # Should a process that escaped hold the pipe open, the thread stays, and harms nobody.
        self._thread.join(timeout=1.0)

    def _drain(self) -> None:
        written = 0
        while chunk := self._read():
            if written + len(chunk) > self._max_bytes:
                self._rotate()
                written = 0
            with suppress(OSError):  # a full disk must not block the adapter
                self._file.write(chunk)
            written += len(chunk)
        self._file.close()
        os.close(self._read_end)

    def _read(self) -> bytes:
        try:
            return os.read(self._read_end, _CHUNK)
        except OSError:
            return b""

    def _rotate(self) -> None:
        with suppress(OSError):
            self._path.replace(self._path.with_suffix(".1"))
        self._file.close()
        self._file = self._path.open("wb", buffering=0)


def tail(path: Path, lines: int) -> str:
    """The last lines of a capped log, control sequences removed."""
    data = b"".join(_end_of(p) for p in (path.with_suffix(".1"), path))
    return last_lines(plain_text(data[-_TAIL_BYTES:].decode("utf-8", "replace")), lines)


def _end_of(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _TAIL_BYTES))
            return file.read()
    except OSError:
        return b""
