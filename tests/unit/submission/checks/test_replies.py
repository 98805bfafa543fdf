"""Checks of when models replied: during the run, and within their question."""

from dataclasses import replace
from datetime import timedelta

import pytest

from memrig.model.transcript import AttemptRecord, QuestionRecord
from memrig.submission.checks import replies
from memrig.submission.checks.replies import left_of
from support.evidence import found
from support.happened import (
    asked,
    attempted,
    called_with,
    changed,
    in_run,
    recorded_as,
    scored,
    with_models_of,
    with_run,
)


def caught(check_id, trial):
    return found(replies.TRIAL_CHECKS, check_id, trial)


@pytest.mark.parametrize("check", replies.TRIAL_CHECKS, ids=lambda check: check.id)
def test_an_honest_trial_passes(check, searched, read, judged, agent):
    """Nothing is objected to where nothing is wrong."""
    for evidence in (searched, read, judged, agent):
        for trial in evidence.trials:
            assert list(check.find(trial)) == []


class TestDated:
    @pytest.mark.parametrize("at", ["2020-01-01T00:00:00+00:00", "2099-01-01", "yesterday", ""])
    def test_a_reply_from_another_time_is_objected_to(self, read, at):
        """Before the trial, after the run, or nobody knows when."""
        key = asked(scored(read)).model_calls[0].key
        trial = in_run(scored(read), recorded_as(read.run, key, at=at))
        assert "is not during the run" in caught("models.dated", trial)[0]

    def test_so_is_a_judges(self, judged):
        """A vote names its call."""
        key = scored(judged).verdicts[0].votes[0].key
        trial = in_run(scored(judged), recorded_as(judged.run, key, at="2020-01-01T00:00:00Z"))
        (said,) = caught("models.dated", trial)
        assert key[:12] in said

    def test_where_attempts_were_set_aside_nobody_knows_the_first(self, read):
        """A reply may be of one of those."""
        trial = scored(read)
        first = trial.records[0]
        assert isinstance(first, AttemptRecord)
        later = first.started_at + timedelta(hours=1)
        long_run = with_run(read, executions=(replace_wall(read.run.executions[0]),)).run
        begun = in_run(changed(trial, AttemptRecord, started_at=later), long_run)
        assert caught("models.dated", begun)
        assert caught("models.dated", changed(begun, AttemptRecord, number=3)) == []

    def test_a_replay_has_other_times(self, read):
        """Which another check objects to."""
        key = asked(scored(read)).model_calls[0].key
        run = recorded_as(read.run, key, at="2020-01-01T00:00:00Z")
        execution = run.executions[0].model_copy(update={"llm": "replay"})
        assert (
            caught("models.dated", in_run(scored(read), replace(run, executions=(execution,))))
            == []
        )


def replace_wall(execution):
    """An invocation of a day."""
    return execution.model_copy(update={"wall_s": 86_400.0})


class TestWithin:
    def test_a_question_that_is_over_before_its_reply_is_objected_to(self, read):
        """Memory and model come one after the other."""
        record = asked(scored(read))
        trial = changed(scored(read), QuestionRecord, ns=record.memory_ns + 1)
        assert "memory and models took" in caught("models.within", trial)[0]

    def test_an_attempt_that_is_longer_than_its_call_is_objected_to(self, read):
        """It is a part of it."""
        key = asked(scored(read)).model_calls[0].key
        run = with_models_of(read.run, attempts=attempted(read.run, key, ns=10**12))
        assert "the whole call" in caught("models.within", in_run(scored(read), run))[0]

    def test_nothing_was_found_where_nothing_was_before(self, read):
        """Unless the trial was interrupted, and begun again."""
        trial = called_with(scored(read), attempts=0)
        assert "was found in the record" in caught("models.within", trial)[0]
        resumed = replace(trial, outcome=trial.outcome.model_copy(update={"attempts": 2}))
        assert caught("models.within", resumed) == []


class TestOpponent:
    def failing(self, trial, failure):
        """Its opponent has no answer, and no call either."""
        naive = asked(trial).naive
        update = {"answer": None, "failure": failure, "shown": 0, "model_calls": ()}
        return changed(trial, QuestionRecord, naive=naive.model_copy(update=update))

    def test_a_failure_that_the_record_does_not_have_is_objected_to(self, read):
        """It would be left out wherever it wins."""
        trial = self.failing(scored(read), "rejected: no")
        assert "the record has no failure" in caught("models.opponent-failed", trial)[0]

    def test_one_that_it_has_is_none(self, read):
        """By its attempt, in the opponent's own scope."""
        trial = self.failing(scored(read), "rejected: no")
        key = asked(scored(read)).naive.model_calls[0].key
        run = with_models_of(read.run, attempts=attempted(read.run, key, error="rejected"))
        assert caught("models.opponent-failed", in_run(trial, run)) == []

    def test_what_is_refused_before_it_is_asked_leaves_no_row(self, read):
        """Its message says so."""
        trial = self.failing(scored(read), "rejected: the request is no clean JSON: NaN")
        assert caught("models.opponent-failed", trial) == []


def test_what_is_left_of_a_trial_is_what_came_after(read):
    """Up to where its use of models was summed up: nothing after the last question."""
    trial = scored(read)
    records = [one for one in trial.records if isinstance(one, QuestionRecord)]
    left = left_of(trial)
    last, before = records[-1], records[-2]
    assert left[f"{last.scenario_id}/{last.question_id}#0"] == 0
    assert left[f"{before.scenario_id}/{before.question_id}#0"] == last.ns
    assert left[f"{last.scenario_id}#0"] == sum(record.ns for record in records)
