"""LongMemEval's files, read one question at a time: S has 277 MB, M ten times that.

A record has nine fields: ``question_id`` (ending in ``_abs`` where there is no answer),
``question_type``, ``question``, ``answer`` (text, or in 32 records a whole number),
``question_date``, and four lists about the haystack, of which ``haystack_sessions`` holds lists of
``{role, content[, has_answer]}``.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, Protocol

import ijson
from ijson.backends import python as plain

from memrig.errors import DataError
from memrig.suites.fields import DEEPEST, expect, some_text, texts, too_deep

Role = Literal["user", "assistant"]
_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant"}
_DATE = re.compile(r"(\d{4})/(\d\d)/(\d\d) \(\w{3}\) (\d\d):(\d\d)")
_ABSTENTION = "_abs"
#: The longest records of the largest file have some 6 MB.
_LONGEST = 1 << 25
#: A list of objects: how files of questions open.
_SHAPE = ("start_array", "start_map")
_OPENING, _CLOSING = ("start_map", "start_array"), ("end_map", "end_array")


@dataclass(frozen=True, slots=True)
class Said:
    """A turn: its 1-based place in its session, and whether the data marks it as evidence."""

    place: int
    role: Role
    text: str
    marked: bool

    @property
    def empty(self) -> bool:
        """Whether there is nothing to remember."""
        return not self.text.strip()


@dataclass(frozen=True, slots=True)
class Session:
    """A session of a haystack.

    `name` is unique in its haystack; `session_id`, the data's own, is not always.
    """

    name: str
    session_id: str
    date: datetime
    turns: tuple[Said, ...]


@dataclass(frozen=True, slots=True)
class Record:
    """One question with its haystack, in the order of the file."""

    question_id: str
    question_type: str
    question: str
    answer: str
    asked_at: datetime
    sessions: tuple[Session, ...]
    answer_session_ids: frozenset[str]

    @property
    def abstains(self) -> bool:
        """Whether the right answer is that there is none."""
        return _ABSTENTION in self.question_id


class Readable(Protocol):
    """A file in binary, as far as reading it through goes."""

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes; none at the end."""


def read_records(file: Readable, where: str) -> Iterator[Record]:
    """Streams the questions of a file; no two are in memory together.

    Raises:
        DataError: names file, field, value.
    """
    seen: set[str] = set()
    try:
        for number, raw in enumerate(_items(file, where)):
            record = _record(raw, f"{where}: [{number}]")
            if record.question_id in seen:
                message = f"{record.question_id!r} occurs twice"
                place = f"{where}: [{number}].question_id"
                raise DataError(message, where=place, fix="make question ids unique")
            seen.add(record.question_id)
            yield record
    except (ijson.JSONError, ValueError) as error:  # a ValueError: no UTF-8, or an endless number
        fix = "repair it, or give one of LongMemEval's files"
        raise DataError(f"is not JSON: {_first_line(error)}", where=where, fix=fix) from error
    if not seen:
        fix = "give one of LongMemEval's files"
        raise DataError("holds no list of questions", where=where, fix=fix)


def looks_like_records(file: Readable) -> bool:
    """Whether a file is a list whose first element has a haystack; reads no further than that."""
    depth = 0
    try:
        # The C parser runs ahead of its events: left early, it takes its next error along, and the
        # interpreter down with it.
        for event, value in plain.basic_parse(_Bounded(file, "")):
            depth -= event in _CLOSING
            if depth == len(_SHAPE) and event == "map_key" and value.startswith("haystack_"):
                return True
            if event != (_SHAPE[depth] if depth < len(_SHAPE) else event) or depth > DEEPEST:
                return False
            depth += event in _OPENING
    except (ijson.JSONError, ValueError, DataError):  # a ValueError: as above
        return False
    return False


class _Bounded:
    """A file that refuses to go on in a record that has no end, before it is in memory.

    Args:
        file: what is read.
        where: the file, for errors.
    """

    def __init__(self, file: Readable, where: str) -> None:
        self._file = file
        self._where = where
        self._number = self._read = 0

    def read(self, size: int = -1, /) -> bytes:
        block = self._file.read(size)
        self._read += len(block)
        if self._read > _LONGEST:
            message = f"a record is longer than {_LONGEST >> 20} MiB"
            fix = "give one of LongMemEval's files; its longest record has 6 MB"
            raise DataError(message, where=self.place, fix=fix)
        return block

    @property
    def place(self) -> str:
        """Where the record is that is being read."""
        return f"{self._where}: [{self._number}]"

    def next_record(self) -> None:
        """What follows is another record."""
        self._number += 1
        self._read = 0


