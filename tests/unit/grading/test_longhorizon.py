"""Answers in five dimensions: what applies, what it weighs, and what a judge may decide."""

import pytest

from memrig.grading.base import Marks, load_grader
from memrig.grading.judges.base import NO_VERDICT, UNDECIDED
from memrig.grading.longhorizon import GRADER, RETRIEVAL
from memrig.model.dimensions import WEIGHTS
from memrig.model.gold import (
    AbstentionGold,
    DateGold,
    EntityGold,
    Item,
    MappingGold,
    OrderedListGold,
    SetGold,
)
from memrig.model.transcript import AnswerRecord
from support.dimensions import BUDGET, CASE, EXACT, answered, aspect, verdict
from support.judges import blocks_of

NAME = f"{GRADER.protocol}/{GRADER.version}"
NOTHING = AbstentionGold(type="abstention")
PRECISE = aspect("specificity", EXACT)
LEADS = ("Tobias Renn", "Mara Ellison", "Lena Okafor")
MEMBERS = SetGold(type="set", items=tuple(Item(value=name) for name in LEADS))
ORDER = OrderedListGold(type="ordered_list", items=MEMBERS.items)
CLAIMS = MappingGold(
    type="mapping",
    entries=(
        {"key": "Odette Varga", "value": "a cracked seal"},
        {"key": "the audit team", "value": "an expired certificate"},
    ),
)
SPLIT = "They split the nightly export."


def graded(*args: object, **fields: object) -> Marks:
    return GRADER.grade(answered(*args, **fields))


def said(text: str, confidence: float | None = None, *, abstained: bool = False) -> AnswerRecord:
    return AnswerRecord(text=text, confidence=confidence, abstained=abstained)


class TestDimensions:
    def test_the_weights_are_those_of_the_adr(self):
        """Accuracy is at least half of what content there is with one dimension beside it."""
        assert dict(WEIGHTS) == {
            "factual_accuracy": 0.5,
            "specificity": 0.2,
            "temporal_awareness": 0.2,
            "source_attribution": 0.2,
            "confidence_calibration": 0.1,
        }

    def test_a_question_without_aspects_is_graded_by_its_accuracy_alone(self):
        """What it does not have weighs nothing."""
        found = graded("41,500 EUR", BUDGET).scores
        assert found == {"score": 1, "factual_accuracy": 1, "content_score": 1}
        assert graded("38,000 EUR", BUDGET).scores["score"] == 0

    def test_a_figure_without_its_unit_is_right_and_not_specific(self):
        """The question does not name the unit, so the answer has to."""
        found = graded("It is 41,500.", BUDGET, PRECISE).scores
        assert (found["factual_accuracy"], found["specificity"]) == (1, 0)

    def test_right_but_not_exact_loses_what_specificity_weighs(self):
        """0.5 of 0.7."""
        found = graded("About 41,600 EUR", BUDGET, PRECISE).scores
        assert (found["factual_accuracy"], found["specificity"]) == (1, 0)
        assert found["score"] == pytest.approx(0.5 / 0.7)
        assert graded("41,500 EUR", BUDGET, PRECISE).scores["score"] == pytest.approx(1)

    def test_a_history_is_graded_for_its_order_apart_from_its_members(self):
        """All names in the wrong order are half right."""
        order = aspect("temporal_awareness", ORDER)
        wrong = ", ".join(reversed(LEADS))
        found = graded(wrong, MEMBERS, order, question="Who led it, in order?").scores
        assert (found["factual_accuracy"], found["temporal_awareness"]) == (1, 0)
        assert found["score"] == pytest.approx(0.5 / 0.7)

    def test_who_claims_what_is_graded_apart_from_what_is_claimed(self):
        """Crossed, both claims are there and neither is its source's."""
        claims = SetGold(
            type="set", items=tuple(Item(value=entry.value) for entry in CLAIMS.entries)
        )
        crossed = "Odette Varga: an expired certificate. The audit team: a cracked seal."
        part = aspect("source_attribution", CLAIMS)
        found = graded(crossed, claims, part, question="What caused it, says who?").scores
        assert (found["factual_accuracy"], found["source_attribution"]) == (1, 0)

    def test_gold_may_state_its_own_accuracy_and_weights(self):
        """They take the place of the usual ones."""
        day = DateGold(type="date", value="2031-06-02")
        own = aspect("factual_accuracy", EntityGold(type="entity", value="pilot"), 0.3)
        found = graded("pilot", day, own, aspect("temporal_awareness", day, 0.1)).scores
        assert (found["factual_accuracy"], found["temporal_awareness"]) == (1, 0)
        assert found["score"] == pytest.approx(0.3 / 0.4)

    def test_two_aspects_of_one_dimension_are_its_weighted_mean(self):
        """Each metric has one number."""
        first = aspect("specificity", EXACT, 0.3)
        second = aspect("specificity", EntityGold(type="entity", value="Marram"), 0.1)
        found = graded("41,500 EUR", BUDGET, first, second).scores
        assert found["specificity"] == pytest.approx(0.75)

    @pytest.mark.parametrize("outcome", ["timeout", "adapter_error", "budget_exceeded"])
    def test_a_question_that_ended_without_an_answer_scores_nothing(self, outcome):
        """In any dimension of its content; there is no confidence to be graded."""
        found = graded(None, BUDGET, PRECISE, outcome=outcome).scores
        assert found == {
            "score": 0,
            "factual_accuracy": 0,
            "specificity": 0,
            "content_score": 0,
        }

    @pytest.mark.parametrize(
        ("answer", "outcome"),
        [("I don't know.", "answered"), (said("", abstained=True), "answered"),
         (None, "abstained")],
    )  # fmt: skip
    def test_abstaining_is_right_only_where_there_is_no_answer(self, answer, outcome):
        """However it is said."""
        assert graded(answer, NOTHING, outcome=outcome).scores["score"] == 1
        assert graded(answer, BUDGET, PRECISE, outcome=outcome).scores["score"] == 0

    def test_a_question_without_gold_is_ungraded(self):
        """With the reason."""
        assert graded("41,500 EUR", None).ungraded == "the data has no answer"


