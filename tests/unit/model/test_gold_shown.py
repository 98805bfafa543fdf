"""Gold answers in one line, as people and judges read them."""

import pytest

from memrig.model.gold import NumberGold, shown


@pytest.mark.parametrize(
    ("value", "text"),
    [(1_229_500, "1229500 EUR"), (41_500.5, "41500.5 EUR"), (0.1 + 0.2, "0.3 EUR")],
)
def test_a_number_is_shown_in_full(value, text):
    """Sums in millions have no exponent, and floats no tail."""
    assert shown(NumberGold(type="number", value=value, unit="EUR")) == text
