"""Checks of verdicts: the judge's replies, read and counted again."""

import json
from dataclasses import replace

import pytest

from memrig.submission.checks import verdicts
from memrig.submission.checks.votes import ballots_of
from support.evidence import found
from support.happened import answered_with, in_run, recorded_as, scored


def caught(check_id, trial):
    return found(verdicts.TRIAL_CHECKS, check_id, trial)


def with_verdict(trial, **changes):
    """The first verdict says something else."""
    first, *rest = trial.verdicts
    return replace(trial, verdicts=(first.model_copy(update=changes), *rest))


def with_vote(trial, **changes):
    """The first vote of the first verdict says something else."""
    first, *rest = trial.verdicts[0].votes
    return with_verdict(trial, votes=(first.model_copy(update=changes), *rest))


def saying(trial, text):
    """The judge's reply to the first vote of the first verdict is another one."""
    key = trial.verdicts[0].votes[0].key
    value = json.loads(trial.run.models.exchanges[key].response)
    value["choices"][0]["message"]["content"] = text
    return in_run(trial, recorded_as(trial.run, key, response=json.dumps(value)))


@pytest.fixture
def trial(judged):
    """A judged trial."""
    return scored(judged)


class TestComplete:
    def test_a_verdict_left_out_is_missed(self, trial):
        """The answer had to be judged."""
        fewer = replace(trial, verdicts=trial.verdicts[1:])
        assert caught("verdicts.complete", trial) == []
        assert "has no verdict" in caught("verdicts.complete", fewer)[0]

    def test_a_second_verdict_is_objected_to(self, trial):
        """One of them would count."""
        more = replace(trial, verdicts=(*trial.verdicts, trial.verdicts[0]))
        assert "has 2 verdicts" in caught("verdicts.complete", more)[0]

    @pytest.mark.parametrize("changes", [{"task": "kindness"}, {"question_id": "none"}], ids=str)
    def test_a_verdict_on_nothing_is_objected_to(self, trial, changes):
        """There was nothing to judge."""
        first = trial.verdicts[0].model_copy(update=changes)
        more = replace(trial, verdicts=(*trial.verdicts, first))
        assert "nothing to judge" in caught("verdicts.complete", more)[0]


class TestTerms:
    @pytest.mark.parametrize(
        "changes",
        [
            {"model": "gpt-kind"},
            {"grader": "kind/1"},
            {"protocol": "kind"},
            {"trial_id": "another"},
            {"quorum": 1},
        ],
        ids=lambda changes: next(iter(changes)),
    )
    def test_a_verdict_is_on_the_runs_terms(self, trial, changes):
        """Its judge, its grader, its quorum."""
        assert caught("verdicts.terms", trial) == []
        assert (
            f"{next(iter(changes))} is"
            in caught("verdicts.terms", with_verdict(trial, **changes))[0]
        )

    def test_too_few_votes_are_objected_to(self, trial):
        """Three are due."""
        votes = trial.verdicts[0].votes[:1]
        assert "1 votes were taken" in caught("verdicts.terms", with_verdict(trial, votes=votes))[0]


class TestCounting:
    @pytest.mark.parametrize(
        "changes", [{"score": 0.5}, {"agreement": 0.1}, {"score": None}], ids=str
    )
    def test_a_verdict_is_what_its_votes_come_to(self, trial, changes):
        """Median, agreement, quorum."""
        assert caught("verdicts.counted", trial) == []
        assert "its votes come to" in caught("verdicts.counted", with_verdict(trial, **changes))[0]


class TestVotes:
    def test_every_vote_has_its_call(self, trial):
        """With the prompt that the grader makes."""
        ballots = list(ballots_of(trial))
        assert len(ballots) == 3 * len(trial.verdicts) > 0
        assert all(exchange for ballot in ballots for _, exchange in ballot.calls)

    def test_another_answer_makes_another_prompt(self, trial):
        """The judge saw the one on record."""
        changed = answered_with(trial, text="something else entirely")
        assert caught("verdicts.asked", trial) == []
        assert "no exchange has the grader's prompt" in caught("verdicts.asked", changed)[0]

    def test_another_gold_makes_another_prompt(self, trial):
        """It is the verifier's own."""
        name, gold = next(iter(trial.gold.items()))
        answer = next(one.answer for one in gold.values() if one.answer)
        other = {key: one.model_copy(update={"answer": answer}) for key, one in gold.items()}
        changed = replace(trial, gold={name: other})
        assert caught("verdicts.asked", changed)

    @pytest.mark.parametrize("changes", [{"asked": 2}, {"asked": 7}, {"key": "0" * 64}], ids=str)
    def test_a_vote_is_asked_for_as_often_as_the_record_has_it(self, trial, changes):
        """And no oftener than it may be."""
        assert caught("verdicts.asked", with_vote(trial, **changes))

    @pytest.mark.parametrize(
        "changes",
        [
            {"score": 0.25},
            {"reply": "yes"},
            {"served_model": "gpt-9"},
            {"input_tokens": 1},
            {"output_tokens": 1},
            {"cost_usd": 0.0},
            {"ns": 5},
            {"attempts": 99},
        ],
        ids=lambda changes: next(iter(changes)),
    )
    def test_a_vote_is_what_its_reply_says(self, trial, changes):
        """Read by the grader's own reading."""
        assert caught("verdicts.read", trial) == []
        assert caught("verdicts.read", with_vote(trial, **changes))

    def test_a_reply_that_says_otherwise_is_another_vote(self, trial):
        """Both ways."""
        for text in ('{"correct": true}', '{"correct": false}'):
            if json.loads(text)["correct"] != bool(trial.verdicts[0].votes[0].score):
                assert "the judge's reply says" in caught("verdicts.read", saying(trial, text))[0]

    def test_a_reply_that_says_nothing_is_asked_for_again(self, trial):
        """Up to three times, then the vote is missing."""
        vague = with_vote(saying(trial, "well"), score=None, reply="well", reason="vague")
        assert "missing after 1 calls" in caught("verdicts.read", vague)[0]


def test_verdicts_of_another_evaluator_are_told(trial):
    """They are honest, and nobody can make them again."""
    lock = trial.run.lock.model_copy(update={"options": {"verdicts": "sha256:0"}})
    imported = in_run(trial, replace(trial.run, lock=lock))
    assert caught("verdicts.own", trial) == []
    assert "taken over from another evaluator's file" in caught("verdicts.own", imported)[0]
    assert caught("verdicts.asked", imported) == caught("verdicts.read", imported) == []


def test_another_evaluator_knows_one_protocol(trial):
    """It cannot have judged what is no question of its benchmark."""
    lock = trial.run.lock.model_copy(update={"options": {"verdicts": "sha256:0"}})
    imported = in_run(trial, replace(trial.run, lock=lock))
    says = "by longmemeval-compatible alone"
    assert says in "".join(caught("verdicts.terms", imported))
    spec = trial.spec.model_copy(update={"protocol": "longmemeval-compatible"})
    assert says not in "".join(caught("verdicts.terms", replace(imported, spec=spec)))
