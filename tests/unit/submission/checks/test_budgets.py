"""Checks of budgets: time, bytes, turns, tokens and money that cannot have been."""

from dataclasses import replace

import pytest

from memrig.model.transcript import (
    FlushRecord,
    IngestRecord,
    PodRecord,
    QuestionRecord,
    ResetRecord,
    StreamRecord,
)
from memrig.model.trial import Budget, Outcome
from memrig.submission.checks import budgets
from support.evidence import found
from support.happened import asked, called_with, changed, put, scored, searched_for

HOUR = 3600 * 10**9


def caught(check_id, trial):
    return found(budgets.TRIAL_CHECKS, check_id, trial)


def with_spec(trial, **changes):
    return replace(trial, spec=trial.spec.model_copy(update=changes))


def of_kind(trial, kind):
    return next(n for n, record in enumerate(trial.records) if isinstance(record, kind))


class TestDurations:
    @pytest.mark.parametrize("kind", [StreamRecord, FlushRecord, ResetRecord, IngestRecord])
    def test_nothing_takes_no_time(self, searched, kind):
        """A call over a socket does not."""
        trial = scored(searched)
        place = of_kind(trial, kind)
        record = trial.records[place]
        if kind is IngestRecord:
            acks = tuple(ack.model_copy(update={"ns": 0}) for ack in record.acks)
            record = record.model_copy(update={"acks": acks})
        else:
            record = record.model_copy(update={"ns": 0})
        assert caught("budgets.durations", trial) == []
        assert "0 ns" in caught("budgets.durations", put(trial, place, record))[0]

    def test_a_pod_is_ready_after_its_start(self, searched):
        """Not before it."""
        trial = changed(scored(searched), PodRecord, ready_ns=1)
        assert "start to ready" in caught("budgets.durations", trial)[0]

    def test_a_faster_search_does_not_add_up(self, searched):
        """The question says what the memory took, too."""
        trial = searched_for(scored(searched), ns=5)
        assert "its calls come to" in caught("budgets.durations", trial)[0]

    def test_the_memory_takes_no_longer_than_its_question(self, searched):
        """It is a part of it."""
        trial = changed(scored(searched), QuestionRecord, ns=1)
        assert "of a question of 1 ns" in caught("budgets.durations", trial)[0]

    def test_an_agents_tools_add_up(self, agent):
        """What they waited for is the memory's time."""
        trial = changed(scored(agent), QuestionRecord, memory_ns=3)
        assert "the memory took 3 ns" in caught("budgets.durations", trial)[0]

    def test_negative_tokens_are_objected_to(self, read):
        """They would make a run cheaper."""
        trial = called_with(scored(read), input_tokens=-5)
        assert "tokens below 0" in caught("budgets.durations", trial)[0]


class TestLimits:
    def test_an_answer_after_its_time_is_objected_to(self, searched):
        """It had to be counted as out of time."""
        trial = changed(scored(searched), QuestionRecord, ns=HOUR)
        assert "answered after 3600.0 s" in caught("budgets.wall-time", trial)[0]

    def test_a_fault_that_takes_long_is_not(self, searched):
        """What the rig finds out about a dead memory takes time of its own."""
        crash = Outcome(status="adapter_crashed", kind="hang")
        trial = changed(scored(searched), QuestionRecord, ns=HOUR, outcome=crash)
        assert caught("budgets.wall-time", trial) == []

    @pytest.mark.parametrize("kind", [StreamRecord, FlushRecord, ResetRecord])
    def test_a_call_after_its_deadline_is_objected_to(self, searched, kind):
        """It had to be counted as timed out."""
        trial = changed(scored(searched), kind, ns=3 * HOUR)
        assert caught("budgets.deadlines", scored(searched)) == []
        assert "its deadline is" in caught("budgets.deadlines", trial)[0]

    def test_a_search_after_its_deadline_is_objected_to(self, searched):
        """Likewise."""
        trial = searched_for(scored(searched), ns=HOUR)
        assert "a search took 3600.0 s" in caught("budgets.deadlines", trial)[0]

    def test_an_own_answer_after_its_deadline_is_objected_to(self, native):
        """Likewise."""
        trial = changed(scored(native), QuestionRecord, memory_ns=HOUR)
        assert "an answer took" in caught("budgets.deadlines", trial)[0]


class TestBytes:
    def test_fewer_bytes_than_the_hits_have_are_objected_to(self, searched):
        """What was returned was at least as long as what is shown of it."""
        search = asked(scored(searched)).searches[0]
        trial = searched_for(scored(searched), payload_bytes=len(search.hits[0].text))
        assert "its hits alone" in caught("budgets.payload", trial)[0]

    def test_sources_take_bytes_too(self, searched):
        """Each is an id of 26 bytes on the wire."""
        search = asked(scored(searched)).searches[0]
        hit = replace(search.hits[0], episodes=search.hits[0].episodes * 200)
        trial = searched_for(scored(searched), hits=(hit, *search.hits[1:]))
        assert caught("budgets.payload", trial)

    def test_a_baselines_bytes_are_its_hits_to_the_byte(self, good):
        """It lives in the rig."""
        search = asked(scored(good)).searches[0]
        trial = searched_for(scored(good), payload_bytes=search.payload_bytes + 1)
        assert caught("budgets.payload", trial)

    def test_a_search_over_the_budget_is_no_answer(self, searched):
        """It is a limit hit."""
        trial = with_spec(scored(searched), budget=Budget(payload_bytes=10))
        assert "payload_bytes: answered" in caught("budgets.spent", trial)[0]


@pytest.mark.parametrize(
    ("budget", "kind"),
    [
        (Budget(turns=2), "turns"),
        (Budget(tool_calls=4), "tool_calls"),
        (Budget(payload_bytes=100), "payload_bytes"),
        (Budget(tokens=500), "tokens"),
        (Budget(usd=1e-9), "usd"),
    ],
)
def test_an_agent_keeps_to_its_budget(agent, budget, kind):
    """What it used before its last step counts, whatever the record of models says."""
    trial = with_spec(scored(agent), budget=budget)
    assert caught("budgets.spent", scored(agent)) == []
    assert f"{kind}: answered" in caught("budgets.spent", trial)[0]


def test_a_reader_keeps_to_its_money(judged):
    """Its one call is known to be too dear once it is made."""
    trial = with_spec(scored(judged), budget=Budget(usd=1e-9))
    assert caught("budgets.spent", scored(judged)) == []
    assert all(" usd: " in objection for objection in caught("budgets.spent", trial))
    assert len(caught("budgets.spent", trial)) == 4
