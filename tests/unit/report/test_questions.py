"""Questions of a run, looked up by what a person types."""

import pytest

from memrig.errors import UsageError
from memrig.report.questions import matching
from support.answer_reports import grade

GRADES = [
    grade(scenario_id=f"world-{seed}", question_id=f"q000{number}", seed=seed)
    for seed in (42, 123)
    for number in (1, 2, 3)
]


def found(wanted: str) -> list[tuple[str, str]]:
    return [(g.scenario_id, g.question_id) for g in matching(GRADES, wanted, "runs/mine")]


def test_an_id_that_several_worlds_have_finds_each_of_them():
    """None is taken for the other."""
    assert found("q0002") == [("world-42", "q0002"), ("world-123", "q0002")]


def test_with_its_scenario_before_it_an_id_is_one_question():
    """As the list of the worst writes it."""
    assert found("world-123#q0002") == [("world-123", "q0002")]


def test_a_part_of_an_id_is_enough_where_few_match():
    """Else their number is said, and nothing is shown."""
    assert len(found("world-42#")) == 3
    with pytest.raises(UsageError, match="6 questions match 'world'"):
        found("world")


def test_what_matches_nothing_is_refused_with_ids_that_would():
    """They are written so that they name one question."""
    with pytest.raises(UsageError, match="no question matches 'q9'") as caught:
        found("q9")
    assert "world-42#q0001" in str(caught.value)
