"""LongMemEval's answers become typed where the whole answer is of a type; others stay text."""

from collections import Counter
from datetime import UTC, datetime

import pytest

from memrig.model.gold import (
    AbstentionGold,
    BooleanGold,
    DateGold,
    GoldAnswer,
    NumberGold,
    TextGold,
)
from memrig.suites.longmemeval_data import Record, read_records
from memrig.suites.longmemeval_gold import raw_answer, typed_answer
from support.data import data_file


def record(answer: str, question: str = "How many?", kind: str = "multi-session", name: str = "q"):
    return Record(
        question_id=name,
        question_type=kind,
        question=question,
        answer=answer,
        asked_at=datetime(2024, 1, 1, tzinfo=UTC),
        sessions=(),
        answer_session_ids=frozenset(),
    )


def typed(answer: str, **changes: str) -> GoldAnswer:
    return typed_answer(record(answer, **changes))


@pytest.mark.parametrize(
    ("answer", "value", "unit"),
    [
        ("3", 3, ""),
        ("59.6", 59.6, ""),
        ("12,000", 12_000, ""),
        ("four", 4, ""),
        ("Seventeen", 17, ""),
        ("4 days.", 4, "days"),
        ("Two weeks", 2, "weeks"),
        ("fourteen days", 14, "days"),
        ("16GB", 16, "GB"),
        ("500 Mbps", 500, "Mbps"),
        ("55-inch", 55, "inch"),
        ("$400,000", 400_000, "$"),
        ("$0.75", 0.75, "$"),
        ("10%", 10, "%"),
        ("1998", 1998, ""),
    ],
)
def test_an_answer_that_is_a_number_with_a_unit_is_one(answer, value, unit):
    """Digits or words, with or without a unit, a currency or a percent sign."""
    assert typed(answer) == NumberGold(type="number", value=value, unit=unit)


@pytest.mark.parametrize(
    "answer",
    [
        "4 years and 9 months", "10-12 hours", "about two hours", "5-2", "3:1", "6:30 pm", "2 AM",
        "7 pm", "28. Kg3", "3 weeks ago", "February 14th", "45 minutes each way", "level 100",
        "Samsung Galaxy S22", "Seven Samurai", "12,00", "1st", "sevenfold", "+49 (0) 62 32",
        "white Adidas sneakers", "Yes, on Friday", "$5 each", "Friday",
    ],
)  # fmt: skip
def test_an_answer_that_says_more_than_a_number_stays_text(answer):
    """Nothing is cut from it."""
    assert typed(answer) == TextGold(type="text", value=answer)


@pytest.mark.parametrize(
    ("answer", "value", "unit"),
    [
        ("7 days. 8 days (including the last day) is also acceptable.", 7, "days"),
        ("1 day. 2 days (including the last day) is also acceptable.", 1, "day"),
        ("3 days ago. 4 days (including the last day) is also acceptable.", 3, "days"),
        ("11 days (or 12 days, if both ends count)", 11, "days"),
    ],
)
def test_a_count_beside_which_the_next_is_acceptable_has_a_tolerance_of_one(answer, value, unit):
    """The official files say so in words."""
    assert typed(answer) == NumberGold(type="number", value=value, unit=unit, tolerance=1)


@pytest.mark.parametrize(
    "answer",
    [
        "14 days. 8 days (including the last day) is also acceptable.",
        "One week. Answers ranging from 7 days to 10 days are also acceptable.",
        "7 days. 8 weeks (including the last day) is also acceptable.",
    ],
)
def test_any_other_second_count_leaves_the_answer_text(answer):
    """A tolerance would accept what lies between, too."""
    assert typed(answer) == TextGold(type="text", value=answer)


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ("May 20, 2023", "2023-05-20"),
        ("20 May 2023", "2023-05-20"),
        ("June 3rd, 2023", "2023-06-03"),
        ("2023/05/20", "2023-05-20"),
        ("March 2023.", "2023-03"),
    ],
)
def test_an_answer_that_is_a_date_with_its_year_is_one(answer, value):
    """A day or a month."""
    assert typed(answer) == DateGold(type="date", value=value)


def test_a_year_is_a_date_where_the_question_asks_for_one():
    """Otherwise it is a count."""
    asks = "Which year did I move?"
    assert typed("2014.", question=asks) == DateGold(type="date", value="2014")
    assert typed("2014", question="How many stamps?") == NumberGold(type="number", value=2014)


@pytest.mark.parametrize(("answer", "value"), [("Yes.", True), ("no", False)])
def test_a_plain_yes_or_no_is_boolean(answer, value):
    """With or without a full stop."""
    assert typed(answer) == BooleanGold(type="boolean", value=value)


def test_a_preference_is_its_rubric():
    """Even where it would read as something else."""
    kind = "single-session-preference"
    assert typed("3", kind=kind) == TextGold(type="text", value="3")


def test_an_abstention_is_never_typed():
    """Its answer explains why there is none."""
    expected = AbstentionGold(type="abstention", reason="3")
    assert typed("3", name="q_abs") == expected
    assert raw_answer(record("3", name="q_abs")) == expected


def test_the_raw_answer_is_as_the_data_words_it():
    """For a judge."""
    assert raw_answer(record("4 days.")) == TextGold(type="text", value="4 days.")


def test_the_oracle_files_answers_have_these_types():
    """220 counts, of which 35 grant the next one; what is odd stays text."""
    with data_file("longmemeval_oracle.json").open("rb") as file:
        answers = [typed_answer(r) for r in read_records(file, "oracle")]
    assert Counter(answer.type for answer in answers) == {
        "text": 244, "number": 220, "abstention": 30, "boolean": 5, "date": 1,
    }  # fmt: skip
    assert sum(isinstance(a, NumberGold) and a.tolerance == 1 for a in answers) == 35
