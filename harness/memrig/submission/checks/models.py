"""Checks that a trial's model calls and the record of models say the same, call by call."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from memrig.gateway.identity import MEMORY
from memrig.gateway.record import Exchange
from memrig.model.transcript import (
    FaultRecord,
    ModelCallRecord,
    ModelUsageRecord,
    PodRecord,
    QuestionRecord,
)
from memrig.submission.checks.base import Check, TrialEvidence, of_trial, seconds
from memrig.submission.checks.exchanged import attempts_of, replays, reply_of, scope_of
from memrig.submission.checks.replies import NO_ROW, left_of
from memrig.submission.checks.times import last_attempt, times_of
from memrig.submission.checks.votes import keys_of
from memrig.submission.checks.walk import Met, met_of, of_met, paid_calls
from memrig.submission.model import Found

#: What a call says of its exchange.
_ALIKE = (
    "model",
    "served_model",
    "purpose",
    "input_tokens",
    "output_tokens",
    "cost_usd",
    "ns",
)
_NAIVE = "naive"
#: Wall clocks may be set during a run, seconds.
_SLACK_S = 5.0
#: From a reply to its place in the sum, at most: it is written down before.
_NOTED_NS = 200_000_000


def _recorded(trial: TrialEvidence) -> Iterator[Found]:
    for met in met_of(trial):
        for call in paid_calls(met.record):
            exchange = trial.run.models.exchanges.get(call.key)
            if exchange is None:
                message = f"the {call.purpose}'s call {call.key[:12]} is not in the record"
                yield Found(where=of_met(trial, met), message=message)
            elif reply_of(exchange) is None:
                message = (
                    f"the record does not hold the reply to the {call.purpose}'s call "
                    f"{call.key[:12]} (state {exchange.state}); runs with --llm live keep none"
                )
                yield Found(where=of_met(trial, met), message=message)


def _alike(trial: TrialEvidence) -> Iterator[Found]:
    for met, call, exchange in _pairs(trial):
        for name in _ALIKE:
            has, wanted = getattr(call, name), getattr(exchange, name)
            if has != wanted:
                message = f"{name} of call {call.key[:12]}: {has!r}, the record has {wanted!r}"
                yield Found(where=of_met(trial, met), message=message)
        reply = reply_of(exchange)
        if reply is not None and reply.stop_reason != call.stop_reason:
            message = f"call {call.key[:12]} stopped for {call.stop_reason}, by the record for"
            yield Found(where=of_met(trial, met), message=f"{message} {reply.stop_reason}")
        if call.attempts not in {0, exchange.attempts}:  # 0: it was found in the record
            message = f"call {call.key[:12]} took {call.attempts} attempts, by the record"
            yield Found(where=of_met(trial, met), message=f"{message} {exchange.attempts}")


def _pairs(trial: TrialEvidence) -> Iterator[tuple[Met, ModelCallRecord, Exchange]]:
    for met in met_of(trial):
        for call in paid_calls(met.record):
            exchange = trial.run.models.exchanges.get(call.key)
            if exchange is not None:  # else `models.recorded` says so
                yield met, call, exchange


def _placed(trial: TrialEvidence) -> Iterator[Found]:
    """A call is the question's own, and the first of its kind."""
    spec, answer = trial.spec, trial.spec.answer
    replayed = replays(trial.run.executions)
    seen: Counter[tuple[str, str]] = Counter()
    for met, call, exchange in _pairs(trial):
        naive = call.purpose == _NAIVE
        scope = f"{met.scope}/{_NAIVE}" if naive else met.scope
        wanted: dict[str, object] = {
            "model": answer.model if answer else "",
            "purpose": _NAIVE if naive else met.mode,
            "phase": "answer",
            "seed": spec.seed,
            "attempt": 0,
            "vote": 0,
        }
        if not replayed:  # a lenient replay takes what was asked elsewhere
            wanted |= {"trial_id": spec.trial_id, "scope": scope}
        for name, value in wanted.items():
            if (has := getattr(exchange, name)) != value:
                message = f"{name} of call {call.key[:12]} is {has!r}, expected {value!r}"
                yield Found(where=of_met(trial, met), message=message)
        number = seen[exchange.request, scope]
        seen[exchange.request, scope] += 1
        again = replayed or trial.outcome.attempts > 1
        if exchange.occurrence < number or (exchange.occurrence > number and not again):
            message = (
                f"call {call.key[:12]} is number {exchange.occurrence + 1} of its kind in the "
                f"record, and number {number + 1} of the question: the others were not used"
            )
            yield Found(where=of_met(trial, met), message=message)


