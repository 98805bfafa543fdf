"""A judge that fails three calls in ten: what is deterministic stays, what is lost is counted."""

import json
from pathlib import Path
from statistics import median

import pytest

from memrig.errors import GatewayError
from memrig.grading.base import Asked, Marks
from memrig.grading.judges.base import UNDECIDED
from memrig.grading.longhorizon import GRADER
from memrig.judging import judge_trial
from memrig.model.canonical import derive
from memrig.model.chat import CallContext
from memrig.model.gold import DateGold
from memrig.model.judgement import Verdict
from memrig.model.trial import TrialSpec
from support.dimensions import BUDGET, CASE, EXACT, answered, aspect
from support.judges import ScriptedJudge
from support.scenarios import small_spec

DAY = aspect("temporal_awareness", DateGold(type="date", value="2031-06-02"))
DETERMINISTIC = ("temporal_awareness", "specificity", "source_attribution")


@pytest.fixture
def spec(tmp_path: Path) -> TrialSpec:
    """A trial that the questions could be of."""
    return small_spec(tmp_path, protocol="longhorizon")


def questions() -> list[Asked]:
    """Forty of prose with a date beside it, and forty of figures."""
    prose = [
        answered(f"They split export {n} on 2 June 2031.", CASE, DAY, question_id=f"p{n}")
        for n in range(40)
    ]
    figures = [
        answered(
            f"{41_500 + 100 * (n % 3)} EUR", BUDGET, aspect("specificity", EXACT),
            question_id=f"n{n}",
        )
        for n in range(40)
    ]  # fmt: skip
    return prose + figures


def drawn(prompt: str, context: CallContext, what: str) -> float:
    """From 0 to 1, the same for the same call."""
    place = f"{context.scope} {context.vote} {context.attempt}"
    return derive(1, what, prompt, place) / 2**64


def says(failing: float):
    """One who finds a fact in half of the cases, is of two minds, and fails in so many calls."""

    def say(prompt: str, context: CallContext) -> str | Exception:
        if drawn(prompt, context, "fails") < failing:
            if context.vote % 2:
                return "I would rather not say."
            return GatewayError("filtered", kind="rejected")
        leaning = 0.75 if derive(1, prompt) % 2 else 0.25
        return json.dumps({"stated": drawn(prompt, context, "finds") < leaning})

    return say


async def judged(spec: TrialSpec, failing: float) -> tuple[list[Verdict], dict[str, Marks]]:
    every = questions()
    verdicts = await judge_trial(ScriptedJudge(says(failing)), "judge", spec, every, GRADER)
    return verdicts, graded(verdicts)


def graded(verdicts: list[Verdict] | None) -> dict[str, Marks]:
    """All questions with these verdicts; None: no judge was asked."""
    return {
        one.question.question_id: GRADER.grade(
            answered(
                one.record.answer, one.gold.answer, *one.gold.aspects,
                question_id=one.question.question_id, judged=verdicts is not None,
                verdicts={v.task: v for v in verdicts or () if
                          v.question_id == one.question.question_id},
            )
        )
        for one in questions()
    }  # fmt: skip


async def test_no_deterministic_dimension_moves_by_a_bit(spec):
    """Without a judge, with a sound one, and with one that fails three calls in ten."""
    plain = graded(None)
    for failing in (0.0, 0.3, 1.0):
        _, marks = await judged(spec, failing)
        for name, expected in plain.items():
            found = marks[name]
            for metric in DETERMINISTIC:
                assert found.scores.get(metric) == expected.scores.get(metric)
            if name.startswith("n"):
                assert found == expected


async def test_medians_are_of_the_valid_votes_and_need_a_quorum(spec):
    """Recomputed from what the judge said, call by call."""
    verdicts, marks = await judged(spec, 0.3)
    assert len(verdicts) == 80
    seen = {0: 0, 1: 0, 2: 0, 3: 0}
    for found in verdicts:
        valid = [
            float(json.loads(vote.reply)["stated"]) for vote in found.votes if "{" in vote.reply
        ]
        seen[len(valid)] += 1
        assert [vote.score for vote in found.votes if vote.score is not None] == valid
        assert found.score == (median(valid) if len(valid) >= 2 else None)
    assert all(seen[valid] for valid in (1, 2, 3))
    for name in (f"p{n}" for n in range(40)):
        own = [found.score for found in verdicts if found.question_id == name]
        known = [score for score in own if score is not None]
        expected = sum(known) / 2 if len(known) == 2 else None
        assert marks[name].scores.get("factual_accuracy") == expected


async def test_what_was_lost_is_counted_and_is_no_zero(spec):
    """Each with its reason, in accuracy and score alike; the others are as they would have been."""
    verdicts, marks = await judged(spec, 0.3)
    lost = {found.question_id for found in verdicts if found.score is None}
    assert 0 < len(lost) < 40
    missing = {name for name, found in marks.items() if found.missing}
    assert missing == lost
    for name in lost:
        assert set(marks[name].missing) == {"score", "factual_accuracy", "content_score"}
        assert marks[name].missing["score"].startswith(UNDECIDED)
        assert marks[name].ungraded == ""
    kept = [found.scores["factual_accuracy"] for name, found in marks.items() if name not in lost]
    assert len(kept) == 80 - len(lost)


async def test_a_judge_that_never_answers_leaves_prose_missing(spec):
    """All forty, and the figures graded."""
    _, marks = await judged(spec, 1.0)
    assert {name for name, found in marks.items() if "score" in found.scores} == {
        f"n{n}" for n in range(40)
    }
