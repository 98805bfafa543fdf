"""Checks of what a memory system used: figures that a machine of this size can have measured."""

import math
from collections.abc import Iterator

from memrig.model.transcript import (
    AttemptRecord,
    FaultRecord,
    FlushRecord,
    IngestRecord,
    UsageRecord,
)
from memrig.submission.checks.base import Check, TrialEvidence, of_trial, seconds
from memrig.submission.checks.times import slack_of, span
from memrig.submission.model import Found


def _possible(trial: TrialEvidence) -> Iterator[Found]:
    faulted = any(isinstance(record, FaultRecord) for record in trial.records)
    most = _cpu_limit(trial)
    for number, record in enumerate(trial.records, 1):
        match record:
            case UsageRecord():
                # A pod that is gone may have been read too late.
                found = _strange(record, most, least=0 if faulted else 1)
            case FlushRecord():
                found = _below("total_items", record.total_items, 0)
            case IngestRecord():
                stored = min((ack.stored_items for ack in record.acks), default=0)
                found = _below("stored_items", stored, 0)
            case _:
                continue
        for message in found:
            yield Found(where=of_trial(trial), message=f"record {number}: {message}")


def _strange(record: UsageRecord, most: float, least: int) -> Iterator[str]:
    """In what this is nothing that a pod used."""
    cpu = record.cpu_s
    if cpu is not None and not (math.isfinite(cpu) and 0 <= cpu <= most):
        yield f"cpu_s is {cpu}, expected 0 to {most:.1f}"
    yield from _below("peak_memory_bytes", record.peak_memory_bytes, least)
    yield from _below("memory_bytes", record.memory_bytes, least)
    yield from _below("file_bytes", record.file_bytes, 0)


def _below(name: str, value: int | None, least: int) -> Iterator[str]:
    if value is not None and value < least:
        yield f"{name} is {value}, expected {least} at least"


def _cpu_limit(trial: TrialEvidence) -> float:
    """The CPU time that all cores have while the last attempt can have gone on, seconds.

    Infinite where no invocation that came to its end holds it: a killed one leaves no line.
    """
    attempts = [one for one in trial.records if isinstance(one, AttemptRecord)]
    hosts = [
        span(one)[1] - span(one)[0] + slack_of(one)
        for one in trial.run.executions
        if attempts
        and span(one)[0] - slack_of(one)
        <= seconds(attempts[-1].started_at)
        <= span(one)[1] + slack_of(one)
    ]
    return trial.run.lock.machine.cores * max(hosts, default=math.inf)


TRIAL_CHECKS: tuple[Check[TrialEvidence], ...] = (
    Check(
        "usage.possible",
        "CPU time, memory and items of a memory are ones that there can be",
        "figures of cost that nobody measured",
        _possible,
    ),
)
