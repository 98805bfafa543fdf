"""The record: every exchange with a model and every attempt at one, in one SQLite file.

While it is open, SQLite keeps a log beside it, so that a killed run loses nothing that was
answered; closing folds the log in, and the file is whole by itself. Writes are committed by a
thread, as many at once as there are, before their callers go on.
"""

import asyncio
import queue
import sqlite3
import threading
from collections.abc import Iterable
from contextlib import closing
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Literal, Self, cast

from memrig.errors import HarnessError, InfrastructureError, PrerequisiteError, UsageError
from memrig.gateway.keys import Key
from memrig.model.chat import Phase

FORMAT = 1
_SCHEMA = """
CREATE TABLE IF NOT EXISTS requests (digest TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS exchanges (
  key TEXT PRIMARY KEY, same TEXT NOT NULL, request TEXT NOT NULL, format TEXT NOT NULL,
  model TEXT NOT NULL, phase TEXT NOT NULL, purpose TEXT NOT NULL, trial_id TEXT NOT NULL,
  scope TEXT NOT NULL, seed INTEGER NOT NULL, attempt INTEGER NOT NULL, vote INTEGER NOT NULL,
  occurrence INTEGER NOT NULL, state TEXT NOT NULL, status INTEGER, error TEXT NOT NULL,
  response TEXT, events TEXT, served_model TEXT NOT NULL, input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL, cost_usd REAL, ns INTEGER NOT NULL, attempts INTEGER NOT NULL,
  at TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS exchanges_same ON exchanges (same, occurrence);
CREATE TABLE IF NOT EXISTS attempts (
  id INTEGER PRIMARY KEY, key TEXT NOT NULL, number INTEGER NOT NULL, model TEXT NOT NULL,
  phase TEXT NOT NULL, purpose TEXT NOT NULL, trial_id TEXT NOT NULL, status INTEGER,
  error TEXT NOT NULL, message TEXT NOT NULL, retry_after_s REAL, ns INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, cost_usd REAL, at TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS wires (model TEXT PRIMARY KEY, format TEXT NOT NULL) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A row of `exchanges`: one call as its caller saw it.

    `state` is "ok", or how it ended: a `GatewayFault`, or "cancelled". `status` is the HTTP status
    that a memory system was given. `response` is the reply without a stream, or the provider's
    error body; `events` the stream where there was one; both are None in mode live.
    """

    key: str
    same: str
    request: str
    format: str
    model: str
    phase: str
    purpose: str
    trial_id: str
    scope: str
    seed: int
    attempt: int
    vote: int
    occurrence: int
    state: str
    status: int | None
    error: str
    response: str | None
    events: str | None
    served_model: str
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    ns: int
    attempts: int
    at: str


@dataclass(frozen=True, slots=True)
class Attempt:
    """A row of `attempts`: one call to a provider. Tokens and cost are those it was charged for."""

    key: str
    number: int
    model: str
    phase: str
    purpose: str
    trial_id: str
    status: int | None
    error: str
    message: str
    retry_after_s: float | None
    ns: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    at: str


@dataclass(frozen=True, slots=True)
class Paid:
    """What was paid so far for one trial's phase."""

    trial_id: str
    phase: Phase
    tokens: int
    cost_usd: float


def _insert(table: str, row: type[Exchange] | type[Attempt], otherwise: str) -> str:
    names = [field.name for field in fields(row)]
    marks = ", ".join("?" * len(names))
    return f"INSERT OR {otherwise} INTO {table} ({', '.join(names)}) VALUES ({marks})"  # noqa: S608


_INSERT_EXCHANGE = _insert("exchanges", Exchange, "REPLACE")
#: A call that keeps no bodies takes nothing from an earlier one that did.
_INSERT_BARE = _insert("exchanges", Exchange, "IGNORE")
_INSERT_ATTEMPT = _insert("attempts", Attempt, "ABORT")
_INSERT_REQUEST = "INSERT OR IGNORE INTO requests VALUES (?, ?)"
_INSERT_WIRE = "INSERT OR REPLACE INTO wires VALUES (?, ?)"

