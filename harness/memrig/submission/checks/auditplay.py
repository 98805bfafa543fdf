"""Checks that the audits were played as they are: each memory filled, asked and emptied in turn."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

from memrig.model.scenario import Episode, Event
from memrig.model.transcript import (
    AttemptRecord,
    AuditAskRecord,
    AuditSkipRecord,
    CapabilitiesRecord,
    FaultRecord,
    FlushRecord,
    IngestRecord,
    PodRecord,
    Record,
    ResetRecord,
    StreamRecord,
)
from memrig.submission.checks.base import Check, TrialEvidence, of_trial
from memrig.submission.model import Found
from memrig.trial.audits import AuditPlan, PlannedAsk, can_rechunk, plan_of, rechunked

#: What was done, and with what: comparable, and to be shown.
_Step = tuple[object, ...]


def _played(trial: TrialEvidence) -> Iterator[Found]:
    if trial.spec.kind != "audits":
        return
    events = trial.events.get(trial.spec.scenarios[0].scenario_id, ())
    last = _last_attempt(trial.records)
    has = list(_steps(last))
    due = list(_planned(trial, events, last))
    if any(isinstance(record, FaultRecord) for record in last):
        due = due[: len(has)]  # it ended there
    for number, (one, other) in enumerate(zip_longest(has, due), 1):
        if one != other:
            message = f"step {number} is {_shown(one)}, the plan of this run has {_shown(other)}"
            yield Found(where=of_trial(trial), message=message)
            return


def _last_attempt(records: Sequence[Record]) -> Sequence[Record]:
    """An attempt that was interrupted before it asked anything left what it had told."""
    starts = [n for n, record in enumerate(records) if isinstance(record, AttemptRecord)]
    return records[starts[-1] :] if starts else records


def _steps(records: Iterable[Record]) -> Iterator[_Step]:
    """What was done, from its records; a stream that never ended was not."""
    told: list[str] = []
    for record in records:
        match record:
            case PodRecord() | ResetRecord() | FlushRecord():
                yield (record.kind,)
            case IngestRecord():
                told += [ack.episode_id for ack in record.acks]
            case StreamRecord():
                yield "stream", tuple(sorted(told)), record.episodes, record.text_bytes
                told = []
            case AuditAskRecord():
                yield "ask", record.audit, record.part, record.question_id, record.text
            case AuditSkipRecord():
                yield "skip", record.audit
            case _:
                pass


def _planned(
    trial: TrialEvidence, events: Sequence[Event], records: Iterable[Record]
) -> Iterator[_Step]:
    plan = plan_of(trial.spec, events)
    emptied = (("reset",),) if trial.spec.adapter.pod == "endpoint" else ()
    yield ("pod",)
    yield from emptied
    yield from _first(plan, events)
    yield ("pod",)
    yield from emptied
    modes = [one.search_modes for one in records if isinstance(one, CapabilitiesRecord)]
    if modes and modes[-1] and can_rechunk(events):
        yield from _filled(chunk.episode for chunk in rechunked(events))
        yield from _asks(plan.rechunk)
    else:
        yield "skip", "rechunk"


def _first(plan: AuditPlan, events: Sequence[Event]) -> Iterator[_Step]:
    """What is done with the first memory."""
    yield from _filled(plan.told(events))
    yield from _asks((*plan.repeat, *plan.canary))
    if plan.poisons:
        yield from _filled(plan.poisoned)
        yield from _asks(plan.poison)
    yield ("reset",)
    yield from _asks(plan.emptied)
    yield from _filled(plan.refill)
    yield from _asks(plan.refilled)


def _filled(episodes: Iterable[Episode]) -> Iterator[_Step]:
    found = tuple(episodes)
    names = tuple(sorted(one.episode_id for one in found))
    yield "stream", names, len(found), sum(len(one.text.encode()) for one in found)
    yield ("flush",)


def _asks(asks: Iterable[PlannedAsk]) -> Iterator[_Step]:
    return (("ask", *ask.key) for ask in asks)


def _shown(step: _Step | None) -> str:
    if step is None:
        return "missing"
    if step[0] == "stream":
        return f"a stream of {step[2]} episodes, {step[3]} bytes"
    return " ".join(map(str, step[:4]))


TRIAL_CHECKS: tuple[Check[TrialEvidence], ...] = (
    Check(
        "audits.played",
        "Each audited memory was filled, asked and emptied as the plan has it",
        "audits of a memory that was told next to nothing, or that nobody emptied",
        _played,
    ),
)
