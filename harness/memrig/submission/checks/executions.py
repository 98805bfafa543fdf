"""Checks of a run's invocations: when they were, and whether the machine can have done that."""

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import get_args

from memrig.gateway.config import GatewayMode
from memrig.submission.checks.base import Check, RunEvidence, at
from memrig.submission.checks.times import LONGEST_S, slack_of, span
from memrig.submission.model import Found

#: How models are called; empty where none is.
_MODES = frozenset({"", *get_args(GatewayMode)})


def _ordered(run: RunEvidence) -> Iterator[Found]:
    where = at(f"run {run.name}", "executions")
    if not run.executions:
        yield Found(where=where, message="there is none: nothing says when and how it was run")
    for number, (old, new) in enumerate(pairwise(run.executions), 2):
        if span(new)[0] < span(old)[1] - slack_of(old):
            message = f"number {number} began before the one before it had ended"
            yield Found(where=where, message=message)


def _possible(run: RunEvidence) -> Iterator[Found]:
    machine = run.lock.machine
    for number, execution in enumerate(run.executions, 1):
        where = at(f"run {run.name}", f"execution {number}")
        for name, value, low, high in (
            ("wall_s", execution.wall_s, 0, LONGEST_S),
            ("jobs", execution.jobs, 1, 256),
            ("trials_run", execution.trials_run, 0, len(run.trials)),
            ("retries", execution.retries, 0, 3 * len(run.trials)),
            ("rig_peak_memory_bytes", execution.rig_peak_memory_bytes, 0, machine.memory_bytes),
        ):
            if not (math.isfinite(value) and low <= value <= high):
                message = f"{name} is {value}, expected {low} to {high}"
                yield Found(where=where, message=message)
        if execution.llm not in _MODES:
            yield Found(where=where, message=f"{execution.llm!r} is no way to call models")


def _pods(run: RunEvidence) -> Iterator[Found]:
    for number, execution in enumerate(run.executions, 1):
        if execution.pod != run.lock.adapter.pod:
            message = f"ran pods of kind {execution.pod}, the lock has {run.lock.adapter.pod}"
            yield Found(where=at(f"run {run.name}", f"execution {number}"), message=message)


def _accounted(run: RunEvidence) -> Iterator[Found]:
    done = sum(execution.trials_run for execution in run.executions)
    if done < len(run.trials):
        message = (
            f"they finished {done} trials of {len(run.trials)}; only an invocation that was killed "
            "leaves no line"
        )
        yield Found(where=at(f"run {run.name}", "executions"), message=message)


def _replayed(run: RunEvidence) -> Iterator[Found]:
    for number, execution in enumerate(run.executions, 1):
        if execution.llm.startswith("replay"):
            message = "models were replayed: their times and failures are not of this run"
            yield Found(where=at(f"run {run.name}", f"execution {number}"), message=message)


RUN_CHECKS: tuple[Check[RunEvidence], ...] = (
    Check(
        "executions.order",
        "The invocations are noted, one after the other",
        "a run put together from several that went on at once",
        _ordered,
    ),
    Check(
        "executions.possible",
        "Their times, jobs, counts and memory are ones that the machine can have",
        "figures of cost that nobody measured",
        _possible,
    ),
    Check(
        "executions.pod",
        "They ran the kind of pod that the lock names",
        "process pods, passed off as isolated ones",
        _pods,
    ),
    Check(
        "executions.accounted",
        "They finished as many trials as there are",
        "trials from elsewhere, though a killed invocation looks the same",
        _accounted,
        severity="warning",
    ),
    Check(
        "executions.models-called",
        "Models were called, not replayed from an earlier record",
        "replies and failures of another run, and calls that nobody can count",
        _replayed,
    ),
)
