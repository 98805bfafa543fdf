"""Right is one thing, exact another: figures with their unit, dates with their year."""

import pytest

from memrig.grading.typed.precision import exact
from memrig.model.gold import DateGold, EntityGold, NumberGold

MEMORY = NumberGold(type="number", value=64, unit="GB")
STAFF = NumberGold(type="number", value=58, unit="people")
BUDGET = NumberGold(type="number", value=41_500, unit="EUR")
DEADLINE = DateGold(type="date", value="2031-03-14")


@pytest.mark.parametrize(
    ("answer", "gold"),
    [
        ("64 GB", MEMORY),
        ("It has 64GB of memory.", MEMORY),
        ("65,536 GB? No: 64 gigabytes.", MEMORY),
        ("The headcount is 58 people.", STAFF),
        ("€41,500", BUDGET),
        ("41.5k EUR", BUDGET),
        ("14 March 2031", DEADLINE),
        ("It is due on 2031-03-14.", DEADLINE),
        ("Mara", EntityGold(type="entity", value="Mara Ellison", aliases=("Mara",))),
        ("7", NumberGold(type="number", value=7)),
    ],
)
def test_a_figure_with_its_unit_and_a_full_date_are_exact(answer, gold):
    """In any spelling; what has no unit needs none."""
    assert exact(answer, gold, "What is it?")


@pytest.mark.parametrize(
    ("answer", "gold"),
    [
        ("64", MEMORY),
        ("It is 64 now.", MEMORY),
        ("64 cores", MEMORY),
        ("58", STAFF),
        ("41,500", BUDGET),
        ("the 14th of March", DEADLINE),
        ("March 2031", DEADLINE),
    ],
)
def test_a_bare_figure_and_a_day_without_its_year_are_not(answer, gold):
    """They may be right all the same."""
    assert not exact(answer, gold, "What is it?")


def test_a_unit_that_the_question_names_need_not_be_said_again():
    """ "How many GB?" "64." """
    assert exact("64", MEMORY, "How many GB of memory does it have?")
    assert exact("58", STAFF, "How many people work on it?")
    assert not exact("64", MEMORY, "How much memory does it have?")
