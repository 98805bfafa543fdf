"""What a check is: a small object with an id, a reason and a pure function.

A check sees evidence that was read and parsed already, and yields what it objects to. It opens no
file, starts nothing and raises nothing: what cannot be read is caught before it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from memrig.gateway.record import Attempt, Exchange
from memrig.model.judgement import Verdict
from memrig.model.scenario import Event, ScenarioRef
from memrig.model.transcript import Record
from memrig.model.trial import TrialOutcome, TrialSpec
from memrig.runs.directory import Execution
from memrig.runs.lock import Lock
from memrig.submission.model import Found, Manifest, Severity

E = TypeVar("E")


@dataclass(frozen=True, slots=True)
class Check(Generic[E]):
    """One check.

    Args:
        id: stable, such as ``cells.complete``.
        title: what holds where it passes, as a short sentence.
        reason: what could be cheated without it.
        find: yields what it objects to; nothing where all is well.
        severity: whether an objection makes the archive invalid.
    """

    id: str
    title: str
    reason: str
    find: Callable[[E], Iterable[Found]]
    severity: Severity = "error"


@dataclass(frozen=True, slots=True)
class ModelRecord:
    """The gateway's record of a run: exchanges by key, requests by digest, every attempt."""

    exchanges: Mapping[str, Exchange] = field(default_factory=dict)
    requests: Mapping[str, str] = field(default_factory=dict)
    attempts: tuple[Attempt, ...] = ()


@dataclass(frozen=True, slots=True)
class ArchiveEvidence:
    """The archive as a whole, once it was opened safely and its hashes hold."""

    manifest: Manifest
    locks: Mapping[str, Lock]
    contract: str


@dataclass(frozen=True, slots=True)
class RunEvidence:
    """One run: what it claims, and what the verifier worked out by itself.

    `scenarios` are made again from the suite and its data under the lock's options, never read
    from the archive; `data` is the digest of that data. `trials` are the names of the trials that
    the archive holds.
    """

    name: str
    lock: Lock
    executions: tuple[Execution, ...]
    scenarios: tuple[ScenarioRef, ...]
    data: str
    trials: tuple[str, ...]
    verdicts: tuple[str, ...]
    models: ModelRecord


@dataclass(frozen=True, slots=True)
class TrialEvidence:
    """One trial of a run that is planned, with its chain checked.

    `events` gives a scenario's timeline as the verifier made it; `verdicts` are the judge's.
    """

    run: RunEvidence
    spec: TrialSpec
    outcome: TrialOutcome
    records: tuple[Record, ...]
    events: Mapping[str, tuple[Event, ...]]
    verdicts: tuple[Verdict, ...] = ()


@dataclass(frozen=True, slots=True)
class GradesEvidence:
    """What a run claims to have scored, and what grading its transcripts again gives, as bytes."""

    run: RunEvidence
    claimed_grades: bytes
    claimed_report: bytes
    grades: bytes
    report: bytes


def at(*parts: object) -> str:
    """Where something was found: ``run practical-…: trial …: question …``."""
    return ": ".join(str(part) for part in parts)
