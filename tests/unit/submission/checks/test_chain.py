"""Checks of the chain: spec, records and seal are of one trial, and whole."""

from dataclasses import replace
from datetime import timedelta

import pytest

from memrig.model.transcript import QuestionRecord
from memrig.submission.checks import chain
from memrig.submission.checks.chain import head_of
from support.evidence import found


def caught(check_id, trial):
    return found(chain.TRIAL_CHECKS, check_id, trial)


def sealed(trial, **changes):
    return replace(trial, outcome=trial.outcome.model_copy(update=changes))


def with_record(trial, place, **changes):
    records = list(trial.records)
    records[place] = records[place].model_copy(update=changes)
    return replace(trial, records=tuple(records))


def question(trial):
    return next(n for n, one in enumerate(trial.records) if isinstance(one, QuestionRecord))


@pytest.mark.parametrize("check", chain.TRIAL_CHECKS, ids=lambda check: check.id)
def test_an_honest_trial_passes(check, good, answered):
    """Nothing is objected to where nothing is wrong."""
    for trial in (*good.trials, *answered.trials):
        assert list(check.find(trial)) == []


def test_a_good_repeat_in_the_place_of_a_bad_one_is_caught(good):
    """Its folder's name is the other one's."""
    first, second = good.trials
    copied = replace(first, name=second.name)
    assert len(caught("chain.name", copied)) == 2


def test_a_spec_that_is_not_the_sealed_one_is_caught(good):
    """The seal and every attempt name it by its hash."""
    trial = good.trials[0]
    other = replace(trial, spec=trial.spec.model_copy(update={"top_k": 11}))
    assert len(caught("chain.spec", other)) == 2


def test_an_attempt_at_another_spec_is_caught(good):
    """A seal alone is quickly made."""
    trial = with_record(good.trials[0], 0, spec_digest="sha256:" + "3" * 64)
    assert "attempt 1 was of spec sha256:333" in caught("chain.spec", trial)[0]


def test_a_changed_record_breaks_the_seal(good):
    """One nanosecond is enough."""
    trial = good.trials[0]
    place = question(trial)
    changed = with_record(trial, place, ns=trial.records[place].ns + 1)
    assert "they were changed" in caught("chain.head", changed)[0]


def test_a_dropped_record_breaks_the_seal(good):
    """The last one too."""
    trial = good.trials[0]
    assert caught("chain.head", replace(trial, records=trial.records[:-1]))


def test_a_chain_made_again_is_whole(good):
    """This is what semantic checks are for: who tampers, seals again."""
    trial = good.trials[0]
    place = question(trial)
    changed = with_record(trial, place, ns=trial.records[place].ns + 1)
    again = sealed(changed, head=head_of(trial.outcome.spec_digest, changed.records))
    assert caught("chain.head", again) == []


@pytest.mark.parametrize(
    "change", [{"records": 3}, {"questions": 7}, {"attempts": 2}, {"statuses": {"abstained": 6}}]
)
def test_a_seal_that_counts_otherwise_is_caught(good, change):
    """What an outcome sums up is in its transcript."""
    ((name, _),) = change.items()
    assert (
        f": {name}: the outcome says" in caught("chain.counts", sealed(good.trials[0], **change))[0]
    )


def test_a_transcript_without_its_beginning_is_caught(good):
    """Nothing says when it was and of which rig."""
    trial = good.trials[0]
    assert (
        "does not begin" in caught("chain.attempts", replace(trial, records=trial.records[1:]))[0]
    )


def test_two_transcripts_in_one_are_caught(good):
    """A trial is closed once."""
    trial = good.trials[0]
    both = replace(trial, records=trial.records * 2)
    assert "not closed once" in caught("chain.attempts", both)[0]


def test_a_transcript_of_another_memrig_is_caught(good):
    """Grades of two versions may differ."""
    trial = with_record(good.trials[0], 0, memrig_version="9.9")
    assert "ran on memrig 9.9" in caught("chain.attempts", trial)[0]


def test_attempts_in_the_wrong_order_are_caught(good):
    """Time does not go back."""
    trial = good.trials[0]
    first = trial.records[0]
    earlier = first.started_at - timedelta(hours=1)
    second = first.model_copy(update={"number": 2, "started_at": earlier})
    resumed = replace(trial, records=(first, second, *trial.records[1:]))
    assert "attempt 2 began before attempt 1" in caught("chain.attempts", resumed)[0]
    later = second.model_copy(update={"started_at": first.started_at + timedelta(hours=1)})
    resumed = replace(trial, records=(first, later, *trial.records[1:]))
    assert caught("chain.attempts", resumed) == []
