"""How numbers read."""

import pytest

from memrig.report.units import brief, dollars


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (0.42, "0.4 ms"),
        (9.6, "9.6 ms"),
        (120.4, "120 ms"),
        (499.0, "499 ms"),
        (800.0, "0.8 s"),
        (1240.0, "1.2 s"),
        (99_900.0, "99.9 s"),
        (150_000.0, "2 min 30 s"),
    ],
)
def test_a_duration_in_a_line_of_many_is_short(milliseconds: float, text: str) -> None:
    """Two or three digits are enough there."""
    assert brief(milliseconds) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "n/a"),
        (0.0, "$0.00"),
        (0.000_01, "<$0.0001"),
        (0.0031, "$0.0031"),
        (0.1234, "$0.12"),
        (1234.5, "$1,234.50"),
    ],
)
def test_money_is_never_rounded_to_nothing(value: float | None, text: str) -> None:
    """What is unknown is not free, and what is little is not nothing."""
    assert dollars(value) == text
