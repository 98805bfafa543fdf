"""What can be seen of a document by its text alone."""

import pytest

from memrig.generation.textcheck import forbidden_in, foreign_figures, holds
from support.stories import sheet_of


@pytest.mark.parametrize(
    "line",
    [
        "Inlet pressure: 20.3 kPa",
        "- inlet  pressure = 20.3",
        "| Inlet pressure | 20.3 | kPa |",
        "The inlet pressure was 20.3.",
        "20.3 kPa stood under Inlet pressure",
        "Inlet pressure: 20.3, tank head: 7",
    ],
)
def test_a_value_beside_its_label_is_seen(line):
    """In lists, tables and sentences."""
    assert holds(f"# Sheet\n{line}\nmore", "Inlet pressure", "20.3")


@pytest.mark.parametrize(
    "text",
    [
        "Inlet pressure: 120.3 kPa",
        "Inlet pressure: 20.35 kPa",
        "Inlet pressure: -20.3 kPa",
        "Inlet pressure: 1 20.3",
        "Inlet pressure\n20.3 kPa",
        "Inlet pressures: 20.3",
        "Outlet pressure: 20.3",
        f"Inlet pressure {'is among the things that are kept ' * 5} 20.3",
    ],
)
def test_a_part_of_a_number_or_another_label_or_line_is_not_it(text):
    """Digit for digit, on one line, near by."""
    assert not holds(text, "Inlet pressure", "20.3")


def test_figures_that_a_sheet_does_not_hold_are_seen():
    """Times, counts and invented values; not those of values, labels and the day."""
    text = "2024-03-04: gauge a 07.05 kPa, read at 06:40 by 3 people; gauge b 17.15"
    assert foreign_figures(text, sheet_of(2, 0)) == ["06:40", "3"]


@pytest.mark.parametrize(
    ("text", "forbidden", "found"),
    [
        ("Anomalies were seen", ["anomal"], ["anomal"]),
        ("It correlated well", ["correlat"], ["correlat"]),
        ("the rooting cause", ["root cause"], ["root cause"]),
        ("Saturday was wet", ["saturat"], []),
        ("a leak, a leakage", ["leak"], ["leak"]),
        ("he can sleep", ["leak", "an"], []),
        ("", ["leak"], []),
    ],
)
def test_forbidden_words_are_found_in_their_forms(text, forbidden, found):
    """By stem and by beginning."""
    assert forbidden_in(text, forbidden) == found
