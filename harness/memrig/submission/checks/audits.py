"""Checks of the audits: that they were made as planned, of the right memory, and came out well."""

from collections import Counter
from collections.abc import Iterator

from memrig.model.transcript import (
    AuditAskRecord,
    AuditRecord,
    AuditSkipRecord,
    CapabilitiesRecord,
    FaultRecord,
    IngestRecord,
    PodRecord,
    QuestionRecord,
    Record,
    ResetRecord,
)
from memrig.submission.checks.base import Check, TrialEvidence, of_trial
from memrig.submission.model import Found
from memrig.trial.audit import verdict
from memrig.trial.audits import AuditPlan, can_rechunk, plan_of, rechunked

_ISOLATION, _AUDITS = "isolation-audit", "audits"


def _isolation(trial: TrialEvidence) -> Iterator[Found]:
    """The verdict is one that the audit can come to, and not that the memory leaks."""
    if trial.spec.kind != _ISOLATION:
        return
    found = [record for record in trial.records if isinstance(record, AuditRecord)]
    if len(found) != 1:
        yield Found(where=of_trial(trial), message=f"{len(found)} verdicts, expected one")
    faults = {record.message for record in trial.records if isinstance(record, FaultRecord)}
    border = "Reset" if trial.spec.isolation == "reset" else "a fresh pod"
    possible = [verdict(*case, border) for case in ((False, False), (True, False), (True, True))]
    for record in found:
        if record.verdict == "failed":
            yield Found(where=of_trial(trial), message=f"failed: {record.detail}")
        broken = record.verdict == "n/a" and record.detail in faults
        if record not in possible and not broken:
            message = f"{record.verdict} ({record.detail}) is nothing that the audit comes to"
            yield Found(where=of_trial(trial), message=message)


def _border(trial: TrialEvidence) -> Iterator[Found]:
    """What lies between planting and looking again: another pod, or Reset."""
    if trial.spec.kind != _ISOLATION:
        return
    passed = any(isinstance(one, AuditRecord) and one.verdict != "n/a" for one in trial.records)
    if not passed:
        return
    last = _last_attempt(trial)
    pods = sum(isinstance(record, PodRecord) for record in last)
    resets = sum(isinstance(record, ResetRecord) for record in last)
    wanted = (1, 1) if trial.spec.isolation == "reset" else (2, 0)
    if (pods, resets) != wanted:
        message = (
            f"{pods} pods and {resets} Resets, expected {wanted[0]} and {wanted[1]} under "
            f"isolation {trial.spec.isolation}"
        )
        yield Found(where=of_trial(trial), message=message)
    boots = Counter(one.boot_id for one in last if isinstance(one, CapabilitiesRecord))
    if trial.spec.adapter.pod == "docker" and max(boots.values(), default=1) > 1:
        message = "both pods were served by one process"
        yield Found(where=of_trial(trial), message=message)


def _last_attempt(trial: TrialEvidence) -> list[Record]:
    last: list[Record] = []
    for record in trial.records:
        last = [] if record.kind == "attempt" else [*last, record]
    return last


def _conclusive(trial: TrialEvidence) -> Iterator[Found]:
    for record in trial.records:
        if isinstance(record, AuditRecord) and record.verdict == "n/a":
            message = f"says nothing of the memory: {record.detail}"
            yield Found(where=of_trial(trial), message=message)


def _of_kind(trial: TrialEvidence) -> Iterator[Found]:
    """Scored questions and audits are in trials of their own."""
    kind = trial.spec.kind
    lawful: dict[str, tuple[type[Record], ...]] = {
        "scored": (QuestionRecord,),
        _ISOLATION: (AuditRecord,),
        _AUDITS: (AuditAskRecord, AuditSkipRecord),
    }
    strange = tuple(one for name, some in lawful.items() if name != kind for one in some)
    for record in trial.records:
        if isinstance(record, strange):
            message = f"holds a record of {record.kind}, and is a trial of kind {kind}"
            yield Found(where=of_trial(trial), message=message)


def _plan(trial: TrialEvidence) -> AuditPlan | None:
    if trial.spec.kind != _AUDITS:
        return None
    return plan_of(trial.spec, trial.events.get(trial.spec.scenarios[0].scenario_id, ()))


