"""Settled questions with gold in several dimensions."""

from memrig.grading.base import Asked
from memrig.model.dimensions import WEIGHTS
from memrig.model.gold import Aspect, Dimension, Gold, GoldAnswer, NumberGold, TextGold
from memrig.model.judgement import Verdict, Vote
from memrig.model.scenario import Question
from memrig.model.transcript import AnswerRecord, QuestionRecord
from memrig.model.trial import Outcome

BUDGET = NumberGold(type="number", value=41_500, unit="EUR", tolerance=500, siblings=(38_000,))
EXACT = NumberGold(type="number", value=41_500, unit="EUR", siblings=(38_000,))
CASE = TextGold(
    type="text",
    value="Split the nightly export, because one long transaction locked the ledger.",
    key_facts=("split the nightly export", "one long transaction locked the ledger"),
)


def aspect(dimension: Dimension, answer: GoldAnswer, weight: float | None = None) -> Aspect:
    """A dimension with its usual weight."""
    return Aspect(dimension=dimension, weight=weight or WEIGHTS[dimension], answer=answer)


def answered(
    answer: str | AnswerRecord | None,
    gold: GoldAnswer | None,
    *aspects: Aspect,
    question: str = "What is the budget of Project Marram?",
    question_id: str = "q1",
    outcome: str = "answered",
    category: str = "numerical_precision",
    **fields: object,
) -> Asked:
    """One settled question; `fields` go to Asked."""
    said = AnswerRecord(text=answer) if isinstance(answer, str) else answer
    return Asked(
        question=Question(question_id=question_id, text=question),
        record=QuestionRecord(
            scenario_id="s1",
            question_id=question_id,
            outcome=Outcome(status=outcome),
            ns=1,
            answer=said,
        ),
        gold=Gold(question_id=question_id, category=category, answer=gold, aspects=aspects),
        **({"texts": {}, "limit": 10, "mode": "native"} | fields),
    )


def verdict(task: str, score: float | None, grader: str, agreement: float | None = None) -> Verdict:
    """A judge's verdict on one task; no score: it did not decide."""
    return Verdict(
        trial_id="t1",
        scenario_id="s1",
        question_id="q1",
        protocol="longhorizon",
        model="judge",
        task=task,
        votes=(Vote(score=score),),
        quorum=1,
        score=score,
        agreement=agreement,
        reason="" if score is not None else "0 of 3 votes were valid, expected 2: rejected",
        grader=grader,
    )
