"""Checks of what a memory system declares: what it is asked and how it is graded hang on that."""

import json
from collections.abc import Iterator

from memrig.client.convert import MAX_LIMITATION_BYTES, MAX_LIMITATIONS
from memrig.model.transcript import CapabilitiesRecord
from memrig.submission.checks.base import Check, GradesEvidence, at
from memrig.submission.checks.times import DECLARED
from memrig.submission.model import Found

#: Pods that the rig starts: nothing was told to them when they shake hands.
STARTED = frozenset({"docker", "process"})


def refused(record: CapabilitiesRecord, *, hosted: bool) -> Iterator[str]:
    """Why the rig would have refused a handshake (`client.convert`).

    Args:
        record: what was declared.
        hosted: whether it lives in the rig, and shakes no hands.
    """
    for name in ("name", "boot_id"):
        if not getattr(record, name):
            yield f"it declares no {name}"
    if record.search_modes and record.max_results < 1:
        yield f"it declares {record.max_results} results at most, expected 1 at least"
    if not (record.search_modes or "answer" in record.optional or hosted):
        yield "it declares neither a search mode nor answers"
    longest = max((len(text.encode()) for text in record.limitations), default=0)
    if len(record.limitations) > MAX_LIMITATIONS or longest > MAX_LIMITATION_BYTES:
        count = len(record.limitations)
        yield f"it declares {count} limitations, the longest of {longest} bytes: too much"


def _alike(grades: GradesEvidence) -> Iterator[Found]:
    """A fresh pod was told nothing when it declares: it has nothing to tell of its trial.

    An endpoint may hold something, and what can be filtered may hang on that.
    """
    fresh = grades.run.lock.adapter.pod in STARTED
    known = {name: one.declared for name, one in grades.times.items() if one.declared}
    first = next(iter(known), "")
    for name, declared in known.items():
        if declared == known[first]:
            continue
        now, before = json.loads(declared), json.loads(known[first])
        other = [
            f"{field} {_cut(now[field])}, not {_cut(before[field])}"
            for field in now
            if now[field] != before[field] and (fresh or field in DECLARED)
        ]
        if other:
            message = f"declares {'; '.join(other)}, as trial {first} does"
            yield Found(where=at(f"run {grades.run.name}", f"trial {name}"), message=message)


def _cut(text: str) -> str:
    return text if len(text) <= 80 else text[:79] + "…"


GRADES_CHECKS: tuple[Check[GradesEvidence], ...] = (
    Check(
        "timeline.alike",
        "The memory system declares the same in every trial",
        "another system, fewer hits to be graded, or a tool that tells the answer",
        _alike,
    ),
)
