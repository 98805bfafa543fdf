"""Checks of when models replied: within the run, and within the question that they were asked for.

A reply's stamp and length stand in the record, the question's in the transcript, the run's in its
invocations. Whoever brings replies from elsewhere has to make up all of them.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime

from memrig.model.transcript import (
    AttemptRecord,
    FlushRecord,
    QuestionRecord,
    StreamRecord,
    UsageRecord,
)
from memrig.submission.checks.base import Check, TrialEvidence, of_trial, seconds
from memrig.submission.checks.exchanged import attempts_of, replays, scope_of
from memrig.submission.checks.times import SLACK_S, slack_of, span
from memrig.submission.checks.walk import Met, met_of, of_met, paid_calls
from memrig.submission.model import Found

_NAIVE = "naive"
#: What is refused before it is asked leaves no row.
NO_ROW = "the request is no clean JSON"


def _dated(trial: TrialEvidence) -> Iterator[Found]:
    if replays(trial.run.executions):
        return
    earliest, latest = _window(trial)
    for where, key in _used(trial):
        exchange = trial.run.models.exchanges.get(key)
        if exchange is None:
            continue  # `models.recorded` and `verdicts.asked` say so
        moment = _stamp(exchange.at)
        if moment is None or not earliest <= moment <= latest:
            message = f"call {key[:12]} was made at {exchange.at!r}, which is not during the run"
            yield Found(where=where, message=message)


def left_of(trial: TrialEvidence) -> Mapping[str, int]:
    """How long a trial went on, at least, after what was charged to a scope; nanoseconds.

    Up to where its use of models was summed: a call that took less was surely in that sum.
    """
    left: dict[str, int] = {}
    after, summed = 0, False
    for record in reversed(trial.records):
        match record:
            case UsageRecord():
                summed = True
            case QuestionRecord():
                scope = f"{record.scenario_id}/{record.question_id}#{trial.spec.repeat}"
                left.setdefault(scope, after)
                after += record.ns if summed else 0
            case StreamRecord() | FlushRecord():
                left.setdefault(f"{record.scenario_id}#{trial.spec.repeat}", after)
                after += record.ns if summed else 0
            case _:
                pass
    return left


def _used(trial: TrialEvidence) -> Iterator[tuple[str, str]]:
    """Every call that a question or a vote names: where, and its key."""
    for met in met_of(trial):
        for call in paid_calls(met.record):
            yield of_met(trial, met), call.key
    for verdict in trial.verdicts:
        where = of_trial(trial, verdict.scenario_id, verdict.question_id)
        yield from ((where, vote.key) for vote in verdict.votes)


def _window(trial: TrialEvidence) -> tuple[float, float]:
    """From when to when a trial's models can have been called, seconds since 1970.

    A killed invocation leaves no line; but the trial notes when it began, and another invocation
    must have ended the run.
    """
    first = next((one for one in trial.records if isinstance(one, AttemptRecord)), None)
    known = first is not None and first.number <= 1  # earlier attempts may have been set aside
    earliest = seconds(first.started_at) - SLACK_S if first and known else -math.inf
    ends = (span(one)[1] + slack_of(one) for one in trial.run.executions)
    return earliest, max(ends, default=math.inf)


def _stamp(text: str) -> float | None:
    try:
        return seconds(datetime.fromisoformat(text))
    except (ValueError, OverflowError):
        return None


def _within(trial: TrialEvidence) -> Iterator[Found]:
    if replays(trial.run.executions):
        return
    taken = _taken(trial)
    for met in met_of(trial):
        if met.capabilities is not None:
            for message in _longer(trial, met, taken):
                yield Found(where=of_met(trial, met), message=message)


def _taken(trial: TrialEvidence) -> Counter[str]:
    """What the provider took for each reply of a trial by its key, nanoseconds."""
    taken: Counter[str] = Counter()
    for attempt in attempts_of(trial):
        if attempt.status == 200 and not attempt.error:
            taken[attempt.key] = attempt.ns  # the last one is the one that counts
    return taken


def _longer(trial: TrialEvidence, met: Met, taken: Counter[str]) -> Iterator[str]:
    """In what a question's replies took longer than there was time for them."""
    record, busy = met.record, met.record.memory_ns
    for call in paid_calls(record):
        exchange = trial.run.models.exchanges.get(call.key)
        ns = taken[call.key]
        if exchange is not None and ns > exchange.ns:
            yield f"the reply to call {call.key[:12]} took {ns} ns, the whole call {exchange.ns} ns"
        if not call.attempts and trial.outcome.attempts <= 1:
            yield f"call {call.key[:12]} was found in the record, where nothing was before"
        if call.attempts and call.purpose != _NAIVE:  # its opponent has time of its own
            busy += ns
    if busy > record.ns:
        yield f"memory and models took {busy} ns of a question of {record.ns} ns"


def _opposed(trial: TrialEvidence) -> Iterator[Found]:
    """An opponent that has no answer was asked, and failed."""
    if replays(trial.run.executions):
        return
    failed = {scope_of(trial, attempt) for attempt in attempts_of(trial) if attempt.error}
    for met in met_of(trial):
        naive = met.record.naive if isinstance(met.record, QuestionRecord) else None
        if naive is None or not naive.failure or naive.model_calls:
            continue
        if f"{met.scope}/{_NAIVE}" not in failed and NO_ROW not in naive.failure:
            message = f"its opponent failed ({naive.failure:.60}), and the record has no failure"
            yield Found(where=of_met(trial, met), message=message)


TRIAL_CHECKS: tuple[Check[TrialEvidence], ...] = (
    Check(
        "models.dated",
        "Models were called during the run, after the trial began",
        "replies that are older than the run, or were put in later",
        _dated,
    ),
    Check(
        "models.within",
        "Memory and models together took no longer than the question",
        "answers that look faster than the replies that they are made of",
        _within,
    ),
    Check(
        "models.opponent-failed",
        "A naive opponent without an answer failed in the record",
        "an opponent that is left out where it wins",
        _opposed,
    ),
)
