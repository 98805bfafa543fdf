"""Protocols over answers that need no judge."""

import pytest

from memrig.grading.answers import TypedAnswerGrader
from memrig.grading.base import Asked, Marks
from memrig.grading.longmemeval_typed import GRADER as LONGMEMEVAL
from memrig.grading.practical_answers import GRADER as PRACTICAL
from memrig.model.gold import AbstentionGold, Gold, GoldAnswer, NumberGold, TextGold
from memrig.model.scenario import Question
from memrig.model.transcript import AnswerRecord, HitRecord, Memory, QuestionRecord, SearchRecord
from memrig.model.trial import Outcome

RENT = NumberGold(type="number", value=925, unit="GBP", siblings=(850,))
NOTHING = AbstentionGold(type="abstention")


def asked(
    answer: AnswerRecord | None,
    gold: GoldAnswer | None = RENT,
    *,
    outcome: str = "answered",
    mode: str = "reader",
    category: str = "facts",
) -> Asked:
    hits = tuple(
        HitRecord(ref_id=name, text="rent", score=1.0, episodes=(name,)) for name in ("e9", "e1")
    )
    search = SearchRecord(query="q", limit=10, ns=1, payload_bytes=1, hits=hits)
    record = QuestionRecord(
        scenario_id="s",
        question_id="q1",
        outcome=Outcome(status=outcome),
        ns=1,
        searches=(search,),
        answer=answer,
    )
    return Asked(
        Question(question_id="q1", text="What rent does she pay now?"),
        record,
        Gold(question_id="q1", category=category, answer=gold, evidence=("e1",)),
        {"e1": "the rent", "e9": "words"},
        10,
        mode=mode,
    )


def said(text: str, **fields: object) -> AnswerRecord:
    return AnswerRecord(text=text, **fields)


def graded(*args: object, grader: TypedAnswerGrader = PRACTICAL, **fields: object) -> Marks:
    return grader.grade(asked(*args, **fields))


def test_the_answers_text_is_graded_by_the_type_of_its_gold():
    """In prose, against the question."""
    assert graded(said("She pays £925 a month now; it used to be £850")).scores["accuracy"] == 1
    assert graded(said("She pays £850")).scores["accuracy"] == 0


def test_a_question_without_an_answer_scores_nothing():
    """Whatever ended it; the fault has its own name beside it."""
    assert graded(None, outcome="timeout").scores["accuracy"] == 0
    assert graded(None, NOTHING, outcome="timeout").scores["accuracy"] == 0


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (said("hm", abstained=True), "answered"),
        (said("I don't know."), "answered"),
        (said(""), "abstained"),
        (None, "abstained"),
    ],
)
def test_every_way_to_abstain_counts_where_there_is_no_answer(answer, outcome):
    """And nowhere else."""
    assert graded(answer, NOTHING, outcome=outcome).scores["accuracy"] == 1
    assert graded(answer, RENT, outcome=outcome).scores["accuracy"] == 0


def test_a_readers_search_and_an_agents_citations_stand_beside_it():
    """Each mode's own."""
    reader = graded(said("£925"))
    assert (reader.scores["recall_any@1"], reader.scores["recall_any@5"], reader.rank) == (0, 1, 2)
    memory = Memory(handle="m1", ref_id="e1", episodes=("e1",))
    agent = graded(said("£925", cited=("m1",), memories=(memory,)), mode="agent")
    assert (agent.scores["citation_recall"], agent.scores["citation_precision"]) == (1, 1)
    assert "recall_any@1" not in agent.scores


@pytest.mark.parametrize(
    ("text", "confidence", "calibration"),
    [("£925", 1.0, 1.0), ("£925", 0.6, 0.84), ("£850", 0.6, 0.64), ("£850", 1.0, 0.0)],
)
def test_calibration_is_one_minus_the_brier_score(text, confidence, calibration):
    """Higher is better, as of every metric."""
    scores = graded(said(text, confidence=confidence)).scores
    assert scores["calibration"] == pytest.approx(calibration)


def test_without_a_confidence_there_is_no_calibration():
    """Not measurable is not 0."""
    assert "calibration" not in graded(said("£925")).scores


def test_a_grader_scores_no_metric_that_it_does_not_declare():
    """Tables follow the declaration, and the accuracy leads them."""
    memory = Memory(handle="m1", ref_id="e1", episodes=("e1",))
    full = said("£925", cited=("m1",), memories=(memory,), confidence=0.5)
    declared = {metric.name for metric in PRACTICAL.metrics}
    for mode in PRACTICAL.modes:
        assert set(graded(full, mode=mode).scores) <= declared
    assert (PRACTICAL.metrics[0].name, PRACTICAL.metrics[0].headline) == ("accuracy", True)
    assert (PRACTICAL.judge, PRACTICAL.tasks(asked(full))) == ("none", ())


def test_a_question_without_gold_is_ungraded():
    """With the reason."""
    assert graded(said("£925"), None).ungraded == "the data has no answer"


def test_a_rubric_needs_a_judge():
    """LongMemEval's preference questions, but not those among them without an answer."""
    rubric = TextGold(type="text", value="would prefer trains")
    preference = "single-session-preference"
    marks = graded(said("trains"), rubric, grader=LONGMEMEVAL, category=preference)
    assert marks.ungraded == "needs a judge: the gold is a rubric"
    silent = graded(said("I don't know"), NOTHING, grader=LONGMEMEVAL, category=preference)
    assert silent.scores["accuracy"] == 1
    other = graded(said("trains"), rubric, grader=LONGMEMEVAL, category="multi-session")
    assert other.ungraded == ""
