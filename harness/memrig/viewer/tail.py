"""A transcript that may still be growing, read without holding, changing or checking it.

Sealed transcripts are checked by `memrig score`. Here nothing is: a page must come at once, and a
last line may be half written.
"""

import json
import re
import threading
from array import array
from collections import Counter, OrderedDict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from pydantic import ValidationError

from memrig.errors import VerificationError
from memrig.model.transcript import (
    RECORD,
    AttemptRecord,
    AuditAskRecord,
    FaultRecord,
    IngestRecord,
    QuestionRecord,
    Record,
)

#: How the rig begins each line. What begins otherwise is no line of the rig's.
_HEAD = re.compile(rb'\{"seq":\d+,"prev":"[0-9a-f]{64}","record":\{"kind":"([a-z_]+)"')
_RECENT = 8
_MOST = 256
#: What a trial is at after a record of each kind.
_DOING = {
    "attempt": "starting its pod",
    "pod": "waiting for its capabilities",
    "capabilities": "ingesting",
    "reset": "ingesting",
    "ingest": "ingesting",
    "ingest_end": "flushing",
    "flush": "asking",
    "question": "asking",
    "probe": "measuring",
    "audit_ask": "auditing",
    "audit_skip": "auditing",
}


def records(path: Path, kinds: frozenset[str] | None = None) -> Iterator[Record]:
    """The whole lines of a transcript, in order.

    Args:
        path: the file; it may grow meanwhile.
        kinds: only these are parsed; None: all.

    Raises:
        FileNotFoundError: there is no such file.
        VerificationError: a line is none of a transcript.
    """
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                return
            head = _HEAD.match(line)
            if head is None or kinds is None or head[1].decode() in kinds:
                yield _parsed(line, f"{path}: line {number}")


def _parsed(line: bytes, where: str) -> Record:
    try:
        return RECORD.validate_python(json.loads(line)["record"], strict=False)
    except (ValueError, KeyError, TypeError, RecursionError, ValidationError) as error:
        raise VerificationError("is not a transcript line", where=where) from error


@dataclass(frozen=True, slots=True)
class Settled:
    """A question that was settled a while ago."""

    scenario_id: str
    question_id: str
    outcome: str
    ns: int


@dataclass(slots=True)
class Tally:
    """What a transcript came to so far. Episodes are those of the last attempt."""

    attempts: int = 0
    started_at: datetime | None = None
    episodes: int = 0
    doing: str = "starting"
    fault: str = ""
    statuses: Counter[str] = field(default_factory=Counter)
    search_ns: "array[int]" = field(default_factory=lambda: array("q"))
    recent: deque[Settled] = field(default_factory=lambda: deque(maxlen=_RECENT))

    @property
    def questions(self) -> int:
        """How many are settled."""
        return sum(self.statuses.values())

    def take(self, record: Record) -> None:
        """Takes a record in."""
        self.doing = _DOING.get(record.kind, "ending")
        match record:
            case AttemptRecord():
                self.attempts, self.started_at = record.number, record.started_at
                self.episodes = 0  # what was ingested before is gone with its pod
            case IngestRecord():
                self.episodes += len(record.acks)
            case FaultRecord():
                self.fault = f"{record.outcome.label}: {record.message}"
            case QuestionRecord():
                self._settle(record)
            case AuditAskRecord():
                self.search_ns.extend(search.ns for search in record.searches)
            case _:
                pass

    def _settle(self, record: QuestionRecord) -> None:
        self.statuses[record.outcome.status] += 1
        self.search_ns.extend(search.ns for search in record.searches)
        name = record.scenario_id, record.question_id
        self.recent.append(Settled(*name, record.outcome.label, record.ns))


@dataclass(slots=True)
class _Tail:
    """How far a file was read."""

    inode: int
    place: int = 0
    tally: Tally = field(default_factory=Tally)


@dataclass(slots=True)
class Tails:
    """Growing transcripts: each look reads only what came since the last one."""

    _tails: OrderedDict[Path, _Tail] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def tally(self, path: Path) -> Tally:
        """What a transcript came to so far.

        Raises:
            FileNotFoundError: there is no such file.
            VerificationError: a line is none of a transcript.
        """
        with self._lock, path.open("rb") as file:
            tail = self._tail_of(path)
            file.seek(tail.place)
            for line in file:
                if not line.endswith(b"\n"):
                    break
                tail.tally.take(_parsed(line, str(path)))
                tail.place += len(line)
            return tail.tally

    def _tail_of(self, path: Path) -> _Tail:
        """Begins anew where the file is another one, or a torn line was cut off it."""
        found = path.stat()
        tail = self._tails.pop(path, None)
        if tail is None or tail.inode != found.st_ino or tail.place > found.st_size:
            tail = _Tail(found.st_ino)
        self._tails[path] = tail
        while len(self._tails) > _MOST:
            self._tails.popitem(last=False)
        return tail
