"""Checks of a trial's model calls against the record of models."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from memrig.model.transcript import (
    AttemptRecord,
    FaultRecord,
    ModelUsageRecord,
    QuestionRecord,
    StreamRecord,
    UsageRecord,
)
from memrig.model.trial import Outcome
from memrig.submission.checks import models
from support.evidence import found
from support.happened import (
    asked,
    called_with,
    changed,
    exchange_of,
    in_run,
    places,
    put,
    recorded_as,
    scored,
    with_models_of,
)

HOUR = 3600 * 10**9
REJECTED = Outcome(status="harness_error", kind="rejected", message="filtered")


def caught(check_id, trial):
    return found(models.TRIAL_CHECKS, check_id, trial)


class TestCalls:
    def test_a_call_that_is_not_in_the_record_is_objected_to(self, read):
        """Nobody can see how its answer came about."""
        trial = called_with(scored(read), key="0" * 64)
        assert caught("models.recorded", scored(read)) == []
        assert "is not in the record" in caught("models.recorded", trial)[0]

    def test_a_reply_that_was_not_kept_is_objected_to(self, read):
        """As those of mode live."""
        key = asked(scored(read)).model_calls[0].key
        trial = in_run(scored(read), recorded_as(read.run, key, response=None))
        assert "does not hold the reply" in caught("models.recorded", trial)[0]

    @pytest.mark.parametrize(
        "changes",
        [
            {"served_model": "gpt-9"},
            {"input_tokens": 1},
            {"output_tokens": 1},
            {"cost_usd": 0.0},
            {"ns": 5},
            {"attempts": 9},
            {"stop_reason": "length"},
        ],
        ids=lambda changes: next(iter(changes)),
    )
    def test_a_call_is_as_the_record_has_it(self, judged, changes):
        """Tokens, money and time."""
        assert caught("models.calls", scored(judged)) == []
        assert len(caught("models.calls", called_with(scored(judged), **changes))) == 1

    @pytest.mark.parametrize(
        "changes",
        [
            {"scope": "amara-obi/another#0"},
            {"trial_id": "another"},
            {"model": "gpt-9"},
            {"phase": "judge"},
            {"purpose": "memory"},
            {"seed": 1},
            {"attempt": 1},
            {"vote": 1},
        ],
        ids=lambda changes: next(iter(changes)),
    )
    def test_a_call_was_made_for_its_question(self, judged, changes):
        """Another question's reply is none to this."""
        key = asked(scored(judged)).model_calls[0].key
        trial = in_run(scored(judged), recorded_as(judged.run, key, **changes))
        assert caught("models.placed", scored(judged)) == []
        assert f"{next(iter(changes))} of call" in caught("models.placed", trial)[0]

    def test_the_first_reply_counts(self, judged):
        """A second asking has another number; an interrupted trial may have one."""
        key = asked(scored(judged)).model_calls[0].key
        trial = in_run(scored(judged), recorded_as(judged.run, key, occurrence=1))
        assert "the others were not used" in caught("models.placed", trial)[0]
        outcome = trial.outcome.model_copy(update={"attempts": 2})
        assert caught("models.placed", replace(trial, outcome=outcome)) == []


class TestAccounts:
    def test_a_reply_that_nothing_uses_is_objected_to(self, judged):
        """It was asked again until it was right."""
        exchange = exchange_of(judged.run, "reader")
        attempt = next(one for one in judged.run.models.attempts if one.key == exchange.key)
        twice = replace(attempt, key="0" * 64)
        extra = replace(exchange, key="0" * 64)
        run = with_models_of(
            judged.run,
            exchanges={**judged.run.models.exchanges, extra.key: extra},
            attempts=(*judged.run.models.attempts, twice),
        )
        trial = in_run(scored(judged), run)
        assert caught("models.accounted", scored(judged)) == []
        assert "gave a reply that nothing uses" in caught("models.accounted", trial)[0]
        late = in_run(trial, recorded_as(run, extra.key, state="cancelled"))
        assert caught("models.accounted", late) == []

    def test_a_vote_that_was_dropped_is_objected_to(self, judged):
        """Its judge was paid."""
        trial = scored(judged)
        first, *rest = trial.verdicts
        fewer = first.model_copy(update={"votes": first.votes[:2]})
        assert caught("models.accounted", replace(trial, verdicts=(fewer, *rest)))

    def test_a_failure_that_the_record_does_not_have_is_objected_to(self, judged):
        """A wrong answer would be taken out of the score."""
        trial = changed(scored(judged), QuestionRecord, outcome=REJECTED)
        assert caught("models.faults", scored(judged)) == []
        assert "no such failure of this question's" in caught("models.faults", trial)[0]

    def test_a_failure_that_leaves_a_question_open_settles_none(self, judged):
        """It would have been asked again."""
        outcome = Outcome(status="harness_error", kind="provider")
        trial = changed(scored(judged), QuestionRecord, outcome=outcome)
        assert "no such fault settles a question" in caught("models.faults", trial)[0]

    def test_a_model_that_ends_a_trial_failed_in_the_record(self, judged):
        """Else all that was open would be nobody's fault."""
        trial = scored(judged)
        fault = FaultRecord(outcome=REJECTED, message="filtered")
        place = places(trial, UsageRecord)[0]
        ended = put(trial, place, fault, trial.records[place])
        assert "ended the trial" in caught("models.faults", ended)[0]

    @pytest.mark.parametrize("naive", [True, False])
    def test_an_opponent_is_asked_wherever_it_is_due(self, read, judged, naive):
        """Not only where it loses."""
        if naive:
            trial = changed(scored(read), QuestionRecord, naive=None)
            says = "was never asked"
        else:
            other = asked(scored(read)).naive
            trial, says = changed(scored(judged), QuestionRecord, naive=other), "the trial has none"
        assert caught("models.opponent", scored(read)) == []
        assert says in caught("models.opponent", trial)[0]


