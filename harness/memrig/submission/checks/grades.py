"""Checks that a run's claimed scores are what its transcripts come to, to the last digit."""

import json
import re
from collections.abc import Iterator
from itertools import zip_longest

from memrig.submission.checks.base import Check, GradesEvidence, at
from memrig.submission.model import Found

#: How deep a difference is looked for; below it, values are compared whole.
_DEEP = 40


def _grades(evidence: GradesEvidence) -> Iterator[Found]:
    if evidence.claimed_grades == evidence.grades:
        return
    claimed = evidence.claimed_grades.split(b"\n")
    graded = evidence.grades.split(b"\n")
    for number, (old, new) in enumerate(zip_longest(claimed, graded), 1):
        if old != new:
            where = at(f"run {evidence.run.name}", f"grades.jsonl line {number}")
            yield Found(where=where, message=_line(old, new))


def _line(claimed: bytes | None, graded: bytes | None) -> str:
    if not claimed:
        return "is missing"
    if not graded:
        return "is one too many"
    try:
        old, new = _load(claimed), _load(graded)
    except (ValueError, RecursionError) as error:
        return f"cannot be read: {error}"
    found = list(unlike(old, new))[:3]
    name = new.get("question_id", "") if isinstance(new, dict) else ""
    return f"question {name}: {'; '.join(found) or 'is written otherwise than the rig writes it'}"


def _report(evidence: GradesEvidence) -> Iterator[Found]:
    if evidence.claimed_report == evidence.report:
        return
    where = at(f"run {evidence.run.name}", "report.json")
    try:
        claimed, built = _load(evidence.claimed_report), _load(evidence.report)
    except (ValueError, RecursionError) as error:
        yield Found(where=where, message=f"cannot be read: {error}")
        return
    yield from (Found(where=where, message=text) for text in unlike(claimed, built))


def _complete(evidence: GradesEvidence) -> Iterator[Found]:
    where = at(f"run {evidence.run.name}", "report.json")
    try:
        built = _load(evidence.report)
    except (ValueError, RecursionError) as error:
        yield Found(where=where, message=f"cannot be read: {error}")
        return
    if not isinstance(built, dict) or built.get("complete") is not True:
        reason = built.get("incomplete") if isinstance(built, dict) else ""
        yield Found(where=where, message=f"the run is not whole: {reason or 'nothing was graded'}")


def _load(data: bytes) -> object:
    """JSON that means one thing only.

    Raises:
        ValueError: it is none, or names a member twice.
        RecursionError: it is too deep.
    """
    loaded: object = json.loads(data, object_pairs_hook=_single)
    return loaded


def _single(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        message = "a member stands there twice"
        raise ValueError(message)
    return found


def unlike(claimed: object, graded: object, path: str = "") -> Iterator[str]:
    """In what two JSON values differ, as ``metrics[0].value: claimed 0.9, is 0.8``.

    Numbers are equal only to the last bit; 1, 1.0 and true are three values.
    """
    deep = path.count(".") + path.count("[") >= _DEEP
    if isinstance(claimed, dict) and isinstance(graded, dict) and not deep:
        for key in sorted(claimed.keys() | graded.keys()):
            where = f"{path}.{_member(key)}" if path else _member(key)
            if key not in claimed or key not in graded:
                yield f"{where}: {'added' if key in claimed else 'left out'}"
            else:
                yield from unlike(claimed[key], graded[key], where)
    elif isinstance(claimed, list) and isinstance(graded, list) and not deep:
        if len(claimed) != len(graded):
            yield f"{path}: claimed {len(claimed)} items, there are {len(graded)}"
            return
        for number, (old, new) in enumerate(zip(claimed, graded, strict=True)):
            yield from unlike(old, new, f"{path}[{number}]")
    elif type(claimed) is not type(graded) or claimed != graded:
        yield f"{path}: claimed {_shown(claimed)}, is {_shown(graded)}"


def _member(key: str) -> str:
    """A member's name, fit to be shown: a claimed one may hold anything."""
    return key if re.fullmatch(r"[\w@%:/ -]{1,60}", key, re.ASCII) else _shown(key)


def _shown(value: object) -> str:
    try:
        text = ascii(value)
    except RecursionError:
        return "something deep"
    return text if len(text) <= 80 else f"{text[:79]}…"


GRADES_CHECKS: tuple[Check[GradesEvidence], ...] = (
    Check(
        "grades.recomputed",
        "Grading the transcripts again gives the same grades, byte for byte",
        "scores that were made up",
        _grades,
    ),
    Check(
        "report.recomputed",
        "Building the report again gives the same numbers, to the last digit",
        "means, intervals, latencies or labels that were made up",
        _report,
    ),
    Check(
        "grades.complete",
        "The run is whole: every question settled, and judged where it must be",
        "bad questions blamed on the rig or a provider, so that no mean has them",
        _complete,
    ),
)
