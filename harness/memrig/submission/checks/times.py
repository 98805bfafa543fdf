"""Checks that what trials took fits into the invocations that ran them.

The times of a run stand in several places that must agree: an invocation's start and length, the
start of every attempt at a trial, and the durations in its records. Who makes up one has to make up
all of them.
"""

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from memrig.model.canonical import digest_of
from memrig.model.transcript import (
    AttemptRecord,
    CapabilitiesRecord,
    FlushRecord,
    IngestRecord,
    PodRecord,
    QuestionRecord,
    Record,
    ResetRecord,
    StreamRecord,
    TeardownRecord,
)
from memrig.runs.directory import Execution
from memrig.submission.checks.base import (
    AttemptTimes,
    Check,
    GradesEvidence,
    TrialEvidence,
    TrialTimes,
    at,
    of_trial,
    seconds,
)
from memrig.submission.model import Found

#: What wall clocks may be set by during a run, seconds, and the share by which they may drift.
SLACK_S = 5.0
DRIFT = 0.01
_NS = 1_000_000_000
#: What a memory system declares alike in every pod, whatever it holds.
DECLARED = ("name", "version", "contract_version", "search_modes", "max_results", "optional")
#: More than any invocation takes, seconds.
LONGEST_S = 10 * 365 * 86_400


def times_of(records: Iterable[Record]) -> TrialTimes:
    """What a trial took, attempt by attempt, and what was declared in it, from its records."""
    attempts: list[AttemptTimes] = []
    durations: list[int] = []
    declared = ""
    for record in records:
        if isinstance(record, CapabilitiesRecord):
            declared = declared or _declared(record)
        if isinstance(record, AttemptRecord):
            attempts.append(AttemptTimes(record.started_at, 0, 0))
            continue
        serial, measured = _took(record)
        durations += [serial, measured] if serial else []
        if attempts:
            last = attempts[-1]
            attempts[-1] = AttemptTimes(
                last.started_at, last.serial_ns + serial, last.measured_ns + measured
            )
    return TrialTimes(tuple(attempts), digest_of([str(ns) for ns in durations]), declared)


def last_attempt(records: Sequence[Record]) -> Sequence[Record]:
    """The records since the last attempt at a trial began; all of them where none did."""
    starts = [n for n, one in enumerate(records) if isinstance(one, AttemptRecord)]
    return records[starts[-1] :] if starts else records


def _declared(record: CapabilitiesRecord) -> str:
    """One text for all trials that say the same: there can be many of them."""
    said = record.model_dump(exclude={"kind", "boot_id"})
    return sys.intern(json.dumps({name: repr(said[name]) for name in sorted(said)}))


def _took(record: Record) -> tuple[int, int]:
    """How long a record's doing took, and how much of that was measured, nanoseconds.

    Acknowledgements and probes overlap each other, so that they say nothing about a sum.
    """
    match record:
        case StreamRecord() | FlushRecord():
            return record.ns, record.ns
        case QuestionRecord():
            return record.ns, min(record.ns, record.memory_ns)
        case ResetRecord() | TeardownRecord():
            return record.ns, 0
        case PodRecord():
            return record.ready_ns, 0
        case _:
            return 0, 0


def span(execution: Execution) -> tuple[float, float]:
    """From when to when an invocation went on, seconds since 1970."""
    began = seconds(execution.started_at)
    lawful = 0 <= execution.wall_s <= LONGEST_S  # `executions.possible` says where it is not
    return began, began + (execution.wall_s if lawful else 0.0)


def slack_of(execution: Execution) -> float:
    """By how much stamps may be off that fall into an invocation, seconds."""
    began, ended = span(execution)
    return SLACK_S + (ended - began) * DRIFT


def _within(moment: datetime, execution: Execution) -> bool:
    began, ended = span(execution)
    slack = slack_of(execution)
    return began - slack <= seconds(moment) <= ended + slack