def _items(file: Readable, where: str) -> Iterator[object]:
    """The elements of a list; depth and length are bounded before anything is built.

    A deep element cannot be left to the parser: it names the place of every value, which takes
    the square of the depth.
    """
    bounded, builder = _Bounded(file, where), ijson.ObjectBuilder()
    depth, of_list = 0, False
    for event, value in ijson.basic_parse(bounded, use_float=True):
        depth -= event in _CLOSING
        if depth == 0:
            of_list = event == "start_array"
        elif of_list:
            builder.event(event, value)
            if depth == 1 and event not in _OPENING:
                yield builder.value
                builder = ijson.ObjectBuilder()
                bounded.next_record()
        depth += event in _OPENING
        if depth > DEEPEST:
            raise too_deep(bounded.place)


def _first_line(error: Exception) -> str:
    return " ".join(str(error).split())[:120]


def _record(raw: object, where: str) -> Record:
    fields = expect(raw, dict, where)
    return Record(
        question_id=some_text(fields.get("question_id"), f"{where}.question_id"),
        question_type=some_text(fields.get("question_type"), f"{where}.question_type"),
        question=some_text(fields.get("question"), f"{where}.question"),
        answer=_answer(fields.get("answer"), f"{where}.answer"),
        asked_at=_date(fields.get("question_date"), f"{where}.question_date"),
        sessions=_sessions(fields, where),
        answer_session_ids=_evidence(fields, where),
    )


def _answer(value: object, where: str) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return some_text(value, where)


def _date(value: object, where: str) -> datetime:
    text = expect(value, str, where)
    found = _DATE.fullmatch(text)
    try:
        if found:
            year, month, day, hour, minute = map(int, found.groups())
            return datetime(year, month, day, hour, minute, tzinfo=UTC)
    except ValueError:
        found = None
    message = f"{text!r} is not a date like '2023/05/20 (Sat) 02:21'"
    raise DataError(message, where=where, fix="write it like that")


def _sessions(fields: dict[str, object], where: str) -> tuple[Session, ...]:
    ids = texts(fields.get("haystack_session_ids"), f"{where}.haystack_session_ids")
    dates = expect(fields.get("haystack_dates"), list, f"{where}.haystack_dates")
    sessions = expect(fields.get("haystack_sessions"), list, f"{where}.haystack_sessions")
    if not len(ids) == len(dates) == len(sessions):
        message = f"has {len(sessions)} sessions, {len(ids)} ids and {len(dates)} dates"
        raise DataError(message, where=f"{where}.haystack_sessions", fix="give as many of each")
    count = Counter(ids)
    return tuple(
        Session(
            name=name if count[name] == 1 else f"{name}@{place + 1}",
            session_id=name,
            date=_date(dates[place], f"{where}.haystack_dates[{place}]"),
            turns=_turns(sessions[place], f"{where}.haystack_sessions[{place}]"),
        )
        for place, name in enumerate(ids)
    )


def _turns(raw: object, where: str) -> tuple[Said, ...]:
    return tuple(
        _turn(item, place, f"{where}[{place}]")
        for place, item in enumerate(expect(raw, list, where))
    )


def _turn(raw: object, place: int, where: str) -> Said:
    fields = expect(raw, dict, where)
    role = _ROLES.get(expect(fields.get("role"), str, f"{where}.role"))
    if role is None:
        message = f"is {fields['role']!r}, expected 'user' or 'assistant'"
        raise DataError(message, where=f"{where}.role", fix="write one of the two")
    text = expect(fields.get("content"), str, f"{where}.content")
    marked = expect(fields.get("has_answer") or False, bool, f"{where}.has_answer")
    return Said(place + 1, role, text, marked)


def _evidence(fields: dict[str, object], where: str) -> frozenset[str]:
    listed = texts(fields.get("answer_session_ids"), f"{where}.answer_session_ids")
    known = fields.get("haystack_session_ids")
    for place, name in enumerate(listed):
        if isinstance(known, list) and name not in known:
            message = f"names session {name!r}, which is not in the haystack"
            fix = "name one of haystack_session_ids"
            raise DataError(message, where=f"{where}.answer_session_ids[{place}]", fix=fix)
    return frozenset(listed)
