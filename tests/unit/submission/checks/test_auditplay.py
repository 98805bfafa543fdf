"""Audits are played as the plan has them, each memory filled, asked and emptied in turn."""

from dataclasses import replace

import pytest

from memrig.model.transcript import (
    AuditAskRecord,
    AuditSkipRecord,
    FaultRecord,
    FlushRecord,
    IngestRecord,
    PodRecord,
    ResetRecord,
    StreamRecord,
)
from memrig.model.trial import Outcome
from memrig.submission.checks import auditplay
from support.evidence import found
from support.happened import changed, of_kind, places, put, scored


@pytest.fixture
def several(searched):
    """The audits of a scenario."""
    return of_kind(searched, "audits")


def caught(trial):
    return found(auditplay.TRIAL_CHECKS, "audits.played", trial)


def without(trial, kind, number=0):
    """One record of a kind is not there."""
    gone = places(trial, kind)[number]
    return replace(trial, records=trial.records[:gone] + trial.records[gone + 1 :])


def test_honest_audits_pass(searched, read):
    """And any other trial has none."""
    assert [caught(trial) for trial in (*searched.trials, *read.trials) if caught(trial)] == []
    assert of_kind(searched, "audits") is not None
    assert caught(scored(read)) == []


@pytest.mark.parametrize(
    "kind", [ResetRecord, PodRecord, StreamRecord, FlushRecord, AuditAskRecord, IngestRecord]
)
def test_a_step_that_is_missing_is_objected_to(several, kind):
    """The first that is not as planned is named."""
    (said,) = caught(without(several, kind))
    assert "the plan of this run has" in said


@pytest.mark.parametrize("name", ["episodes", "text_bytes"])
def test_a_stream_of_something_else_is_objected_to(several, name):
    """By count and by bytes."""
    (said,) = caught(changed(several, StreamRecord, **{name: 1}))
    assert "a stream of" in said


def test_an_ask_in_another_place_is_objected_to(several):
    """What is asked before the poison says nothing about it."""
    at = [
        n
        for n, record in enumerate(several.records)
        if isinstance(record, AuditAskRecord) and record.audit == "poison"
    ]
    records = list(several.records)
    first = places(several, AuditAskRecord)[0]
    records.insert(first, records.pop(at[0]))
    assert "poison" in caught(replace(several, records=tuple(records)))[0]


def test_an_audit_that_could_be_made_is_not_skipped(several):
    """Nor does a skip stand for anything else."""
    skip = AuditSkipRecord(scenario_id="s", audit="repeat", reason="no time")
    trial = put(several, places(several, AuditAskRecord)[0], skip)
    assert "is skip repeat, the plan of this run has ask repeat first" in caught(trial)[0]


def test_a_fault_ends_them_where_it_comes(several):
    """What was played until then must be as planned."""
    half = places(several, AuditAskRecord)[5]
    fault = FaultRecord(outcome=Outcome(status="adapter_crashed", kind="exit"), message="gone")
    cut = replace(several, records=(*several.records[:half], fault))
    assert caught(cut) == []
    assert caught(replace(several, records=several.records[:half]))
    assert caught(without(cut, FlushRecord))


def test_an_attempt_that_was_killed_before_it_asked_is_not_counted(several):
    """The next one begins from the start."""
    told = places(several, StreamRecord)[0]
    again = (*several.records[:told], *several.records)
    assert caught(replace(several, records=again)) == []
