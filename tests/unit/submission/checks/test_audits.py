"""Checks of the audits: what they asked, of which memory, and what they came to."""

from dataclasses import replace

import pytest

from memrig.model.scenario import Episode, Turn
from memrig.model.transcript import (
    Ack,
    AuditAskRecord,
    AuditRecord,
    AuditSkipRecord,
    FaultRecord,
    IngestRecord,
    PodRecord,
    QuestionRecord,
    ResetRecord,
)
from memrig.model.trial import Outcome
from memrig.submission.checks import audits
from support.evidence import found
from support.happened import changed, of_kind, places, put


def caught(check_id, trial):
    return found(audits.TRIAL_CHECKS, check_id, trial)


def skipping(trial, audit):
    """One more audit is left out."""
    skip = AuditSkipRecord(scenario_id="s", audit=audit, reason="no time")
    return replace(trial, records=(*trial.records, skip))


@pytest.fixture
def isolation(searched):
    """The isolation audit of one memory for all."""
    return of_kind(searched, "isolation-audit")


@pytest.fixture
def fresh(read):
    """The isolation audit of fresh memories."""
    return of_kind(read, "isolation-audit")


@pytest.fixture
def several(searched):
    """The audits of a scenario."""
    return of_kind(searched, "audits")


class TestIsolation:
    def test_a_leak_is_objected_to(self, isolation):
        """What leaks is no score of single scenarios."""
        detail = "the canary was still found after Reset"
        trial = changed(isolation, AuditRecord, verdict="failed", detail=detail)
        assert caught("audits.isolation", isolation) == []
        assert caught("audits.isolation", trial) == [
            f"run run: trial {trial.name}: failed: {detail}"
        ]

    def test_what_broke_it_off_is_what_it_says(self, isolation):
        """In the words of the fault."""
        fault = FaultRecord(outcome=Outcome(status="adapter_error"), message="rpc=Search: no")
        broken = put(isolation, len(isolation.records) - 1, fault, isolation.records[-1])
        said = changed(broken, AuditRecord, verdict="n/a", detail="rpc=Search: no")
        assert caught("audits.isolation", said) == []
        praised = changed(broken, AuditRecord, verdict="n/a", detail="it needs no audit")
        assert "is nothing that the audit comes to" in caught("audits.isolation", praised)[0]

    @pytest.mark.parametrize(
        "changes", [{"detail": "all is well"}, {"verdict": "n/a"}], ids=lambda one: next(iter(one))
    )
    def test_a_verdict_is_one_of_the_audits_own(self, isolation, changes):
        """It has three."""
        trial = changed(isolation, AuditRecord, **changes)
        assert "is nothing that the audit comes to" in caught("audits.isolation", trial)[0]

    def test_an_audit_left_out_is_missed(self, isolation):
        """The trial is for nothing else."""
        trial = put(isolation, places(isolation, AuditRecord)[0])
        assert "0 verdicts" in caught("audits.isolation", trial)[0]

    def test_an_audit_that_could_not_be_made_is_told(self, isolation):
        """A fault ends it; the check warns."""
        fault = FaultRecord(outcome=Outcome(status="timeout"), message="no answer within 10 s")
        place = places(isolation, AuditRecord)[0]
        verdict = AuditRecord(verdict="n/a", detail="no answer within 10 s")
        trial = put(isolation, place, fault, verdict)
        assert caught("audits.isolation", trial) == []
        assert "says nothing of the memory" in caught("audits.conclusive", trial)[0]

    def test_one_memory_is_emptied_in_between(self, isolation):
        """By Reset."""
        trial = put(isolation, places(isolation, ResetRecord)[0])
        assert caught("audits.border", isolation) == []
        assert "1 pods and 0 Resets" in caught("audits.border", trial)[0]

    def test_fresh_memories_are_two_pods(self, fresh):
        """One and the same would still hold the canary, or never held it."""
        trial = put(fresh, places(fresh, PodRecord)[1])
        assert caught("audits.border", fresh) == []
        assert "1 pods and 0 Resets, expected 2 and 0" in caught("audits.border", trial)[0]


class TestSeveral:
    def test_scored_questions_are_elsewhere(self, several, searched):
        """A memory must not know when it is audited."""
        scored = of_kind(searched, "scored")
        question = scored.records[places(scored, QuestionRecord)[0]]
        ask = several.records[places(several, AuditAskRecord)[0]]
        assert caught("audits.apart", several) == caught("audits.apart", scored) == []
        assert caught("audits.apart", replace(several, records=(*several.records, question)))
        assert caught("audits.apart", replace(scored, records=(*scored.records, ask)))

    def test_a_question_that_was_not_drawn_is_objected_to(self, several):
        """It may be known beforehand."""
        trial = changed(several, AuditAskRecord, text="What is the capital of France?")
        assert caught("audits.asked", several) == []
        assert "drawn for this run is" in caught("audits.asked", trial)[0]

    def test_a_question_left_out_is_missed(self, several):
        """Unless a fault came before it."""
        trial = put(several, places(several, AuditAskRecord)[-1])
        assert "the plan has" in caught("audits.asked", trial)[0]
        fault = FaultRecord(outcome=Outcome(status="timeout"), message="late")
        ended = replace(trial, records=(*trial.records, fault))
        assert caught("audits.asked", ended) == []

    def test_an_audit_that_can_be_made_is_not_left_out(self, several):
        """Only other chunks can be impossible: where there are none."""
        trial = skipping(several, "canary")
        assert caught("audits.skipped", several) == []
        assert "audit canary was left out" in caught("audits.skipped", trial)[0]

    def test_other_chunks_are_not_left_out_where_there_are_some(self, several):
        """An episode of two turns can be cut."""
        turns = tuple(Turn(turn_id=f"t{n}", speaker="Ada", text="Well.") for n in (1, 2))
        more = Episode(episode_id="more", text="Ada: Well.", turns=turns)
        (name,) = several.events
        trial = replace(several, events={name: (*several.events[name], more)})
        assert (
            "audit rechunk was left out" in caught("audits.skipped", skipping(trial, "rechunk"))[0]
        )

    def test_a_canary_that_was_never_told_is_missed(self, several):
        """It would not be found, and that would be right."""
        records = tuple(
            one.model_copy(
                update={"acks": tuple(a for a in one.acks if "canary" not in a.episode_id)}
            )
            if isinstance(one, IngestRecord)
            else one
            for one in several.records
        )
        assert caught("audits.told", several) == []
        assert "was never told" in caught("audits.told", replace(several, records=records))[0]

    def test_what_the_plan_does_not_tell_is_objected_to(self, several):
        """A hint for the memory."""
        hint = Ack(episode_id="hint", status="stored", stored_items=1, ns=5)
        trial = changed(several, IngestRecord, acks=(hint,))
        assert "'hint', which the plan does not tell" in caught("audits.told", trial)[0]
