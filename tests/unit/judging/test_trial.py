"""Judging a trial: every question that needs it, once."""

from pathlib import Path

import pytest

from memrig.errors import GatewayError
from memrig.grading.judges import generic, longmemeval
from memrig.judging import judge_trial
from memrig.judging.trial import grader_name
from memrig.model.chat import CallContext
from memrig.model.judgement import Verdict
from memrig.model.trial import Outcome, TrialSpec
from support.judges import ScriptedJudge, asked, honest_json, honest_yes
from support.scenarios import small_spec

GRADER = generic.GRADER


@pytest.fixture
def spec(tmp_path: Path) -> TrialSpec:
    """A trial that the questions could be of."""
    return small_spec(tmp_path, protocol="answer-judge", repeat=2)


def honest() -> ScriptedJudge:
    return ScriptedJudge(lambda prompt, _: honest_json(prompt))


async def test_every_question_gets_its_verdict_in_order(spec):
    """Right, wrong, right."""
    answers = {"q1": "the attic", "q2": "the cellar", "q3": "The Attic"}
    questions = [asked(text, question_id=name) for name, text in answers.items()]
    verdicts = await judge_trial(honest(), "judge", spec, questions, GRADER)
    assert [(v.question_id, v.score) for v in verdicts] == [("q1", 1.0), ("q2", 0.0), ("q3", 1.0)]
    assert {v.trial_id for v in verdicts} == {spec.trial_id}
    assert {v.grader for v in verdicts} == {grader_name(GRADER)}


async def test_the_verdicts_are_what_the_grader_takes(spec):
    """From task to grade."""
    one = asked("the cellar")
    (verdict,) = await judge_trial(honest(), "judge", spec, [one], GRADER)
    marks = GRADER.grade(asked("the cellar", verdicts={verdict.task: verdict}))
    assert (marks.scores, marks.agreement) == ({"accuracy": 0.0}, 1.0)


async def test_calls_are_counted_within_scenario_question_and_repeat(spec):
    """Never within anything random."""
    judge = honest()
    await judge_trial(judge, "judge", spec, [asked()], GRADER)
    assert {context.scope for _, context in judge.calls} == {"s1/q1/r2/answer"}
    assert {context.seed for _, context in judge.calls} == {spec.seed}


async def test_a_question_that_the_rig_failed_is_not_judged(spec):
    """It is ungraded whatever a judge says: that would be money for nothing."""
    judge = honest()
    failed = asked("the attic", outcome=Outcome(status="harness_error"))
    assert await judge_trial(judge, "judge", spec, [failed, asked(None)], GRADER) == []
    assert judge.calls == []


async def test_a_verdict_that_stands_is_not_asked_for_again(spec):
    """Resuming costs nothing."""
    (verdict,) = await judge_trial(honest(), "judge", spec, [asked()], GRADER)
    judge = honest()
    known = asked(verdicts={"answer": verdict})
    assert await judge_trial(judge, "judge", spec, [known], GRADER) == [verdict]
    assert judge.calls == []


@pytest.mark.parametrize("changed", [{"model": "other"}, {"grader": "answer-judge/0"}])
async def test_a_verdict_on_other_terms_does_not_stand(spec, changed):
    """Another judge, or another prompt."""
    (verdict,) = await judge_trial(honest(), "judge", spec, [asked()], GRADER)
    judge = honest()
    known = asked(verdicts={"answer": verdict.model_copy(update=changed)})
    assert await judge_trial(judge, "judge", spec, [known], GRADER) == [verdict]
    assert len(judge.calls) == 3


async def test_no_more_verdicts_are_in_the_making_than_allowed(spec):
    """Two questions, one vote each."""
    judge = ScriptedJudge(lambda prompt, _: honest_yes(prompt))
    questions = [asked(question_id=f"q{n}") for n in range(9)]
    await judge_trial(judge, "judge", spec, questions, longmemeval.COMPATIBLE, 2)
    assert len(judge.calls) == 9
    assert judge.busiest == 2


async def test_when_the_judge_cannot_be_had_what_was_paid_for_is_kept(spec):
    """The third question meets the end of the budget; nothing new is begun after it."""

    def says(prompt: str, context: CallContext) -> str | Exception:
        if "/q3/" in context.scope:
            return GatewayError("the run's limit is reached", kind="budget")
        return honest_json(prompt)

    kept: list[Verdict] = []
    judge = ScriptedJudge(says)
    questions = [asked(question_id=f"q{n}") for n in range(1, 10)]
    with pytest.raises(GatewayError, match="limit is reached"):
        await judge_trial(judge, "judge", spec, questions, GRADER, 2, kept.append)
    names = {verdict.question_id for verdict in kept}
    assert {"q1", "q2"} <= names
    assert "q3" not in names
    scopes = {context.scope for _, context in judge.calls}
    assert len(scopes) <= 5
    assert len(kept) == len(scopes) - 1
