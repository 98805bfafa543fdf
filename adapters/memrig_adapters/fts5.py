"""Full-text search by SQLite's FTS5: porter stems, bm25 ranking, nothing to install."""

import re
import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from memrig_adapters.adapter import Adapter
from memrig_adapters.errors import NotFound
from memrig_adapters.passages import Passage, passages_of
from memrig_adapters.types import (
    Capabilities,
    Document,
    Duplicate,
    Episode,
    FilterField,
    FilterType,
    Hit,
    Operator,
    Query,
)

_SCHEMA = """
CREATE TABLE episode (id TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE passage (
  id INTEGER PRIMARY KEY, ref TEXT UNIQUE, episode TEXT, turn TEXT, time INTEGER, text TEXT);
CREATE INDEX passage_by_episode ON passage (episode);
CREATE INDEX passage_by_time ON passage (time);
CREATE VIRTUAL TABLE word USING fts5 (
  text, content = 'passage', content_rowid = 'id', tokenize = 'porter unicode61');
"""
_COLUMNS = "p.ref, p.text, p.episode, p.turn, p.time"
_TIME_CONDITION = {
    Operator.EQUAL: "rowid IN (SELECT id FROM passage WHERE time = ?)",
    Operator.GREATER_OR_EQUAL: "rowid IN (SELECT id FROM passage WHERE time >= ?)",
    Operator.LESS: "rowid IN (SELECT id FROM passage WHERE time < ?)",
}
_TOKEN = re.compile(r"\w+")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

Row = tuple[str, str, str, str | None, int | None]


class Fts5Adapter(Adapter):
    """An SQLite database in memory with a full-text index, which grows with each episode."""

    capabilities = Capabilities(
        name="fts5",
        version=f"SQLite {sqlite3.sqlite_version}",
        filter_fields=(
            FilterField("timestamp", FilterType.TIMESTAMP, description="when it happened"),
        ),
        max_results=1000,
        reports_source_turns=True,
        limitations=("It is held in memory: a restart of its process empties it.",),
    )

    def start(self) -> None:
        """Opens the database.

        Raises:
            RuntimeError: this SQLite was built without FTS5.
        """
        # The SDK calls from changing threads, one at a time.
        self._db = sqlite3.connect(":memory:", check_same_thread=False)
        try:
            self._db.executescript(_SCHEMA)
        except sqlite3.OperationalError as error:
            raise RuntimeError(
                f"SQLite {sqlite3.sqlite_version} of this Python has no FTS5: {error}"
            ) from error

    def close(self) -> None:
        """Closes the database."""
        self._db.close()

    def reset(self) -> None:
        """Opens a new, empty database in place of the old one."""
        self.close()
        self.start()

    def ingest(self, episode: Episode) -> int | Duplicate:
        """Cuts an episode into passages and indexes them."""
        fresh = self._db.execute(
            "INSERT OR IGNORE INTO episode VALUES (?)", (episode.episode_id,)
        ).rowcount
        if not fresh:
            return Duplicate()
        passages = passages_of(episode)
        for p in passages:
            time = None if p.timestamp is None else _microseconds(p.timestamp)
            row = self._db.execute(
                "INSERT INTO passage (ref, episode, turn, time, text) VALUES (?, ?, ?, ?, ?)",
                (p.ref_id, p.episode_id, p.turn_id, time, p.text),
            ).lastrowid
            self._db.execute("INSERT INTO word (rowid, text) VALUES (?, ?)", (row, p.text))
        return len(passages)

    def flush(self) -> int:
        """Commits; counts the passages."""
        self._db.commit()
        (count,) = self._db.execute("SELECT count(*) FROM passage").fetchone()
        return int(count)

    def search(self, query: Query) -> list[Hit]:
        """Ranks the passages that hold any word of the query, by FTS5's bm25."""
        words = dict.fromkeys(_TOKEN.findall(query.text.lower()))
        if not words:
            return []
        conditions = ["word MATCH ?"]
        values: list[str | int] = [" OR ".join(f'"{word}"' for word in words)]
        for item in query.filters:
            if isinstance(item.value, datetime):
                conditions.append(_TIME_CONDITION[item.operator])
                values.append(_microseconds(item.value))
        # Ranks ids alone, and joins the few best: sorting the texts along takes twice as long.
        best = (
            "SELECT rowid AS id, bm25(word) AS score FROM word "  # noqa: S608 - fixed texts alone
            f"WHERE {' AND '.join(conditions)} ORDER BY score, rowid LIMIT ?"
        )
        rows = self._db.execute(
            f"SELECT score, {_COLUMNS} FROM ({best}) JOIN passage p USING (id) "  # noqa: S608
            "ORDER BY score, id",
            [*values, query.limit],
        )
        # FTS5 counts down: the best is the most negative.
        return [_passage(row).hit(-score) for score, *row in rows]

    def retrieve(self, ref_id: str) -> Document:
        """Returns one passage."""
        row = self._db.execute(
            f"SELECT {_COLUMNS} FROM passage p WHERE p.ref = ?",  # noqa: S608 - a fixed text
            (ref_id,),
        ).fetchone()
        if row is None:
            raise NotFound(f"no passage {ref_id!r}")
        return _passage(row).document()

    def forget(self, episode_ids: Sequence[str]) -> int:
        """Removes the episodes from the tables and from the index."""
        return sum(self._forget(episode_id) for episode_id in dict.fromkeys(episode_ids))

    def _forget(self, episode_id: str) -> int:
        self._db.execute(
            "INSERT INTO word (word, rowid, text) "
            "SELECT 'delete', id, text FROM passage WHERE episode = ?",
            (episode_id,),
        )
        self._db.execute("DELETE FROM passage WHERE episode = ?", (episode_id,))
        return self._db.execute("DELETE FROM episode WHERE id = ?", (episode_id,)).rowcount


def _passage(row: Sequence[object]) -> Passage:
    ref, text, episode, turn, time = row
    return Passage(
        str(ref),
        str(text),
        str(episode),
        None if turn is None else str(turn),
        _EPOCH + timedelta(microseconds=time) if isinstance(time, int) else None,
    )


def _microseconds(time: datetime) -> int:
    return (time - _EPOCH) // _MICROSECOND