def _accounted(trial: TrialEvidence) -> Iterator[Found]:
    """No reply that was paid for went unused, unless an interrupted attempt left it."""
    if replays(trial.run.executions):
        return
    used = {call.key for met in met_of(trial) for call in paid_calls(met.record)}
    used |= set(keys_of(trial))
    exchanges = trial.run.models.exchanges
    for attempt in attempts_of(trial):
        if attempt.purpose == MEMORY or attempt.status != 200 or attempt.error:
            continue
        if attempt.key in used or (attempt.purpose != "judge" and trial.outcome.attempts > 1):
            continue
        exchange = exchanges.get(attempt.key)
        if exchange is None or exchange.state != "cancelled":
            message = f"the {attempt.purpose} gave a reply that nothing uses ({attempt.key[:12]})"
            yield Found(where=of_trial(trial), message=message)


def _faults(trial: TrialEvidence) -> Iterator[Found]:
    """A question counts as nobody's fault only where the record has a model's."""
    if replays(trial.run.executions):
        return
    failed = {(one.error, scope_of(trial, one)) for one in attempts_of(trial) if one.error}
    kinds = {kind for kind, _ in failed}
    for record in trial.records:
        outcome = record.outcome if isinstance(record, FaultRecord) else None
        if outcome and outcome.status == "harness_error" and outcome.kind not in kinds:
            message = f"{outcome.label} ended the trial, and the record has no such failure"
            yield Found(where=of_trial(trial), message=message)
    for met in met_of(trial):
        outcome = met.record.outcome
        if outcome.status != "harness_error" or met.capabilities is None:
            continue
        if outcome.kind not in {"rejected", "malformed"}:
            message = f"{outcome.label}: no such fault settles a question"
            yield Found(where=of_met(trial, met), message=message)
        elif (outcome.kind, met.scope) not in failed and NO_ROW not in outcome.message:
            message = f"{outcome.label}, and the record has no such failure of this question's"
            yield Found(where=of_met(trial, met), message=message)


def _opposed(trial: TrialEvidence) -> Iterator[Found]:
    """Where there is an opponent, it was asked of every question that is graded."""
    for met in met_of(trial):
        record = met.record
        if not isinstance(record, QuestionRecord):
            continue
        if record.naive is not None and not trial.spec.naive:
            message = "an opponent was asked, and the trial has none"
            yield Found(where=of_met(trial, met), message=message)
        spared = record.outcome.status in {"harness_error", "adapter_crashed"}
        if trial.spec.naive and record.naive is None and met.capabilities and not spared:
            message = "its opponent was never asked"
            yield Found(where=of_met(trial, met), message=message)


@dataclass(slots=True)
class _Sum:
    """The replies of one model in one phase: all of them, and those that surely were counted."""

    calls: int = 0
    sure: int = 0
    tokens: int = 0
    sure_tokens: int = 0
    usd: float = 0.0
    unpriced: int = 0
    sure_unpriced: int = 0


@dataclass(slots=True)
class _Usage:
    """What the record holds of a memory system's own calls, by phase and model."""

    sums: dict[tuple[str, str], _Sum] = field(default_factory=dict)

    def add(self, exchange: Exchange, *, sure: bool) -> None:
        total = self.sums.setdefault((exchange.phase, exchange.model), _Sum())
        tokens = exchange.input_tokens + exchange.output_tokens
        total.calls += 1
        total.tokens += tokens
        total.usd += exchange.cost_usd or 0.0
        total.unpriced += exchange.cost_usd is None
        if sure:
            total.sure += 1
            total.sure_tokens += tokens
            total.sure_unpriced += exchange.cost_usd is None


def _usage(trial: TrialEvidence) -> Iterator[Found]:
    """The memory's own calls, as they were summed, are those of the record.

    A sum is made when the trial ends; what was under way then may be in it or not. An interrupted
    trial is summed for its last session alone, which its last attempt is a part of.
    """
    last = last_attempt(trial.records)
    came_up = any(isinstance(one, PodRecord) for one in last)
    if replays(trial.run.executions) or trial.spec.kind == "isolation-audit" or not came_up:
        return  # of these, nothing is summed
    rows = [one for one in last if isinstance(one, ModelUsageRecord)]
    stated: dict[tuple[str, str], ModelUsageRecord] = {(r.phase, r.model): r for r in rows}
    if len(stated) < len(rows):
        message = f"{len(rows)} sums, of {len(stated)} models and phases: one is summed twice"
        yield Found(where=of_trial(trial), message=message)
    usage = _recorded_usage(trial)
    for key in sorted(stated.keys() | usage.sums.keys()):
        if message := _missummed(stated.get(key), usage.sums.get(key, _Sum())):
            yield Found(where=of_trial(trial), message=f"{key[1]} in phase {key[0]}: {message}")


