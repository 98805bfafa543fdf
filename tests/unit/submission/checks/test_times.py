"""Checks of the times: durations, attempts and invocations agree."""

from dataclasses import replace
from datetime import timedelta

import pytest

from memrig.model.transcript import AttemptRecord, IngestRecord, QuestionRecord, StreamRecord
from memrig.submission.checks import times
from memrig.submission.checks.times import times_of
from support.evidence import found

HOUR_NS = 3600 * 10**9


def caught(check_id, trial):
    return found(times.TRIAL_CHECKS, check_id, trial)


def scored(check_id, grades):
    return found(times.GRADES_CHECKS, check_id, grades)


def with_first(trial, kind, **changes):
    """The first record of a kind says something else."""
    place = next(n for n, record in enumerate(trial.records) if isinstance(record, kind))
    records = list(trial.records)
    records[place] = records[place].model_copy(update=changes)
    return replace(trial, records=tuple(records))


@pytest.mark.parametrize("check", times.TRIAL_CHECKS, ids=lambda check: check.id)
def test_an_honest_trial_passes(check, good, answered):
    """Nothing is objected to where nothing is wrong."""
    for trial in (*good.trials, *answered.trials):
        assert list(check.find(trial)) == []


@pytest.mark.parametrize("check", times.GRADES_CHECKS, ids=lambda check: check.id)
def test_an_honest_run_passes(check, good, answered):
    """Nothing is objected to where nothing is wrong."""
    assert list(check.find(good.grades)) == list(check.find(answered.grades)) == []


def test_a_trial_of_another_day_is_warned_of(good):
    """Only an invocation that was killed leaves no line."""
    trial = good.trials[0]
    old = trial.records[0].started_at - timedelta(days=2)
    assert (
        "during no execution"
        in caught("times.within", with_first(trial, AttemptRecord, started_at=old))[0]
    )
    check = next(c for c in times.TRIAL_CHECKS if c.id == "times.within")
    assert check.severity == "warning"


def test_an_attempt_that_a_kill_ended_is_no_objection(good):
    """The one that finished the trial has its execution."""
    trial = good.trials[0]
    first = trial.records[0]
    killed = first.model_copy(update={"started_at": first.started_at - timedelta(days=1)})
    resumed = first.model_copy(update={"number": 2})
    records = (killed, resumed, *trial.records[1:])
    assert caught("times.within", replace(trial, records=records)) == []


def test_more_work_than_its_execution_had_time_for_is_caught(good):
    """An hour in a second."""
    trial = with_first(good.trials[0], QuestionRecord, ns=HOUR_NS)
    (message,) = caught("times.fit", trial)
    assert "attempt 1 did 3600.0 s of work one after the other" in message


def test_an_acknowledgement_longer_than_its_stream_is_caught(good):
    """It would have come after the end."""
    trial = good.trials[0]
    stream = next(record for record in trial.records if isinstance(record, StreamRecord))
    acks = next(record for record in trial.records if isinstance(record, IngestRecord)).acks
    late = acks[0].model_copy(update={"ns": stream.ns + 1})
    slower = with_first(trial, IngestRecord, acks=(late, *acks[1:]))
    assert f"its whole stream {stream.ns}" in caught("times.acknowledged", slower)[0]


def test_what_a_trial_took_is_summed_by_attempt(good):
    """Waiting for the memory system is measured, all of a question is serial."""
    trial = good.trials[0]
    (attempt,) = times_of(trial.records).attempts
    questions = [record for record in trial.records if isinstance(record, QuestionRecord)]
    assert attempt.serial_ns >= sum(record.ns for record in questions)
    assert attempt.measured_ns < attempt.serial_ns
    longer = with_first(trial, QuestionRecord, ns=HOUR_NS, memory_ns=HOUR_NS)
    (slow,) = times_of(longer.records).attempts
    assert slow.measured_ns >= HOUR_NS > attempt.measured_ns


def test_more_measured_time_than_there_were_slots_is_caught(good):
    """A quarter of an hour each, side by side in one slot of a second."""
    slow = {
        trial.name: times_of(
            with_first(trial, QuestionRecord, ns=HOUR_NS, memory_ns=HOUR_NS).records
        )
        for trial in good.trials
    }
    (message,) = scored("times.slots", replace(good.grades, times=slow))
    assert "its trials were measured for 7200.0 s, and 1 at a time" in message


def test_a_trial_whose_times_nobody_noted_is_objected_to(good):
    """No check passes for want of evidence."""
    assert len(scored("times.slots", replace(good.grades, times={}))) == 2


def test_one_repeat_copied_over_another_is_caught(good):
    """Nothing takes exactly as long twice, in every single duration."""
    first, second = good.trials
    copied = {first.name: times_of(first.records), second.name: times_of(first.records)}
    (message,) = scored("times.own", replace(good.grades, times=copied))
    assert f"took exactly as long as trial {min(first.name, second.name)}" in message