class TestUsage:
    @pytest.fixture
    def trial(self, read):
        """A trial whose memory called a model twice, long before its end."""
        trial = scored(read)
        began = datetime(2026, 1, 1, tzinfo=UTC)
        exchange = replace(
            exchange_of(read.run, "reader"),
            purpose="memory", phase="ingest", at=began.isoformat(), ns=10**9, trial_id=trial.name,
            input_tokens=10, output_tokens=1, cost_usd=0.5,
        )  # fmt: skip
        attempt = next(one for one in read.run.models.attempts)
        made = {key: replace(exchange, key=key) for key in ("a", "b")}
        run = with_models_of(
            read.run,
            exchanges={**read.run.models.exchanges, **made},
            attempts=tuple(
                replace(attempt, key=key, purpose="memory", trial_id=trial.name) for key in made
            ),
        )
        trial = changed(in_run(trial, run), AttemptRecord, started_at=began)
        trial = changed(trial, StreamRecord, ns=HOUR)
        place = places(trial, UsageRecord)[0]
        used = ModelUsageRecord(
            phase="ingest", model=exchange.model, calls=2, attempts=2, input_tokens=20,
            output_tokens=2, cost_usd=1.0,
        )  # fmt: skip
        return put(trial, place, trial.records[place], used)

    @pytest.mark.parametrize(
        "changes", [{"calls": 1}, {"calls": 3}, {"input_tokens": 1}, {"cost_usd": 0.1}], ids=str
    )
    def test_a_memory_that_looks_cheaper_is_objected_to(self, trial, changes):
        """The record has all its calls."""
        assert caught("models.usage", trial) == []
        assert len(caught("models.usage", changed(trial, ModelUsageRecord, **changes))) == 1

    def test_usage_left_out_is_missed(self, trial):
        """The record has calls."""
        bare = put(trial, places(trial, ModelUsageRecord)[0])
        assert "0 calls, the record has 2" in caught("models.usage", bare)[0]

    def test_what_was_under_way_at_the_end_may_be_missing(self, trial):
        """It is summed while it still goes on."""
        run = recorded_as(trial.run, "b", at="2026-01-01T02:00:00+00:00")
        late = {"calls": 1, "input_tokens": 10, "output_tokens": 1, "cost_usd": 0.5}
        assert caught("models.usage", changed(in_run(trial, run), ModelUsageRecord, **late)) == []

    @pytest.mark.parametrize(
        "changes",
        [{"cost_usd": None}, {"attempts": -1}, {"input_tokens": -1, "output_tokens": 23}],
        ids=str,
    )
    def test_what_no_sum_can_be_is_objected_to(self, trial, changes):
        """Its calls have prices, and nothing of them is below nothing."""
        assert len(caught("models.usage", changed(trial, ModelUsageRecord, **changes))) == 1

    def test_a_model_and_phase_is_summed_once(self, trial):
        """Tables add up what there is."""
        place = places(trial, ModelUsageRecord)[0]
        one = trial.records[place]
        less = one.model_copy(update={"cost_usd": -1.0})
        assert "is summed twice" in caught("models.usage", put(trial, place, less, one))[0]

    def test_calls_without_a_price_make_no_sum(self, trial):
        """Half a sum would pass for a whole one."""
        run = recorded_as(trial.run, "b", cost_usd=None)
        half = changed(in_run(trial, run), ModelUsageRecord, cost_usd=0.5)
        assert "have no price" in caught("models.usage", half)[0]
        unknown = changed(half, ModelUsageRecord, cost_usd=None)
        assert caught("models.usage", unknown) == []

    def test_an_interrupted_trial_is_summed_from_its_last_attempt_on(self, trial):
        """What the first one called may be left out; what the last one did may not."""
        first = trial.records[0]
        last = first.model_copy(update={"number": 2})
        outcome = trial.outcome.model_copy(update={"attempts": 2})
        resumed = replace(trial, outcome=outcome, records=(first, last, *trial.records[1:]))
        bare = put(resumed, places(resumed, ModelUsageRecord)[0])
        assert caught("models.usage", bare) == []
        minute = {"at": "2026-01-01T00:01:00+00:00"}
        run = recorded_as(recorded_as(trial.run, "a", **minute), "b", **minute)
        assert caught("models.usage", in_run(resumed, run)) == []
        assert "0 calls, the record has 2" in caught("models.usage", in_run(bare, run))[0]
