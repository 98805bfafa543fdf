"""Checks of the cells: all that the lock stands for is there, once, and nothing else."""

from dataclasses import replace

import pytest

from memrig.model.transcript import QuestionRecord
from memrig.submission.checks import cells
from memrig.submission.checks.cells import MOST_TRIALS, count_of, planned_questions
from support.evidence import found


def with_lock(run, **changes):
    return replace(run, lock=run.lock.model_copy(update=changes))


def with_ref(run, **changes):
    """The lock claims something else of its first scenario."""
    first, *rest = run.lock.scenarios
    return with_lock(run, scenarios=(first.model_copy(update=changes), *rest))


def caught(check_id, run):
    return found(cells.RUN_CHECKS, check_id, run)


def seen(check_id, trial):
    return found(cells.TRIAL_CHECKS, check_id, trial)


def places(trial):
    """Where the questions stand among a trial's records."""
    return [n for n, record in enumerate(trial.records) if isinstance(record, QuestionRecord)]


class TestARun:
    @pytest.mark.parametrize("check", cells.RUN_CHECKS, ids=lambda check: check.id)
    def test_an_honest_run_passes(self, check, good, answered):
        """Nothing is objected to where nothing is wrong."""
        assert list(check.find(good.run)) == list(check.find(answered.run)) == []

    def test_a_trial_left_out_is_missed(self, good):
        """What is expected is worked out from the lock."""
        gone = good.run.trials[0]
        assert caught("cells.complete", replace(good.run, trials=good.run.trials[1:])) == [
            f"run run: trial {gone}: is planned, and missing"
        ]

    def test_a_renamed_trial_is_missed_and_objected_to(self, good):
        """Under its new name it is none of the plan's."""
        run = replace(good.run, trials=("lucky-s1-r0-000000000000", *good.run.trials[1:]))
        assert len(caught("cells.complete", run)) == 1
        assert caught("cells.only-planned", run) == [
            "run run: trial lucky-s1-r0-000000000000: is no trial of this lock"
        ]

    def test_a_trial_that_is_there_twice_is_objected_to(self, good):
        """One of them would count for the other."""
        run = replace(good.run, trials=(*good.run.trials, good.run.trials[0]))
        assert caught("cells.only-planned", run)[0].endswith("is there 2 times")

    def test_another_repeat_would_be_needed(self, good):
        """A lock that promises more than was done is caught."""
        assert len(caught("cells.complete", with_lock(good.run, repeats=3))) == 1

    def test_another_dataset_is_caught(self, good):
        """The digest is that of the verifier's own copy."""
        data = good.run.lock.data.model_copy(update={"sha256": "sha256:" + "0" * 64})
        assert (
            "the verifier's has sha256:" in caught("cells.data", with_lock(good.run, data=data))[0]
        )

    @pytest.mark.parametrize(
        ("change", "text"),
        [
            ({"name": "locomo"}, "data.name: the lock has 'locomo', the suite says 'practical'"),
            ({"origin": "mine.json"}, "data.origin: the lock has False, the suite says True"),
            ({"notes": ("verified!",)}, "data.notes: the lock has ('verified!',)"),
        ],
    )
    def test_data_under_another_description_is_caught(self, good, change, text):
        """A report shows it as its suite's own words."""
        data = good.run.lock.data.model_copy(update=change)
        (message,) = caught("cells.described", with_lock(good.run, data=data))
        assert text in message

    def test_a_note_that_no_suite_made_is_caught(self, good):
        """A report has it among its own."""
        run = with_lock(good.run, notes=("seen by the organisers",))
        assert (
            "notes: the lock has ('seen by the organisers',)" in caught("cells.described", run)[0]
        )

    def test_a_suite_that_was_never_asked_is_objected_to(self, good):
        """No check passes for want of evidence."""
        assert caught("cells.described", replace(good.run, source=None))

    @pytest.mark.parametrize("field", ["digest", "gold_digest", "questions", "episodes"])
    def test_a_scenario_that_the_data_do_not_give_is_caught(self, good, field):
        """Timeline, gold and both counts."""
        old = getattr(good.run.lock.scenarios[0], field)
        new = old + 1 if isinstance(old, int) else "sha256:" + "1" * 64
        (message,) = caught("cells.scenarios", with_ref(good.run, **{field: new}))
        assert f"{field}: the lock has {new}, the data gives {old}" in message

    def test_a_scenario_left_out_is_missed(self, good):
        """Together with its questions."""
        left_out = with_lock(good.run, scenarios=())
        assert "6 questions; the lock leaves it out" in caught("cells.scenarios", left_out)[0]

    def test_a_made_up_scenario_is_caught(self, good):
        """Nobody else can ask its questions."""
        easy = good.run.lock.scenarios[0].model_copy(update={"scenario_id": "easy"})
        run = with_lock(good.run, scenarios=(*good.run.lock.scenarios, easy))
        assert caught("cells.scenarios", run) == [
            "run run: scenario easy: the data has no such scenario"
        ]

    def test_a_scenario_that_stands_there_twice_is_caught(self, good):
        """It would count twice."""
        run = with_lock(good.run, scenarios=good.run.lock.scenarios * 2)
        assert "one is there twice" in caught("cells.scenarios", run)[0]

    def test_verdicts_without_a_judge_are_caught(self, good):
        """Nobody gave them."""
        run = replace(good.run, verdicts=good.run.trials[:1])
        assert "no judge was to be asked" in caught("cells.verdicts", run)[0]

    def test_verdicts_left_out_are_missed(self, answered):
        """A judge that is named has judged every trial."""
        run = with_lock(answered.run, judge="gpt-4o")
        assert caught("cells.verdicts", run)[0].endswith("the judge gpt-4o never gave any")

    def test_a_lock_that_stands_for_too_much_is_refused_without_counting_it_out(self, good):
        """A few bytes must not keep a verifier busy."""
        run = with_lock(good.run, repeats=10**15)
        assert len(caught("cells.sized", run)) == 1
        assert caught("cells.complete", run) == []
        assert caught("cells.only-planned", run) != []

    @pytest.mark.parametrize("change", [{"top_k": 0}, {"repeats": -1}, {"seeds": ()}])
    def test_a_lock_whose_trials_cannot_be_is_caught_and_raises_nothing(self, good, change):
        """It takes values that no trial has."""
        run = with_lock(good.run, **change)
        assert len(caught("cells.sized", run)) == 1
        assert caught("cells.complete", run) == []

    def test_trials_are_counted_as_a_plan_makes_them(self, good):
        """Repeats, seeds and memories."""
        lock = good.run.lock
        assert count_of(lock) == len(good.trials) == 2
        seeded = [lock.scenarios[0].model_copy(update={"seed": seed}) for seed in (1, 2, 2)]
        two = lock.model_copy(update={"seeds": (1, 2), "scenarios": (*lock.scenarios, *seeded)})
        assert count_of(two) == 2 * (2 + 3)
        assert count_of(two.model_copy(update={"isolation": "reset"})) == 2 * 2
        assert count_of(lock.model_copy(update={"repeats": MOST_TRIALS})) == MOST_TRIALS