def _begun_within(trial: TrialEvidence) -> Iterator[Found]:
    for last in times_of(trial.records).attempts[-1:]:
        if not any(_within(last.started_at, one) for one in trial.run.executions):
            message = f"its last attempt began at {last.started_at}, during no execution"
            yield Found(where=of_trial(trial), message=message)


def _fits(trial: TrialEvidence) -> Iterator[Found]:
    # By one clock alone: a machine that slept for a while has less of it than of wall time.
    executions = trial.run.executions
    for number, attempt in enumerate(times_of(trial.records).attempts, 1):
        hosts = [one for one in executions if _within(attempt.started_at, one)]
        most = max((span(one)[1] - span(one)[0] + slack_of(one) for one in hosts), default=None)
        took = attempt.serial_ns / _NS
        if most is not None and took > most:
            message = (
                f"attempt {number} did {took:.1f} s of work one after the other, "
                f"its execution took {most:.1f} s at most"
            )
            yield Found(where=of_trial(trial), message=message)


def _slots(grades: GradesEvidence) -> Iterator[Found]:
    run = grades.run
    for name in sorted(set(run.trials) - grades.times.keys()):
        where = at(f"run {run.name}", f"trial {name}")
        yield Found(where=where, message="its times were not noted")
    for number, execution in enumerate(run.executions, 1):
        if not 1 <= execution.jobs <= 256:
            continue  # `executions.possible` says so
        began, ended = span(execution)
        took = sum(
            attempt.measured_ns
            for times in grades.times.values()
            for attempt in times.attempts
            if began <= seconds(attempt.started_at) <= ended
        )
        most = (ended - began + slack_of(execution)) * execution.jobs
        if took / _NS > most:
            message = (
                f"its trials were measured for {took / _NS:.1f} s, and {execution.jobs} at a time "
                f"cannot take more than {most:.1f} s in it"
            )
            yield Found(where=at(f"run {run.name}", f"execution {number}"), message=message)


def _own(grades: GradesEvidence) -> Iterator[Found]:
    seen: dict[str, str] = {}
    nothing = times_of(()).durations
    for name, times in sorted(grades.times.items()):
        first = seen.setdefault(times.durations, name)
        if first != name and times.durations != nothing:
            message = f"took exactly as long as trial {first}, in every single duration"
            yield Found(where=at(f"run {grades.run.name}", f"trial {name}"), message=message)


def _ack_times(trial: TrialEvidence) -> Iterator[Found]:
    """No acknowledgement can come later than the end of its stream."""
    slowest = 0
    for record in trial.records:
        match record:
            case AttemptRecord():
                slowest = 0
            case IngestRecord():
                slowest = max([slowest, *(ack.ns for ack in record.acks)])
            case StreamRecord():
                if slowest > record.ns:
                    message = f"an acknowledgement took {slowest} ns, its whole stream {record.ns}"
                    yield Found(where=of_trial(trial, record.scenario_id), message=message)
                slowest = 0
            case _:
                pass


TRIAL_CHECKS: tuple[Check[TrialEvidence], ...] = (
    Check(
        "times.within",
        "The attempt that finished a trial began during an execution",
        "trials from elsewhere, though a killed invocation looks the same",
        _begun_within,
        severity="warning",
    ),
    Check(
        "times.fit",
        "What an attempt did one after the other fits into its execution",
        "durations or executions that were made up",
        _fits,
    ),
    Check(
        "times.acknowledged",
        "No acknowledgement took longer than its stream",
        "ingest made to look faster than its own parts",
        _ack_times,
    ),
)

GRADES_CHECKS: tuple[Check[GradesEvidence], ...] = (
    Check(
        "times.slots",
        "All measured times fit into the executions' slots",
        "many trials at once, passed off as measured alone; durations that were made up",
        _slots,
    ),
    Check(
        "times.own",
        "No two trials took equally long in every duration",
        "the best of several repeats, copied over the others",
        _own,
    ),
)
