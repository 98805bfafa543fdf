"""Which episodes the memory has taken, and how many memories each became; survives a restart."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path

_SCHEMA = """
CREATE TABLE IF NOT EXISTS episodes (
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE NOT NULL, items INTEGER
)
"""


class Ledger:
    """A small table beside mem0's own store, which cannot tell an episode that became nothing."""

    def __init__(self, path: Path) -> None:
        # Methods of an adapter come from changing threads, one at a time.
        self._rows = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self._rows.execute(_SCHEMA)

    def holds(self, episode_id: str) -> bool:
        """Whether an episode was taken whole."""
        found = self._rows.execute(
            "SELECT 1 FROM episodes WHERE id = ? AND items IS NOT NULL", (episode_id,)
        )
        return found.fetchone() is not None

    def begin(self, episode_id: str) -> tuple[int, bool]:
        """The episode's place in the order of arrival, and whether it was begun before."""
        found = self._rows.execute("SELECT number FROM episodes WHERE id = ?", (episode_id,))
        if row := found.fetchone():
            return int(row[0]), True
        made = self._rows.execute("INSERT INTO episodes (id) VALUES (?)", (episode_id,))
        return int(made.lastrowid or 0), False

    def finish(self, episode_id: str, items: int) -> None:
        """Notes that an episode is stored."""
        self._rows.execute("UPDATE episodes SET items = ? WHERE id = ?", (items, episode_id))

    def items(self) -> int:
        """How many memories there are."""
        (total,) = self._rows.execute("SELECT coalesce(sum(items), 0) FROM episodes").fetchone()
        return int(total)

    def remove(self, episode_ids: Sequence[str]) -> None:
        """Forgets that episodes were taken."""
        self._rows.executemany("DELETE FROM episodes WHERE id = ?", [(i,) for i in episode_ids])

    def clear(self) -> None:
        """Forgets all of them."""
        self._rows.execute("DELETE FROM episodes")

    def close(self) -> None:
        """Closes the file."""
        self._rows.close()
