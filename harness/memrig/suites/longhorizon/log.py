"""The event log: everything that is told in a world, append-only, in one SQLite file.

It is written in bulk and read at random afterwards; indexes are made at the first read. Nothing of
it is kept in memory but pages and the events of the entities that were asked for last.
"""

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator
from itertools import islice, starmap
from operator import attrgetter
from pathlib import Path
from typing import Self, TypeVar, cast

from memrig.errors import DataError, InfrastructureError
from memrig.model.canonical import Digest
from memrig.suites.longhorizon.model import (
    Block,
    Entity,
    EventKind,
    PlannedTurn,
    Reliability,
    WorldEvent,
)

FORMAT = 1
_APPLICATION = 0x6D726967  # "mrig", in the file's header
_SCHEMA = """
CREATE TABLE world (seed INTEGER NOT NULL);
CREATE TABLE entities (
  place INTEGER PRIMARY KEY, entity_id TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL,
  sibling TEXT NOT NULL, holdout INTEGER NOT NULL, unit TEXT NOT NULL
);
CREATE TABLE turns (
  turn INTEGER PRIMARY KEY, block TEXT NOT NULL, speaker TEXT NOT NULL, told_at TEXT NOT NULL,
  draw INTEGER NOT NULL
);
CREATE TABLE events (
  event_id INTEGER PRIMARY KEY, turn INTEGER NOT NULL, entity TEXT NOT NULL,
  attribute TEXT NOT NULL, kind TEXT NOT NULL, value TEXT NOT NULL, unit TEXT NOT NULL,
  valid_from TEXT NOT NULL, source TEXT NOT NULL, reliability TEXT NOT NULL, supersedes INTEGER,
  refers_to INTEGER
);
"""
#: Made when everything is in, and when it is asked for: an index that grows along costs a third of
#: the writing, and turns are put into words without those of events.
_ENTITY_INDEXES = """
CREATE UNIQUE INDEX IF NOT EXISTS entity_ids ON entities (entity_id);
CREATE INDEX IF NOT EXISTS entity_kinds ON entities (kind);
"""
_EVENT_INDEXES = """
CREATE INDEX IF NOT EXISTS event_entities ON events (entity);
CREATE INDEX IF NOT EXISTS event_values ON events (attribute, value);
CREATE INDEX IF NOT EXISTS event_references ON events (refers_to) WHERE refers_to IS NOT NULL;
"""
_ENTITY = "entity_id, kind, name, sibling, holdout, unit"
_EVENT = (
    "event_id, turn, entity, attribute, kind, value, unit, valid_from, source, reliability, "
    "supersedes, refers_to"
)
_ONE_ENTITY = f"SELECT {_ENTITY} FROM entities WHERE entity_id = ?"  # noqa: S608
_ONE_EVENT = f"SELECT {_EVENT} FROM events WHERE event_id = ?"  # noqa: S608
_event_row = attrgetter(*_EVENT.split(", "))
_entity_row = attrgetter(*_ENTITY.split(", "))
#: Entities that are kept at a time, about 8 MB, and entities whose events are.
_ENTITIES, _KEPT = 32_768, 4_096
#: Rows that are read at once; cursors stay open over writes of nobody.
_READ = 2_048

TurnRow = tuple[int, Block, str, str, int]
EventRow = tuple[
    int, int, str, str, EventKind, str, str, str, str, Reliability, int | None, int | None
]
V = TypeVar("V")


