"""Looks for a text in all that a process in a pod can read: environments, files, its own memory.

The text comes in two halves and is never put together, or it would be found for having been asked
for.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

LARGEST = 8 << 20
_BLOCK = 16 << 20


@dataclass
class Search:
    """A search under way: what was found where, and how much was read."""

    head: bytes
    tail: bytes
    found: list[str] = field(default_factory=list)
    read: dict[str, int] = field(default_factory=dict)

    def look(self, kind: str, where: str, data: bytes) -> None:
        """Notes the place if the data hold the text."""
        self.read[kind] = self.read.get(kind, 0) + 1
        if self._holds(data) and where not in self.found:
            self.found.append(where)

    def _holds(self, data: bytes) -> bool:
        at = data.find(self.head)
        while at >= 0:
            if data.startswith(self.tail, at + len(self.head)):
                return True
            at = data.find(self.head, at + 1)
        return False


def look_for(head: str, tail: str, roots: Iterable[str], *, others: bool) -> Search:
    """Searches everything.

    Args:
        head: the first half of the text.
        tail: the second.
        roots: folders that are walked.
        others: also look at every other process that can be seen.
    """
    search = Search(head.encode(), tail.encode())
    entries = "\0".join(f"{name}={value}" for name, value in os.environ.items())
    search.look("environments", "environment", entries.encode())
    for number in _processes() if others else ("self",):
        for name in ("environ", "cmdline"):
            path = Path("/proc", number, name)
            if (data := _content(path.read_bytes)) is not None:
                search.look("processes", str(path), data)
    for root in roots:
        for path in _files(root):
            if (data := _content(path.read_bytes)) is not None:
                search.look("files", str(path), data)
    for block in _memory():
        search.look("blocks", "memory", block)
    return search


def _processes() -> list[str]:
    return [path.name for path in Path("/proc").iterdir() if path.name.isdigit()]


def _content(read: Callable[[], bytes]) -> bytes | None:
    try:
        return read()
    except OSError:
        return None


def _files(root: str) -> Iterator[Path]:
    for folder, _, names in os.walk(root):
        for name in names:
            path = Path(folder, name)
            if not path.is_symlink() and path.is_file() and path.stat().st_size <= LARGEST:
                yield path


def _memory() -> Iterator[bytes]:
    """What this process can write to of its own memory, which is where its data are."""
    maps = Path("/proc/self/maps").read_text()
    ranges = re.findall(r"^([0-9a-f]+)-([0-9a-f]+) rw", maps, re.MULTILINE)
    with Path("/proc/self/mem").open("rb", buffering=0) as memory:
        for first, last in ranges:
            begin, end = int(first, 16), int(last, 16)
            for at in range(begin, end, _BLOCK):
                memory.seek(at)
                size = min(_BLOCK, end - at)
                block = _content(lambda size=size: memory.read(size))  # type: ignore[misc]
                if block:
                    yield block
