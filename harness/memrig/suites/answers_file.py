"""Answers that were produced elsewhere, a JSON object a line.

Fields are ``question_id``, ``answer`` and optionally ``cited`` and ``confidence``; docs/formats.md.
Read strictly: an answer that is lost by a misspelt field would count as a wrong one.
"""

import difflib
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from memrig.errors import DataError
from memrig.model.given import GivenAnswer
from memrig.suites.fields import expect, parsed, some_text, unreadable

V = TypeVar("V")
_FIELDS = "question_id, answer, and optionally cited (a list of ids) and confidence (0 to 1)"
_KNOWN = ("question_id", *GivenAnswer.model_fields)
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Coverage:
    """How the ids of a file fit the questions of a suite, in the order of the file and of these."""

    unknown: tuple[str, ...]
    missing: tuple[str, ...]

    def notes(self) -> tuple[str, ...]:
        """What a report says about it; empty where all fits."""
        return tuple(
            f"{len(ids)} {what}: {', '.join(ids[:_SHOWN])}{' …' if len(ids) > _SHOWN else ''}"
            for ids, what in (
                (self.unknown, "answers are to questions that the data does not have"),
                (self.missing, "questions have no answer in the file"),
            )
            if ids
        )


def coverage(given: Mapping[str, object], questions: Collection[str]) -> Coverage:
    """Compares the ids of a file with the questions asked."""
    asked = frozenset(questions)
    return Coverage(
        unknown=tuple(name for name in given if name not in asked),
        missing=tuple(name for name in questions if name not in given),
    )


def read_answers(path: Path) -> dict[str, GivenAnswer]:
    """Reads answers by question id.

    Raises:
        DataError: names line, field, value and fix.
    """
    answers: dict[str, GivenAnswer] = {}
    for where, fields in read_lines(path):
        _check_names(fields, where)
        name = some_text(fields.pop("question_id", None), f"{where}: question_id")
        add_once(answers, name, _given(fields, where), where)
    return answers


def _check_names(fields: Mapping[str, object], where: str) -> None:
    """Refuses a field that is none, before what it should have been counts as missing."""
    for name in fields:
        if name not in _KNOWN:
            near = difflib.get_close_matches(name, _KNOWN, n=1)
            fix = f"write {near[0]}" if near else "leave it out"
            message, place = f"there is no field {name!r:.60}", f"{where}: {name:.60}"
            raise DataError(message, where=place, fix=f"{fix}; a line has {_FIELDS}")


def _given(fields: dict[str, object], where: str) -> GivenAnswer:
    expect(fields.get("answer"), str, f"{where}: answer")
    try:
        answer = GivenAnswer.model_validate_json(json.dumps(fields), strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        message = f"{first['msg']}, got {first['input']!r:.60}"
        fix = f"a line has {_FIELDS}"
        raise DataError(message, where=f"{where}: {place}", fix=fix) from error
    for number, name in enumerate(answer.cited):
        expect(name, str, f"{where}: cited[{number}]")
    return answer


def read_lines(path: Path) -> Iterator[tuple[str, dict[str, object]]]:
    """The objects of a JSON lines file, each with its place; blank lines are passed over.

    Raises:
        DataError: the file cannot be read, holds nothing, or a line is no JSON object.
    """
    empty = True
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    empty = False
                    yield f"{path}: line {number}", _object(line, f"{path}: line {number}")
    except OSError as error:
        raise unreadable(path, error) from error
    if empty:
        raise DataError("holds no line", where=str(path), fix="one JSON object a line")


def _object(line: bytes, where: str) -> dict[str, object]:
    fix = "one JSON object a line, without line breaks inside"
    return expect(parsed(line, where, fix), dict, where, fix)


def add_once(into: dict[str, V], name: str, value: V, where: str) -> None:
    """Adds what a line gave for a question.

    Raises:
        DataError: an earlier line gave something.
    """
    if name in into:
        message = f"{name!r} occurs twice"
        raise DataError(message, where=f"{where}: question_id", fix="keep one line for a question")
    into[name] = value
