"""What a check is: a small object with an id, a reason and a pure function.

A check sees evidence that was read and parsed already, and yields what it objects to. It opens no
file, starts nothing and raises nothing: what cannot be read, or has no canonical form to be hashed
(a whole number beyond 2^53, say), is caught before it.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Generic, TypeVar

from memrig.gateway.record import Attempt, Exchange
from memrig.model.gold import Gold
from memrig.model.judgement import Verdict
from memrig.model.scenario import Event, ScenarioRef
from memrig.model.transcript import Record
from memrig.model.trial import TrialOutcome, TrialSpec
from memrig.runs.directory import Execution
from memrig.runs.lock import Lock
from memrig.submission.model import Found, Manifest, Severity
from memrig.suites.base import DataSource

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


@dataclass(frozen=True)  # no slots: `by_trial` is kept
class ModelRecord:
    """The gateway's record of a run: exchanges by key, requests by digest, every attempt."""

    exchanges: Mapping[str, Exchange] = field(default_factory=dict)
    requests: Mapping[str, str] = field(default_factory=dict)
    attempts: tuple[Attempt, ...] = ()

    @cached_property
    def by_trial(self) -> Mapping[str, Sequence[Attempt]]:
        """Each trial's attempts, in order: there can be many of both."""
        found: defaultdict[str, list[Attempt]] = defaultdict(list)
        for attempt in self.attempts:
            found[attempt.trial_id].append(attempt)
        return dict(found)


@dataclass(frozen=True, slots=True)
class ArchiveEvidence:
    """The archive as a whole, once it was opened safely and its hashes hold.

    `locks` and `executions` are the runs' by run id.
    """

    manifest: Manifest
    locks: Mapping[str, Lock]
    executions: Mapping[str, tuple[Execution, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunEvidence:
    """One run: what it claims, and what the verifier worked out by itself.

    `scenarios` are made again from the suite and its data under the lock's options, never read
    from the archive; `data` is the digest of that data, `source` what the suite says of it, `notes`
    what it says of the scenarios. `trials` are the names of the trials that the archive holds,
    `verdicts` those of the trials that it has verdicts on.
    """

    name: str
    lock: Lock
    executions: tuple[Execution, ...]
    scenarios: tuple[ScenarioRef, ...]
    data: str
    trials: tuple[str, ...]
    verdicts: tuple[str, ...]
    models: ModelRecord
    source: DataSource | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TrialEvidence:
    """One trial of a run that is planned.

    `name` is that of its folder in the archive. `events` gives a scenario's timeline as the
    verifier made it, `gold` its gold records by question; `verdicts` are the judge's.
    """

    run: RunEvidence
    spec: TrialSpec
    outcome: TrialOutcome
    records: tuple[Record, ...]
    events: Mapping[str, tuple[Event, ...]]
    verdicts: tuple[Verdict, ...] = ()
    name: str = ""
    gold: Mapping[str, Mapping[str, Gold]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AttemptTimes:
    """What one attempt at a trial took, nanoseconds.

    `serial_ns` sums what it did one after the other, `measured_ns` the part of it for which it held
    one of the run's slots.
    """

    started_at: datetime
    serial_ns: int
    measured_ns: int


@dataclass(frozen=True, slots=True)
class TrialTimes:
    """What a trial took (`times.times_of`). `durations` is the digest of all its durations.

    `declared` is what its memory system said of itself first, as a JSON object of texts; empty if
    it never did.
    """

    attempts: tuple[AttemptTimes, ...]
    durations: str
    declared: str = ""


@dataclass(frozen=True, slots=True)
class GradesEvidence:
    """What a run claims to have scored, and what grading its transcripts again gives, as bytes.

    `times` are those of its trials by name, noted while they were read one by one.
    """

    run: RunEvidence
    claimed_grades: bytes
    claimed_report: bytes
    grades: bytes
    report: bytes
    times: Mapping[str, TrialTimes] = field(default_factory=dict)


def at(*parts: object) -> str:
    """Where something was found: ``run practical-…: trial …: question …``."""
    return ": ".join(str(part) for part in parts)


def of_trial(trial: TrialEvidence, scenario_id: str = "", question_id: str = "") -> str:
    """Where in a trial something was found, down to a question."""
    parts = [f"run {trial.run.name}", f"trial {trial.name or trial.spec.trial_id}"]
    parts += [f"scenario {scenario_id}"] if scenario_id else []
    parts += [f"question {question_id}"] if question_id else []
    return at(*parts)


def seconds(moment: datetime) -> float:
    """A stamp as seconds since 1970, so that no two of them cannot be compared or subtracted."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return aware.timestamp()