Statement = tuple[str, tuple[object, ...]]


class Record:
    """An open record.

    Args:
        path: the file.
        read_only: nothing is written; the file must be there.
    """

    def __init__(self, path: Path, *, read_only: bool) -> None:
        self._path = path
        if read_only and not path.is_file():
            raise PrerequisiteError(
                "there is no such record to replay",
                where=str(path),
                fix="name the record of a run, or let models be called: mode record",
            )
        self._reader = _open(path, read_only=read_only)
        self._writer = None if read_only else Writer(path)

    @classmethod
    def opened(cls, path: Path | None, *, read_only: bool) -> Self | None:
        """None for no file."""
        return None if path is None else cls(path, read_only=read_only)

    def exact(self, key: Key) -> Exchange | None:
        """The exchange of this very call."""
        return self._one("key = ?", (key.exact,), "occurrence")

    def like(self, key: Key) -> Exchange | None:
        """The last recorded exchange of the same request; one that was answered, if there is."""
        return self._one("same = ?", (key.same,), "state = 'ok' DESC, occurrence DESC, rowid DESC")

    def _one(self, where: str, values: tuple[object, ...], order: str) -> Exchange | None:
        names = ", ".join(field.name for field in fields(Exchange))
        query = f"SELECT {names} FROM exchanges WHERE {where} ORDER BY {order} LIMIT 1"  # noqa: S608
        row = self._reader.execute(query, values).fetchone()
        return None if row is None else Exchange(*row)

    def attempts(self) -> list[Attempt]:
        """Every attempt, in order."""
        names = ", ".join(field.name for field in fields(Attempt))
        rows = self._reader.execute(f"SELECT {names} FROM attempts ORDER BY id")  # noqa: S608
        return [Attempt(*row) for row in rows]

    def exchanges(self) -> list[Exchange]:
        """Every exchange, in order. For reports: it holds all replies."""
        names = ", ".join(field.name for field in fields(Exchange))
        rows = self._reader.execute(f"SELECT {names} FROM exchanges ORDER BY rowid")  # noqa: S608
        return [Exchange(*row) for row in rows]

    def request(self, digest: str) -> str | None:
        """A request's canonical JSON."""
        row = self._reader.execute("SELECT body FROM requests WHERE digest = ?", (digest,))
        found = row.fetchone()
        return None if found is None else cast("str", found[0])

    def wire_of(self, model: str) -> str | None:
        """The wire format that the rig spoke to this model."""
        row = self._reader.execute("SELECT format FROM wires WHERE model = ?", (model,)).fetchone()
        return None if row is None else cast("str", row[0])

    def paid(self) -> list[Paid]:
        """What was paid so far, so that a resumed run keeps to its limits."""
        query = (
            "SELECT trial_id, phase, SUM(input_tokens + output_tokens), TOTAL(cost_usd) "
            "FROM attempts GROUP BY trial_id, phase"
        )
        return [Paid(*row) for row in self._reader.execute(query)]

    async def note_wire(self, model: str, wire: str) -> None:
        """Remembers how the rig speaks to a model: a replay has no upstream to ask."""
        if self._writer is not None:
            await self._writer.write([(_INSERT_WIRE, (model, wire))])

    def add(
        self, exchange: Exchange, attempts: Iterable[Attempt], canonical: bytes | None
    ) -> "asyncio.Future[None]":
        """Writes a call down; what it returns is done when that is safe from the process's end.

        Args:
            exchange: the call.
            attempts: all that were made.
            canonical: the request; None: bodies are not kept.

        Awaiting it raises InfrastructureError where the disk failed.
        """
        if self._writer is None:
            raise HarnessError("a record that is replayed is not written to")
        statements: list[Statement] = [(_INSERT_ATTEMPT, astuple(a)) for a in attempts]
        if canonical is None:
            statements.append((_INSERT_BARE, astuple(exchange)))
        else:
            statements.append((_INSERT_REQUEST, (exchange.request, canonical.decode())))
            statements.append((_INSERT_EXCHANGE, astuple(exchange)))
        return self._writer.write(statements)

    async def close(self) -> None:
        """Folds everything into one file."""
        self._reader.close()
        if self._writer is not None:
            await asyncio.to_thread(self._writer.close)


