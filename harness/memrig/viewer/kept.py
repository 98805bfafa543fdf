"""What was read of files, kept as long as they do not change."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel

from memrig.errors import VerificationError

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)


def parsed(path: Path, model: type[M], what: str) -> M:
    """What a file of one value holds.

    Raises:
        FileNotFoundError: there is no such file.
        VerificationError: it holds something else.
    """
    try:
        return model.model_validate_json(path.read_bytes())
    except ValueError as error:
        fix = "restore it, or run the benchmark again into another folder"
        raise VerificationError(
            f"is not {what} of this version", where=str(path), fix=fix
        ) from error


class _Stamp(NamedTuple):
    """What tells one content of a file from another: files here are written aside and renamed."""

    inode: int
    size: int
    changed_ns: int


def _stamp(path: Path) -> _Stamp:
    found = path.stat()
    return _Stamp(found.st_ino, found.st_size, found.st_mtime_ns)


@dataclass(slots=True)
class Kept:
    """Values by file; the least recently used ones go first. Pages are made on several threads.

    Args:
        most: how many are kept.
    """

    most: int
    _values: OrderedDict[Path, tuple[_Stamp, Any]] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def get(self, path: Path, read: Callable[[Path], T]) -> T:
        """What `read` makes of the file; a path must always come with the same `read`.

        Raises:
            FileNotFoundError: there is no such file.
        """
        stamp = _stamp(path)
        with self._lock:
            known = self._values.get(path)
            if known is not None and known[0] == stamp:
                self._values.move_to_end(path)
                value: T = known[1]
                return value
        value = read(path)
        with self._lock:
            self._values[path] = stamp, value
            while len(self._values) > self.most:
                self._values.popitem(last=False)
        return value
