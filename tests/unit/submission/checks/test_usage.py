"""Checks of what a memory system used: figures that a machine can have measured."""

from dataclasses import replace

import pytest

from memrig.model.transcript import FaultRecord, FlushRecord, UsageRecord
from memrig.model.trial import Outcome
from memrig.submission.checks import usage
from support.evidence import found
from support.happened import changed, scored


def caught(trial):
    return found(usage.TRIAL_CHECKS, "usage.possible", trial)


def test_what_was_measured_passes(searched, read, judged):
    """Of processes and of baselines."""
    for evidence in (searched, read, judged):
        assert [caught(trial) for trial in evidence.trials if caught(trial)] == []


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"cpu_s": -0.1}, "cpu_s is -0.1"),
        ({"cpu_s": 1e9}, "cpu_s is 1000000000.0"),
        ({"peak_memory_bytes": 0}, "peak_memory_bytes is 0"),
        ({"memory_bytes": -5}, "memory_bytes is -5"),
        ({"file_bytes": -1}, "file_bytes is -1"),
    ],
)
def test_what_nobody_can_have_measured_is_objected_to(read, changes, told):
    """Less than nothing, or more CPU time than there was."""
    assert told in caught(changed(scored(read), UsageRecord, **changes))[0]


def test_what_a_pod_cannot_tell_is_no_objection(read):
    """Not every machine shows what its containers use."""
    nothing = dict.fromkeys(("cpu_s", "peak_memory_bytes", "memory_bytes", "file_bytes"))
    assert caught(changed(scored(read), UsageRecord, **nothing)) == []


def test_a_pod_that_is_gone_may_have_been_read_too_late(read):
    """After a fault, nothing is what there is."""
    trial = changed(scored(read), UsageRecord, peak_memory_bytes=0)
    fault = FaultRecord(outcome=Outcome(status="adapter_crashed", kind="oom"), message="gone")
    assert caught(replace(trial, records=(*trial.records, fault))) == []


def test_a_memory_holds_no_less_than_nothing(read):
    """By its own count."""
    assert "total_items is -1" in caught(changed(scored(read), FlushRecord, total_items=-1))[0]


def test_where_a_killed_invocation_left_no_line_no_time_is_too_long(read):
    """Nobody knows how long that one went on."""
    trial = changed(scored(read), UsageRecord, cpu_s=1e6)
    assert caught(trial)
    assert caught(replace(trial, run=replace(trial.run, executions=()))) == []