class TestConfidence:
    @pytest.mark.parametrize(
        ("text", "confidence", "calibration"),
        [("41,500 EUR", 1.0, 1.0), ("41,500 EUR", 0.5, 0.75), ("38,000 EUR", 0.9, 0.19)],
    )
    def test_it_is_graded_against_the_accuracy(self, text, confidence, calibration):
        """1 - (confidence - accuracy)², with a weight of .1."""
        found = graded(said(text, confidence), BUDGET).scores
        assert found["confidence_calibration"] == pytest.approx(calibration)
        accuracy = found["factual_accuracy"]
        assert found["score"] == pytest.approx((0.5 * accuracy + 0.1 * calibration) / 0.6)
        assert found["content_score"] == accuracy

    @pytest.mark.parametrize(
        ("answer", "outcome"),
        [
            (said("41,500 EUR"), "answered"),
            (said("I don't know.", 0.1), "answered"),
            (said("hm", 0.1, abstained=True), "answered"),
            (said("hm", 0.1), "abstained"),
        ],
    )
    def test_it_is_graded_only_where_a_number_stands_beside_something_said(self, answer, outcome):
        """Words and silence have no confidence."""
        assert "confidence_calibration" not in graded(answer, BUDGET, outcome=outcome).scores

    def test_a_wrong_answer_earns_a_sixth_at_most_by_owning_up(self):
        """And nothing in the score of its content."""
        found = graded(said("38,000 EUR", 0.0), BUDGET).scores
        assert found["score"] == pytest.approx(1 / 6)
        assert found["content_score"] == 0


