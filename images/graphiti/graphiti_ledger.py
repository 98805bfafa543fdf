"""Which of graphiti's episodes are parts of which of the rig's; survives a restart."""

import sqlite3
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

_SCHEMA = """
CREATE TABLE IF NOT EXISTS parts (uuid TEXT PRIMARY KEY, episode TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS parts_of ON parts (episode);
CREATE TABLE IF NOT EXISTS whole (episode TEXT PRIMARY KEY, time TEXT);
"""


class Ledger:
    """A small table beside the graph."""

    def __init__(self, path: Path) -> None:
        self._rows = sqlite3.connect(path, isolation_level=None)
        self._rows.executescript(_SCHEMA)

    def holds(self, episode_id: str) -> bool:
        """Whether an episode was taken whole."""
        found = self._rows.execute("SELECT 1 FROM whole WHERE episode = ?", (episode_id,))
        return found.fetchone() is not None

    def parts(self, episode_id: str) -> list[str]:
        """graphiti's names for an episode's parts."""
        found = self._rows.execute("SELECT uuid FROM parts WHERE episode = ?", (episode_id,))
        return [uuid for (uuid,) in found]

    def episodes_of(self, uuids: Sequence[str]) -> list[str]:
        """The episodes that these are parts of; those that were forgotten are left out."""
        asked = (
            self._rows.execute("SELECT episode FROM parts WHERE uuid = ?", (uuid,)).fetchone()
            for uuid in uuids
        )
        return [row[0] for row in asked if row is not None]

    def add_part(self, episode_id: str, uuid: str) -> None:
        """Notes a part that graphiti has taken."""
        self._rows.execute("INSERT INTO parts VALUES (?, ?)", (uuid, episode_id))

    def finish(self, episode_id: str, time: datetime | None) -> None:
        """Notes that an episode was taken whole."""
        stamp = None if time is None else time.isoformat(timespec="microseconds")
        self._rows.execute("INSERT INTO whole VALUES (?, ?)", (episode_id, stamp))

    def now(self, time: datetime | None) -> datetime | None:
        """The episode's own time, or else the newest so far, or None where there was none."""
        if time is not None:
            return time
        (newest,) = self._rows.execute("SELECT max(time) FROM whole").fetchone()
        return None if newest is None else datetime.fromisoformat(newest)

    def remove(self, episode_id: str) -> None:
        """Forgets an episode."""
        for table in ("parts", "whole"):
            self._rows.execute(f"DELETE FROM {table} WHERE episode = ?", (episode_id,))  # noqa: S608

    def clear(self) -> None:
        """Forgets all of them."""
        self._rows.executescript("DELETE FROM parts; DELETE FROM whole;")

    def close(self) -> None:
        """Closes the file."""
        self._rows.close()
