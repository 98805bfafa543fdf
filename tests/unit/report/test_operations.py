"""Scores by what answering takes, and what a reader that only copies cannot do."""

import pytest

from memrig.grading.base import Asked
from memrig.model.gold import (
    AbstentionGold,
    Entry,
    Gold,
    Item,
    MappingGold,
    NumberGold,
    OrderedListGold,
    SetGold,
    TextGold,
)
from memrig.model.scenario import Question
from memrig.model.transcript import AnswerRecord, Outcome, QuestionRecord
from memrig.report.model_depth import OperationSummary
from memrig.report.operations import need_of, operation_summary
from memrig.report.settled import Settled, Settling
from support.places import METRICS, grade, settled

LOCAL, LLM = "local/extractive", "claude-test"


def summary(*rows: Settled, reader: str = LOCAL) -> OperationSummary:
    found = operation_summary(rows, METRICS, reader, 7)
    assert found is not None
    return found


def of(category: str, operation: str, score: float, **changes: object) -> Settled:
    made = grade(category=category, scores={"score": score})
    return settled(grade=made, operation=operation, **changes)


def test_scores_stand_by_operation_in_the_order_of_the_gold():
    """Only the operations that occur."""
    rows = [of("a", "count", 0.0), of("a", "lookup", 1.0), of("b", "lookup", 0.5)]
    found = summary(*rows)
    assert [(row.operation, row.n, row.score.value) for row in found.rows] == [
        ("lookup", 2, 0.75),
        ("count", 1, 0.0),
    ]


@pytest.mark.parametrize("operation", ["lookup", "latest", "as-of", "attribute", "abstain"])
def test_one_statement_is_enough(operation):
    """Unless the answer itself has several parts, told in several places."""
    assert need_of(settled(operation=operation)) == ""
    assert need_of(settled(operation=operation, several=True)) == (
        "needs several statements put together"
    )


@pytest.mark.parametrize(
    ("operation", "why"),
    [
        ("join", "needs several statements joined"),
        ("count", "needs counting"),
        ("list", "needs several statements put together"),
        ("compute", "needs computing"),
    ],
)
def test_what_takes_more_says_what(operation, why):
    """Whatever the gold looks like."""
    assert need_of(settled(operation=operation)) == why


def test_a_built_in_reader_is_told_apart_from_its_memory():
    """By category: what it cannot do, how many, why, and how the rest did."""
    rows = [of("a", "lookup", 1.0), of("a", "count", 0.0), of("a", "compute", 0.0)]
    first, second = summary(*rows, of("b", "latest", 0.5)).limits
    assert (first.category, first.n, first.beyond) == ("a", 3, 2)
    assert first.why == {"needs computing": 1, "needs counting": 1}
    assert (first.score_within.value, first.score_beyond.value) == (1.0, 0.0)
    assert (second.beyond, second.why, second.score_beyond) == (0, {}, None)


@pytest.mark.parametrize("reader", [LLM, ""])
def test_nothing_is_said_of_a_reader_that_may_do_all(reader):
    """Only of those that are built in."""
    found = summary(of("a", "count", 0.0), reader=reader)
    assert (found.reader, found.limits) == ("", ())


def test_data_that_names_no_operation_has_no_section():
    """And ungraded questions count in none."""
    ungraded = grade(status="ungraded", reason="no verdict", scores={})
    assert operation_summary([settled(operation="")], METRICS, LOCAL, 7) is None
    assert operation_summary([settled(grade=ungraded)], METRICS, LOCAL, 7) is None


ITEMS = (Item(value="Ada"), Item(value="Ben"))
MAPPING = MappingGold(
    type="mapping", entries=(Entry(key="Ada", value="4"), Entry(key="Ben", value="5"))
)


@pytest.mark.parametrize(
    ("answer", "evidence", "several"),
    [
        (MAPPING, ("e1", "e2"), True),
        (SetGold(type="set", items=ITEMS), ("e1", "e2"), True),
        (OrderedListGold(type="ordered_list", items=ITEMS), ("e1", "e2"), True),
        (TextGold(type="text", value="They split it."), ("e1", "e2"), True),
        (TextGold(type="text", value="They split it."), ("e1",), False),
        (MAPPING, ("e1",), False),
        (SetGold(type="set", items=ITEMS[:1]), ("e1", "e2"), False),
        (NumberGold(type="number", value=4), ("e1", "e2"), False),
        (AbstentionGold(type="abstention"), (), False),
    ],
)
def test_an_answer_of_several_parts_from_several_places_needs_several_statements(
    answer, evidence, several
):
    """A list that one statement gives whole can be copied."""
    gold = Gold(question_id="q", category="c", answer=answer, evidence=evidence)
    assert kept(gold).several is several


TEXTS = {"e1": "Ada said 4.", "e2": "Ben said 5.", "e3": "Later news."}


def kept(gold: Gold, position: int = 3, **answer: object) -> Settled:
    """What is kept of a question with this gold, asked after `position` of three episodes."""
    said = {"text": "4", **answer}
    record = QuestionRecord(
        scenario_id="s",
        question_id="q",
        outcome=Outcome(status="answered"),
        ns=1,
        answer=AnswerRecord.model_validate(said),
    )
    asked = Asked(
        Question(question_id="q", text="Who said what?"), record, gold, TEXTS, 10, position=position
    )
    return Settling().settle(asked, grade())


def test_the_last_evidence_before_the_question_gives_the_place():
    """Evidence that is not told yet, or is no episode, has none."""
    gold = Gold(question_id="q", category="c", evidence=("e1", "e3", "nowhere"))
    assert kept(gold).evidence == 2
    assert kept(gold, position=2).evidence == 0
    assert kept(gold, position=0).evidence is None


def test_what_was_said_of_the_answer_is_kept():
    """Its confidence, whether it declined, and whether there is an answer at all."""
    gold = Gold(question_id="q", category="c", answer=AbstentionGold(type="abstention"))
    found = kept(gold, text="I do not know.", confidence=0.25)
    assert (found.confidence, found.abstained, found.answerable) == (0.25, True, False)
    told = kept(Gold(question_id="q", category="c", answer=NumberGold(type="number", value=4)))
    assert (told.confidence, told.abstained, told.answerable) == (None, False, True)
