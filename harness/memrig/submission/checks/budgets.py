"""Checks that no question took more than it might, and that times and bytes are possible."""

from collections.abc import Iterator

from memrig.model.transcript import (
    FlushRecord,
    HitRecord,
    IngestRecord,
    PodRecord,
    ProbeRecord,
    Record,
    ResetRecord,
    SearchRecord,
    StreamRecord,
    TeardownRecord,
)
from memrig.model.trial import Deadlines
from memrig.submission.checks.base import Check, TrialEvidence, of_trial
from memrig.submission.checks.walk import HOSTED, Met, met_of, of_met, paid_calls
from memrig.submission.model import Found
from memrig.trial.timeline import LAST_TURN_S

#: A limit is kept by the rig's event loop, which other work may hold up: seconds it may be late by.
GRACE_S = 30.0
_NS = 1_000_000_000
#: Of an opaque id on the wire: "e_" or "t_" and 24 hex digits.
_ID_BYTES = 26
_REFUSED = '{"error":"the budget of '


def _hosted(trial: TrialEvidence) -> bool:
    return trial.spec.adapter.pod in HOSTED


def _durations(trial: TrialEvidence) -> Iterator[Found]:
    least = 0 if _hosted(trial) else 1
    for record in trial.records:
        for name, ns in _timed(record, least):
            message = f"{name} took {ns} ns"
            yield Found(where=of_trial(trial, getattr(record, "scenario_id", "")), message=message)
    for met in met_of(trial):
        for message in _impossible(met, least):
            yield Found(where=of_met(trial, met), message=message)


def _timed(record: Record, least: int) -> Iterator[tuple[str, int]]:
    """What cannot have taken so little, by name, nanoseconds."""
    match record:
        case IngestRecord():
            found = [(f"ack of {ack.episode_id!r}", ack.ns, least) for ack in record.acks]
        case StreamRecord() | FlushRecord() | ResetRecord():
            found = [(record.kind, record.ns, least)]
        case PodRecord():
            late = record.ready_ns - record.start_ns
            found = [("pod start", record.start_ns, 0), ("pod start to ready", late, 0)]
        case TeardownRecord():
            found = [("teardown", record.ns, 0)]
        case ProbeRecord():
            each = [ns for some in record.samples_ns.values() for ns in some]
            found = [(f"a sample of {record.probe_id!r}", ns, least) for ns in each]
        case _:
            found = []
    return ((name, ns) for name, ns, few in found if ns < few)


def _impossible(met: Met, least: int) -> Iterator[str]:
    record = met.record
    if met.capabilities is None:
        return
    yield from (f"a search took {one.ns} ns" for one in record.searches if one.ns < least)
    yield from (f"{use.name} took {use.ns} ns" for use in record.tool_uses if use.ns < 0)
    if record.ns <= 0 or record.memory_ns < 0:
        yield f"took {record.ns} ns, {record.memory_ns} of them the memory's"
    if record.memory_ns > record.ns:
        yield f"the memory took {record.memory_ns} ns of a question of {record.ns} ns"
    parts = _parts(met)
    if parts is not None and parts != record.memory_ns:
        yield f"the memory took {record.memory_ns} ns, its calls come to {parts} ns"
    for call in paid_calls(record):
        if min(call.ns, call.attempts, call.input_tokens, call.output_tokens) < 0:
            yield f"a model call has {call.ns} ns, {call.attempts} attempts, or tokens below 0"


def _parts(met: Met) -> int | None:
    """The memory's calls together, nanoseconds; None where they are on record as one."""
    if met.mode == "native":
        return None
    if met.mode == "agent":
        return sum(use.ns for use in met.record.tool_uses)
    return sum(search.ns for search in met.record.searches)


def _wall_time(trial: TrialEvidence) -> Iterator[Found]:
    limit = trial.spec.budget.wall_time_s
    for met in met_of(trial):
        outcome = met.record.outcome
        if outcome.status not in {"answered", "abstained", "budget_exceeded"}:
            continue  # what the rig finds out about a failed adapter takes time of its own
        most = limit + GRACE_S + (LAST_TURN_S if outcome.kind == "wall_time" else 0)
        took = met.record.ns / _NS
        if took > most:
            message = f"{outcome.label} after {took:.1f} s; it had {limit:g} s"
            yield Found(where=of_met(trial, met), message=message)


def _deadlines(trial: TrialEvidence) -> Iterator[Found]:
    limits = trial.spec.deadlines
    for record in trial.records:
        for name, ns, limit in _limited(record, limits):
            if ns / _NS > limit + GRACE_S:
                message = f"{name} took {ns / _NS:.1f} s; its deadline is {limit:g} s"
                where = of_trial(trial, getattr(record, "scenario_id", ""))
                yield Found(where=where, message=message)
    for met in met_of(trial):
        for name, ns, limit in _called(met, limits):
            if ns / _NS > limit + GRACE_S:
                message = f"{name} took {ns / _NS:.1f} s; its deadline is {limit:g} s"
                yield Found(where=of_met(trial, met), message=message)