def _asked(trial: TrialEvidence) -> Iterator[Found]:
    """What was asked is what the plan has, in its order, as far as a fault let it."""
    plan = _plan(trial)
    if plan is None:
        return
    keys = [
        (record.audit, record.part, record.question_id, record.text)
        for record in trial.records
        if isinstance(record, AuditAskRecord)
    ]
    wanted = [ask.key for ask in plan.asks]
    skipped = {one.audit for one in trial.records if isinstance(one, AuditSkipRecord)}
    wanted = [key for key in wanted if key[0] not in skipped]
    faulted = any(isinstance(record, FaultRecord) for record in trial.records)
    for number, (has, due) in enumerate(zip(keys, wanted, strict=False), 1):
        if has != due:
            message = f"ask {number} is {' '.join(has[:3])}, drawn for this run is"
            yield Found(where=of_trial(trial), message=f"{message} {' '.join(due[:3])}")
            return
    if len(keys) > len(wanted) or (len(keys) < len(wanted) and not faulted):
        message = f"{len(keys)} asks, the plan has {len(wanted)}"
        yield Found(where=of_trial(trial), message=message)


def _skipped(trial: TrialEvidence) -> Iterator[Found]:
    """An audit is left out only where the scenario or the memory gives it nothing to do."""
    if _plan(trial) is None:
        return
    events = trial.events.get(trial.spec.scenarios[0].scenario_id, ())
    declared = [one for one in trial.records if isinstance(one, CapabilitiesRecord)]
    searchable = any(one.search_modes for one in declared)
    possible = searchable and can_rechunk(events)
    for record in trial.records:
        if not isinstance(record, AuditSkipRecord):
            continue
        if record.audit != "rechunk" or possible:
            message = f"audit {record.audit} was left out, and could be made"
            yield Found(where=of_trial(trial), message=message)


def _planted(trial: TrialEvidence) -> Iterator[Found]:
    """What was told is what the plan has: the scenario, its canaries, the poison, other chunks."""
    plan = _plan(trial)
    if plan is None:
        return
    events = trial.events.get(trial.spec.scenarios[0].scenario_id, ())
    lawful = {one.episode_id for one in (*plan.told(events), *plan.poisoned, *plan.refill)}
    lawful |= {chunk.episode.episode_id for chunk in rechunked(events)}
    for record in trial.records:
        acks = record.acks if isinstance(record, IngestRecord) else ()
        for name in (ack.episode_id for ack in acks if ack.episode_id not in lawful):
            message = f"acknowledged {name!r}, which the plan does not tell"
            yield Found(where=of_trial(trial), message=message)
    told = {
        ack.episode_id
        for record in trial.records
        if isinstance(record, IngestRecord)
        for ack in record.acks
    }
    faulted = any(isinstance(record, FaultRecord) for record in trial.records)
    for canary in plan.planted:
        if canary.canary_id not in told and not faulted:
            message = f"{canary.canary_id!r} was never told"
            yield Found(where=of_trial(trial), message=message)


TRIAL_CHECKS: tuple[Check[TrialEvidence], ...] = (
    Check(
        "audits.apart",
        "Scored questions and audits are in trials of their own",
        "a memory that knows when it is audited",
        _of_kind,
    ),
    Check(
        "audits.isolation",
        "The isolation audit came to one of its own verdicts, and found no leak",
        "one memory behind scenarios that must not know each other",
        _isolation,
    ),
    Check(
        "audits.border",
        "The isolation audit looked again behind a fresh pod, or Reset",
        "an audit of one and the same memory",
        _border,
    ),
    Check(
        "audits.conclusive",
        "The isolation audit says something of the memory",
        "a memory that finds nothing where it is looked at",
        _conclusive,
        severity="warning",
    ),
    Check(
        "audits.asked",
        "The audits asked what was drawn for this very run",
        "audits with questions that are known beforehand, or without the hard ones",
        _asked,
    ),
    Check(
        "audits.skipped",
        "No audit was left out that could be made",
        "the audit that a memory would fail, left out",
        _skipped,
    ),
    Check(
        "audits.told",
        "The audits told what was drawn for this very run, and nothing else",
        "canaries that were never planted, or are known beforehand",
        _planted,
    ),
)