class Writer:
    """Commits statements on a thread of its own, in groups."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._queue: queue.SimpleQueue[tuple[list[Statement], asyncio.Future[None]] | None]
        self._queue = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="record", daemon=True)
        self._thread.start()

    def write(self, statements: list[Statement]) -> "asyncio.Future[None]":
        """Queues them; the future is done once they are committed."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.put((statements, done))
        return done

    def close(self) -> None:
        """Writes what waits, then ends the thread."""
        self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        with closing(sqlite3.connect(self._path, isolation_level=None)) as database:
            database.execute("PRAGMA synchronous=NORMAL")
            going = True
            while going:
                group = [self._queue.get()]
                while not self._queue.empty():
                    group.append(self._queue.get())
                going = None not in group
                self._commit(database, [job for job in group if job is not None])
            # Without this, what lies in the log beside the file would not ship with it.
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            database.execute("PRAGMA journal_mode=DELETE")

    def _commit(
        self,
        database: sqlite3.Connection,
        jobs: list[tuple[list[Statement], "asyncio.Future[None]"]],
    ) -> None:
        failure: InfrastructureError | None = None
        try:
            database.execute("BEGIN")
            for statements, _ in jobs:
                for statement, values in statements:
                    database.execute(statement, values)
            database.execute("COMMIT")
        except sqlite3.Error as error:
            if database.in_transaction:
                database.execute("ROLLBACK")
            failure = InfrastructureError(
                f"the record cannot be written: {error}", where=str(self._path)
            )
        for _, done in jobs:
            _tell(done, failure)


def _tell(done: "asyncio.Future[None]", failure: InfrastructureError | None) -> None:
    def settle() -> None:
        if done.done():  # its caller was cancelled; the row is written all the same
            return
        if failure is None:
            done.set_result(None)
        else:
            done.set_exception(failure)

    loop = done.get_loop()
    if not loop.is_closed():
        loop.call_soon_threadsafe(settle)


def open_file(path: Path) -> sqlite3.Connection:
    """A connection for reading, to a record that is whole.

    Raises:
        UsageError: it is none of this version.
    """
    return _open(path, read_only=True)


def create_file(path: Path) -> sqlite3.Connection:
    """A connection to a new record, for filling it at once; no log is kept beside it."""
    database = sqlite3.connect(path, isolation_level=None)
    database.executescript(_SCHEMA)
    database.execute(f"PRAGMA user_version={FORMAT}")
    return database


def _open(path: Path, *, read_only: bool) -> sqlite3.Connection:
    """A connection for reading, to a file that has the tables."""
    mode: Literal["ro", "rwc"] = "ro" if read_only else "rwc"
    try:
        database = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode={mode}", uri=True, isolation_level=None
        )
        version = database.execute("PRAGMA user_version").fetchone()[0]
        if not read_only and version == 0:
            database.execute("PRAGMA journal_mode=WAL")
            database.executescript(_SCHEMA)
            database.execute(f"PRAGMA user_version={FORMAT}")
            version = FORMAT
        elif not read_only:
            database.execute("PRAGMA journal_mode=WAL")
    except sqlite3.Error as error:
        raise UsageError(
            f"is not a record that can be opened: {error}",
            where=str(path),
            fix="name the record of a run, or a new file",
        ) from error
    if version != FORMAT:
        database.close()
        message = f"the record has format {version}, expected {FORMAT}"
        raise UsageError(message, where=str(path), fix="use the memrig that wrote it")
    return database