class TestProse:
    def test_without_a_judge_the_typed_matcher_decides(self):
        """Fact by fact."""
        assert graded(SPLIT, CASE).scores["factual_accuracy"] == pytest.approx(0.5)

    def test_a_judge_is_asked_for_each_key_fact_three_times(self):
        """And shown the question, the fact and the answer, fenced."""
        tasks = GRADER.tasks(answered(SPLIT, CASE, question="What was done, and why?"))
        assert [task.name for task in tasks] == [
            "0 factual_accuracy: fact 1",
            "0 factual_accuracy: fact 2",
        ]
        assert {task.votes for task in tasks} == {3}
        assert [blocks_of(task.prompt) for task in tasks] == [
            {"question": "What was done, and why?", "fact": fact, "answer": SPLIT}
            for fact in CASE.key_facts
        ]
        assert [tasks[0].parse(reply) for reply in ('{"stated": true}', '{"stated": false}')] == [
            1.0,
            0.0,
        ]
        assert tasks[0].parse("yes") is None

    @pytest.mark.parametrize("answer", [None, "", "I don't know.", said("hm", abstained=True)])
    def test_silence_needs_no_judge(self, answer):
        """It states nothing, and there is nothing to pay for."""
        asked = answered(answer, CASE, judged=True)
        assert GRADER.tasks(asked) == ()
        assert GRADER.grade(asked).scores["factual_accuracy"] == 0

    def test_structured_gold_needs_no_judge(self):
        """Deterministic wherever the gold is structured."""
        asked = answered("41,500 EUR", BUDGET, PRECISE, judged=True)
        assert GRADER.tasks(asked) == ()
        assert GRADER.grade(asked).scores["score"] == pytest.approx(1)

    def test_the_judges_verdicts_are_its_accuracy(self):
        """The mean over the facts, and the mean agreement beside it."""
        found = self.judged(1.0, 0.0)
        assert found.scores["factual_accuracy"] == 0.5
        assert found.agreement == 1

    def test_an_undecided_fact_leaves_accuracy_and_score_missing_and_nothing_else(self):
        """Never 0, and never the mean of the others."""
        part = aspect("temporal_awareness", DateGold(type="date", value="2031-06-02"))
        found = self.judged(1.0, None, part, answer="Split on 2 June 2031.", confidence=0.5)
        assert found.scores == {"temporal_awareness": 1}
        assert found.ungraded == ""
        assert set(found.missing) == {
            "score",
            "factual_accuracy",
            "confidence_calibration",
            "content_score",
        }
        assert all(why.startswith(UNDECIDED) for why in found.missing.values())

    def test_where_a_judge_was_asked_what_it_did_not_see_is_not_decided_by_the_matcher(self):
        """Two measures are not mixed in one mean."""
        found = GRADER.grade(answered(SPLIT, CASE, judged=True))
        assert found.missing["factual_accuracy"] == NO_VERDICT
        assert "score" not in found.scores

    @staticmethod
    def judged(*scores: object, answer: str = SPLIT, confidence: float | None = None) -> Marks:
        parts = [score for score in scores if not isinstance(score, float | None)]
        votes = [score for score in scores if isinstance(score, float | None)]
        names = [f"0 factual_accuracy: fact {n}" for n in range(1, len(votes) + 1)]
        verdicts = {
            name: verdict(name, score, NAME, agreement=1.0 if score is not None else None)
            for name, score in zip(names, votes, strict=True)
        }
        return GRADER.grade(
            answered(said(answer, confidence), CASE, *parts, verdicts=verdicts, judged=True)
        )


def test_both_protocols_are_installed_and_score_nothing_that_they_do_not_declare():
    """The headline leads."""
    assert load_grader("longhorizon") is GRADER
    assert load_grader("longhorizon-retrieval") is RETRIEVAL
    assert GRADER.judge == "optional"
    declared = [metric.name for metric in GRADER.metrics]
    assert declared[:6] == ["score", *WEIGHTS]
    assert set(graded(said("41,500 EUR", 0.5), BUDGET, PRECISE).scores) <= set(declared)
    assert any(metric.name == "current_before_stale" for metric in RETRIEVAL.metrics)