class TestATrial:
    @pytest.mark.parametrize("check", cells.TRIAL_CHECKS, ids=lambda check: check.id)
    def test_an_honest_trial_passes(self, check, good, answered):
        """Nothing is objected to where nothing is wrong."""
        for trial in (*good.trials, *answered.trials):
            assert list(check.find(trial)) == []

    @pytest.mark.parametrize(
        "change", [{"top_k": 1000}, {"seed": 7}, {"repeat": 2}, {"mode": "reader"}]
    )
    def test_a_spec_that_the_lock_does_not_plan_is_caught(self, good, change):
        """However it is called and sealed."""
        trial = good.trials[0]
        spec = trial.spec.model_copy(update=change)
        assert seen("cells.spec", replace(trial, spec=spec))

    def test_more_time_than_the_lock_gives_is_caught(self, good):
        """Deadlines and budgets are the run's."""
        trial = good.trials[0]
        longer = trial.spec.deadlines.model_copy(update={"search": 3600.0})
        spec = trial.spec.model_copy(update={"deadlines": longer})
        assert "deadlines: the spec has" in seen("cells.spec", replace(trial, spec=spec))[0]

    def test_a_scenario_of_its_own_is_caught(self, good):
        """A trial's scenarios are the lock's."""
        trial = good.trials[0]
        other = trial.spec.scenarios[0].model_copy(update={"digest": "sha256:" + "2" * 64})
        spec = trial.spec.model_copy(update={"scenarios": (other,)})
        assert "plans no scored trial of" in seen("cells.spec", replace(trial, spec=spec))[0]

    def test_a_question_left_out_is_missed(self, good):
        """Whatever the counts say."""
        trial = good.trials[0]
        at = places(trial)[2]
        less = replace(trial, records=trial.records[:at] + trial.records[at + 1 :])
        (message,) = seen("questions.settled", less)
        assert trial.records[at].question_id in message
        assert message.endswith("is planned, and was never settled")

    def test_a_question_asked_again_is_caught(self, good):
        """Its better answer would count."""
        trial = good.trials[0]
        at = places(trial)[2]
        twice = replace(trial, records=(*trial.records[:at], *trial.records[at - 1 :]))
        assert seen("questions.settled", twice)[0].endswith("was settled 2 times")

    def test_a_question_of_ones_own_is_caught(self, good):
        """It is none of the scenario's."""
        trial = good.trials[0]
        at = places(trial)[0]
        own = trial.records[at].model_copy(update={"question_id": "easy"})
        more = replace(trial, records=(*trial.records[:at], own, *trial.records[at:]))
        assert seen("questions.settled", more)[0].endswith("is no question of this trial")

    def test_a_question_settled_too_early_is_caught(self, good):
        """The timeline says which comes first."""
        trial = good.trials[0]
        first, second = places(trial)[:2]
        records = list(trial.records)
        records[first], records[second] = records[second], records[first]
        (message,) = seen("questions.order", replace(trial, records=tuple(records)))
        assert trial.records[first].question_id in message

    def test_an_audit_settles_no_question(self, good):
        """It has its scenario for the canary's sake alone."""
        trial = good.trials[0]
        audit = replace(trial, spec=trial.spec.model_copy(update={"kind": "isolation-audit"}))
        assert planned_questions(audit) == []
        assert len(seen("questions.settled", audit)) == len(planned_questions(trial)) == 6
