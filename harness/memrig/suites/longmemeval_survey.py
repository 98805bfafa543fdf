"""One pass over a LongMemEval file: its hash, and what is odd in it, counted."""

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from typing import IO

from memrig.suites.longmemeval_data import Record, read_records
from memrig.suites.longmemeval_scenario import Shape, gold_of, turns_of

_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Survey:
    """What a file holds. `notes` are shown in every report."""

    sha256: str
    notes: tuple[str, ...]


class _Hashing:
    """A file that hashes what is read of it, so that checking it costs no second pass."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._hash = hashlib.sha256()

    def read(self, size: int = -1, /) -> bytes:
        block = self._file.read(size)
        self._hash.update(block)
        return block

    def digest(self) -> str:
        while self.read(_BLOCK):
            pass
        return "sha256:" + self._hash.hexdigest()


@dataclass(slots=True)
class _Counts:
    total: Counter[str] = field(default_factory=Counter)
    unscored: Counter[str] = field(default_factory=Counter)

    def take(self, record: Record, shape: Shape) -> None:
        sessions = record.sessions
        dates = [session.date for session in sessions]
        shared = sum(session.name != session.session_id for session in sessions)
        late = sum(date > record.asked_at for date in dates)
        self.total["questions"] += 1
        self.total["sessions that share"] += shared
        self.total["haystacks that share"] += shared > 0
        self.total["late"] += late
        self.total["questions with late"] += late > 0
        self.total["unsorted"] += dates != sorted(dates)
        self.total["empty turns"] += sum(turn.empty for s in sessions for turn in s.turns)
        self.total["dropped"] += sum(not turns_of(session, shape) for session in sessions)
        if note := gold_of(record, shape).note:
            self.unscored[note] += 1

    def notes(self, shape: Shape) -> tuple[str, ...]:
        total = self.total
        order = "sorted by date" if shape.by_date else "kept in the file's order"
        dropped = "no user turn" if shape.user_only else "no text"
        shared = f"{total['sessions that share']} in {total['haystacks that share']} haystacks"
        late = f"{total['late']}, of {total['questions with late']} questions"
        every = [
            ("sessions whose id their haystack repeats, told apart by position", shared),
            (f"haystacks not in date order, {order}", str(total["unsorted"])),
            ("sessions dated after their question, ingested like the others", late),
            ("turns without text, left out", str(total["empty turns"])),
            (f"sessions with {dropped}, left out", str(total["dropped"])),
            *(
                (f"questions not scored for retrieval ({why})", str(count))
                for why, count in sorted(self.unscored.items())
            ),
        ]
        return tuple(f"{what}: {count}" for what, count in every if not count.startswith("0"))


def survey(file: IO[bytes], where: str, shape: Shape) -> Survey:
    """Reads a whole file, checking every record.

    Raises:
        DataError: it cannot be used; names file, field and value.
    """
    hashing, counts = _Hashing(file), _Counts()
    for record in read_records(hashing, where):
        counts.take(record, shape)
    return Survey(hashing.digest(), counts.notes(shape))
