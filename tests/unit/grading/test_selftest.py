"""The graders' self-test: over everything that ships, in CI; and that it can fail."""

from pathlib import Path

import pytest

from memrig.grading.selftest import (
    BOUNDS,
    Item,
    as_markdown,
    practical_items,
    selftest,
    show,
)
from memrig.grading.typed import grade_text
from memrig.model.gold import AbstentionGold, BooleanGold, NumberGold, TextGold, shown
from memrig.suites.practical import built_in

DOCS = Path(__file__).parents[3] / "docs" / "scoring.md"
ITEMS = practical_items()
ITEM = Item("q", "facts", "What rent does she pay?", NumberGold(
    type="number", value=925, unit="GBP", siblings=(850,)
))  # fmt: skip


@pytest.fixture(scope="module")
def table():
    """The self-test of suite `practical`."""
    return selftest(ITEMS)


def test_every_question_of_practical_is_tested():
    """All 144, with the gold that the suite itself reads."""
    own = {
        f"{person.id}#{question.id}": question.answer
        for person in built_in().scenarios
        for question in person.questions
    }
    assert len(own) == 144
    assert {item.question_id: item.gold for item in ITEMS} == own


def test_no_answer_of_the_self_test_is_out_of_bounds(table):
    """Gold 0.99 and above, everything else below its bound, each single answer."""
    assert [show(trial) for trial in table.failures] == []


def test_every_category_and_every_type_is_in_the_table(table):
    """Each with every kind of answer."""
    assert {row.group for row in table.by_category} == {item.category for item in ITEMS}
    assert {row.group for row in table.by_type} == {item.gold.type for item in ITEMS}
    assert sum(row.questions for row in table.by_category) == len(ITEMS)
    for row in (*table.by_category, *table.by_type):
        assert set(row.means) == set(BOUNDS)


def test_the_table_in_docs_is_the_one_that_the_command_prints(table):
    """`python -m memrig.grading.selftest`."""
    assert as_markdown(table) in DOCS.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("kind", "grader"),
    [
        ("gold", lambda answer, gold, question: 0.0),
        ("negated", lambda answer, gold, question: float("925" in answer)),
        ("sibling", lambda answer, gold, question: float("9" in answer or "8" in answer)),
        ("dump", lambda answer, gold, question: float("925" in answer)),
        ("echo", lambda answer, gold, question: float("rent" in answer)),
        ("don't know", lambda answer, gold, question: float("know" in answer)),
        ("numbers", lambda answer, gold, question: float("50" in answer)),
    ],
)
def test_a_grader_with_a_fault_fails_the_self_test(kind, grader):
    """Each kind of answer finds its fault."""
    assert kind in {trial.kind for trial in selftest([ITEM], grader).failures}


def test_a_matcher_of_substrings_fails_on_every_category_of_practical():
    """What published benches do."""

    def lenient(answer: str, gold: object, question: str) -> float:
        del question
        return float(shown(gold).split()[0].lower() in answer.lower())

    failed = {trial.item.category for trial in selftest(ITEMS, lenient).failures}
    assert failed == {item.category for item in ITEMS}


def test_abstaining_is_right_where_there_is_no_answer():
    """The bound is turned round."""
    item = Item("q", "abstention", "What is her cat called?", AbstentionGold(type="abstention"))
    table = selftest([item], grade_text)
    assert table.failures == ()
    assert table.by_type[0].means["don't know"] == 1
    wrong = selftest([item], lambda answer, gold, question: 0.0)
    assert {trial.kind for trial in wrong.failures} == {"don't know"}


@pytest.mark.parametrize(
    "gold",
    [
        BooleanGold(type="boolean", value=True, about="she pays rent"),
        TextGold(type="text", value="By train from the old station on 5 May 2024"),
    ],
)
def test_what_practical_has_little_of_is_tested_too(gold):
    """A yes, and a text without key facts."""
    table = selftest([Item("q", "x", "How is it?", gold)])
    assert [show(trial) for trial in table.failures] == []