class EventLog:
    """Entities, turns and events of one world. A context manager; not for several threads.

    Events must be added in the order of their ids and of their turns.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection
        self._indexed: set[str] = set()
        self._turns: int | None = None
        self._entities: dict[str, Entity] = {}
        self._events: dict[str, list[WorldEvent]] = {}

    @classmethod
    def create(cls, path: Path | None = None) -> Self:
        """A new, empty log; without a path in a temporary file that goes with it.

        Raises:
            DataError: there is a file at the path already.
        """
        if path is not None and path.exists():
            raise DataError("the event log exists already", where=str(path), fix="remove it first")
        db = sqlite3.connect("" if path is None else path, isolation_level=None)
        # What is lost with the power is made again from its seed.
        db.execute("PRAGMA journal_mode = OFF")
        db.execute("PRAGMA synchronous = OFF")
        db.execute("PRAGMA cache_size = -48000")
        db.execute(f"PRAGMA application_id = {_APPLICATION}")
        db.execute(f"PRAGMA user_version = {FORMAT}")
        db.executescript(_SCHEMA)
        db.execute("INSERT INTO world VALUES (0)")
        return cls(db)

    @classmethod
    def open(cls, path: Path) -> Self:
        """A log that was written before.

        Raises:
            DataError: the file is missing, or is no event log of this format.
        """
        fix = "make it again: memrig generate longhorizon"
        if not path.is_file():
            raise DataError("there is no event log here", where=str(path), fix=fix)
        db = sqlite3.connect(path, isolation_level=None)
        try:
            marks = [db.execute(f"PRAGMA {m}").fetchone()[0] for m in _MARKS]
        except sqlite3.DatabaseError as error:
            db.close()
            raise DataError(f"not an event log: {error}", where=str(path), fix=fix) from error
        if marks != list(_MARKS.values()):
            db.close()
            raise DataError(f"not an event log of format {FORMAT}", where=str(path), fix=fix)
        return cls(db)

    def close(self) -> None:
        """Closes the file; a temporary one is gone."""
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Writing

    def add_entities(self, entities: Iterable[Entity]) -> None:
        """Adds entities, in their order of creation."""
        self._entities.clear()
        self._add(
            f"INSERT INTO entities ({_ENTITY}) VALUES (?, ?, ?, ?, ?, ?)",  # noqa: S608
            map(_entity_row, entities),
        )

    def add_turns(self, turns: Iterable[TurnRow]) -> None:
        """Adds turns as (index, block, speaker, told_at, draw)."""
        self._turns = None
        self._add("INSERT INTO turns VALUES (?, ?, ?, ?, ?)", turns)

    def add_events(self, events: Iterable[WorldEvent]) -> None:
        """Adds events, in the order of their ids."""
        self.add_event_rows(map(_event_row, events))

    def add_event_rows(self, rows: Iterable[EventRow]) -> None:
        """Adds events as rows, with the fields of a `WorldEvent` in their order."""
        self._events.clear()
        self._add("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)

    def _add(self, statement: str, rows: Iterable[tuple[object, ...]]) -> None:
        try:
            self._db.execute("BEGIN")
            self._db.executemany(statement, rows)
            self._db.execute("COMMIT")
        except sqlite3.OperationalError as error:
            raise _refused(error) from error

    # The world

    @property
    def seed(self) -> int:
        """What the world is made from."""
        return int(self._one("SELECT seed FROM world"))

    @seed.setter
    def seed(self, seed: int) -> None:
        self._db.execute("UPDATE world SET seed = ?", (seed,))

    @property
    def turns(self) -> int:
        """How many turns there are."""
        if self._turns is None:
            self._turns = int(self._one("SELECT count(*) FROM turns"))
        return self._turns

    # Entities

    def entity(self, entity_id: str) -> Entity:
        """An entity by its id.

        Raises:
            KeyError: there is none.
        """
        found = self._entities.get(entity_id)
        if found is None:
            self._index(_ENTITY_INDEXES)
            row = self._db.execute(_ONE_ENTITY, (entity_id,)).fetchone()
            if row is None:
                raise KeyError(entity_id)
            found = _keep(self._entities, entity_id, _entity(row), _ENTITIES)
        return found

    def entities(self, kind: str = "") -> Iterator[Entity]:
        """All entities, or those of a kind, in their order of creation."""
        self._index(_ENTITY_INDEXES)
        where, given = ("WHERE kind = ?", [kind]) if kind else ("", [])
        statement = f"SELECT {_ENTITY} FROM entities {where} ORDER BY place"  # noqa: S608
        return map(_entity, self._rows(statement, *given))

    # Events

    def event(self, event_id: int) -> WorldEvent:
        """An event by its id.

        Raises:
            KeyError: there is none.
        """
        row = self._db.execute(_ONE_EVENT, (event_id,)).fetchone()
        if row is None:
            raise KeyError(event_id)
        return WorldEvent(*row)

    def events(self, entity: str, attribute: str = "") -> list[WorldEvent]:
        """What is told of an entity, or of one of its attributes, in the order of events."""
        found = self._events.get(entity)
        if found is None:
            self._index(_EVENT_INDEXES)
            statement = f"SELECT {_EVENT} FROM events WHERE entity = ? ORDER BY event_id"  # noqa: S608
            told = list(starmap(WorldEvent, self._rows(statement, entity)))
            found = _keep(self._events, entity, told, _KEPT)
        return [event for event in found if not attribute or event.attribute == attribute]

    def holding(self, kind: str, attribute: str, value: str | None = None) -> Iterator[WorldEvent]:
        """All events of a predicate, or those with a value, in the order of events."""
        self._index(_EVENT_INDEXES)
        same, given = ("", []) if value is None else ("AND value = ?", [value])
        statement = (
            f"SELECT {_EVENT} FROM events WHERE attribute = ? {same} "  # noqa: S608
            "AND entity >= ? AND entity < ? ORDER BY event_id"
        )
        # "/" is followed by "0": ids of the kind, and no others, lie between.
        return starmap(WorldEvent, self._rows(statement, attribute, *given, f"{kind}/", f"{kind}0"))

    def retold(self, event_id: int) -> list[WorldEvent]:
        """The events that tell an event again, or suppose or rumour about it."""
        self._index(_EVENT_INDEXES)
        statement = f"SELECT {_EVENT} FROM events WHERE refers_to = ? ORDER BY event_id"  # noqa: S608
        return list(starmap(WorldEvent, self._rows(statement, event_id)))

    # Turns

    def told_at(self, index: int) -> str:
        """When a turn is told: UTC, ISO 8601 with seconds."""
        return str(self._one("SELECT told_at FROM turns WHERE turn = ?", index))

    def block(self, index: int) -> Block:
        """What a turn is about."""
        return cast("Block", self._one("SELECT block FROM turns WHERE turn = ?", index))

    def speaker(self, index: int) -> str:
        """Who talks in a turn."""
        return str(self._one("SELECT speaker FROM turns WHERE turn = ?", index))

    def planned(self) -> Iterator[PlannedTurn]:
        """All turns in order, each with its events, as a stream."""
        events = starmap(WorldEvent, self._rows(f"SELECT {_EVENT} FROM events ORDER BY event_id"))  # noqa: S608
        waiting = next(events, None)
        turns = self._rows("SELECT turn, block, speaker, told_at, draw FROM turns ORDER BY turn")
        for index, block, speaker, told_at, draw in turns:
            told = []
            while waiting is not None and waiting.turn == index:
                told.append(waiting)
                waiting = next(events, None)
            yield PlannedTurn(index, block, speaker, told_at, tuple(told), draw)

    def digest(self) -> Digest:
        """The sha256 of all entities, turns and events, each a line of JSON in ASCII."""
        total = hashlib.sha256()
        for table, order in (("entities", "place"), ("turns", "turn"), ("events", "event_id")):
            for row in self._rows(f"SELECT * FROM {table} ORDER BY {order}"):  # noqa: S608
                total.update(json.dumps(row, separators=(",", ":")).encode() + b"\n")
        return Digest("sha256:" + total.hexdigest())

    # Reading

    def _index(self, script: str) -> None:
        if script in self._indexed:
            return
        try:
            self._db.executescript(script)
        except sqlite3.OperationalError as error:
            raise _refused(error) from error
        self._indexed.add(script)

    def _rows(self, statement: str, *given: object) -> Iterator[tuple]:  # type: ignore[type-arg]
        cursor = self._db.execute(statement, given)
        while rows := cursor.fetchmany(_READ):
            yield from rows

    def _one(self, statement: str, *given: object) -> int | str:
        row = self._db.execute(statement, given).fetchone()
        if row is None:
            raise KeyError(*given)
        return cast("int | str", row[0])


_MARKS = {"application_id": _APPLICATION, "user_version": FORMAT}


def _refused(error: sqlite3.OperationalError) -> InfrastructureError:
    """What SQLite says where the disk is full, or its folder cannot be written to."""
    return InfrastructureError(
        f"the event log cannot be written: {error}",
        where="the folder for temporary files",
        fix="free some space there, or name another one in SQLITE_TMPDIR",
    )


def _entity(row: tuple) -> Entity:  # type: ignore[type-arg]
    entity_id, kind, name, sibling, holdout, unit = row
    return Entity(entity_id, kind, name, sibling, bool(holdout), unit)


def _keep(kept: dict[str, V], key: str, value: V, most: int) -> V:
    """Remembers a value, and forgets the oldest quarter where there are too many."""
    if len(kept) >= most:
        for old in list(islice(kept, most // 4)):
            del kept[old]
    kept[key] = value
    return value
