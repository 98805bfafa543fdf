"""The transcript: append-only lines, each holding the hash of the one before it.

A line is ``{"seq": n, "prev": "<sha256 of line n-1>", "record": {…}}``. The first line's `prev` is
the digest of the trial's spec. The hash covers the bytes as written, so nothing has to be made
canonical again to check it (ADR 0002).
"""

import hashlib
import json
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from pydantic import BaseModel, ValidationError

from memrig.errors import HarnessError, VerificationError
from memrig.model.canonical import short
from memrig.model.transcript import RECORD, Record

#: How long an fsync waits for company, seconds: hundreds a second would slow what is measured.
_GATHER_S = 0.02


@dataclass(frozen=True, slots=True)
class Chain:
    """Where a transcript stands: its last line's hash, and how many lines and bytes it has."""

    head: str
    records: int = 0
    size: int = 0


def start_of(spec_digest: str) -> Chain:
    """The chain of an empty transcript."""
    return Chain(short(spec_digest, 64))


def _encode(record: BaseModel, chain: Chain) -> tuple[bytes, Chain]:
    body = record.model_dump_json().encode()
    line = b'{"seq":%d,"prev":"%s","record":%s}\n' % (chain.records, chain.head.encode(), body)
    head = hashlib.sha256(line[:-1]).hexdigest()
    return line, Chain(head, chain.records + 1, chain.size + len(line))


class _Syncer:
    """Calls fsync in a thread of its own, once for all that was written since the last time.

    A question is on disk within `_GATHER_S` and one fsync of being settled, and the next one need
    not wait for it (ADR 0002).
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._wake = threading.Event()
        self._stop = threading.Event()
        self.failure: OSError | None = None
        self._thread = threading.Thread(target=self._run, name="transcript-fsync", daemon=True)
        self._thread.start()

    def request(self) -> None:
        self._wake.set()

    def _run(self) -> None:
        while True:
            self._wake.wait()
            self._stop.wait(_GATHER_S)
            self._wake.clear()
            stopping = self._stop.is_set()
            try:
                os.fsync(self._descriptor)
            except OSError as error:
                self.failure = error
            if stopping:
                return

    def stop(self) -> None:
        self._stop.set()
        self._wake.set()
        self._thread.join()


class TranscriptWriter:
    """Appends records to a transcript; a context manager that ends with everything on disk.

    Args:
        path: the file; created, or continued at `chain`.
        chain: where it stands, from `start_of` or `recover`.
    """

    def __init__(self, path: Path, chain: Chain) -> None:
        self._path = path
        self.chain = chain
        self._file = path.open("ab", buffering=0)
        self._syncer = _Syncer(self._file.fileno())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._syncer.stop()
        self._file.close()
        if kind is None:
            self._raise_failure()

    def append(self, record: Record, *, sync: bool = False) -> None:
        """Writes a record; with `sync`, has it put on disk in the background at once.

        Raises:
            HarnessError: the disk refused this or an earlier write.
        """
        self._raise_failure()
        line, chain = _encode(record, self.chain)
        try:
            self._file.write(line)
        except OSError as error:
            raise self._disk_error(error) from error
        self.chain = chain
        if sync:
            self._syncer.request()

    def _raise_failure(self) -> None:
        if self._syncer.failure is not None:
            raise self._disk_error(self._syncer.failure)

    def _disk_error(self, error: OSError) -> HarnessError:
        return HarnessError(
            f"cannot be written: {error.strerror}",
            where=str(self._path),
            fix="free some disk space and repeat the command: the run resumes",
        )


def _parse(line: bytes, chain: Chain, where: str) -> tuple[Record, Chain]:
    try:
        outer = json.loads(line)
        sequence, previous = outer["seq"], outer["prev"]
        record = RECORD.validate_python(outer["record"], strict=False)
    except (ValueError, KeyError, TypeError, ValidationError) as error:
        raise VerificationError(f"is not a transcript line: {error}", where=where) from error
    if sequence != chain.records:
        raise VerificationError(f"has seq {sequence!r}, expected {chain.records}", where=where)
    if previous != chain.head:
        message = f"breaks the chain: prev is {previous!r}, the line before has {chain.head!r}"
        raise VerificationError(message, where=where, fix="the transcript was changed; run again")
    head = hashlib.sha256(line).hexdigest()
    return record, Chain(head, chain.records + 1, chain.size + len(line) + 1)


def _lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        yield from file


def read(path: Path, spec_digest: str, head: str | None = None) -> Iterator[Record]:
    """Reads a finished transcript, checking every line.

    Args:
        path: the file.
        spec_digest: where its chain starts.
        head: the hash that its last line must have (from `outcome.json`).

    Raises:
        VerificationError: a line is malformed, breaks the chain, or the end is not the sealed one.
    """
    chain = start_of(spec_digest)
    for number, line in enumerate(_lines(path), 1):
        where = f"{path}: line {number}"
        if not line.endswith(b"\n"):
            raise VerificationError("is cut off", where=where)
        record, chain = _parse(line[:-1], chain, where)
        yield record
    if head is not None and chain.head != head:
        message = f"ends at {chain.head!r}, but the outcome was sealed at {head!r}"
        raise VerificationError(message, where=str(path))


def recover(path: Path, spec_digest: str) -> tuple[list[Record], Chain]:
    """Reads an unfinished transcript and cuts off a last line that a kill left torn.

    Raises:
        VerificationError: a whole line is malformed or breaks the chain.
    """
    chain = start_of(spec_digest)
    records: list[Record] = []
    if not path.exists():
        return records, chain
    for number, line in enumerate(_lines(path), 1):
        if not line.endswith(b"\n"):
            break
        record, chain = _parse(line[:-1], chain, f"{path}: line {number}")
        records.append(record)
    os.truncate(path, chain.size)
    return records, chain
