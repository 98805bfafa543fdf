"""The gateway's record in an archive: `models.jsonl`, one canonical JSON line a row, and back.

Lines are ``{"wire": …}``, ``{"request": …}``, ``{"exchange": …}``, ``{"attempt": …}``, in this
order of kinds: the first two by name, the others as they were written down. So a record has one
form, and comes back from it row by row the same.
"""

import hashlib
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, astuple, fields
from itertools import count
from pathlib import Path
from typing import BinaryIO, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from memrig.errors import DataError
from memrig.gateway.record import Attempt, Exchange, create_file, open_file
from memrig.model.canonical import canonical_json
from memrig.submission.checks.base import ModelRecord

#: The longest line that is read: an exchange of a whole context and its reply is far below it.
MOST_LINE_BYTES = 64 * 1024**2
_FIX = "pack the run again: the rig writes these lines"

T = TypeVar("T")


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class _Wire(_Frozen):
    model: str
    format: str


class _Request(_Frozen):
    digest: str
    body: str


class _Line(_Frozen):
    """One line. Exactly one of the four is given."""

    wire: _Wire | None = None
    request: _Request | None = None
    exchange: Exchange | None = None
    attempt: Attempt | None = None


def _names(row: type[Exchange | Attempt]) -> str:
    return ", ".join(field.name for field in fields(row))


_SELECT_EXCHANGE = f"SELECT {_names(Exchange)} FROM exchanges"  # noqa: S608 - names of our own
_SELECT_ATTEMPT = f"SELECT {_names(Attempt)} FROM attempts"  # noqa: S608

_SELECT_REQUEST = "SELECT body FROM requests WHERE digest = ?"
_EXCHANGE_KEYS = "SELECT key FROM exchanges ORDER BY rowid"
_REQUEST_KEYS = "SELECT digest FROM requests ORDER BY digest"


def _insert(table: str, row: type[Exchange | Attempt]) -> str:
    marks = ", ".join("?" * len(fields(row)))
    return f"INSERT INTO {table} ({_names(row)}) VALUES ({marks})"  # noqa: S608


_INSERT_EXCHANGE, _INSERT_ATTEMPT = _insert("exchanges", Exchange), _insert("attempts", Attempt)


def export_record(record: Path) -> Iterator[bytes]:
    """The lines of a run's record; the same record always gives the same lines.

    Raises:
        UsageError: the file is no record of this version.
    """
    with closing(open_file(record)) as database:
        for model, wire in database.execute("SELECT model, format FROM wires ORDER BY model"):
            yield _line("wire", {"model": model, "format": wire})
        for digest, body in database.execute("SELECT digest, body FROM requests ORDER BY digest"):
            yield _line("request", {"digest": digest, "body": body})
        for row in database.execute(f"{_SELECT_EXCHANGE} ORDER BY rowid"):
            yield _line("exchange", asdict(Exchange(*row)))
        for row in database.execute(f"{_SELECT_ATTEMPT} ORDER BY id"):
            yield _line("attempt", asdict(Attempt(*row)))


def _line(kind: str, row: Mapping[str, object]) -> bytes:
    return canonical_json({kind: row}) + b"\n"


@contextmanager
def read_models(models: Path, record: Path) -> Iterator[ModelRecord]:
    """Builds the record again as a file, and opens it; exchanges are read as they are asked for.

    Args:
        models: a run's `models.jsonl`; where there is none, nothing is in the record.
        record: the file to make, such as `llm.sqlite` in the run's folder.

    Raises:
        DataError: a line is not as this rig writes it, or two name the same.
    """
    if not models.exists():
        yield ModelRecord()
        return
    restore_record(models, record)
    with closing(open_file(record)) as database:
        attempts = database.execute(f"{_SELECT_ATTEMPT} ORDER BY id")
        yield ModelRecord(
            exchanges=_Table(
                database, _EXCHANGE_KEYS, f"{_SELECT_EXCHANGE} WHERE key = ?", Exchange
            ),
            requests=_Table(database, _REQUEST_KEYS, _SELECT_REQUEST, str),
            attempts=tuple(Attempt(*row) for row in attempts),
        )


class _Table(Mapping[str, T], Generic[T]):
    """The rows of a table by key, each read when it is asked for: a record can be large."""

    def __init__(
        self, database: sqlite3.Connection, keys: str, select: str, make: Callable[..., T]
    ) -> None:
        self._database, self._keys, self._select, self._make = database, keys, select, make

    def __getitem__(self, key: str) -> T:
        row = self._database.execute(self._select, (key,)).fetchone()
        if row is None:
            raise KeyError(key)
        return self._make(*row)

    def __iter__(self) -> Iterator[str]:
        for row in self._database.execute(self._keys):
            yield str(row[0])

    def __len__(self) -> int:
        counted = self._database.execute(f"SELECT COUNT(*) FROM ({self._keys})")  # noqa: S608
        return int(counted.fetchone()[0])


def restore_record(models: Path, record: Path) -> None:
    """Writes a record's file from its lines.

    Raises:
        DataError: as `read_models`.
    """
    record.unlink(missing_ok=True)
    with models.open("rb") as file, closing(create_file(record)) as database:
        database.execute("BEGIN")
        last = (0, "")
        for number, raw in _lines(file):
            where = f"{models.name}: line {number}"
            line = _parsed(raw, where)
            if _place(line) < last:
                raise DataError("is out of order", where=where, fix=_FIX)
            last = _place(line)
            try:
                database.execute(*_statement(line))
            except sqlite3.Error as error:
                raise DataError(f"cannot be kept: {error}", where=where, fix=_FIX) from error
        database.execute("COMMIT")


def _lines(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    for number in count(1):
        raw = file.readline(MOST_LINE_BYTES)
        if not raw:
            return
        yield number, raw


def _parsed(raw: bytes, where: str) -> _Line:
    """One line, strictly: canonical, of one kind, and a request under its own hash."""
    try:
        line = _Line.model_validate_json(raw)
        canonical = canonical_json(line.model_dump(mode="json", exclude_unset=True)) + b"\n"
    except ValidationError as error:
        found = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(str(part) for part in found["loc"])
        raise DataError(f"{place}: {found['msg']}", where=where, fix=_FIX) from error
    except (TypeError, ValueError) as error:
        raise DataError(f"has no canonical form: {error}", where=where, fix=_FIX) from error
    if canonical != raw or len(line.model_fields_set) != 1:
        message = "is not the canonical JSON of one row and a line's end"
        raise DataError(message, where=where, fix=_FIX)
    if line.request is not None:
        digest = hashlib.sha256(line.request.body.encode()).hexdigest()
        if digest != line.request.digest:
            message = f"a request with hash {digest} goes by {line.request.digest}"
            raise DataError(message, where=where, fix=_FIX)
    return line


def _place(line: _Line) -> tuple[int, str]:
    """Where a line belongs: its kind, and its name where these are in order."""
    if line.wire is not None:
        return 0, line.wire.model
    if line.request is not None:
        return 1, line.request.digest
    return (2, "") if line.exchange is not None else (3, "")


def _statement(line: _Line) -> tuple[str, tuple[object, ...]]:
    if line.wire is not None:
        return "INSERT INTO wires VALUES (?, ?)", (line.wire.model, line.wire.format)
    if line.request is not None:
        return "INSERT INTO requests VALUES (?, ?)", (line.request.digest, line.request.body)
    if line.exchange is not None:
        return _INSERT_EXCHANGE, astuple(line.exchange)
    assert line.attempt is not None  # noqa: S101 - a line is of one of four kinds
    return _INSERT_ATTEMPT, astuple(line.attempt)