def _missummed(one: ModelUsageRecord | None, total: _Sum) -> str:
    """In what a sum is not the record's; empty where it is."""
    calls = one.calls if one else 0
    tokens = one.input_tokens + one.output_tokens if one else 0
    if not total.sure <= calls <= total.calls:
        return f"{calls} calls, the record has {total.calls}"
    if not total.sure_tokens <= tokens <= total.tokens:
        return f"{tokens} tokens, the record has {total.tokens}"
    if one and min(one.input_tokens, one.output_tokens, one.attempts) < 0:
        return f"{one.attempts} attempts, tokens {one.input_tokens} and {one.output_tokens}"
    return _mispriced(one, total) if one else ""


def _mispriced(one: ModelUsageRecord, total: _Sum) -> str:
    """In what a sum of money is not the record's: it is unknown where any call has no price."""
    if one.cost_usd is None:
        return "" if total.unpriced else f"cost unknown, the record has {total.usd} dollars"
    unpriced = total.unpriced if one.calls == total.calls else total.sure_unpriced
    if unpriced:
        return f"{one.cost_usd} dollars, and {unpriced} of its calls have no price"
    if not _near(one, total, one.calls):
        return f"{one.cost_usd} dollars, the record has {total.usd}"
    return ""


def _near(one: ModelUsageRecord, total: _Sum, calls: int) -> bool:
    """Whether a sum of money is the record's, but for the order of adding."""
    usd = one.cost_usd or 0.0
    close = abs(usd - total.usd) <= 1e-9 * max(1.0, total.usd)
    return close or (calls < total.calls and usd <= total.usd)


def _recorded_usage(trial: TrialEvidence) -> _Usage:
    usage = _Usage()
    attempts = times_of(trial.records).attempts
    began = seconds(attempts[-1].started_at) if attempts else 0.0
    until = began + attempts[-1].serial_ns / 1e9 if attempts else 0.0
    keys = dict.fromkeys(one.key for one in attempts_of(trial) if one.purpose == MEMORY)
    left = left_of(trial)
    for key in keys:
        exchange = trial.run.models.exchanges.get(key)
        if exchange is not None and exchange.state == "ok":
            ended = _stamp(exchange.at) + exchange.ns / 1e9
            over = exchange.ns + _NOTED_NS < left.get(exchange.scope, 0)
            own = trial.outcome.attempts <= 1 or _stamp(exchange.at) > began + _SLACK_S
            usage.add(exchange, sure=own and (over or ended < until - _SLACK_S))
    return usage


def _stamp(text: str) -> float:
    try:
        return seconds(datetime.fromisoformat(text))
    except (ValueError, OverflowError):
        return 0.0


TRIAL_CHECKS: tuple[Check[TrialEvidence], ...] = (
    Check(
        "models.recorded",
        "Every call of the rig's is in the record, with its reply",
        "answers of which nobody can see how they came about",
        _recorded,
    ),
    Check(
        "models.calls",
        "Model, tokens, cost and time of a call are those of the record",
        "answers of a dearer model at the price of a cheaper one",
        _alike,
    ),
    Check(
        "models.placed",
        "A call was made by the run's model for this question, and for the first time",
        "another question's reply; the best of several replies",
        _placed,
    ),
    Check(
        "models.accounted",
        "No reply in the record is one that nothing uses",
        "models asked again until the answer is right",
        _accounted,
    ),
    Check(
        "models.faults",
        "What counts as a provider's failure failed in the record",
        "wrong answers taken out of the score as nobody's fault",
        _faults,
    ),
    Check(
        "models.opponent",
        "The naive opponent was asked wherever it had to be",
        "an opponent that is only asked where it loses",
        _opposed,
    ),
    Check(
        "models.usage",
        "What the memory system used of models is what the record holds",
        "a memory that costs less than it does",
        _usage,
    ),
)