def _limited(record: Record, limits: Deadlines) -> Iterator[tuple[str, int, float]]:
    match record:
        case IngestRecord():
            slowest = max((ack.ns for ack in record.acks), default=0)
            yield "an acknowledgement", slowest, limits.ingest
        case StreamRecord():
            yield "a stream", record.ns, limits.ingest
        case FlushRecord():
            yield "the barrier", record.ns, limits.flush
        case ResetRecord():
            yield "Reset", record.ns, limits.reset
        case _:
            pass


def _called(met: Met, limits: Deadlines) -> Iterator[tuple[str, int, float]]:
    record = met.record
    for search in record.searches:
        yield "a search", search.ns, limits.search
    if met.mode == "native":
        yield "an answer", record.memory_ns, limits.answer
    for use in record.tool_uses:
        yield use.name, use.ns, max(limits.search, limits.retrieve, limits.call_tool)


def _payload(trial: TrialEvidence) -> Iterator[Found]:
    for met in met_of(trial):
        for search in met.record.searches:
            least = _least(search, hosted=_hosted(trial))
            wrong = (
                search.payload_bytes != least if _hosted(trial) else search.payload_bytes < least
            )
            if wrong:
                message = f"a search returned {search.payload_bytes} bytes, its hits alone {least}"
                yield Found(where=of_met(trial, met), message=message)


def _least(search: SearchRecord, *, hosted: bool) -> int:
    """The bytes that the kept hits take at least."""
    return sum(_size(hit) + (0 if hosted else _sources(hit)) for hit in search.hits)


def _size(hit: HitRecord) -> int:
    return len(hit.text.encode()) + len(hit.ref_id.encode())


def _sources(hit: HitRecord) -> int:
    return _ID_BYTES * sum(name is not None for name in (*hit.episodes, *hit.turns))


def _spent(trial: TrialEvidence) -> Iterator[Found]:
    for met in met_of(trial):
        if met.capabilities is None:
            continue
        for kind, used, limit in _uses(met, trial):
            if used > limit:
                message = f"used {used:g} of its {limit:g} {kind}: {met.record.outcome.label}"
                yield Found(where=of_met(trial, met), message=message)


def _uses(met: Met, trial: TrialEvidence) -> Iterator[tuple[str, float, float]]:
    """What a question used before its last step, which may go beyond a limit; by kind."""
    record, budget = met.record, trial.spec.budget
    ended = {"budget_exceeded", "harness_error"}
    steps = [use for use in record.tool_uses if not use.result.startswith(_REFUSED)]
    calls = record.model_calls
    reserved = bool(record.answer and record.answer.reserved_turn)
    if met.mode == "agent":
        yield "turns", len(calls) - reserved, budget.turns
        yield "tool_calls", len(steps), budget.tool_calls
        yield "payload_bytes", sum(use.payload_bytes for use in steps[:-1]), budget.payload_bytes
        granted = calls[:-2] if reserved else calls[:-1]
        tokens = sum(call.input_tokens + call.output_tokens for call in granted)
        yield "tokens", tokens, budget.tokens or tokens
        usd = sum(call.cost_usd or 0.0 for call in granted)
        yield "usd", usd, budget.usd or usd
    elif met.mode == "reader" and record.outcome.status not in ended:
        usd = sum(call.cost_usd or 0.0 for call in calls)
        yield "usd", usd, budget.usd or usd
    whole = _hosted(trial) and met.mode == "reader"
    if met.mode in {"retrieval", "reader"} and record.outcome.status not in ended and not whole:
        total = sum(search.payload_bytes for search in record.searches)
        yield "payload_bytes", total, budget.payload_bytes


TRIAL_CHECKS: tuple[Check[TrialEvidence], ...] = (
    Check(
        "budgets.durations",
        "Durations are possible, and the memory's add up",
        "latencies that nobody measured",
        _durations,
    ),
    Check(
        "budgets.wall-time",
        "No question was answered after its time",
        "more time than others have",
        _wall_time,
    ),
    Check(
        "budgets.deadlines",
        "No call came back after its deadline",
        "calls that had to count as timed out",
        _deadlines,
    ),
    Check(
        "budgets.payload",
        "A search returned as many bytes as its hits have, at least",
        "a budget of bytes kept by miscounting",
        _payload,
    ),
    Check(
        "budgets.spent",
        "No question used more turns, calls, bytes, tokens or money than it had",
        "more tries than others have",
        _spent,
    ),
)
