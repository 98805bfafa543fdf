"""Who is at work in which folder, without asking for the lock.

To try a lock is to hold it for a moment, and a run that starts in that moment would be refused.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Self

_LOCKS = Path("/proc/locks")


@dataclass(frozen=True, slots=True)
class Holders:
    """The locks of this machine at one moment, as the kernel lists them; None where it does not."""

    names: frozenset[str] | None

    @classmethod
    def now(cls, path: Path = _LOCKS) -> Self:
        """The locks that are held now."""
        try:
            lines = path.read_text("ascii", "replace").splitlines()
        except OSError:
            return cls(None)
        return cls(frozenset(word for line in lines if "FLOCK" in line for word in line.split()))

    def hold(self, folder: Path) -> bool | None:
        """Whether a process holds a folder (trial/directory.py, `hold`); None: nobody can tell."""
        if self.names is None:
            return None
        try:
            found = folder.stat()
        except OSError:
            return False
        place = f"{os.major(found.st_dev):02x}:{os.minor(found.st_dev):02x}:{found.st_ino}"
        return place in self.names
