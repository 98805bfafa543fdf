"""Formulas of specs: arithmetic only, bounded, and the same on every machine."""

import math
from decimal import Decimal, getcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrig.generation.formulas import FormulaError, parse, shown

NUMBERS = st.decimals(-1000, 1000, places=3)


def value(source: str, **known: object) -> Decimal:
    return parse(source).value({name: Decimal(str(number)) for name, number in known.items()})


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("1 + 2*3", 7),
        ("-(t - 1)", "0.5"),
        ("0.1 + 0.2", "0.3"),
        ("2**3 - 4/8", "7.5"),
        ("max(1, t, 3) - min(2, 5)", 1),
        ("abs(-2) + sqrt(9) + exp(0)", 6),
        ("last + n", 17),
    ],
)
def test_a_formula_computes_in_decimal_fractions(source, expected):
    """Binary rounding never shows: 0.1 + 0.2 is 0.3."""
    assert value(source, t=0.5, n=7, last=10) == Decimal(str(expected))


@given(x=st.integers(-40, 40))
def test_sine_and_exponential_are_the_mathematical_ones(x):
    """They are computed without the machine's own library."""
    assert float(value("sin(t)", t=x)) == pytest.approx(math.sin(x), abs=1e-12)
    assert float(value("exp(t/4)", t=x)) == pytest.approx(math.exp(x / 4), rel=1e-12)


def test_the_callers_precision_does_not_matter():
    """Whoever has set another decimal context gets the same figures."""
    before = value("1/3")
    kept = getcontext().prec
    getcontext().prec = 5
    try:
        assert value("1/3") == before
    finally:
        getcontext().prec = kept


@pytest.mark.parametrize(
    "source",
    [
        "__import__('os')",
        "t.real",
        "(lambda: 1)()",
        "[1, 2]",
        "t if t else n",
        "x + 1",
        "True + 1",
        "'a' * 3",
        "t // 2",
        "t % 2",
        "min(t)",
        "sqrt(1, 2)",
        "max(1, key=2)",
        "min(*t)",
        "1j",
        "t +",
        "1\n2",
    ],
)
def test_what_is_no_arithmetic_is_refused(source):
    """Nothing of a spec is ever run as a program."""
    with pytest.raises(FormulaError):
        parse(source)


@pytest.mark.parametrize(
    "source", ["9**9**9", "10**13", "1/0", "sqrt(-1)", "exp(9999999)", "2**65"]
)
def test_a_formula_without_a_sensible_value_is_refused(source):
    """Quickly, too: no power is computed that nobody measures."""
    with pytest.raises(FormulaError):
        value(source)


def test_a_formula_of_endless_length_is_refused():
    """Its parts are counted before it is computed."""
    with pytest.raises(FormulaError, match="longer than"):
        parse("+".join(["1"] * 80))


@given(exact=NUMBERS, decimals=st.integers(0, 4))
def test_a_shown_value_is_the_nearest_with_its_decimals(exact, decimals):
    """And never a minus zero."""
    found = shown(exact, decimals)
    assert abs(found - exact) * 2 <= Decimal(10) ** -decimals
    assert -found.as_tuple().exponent == decimals
    assert not (found == 0 and str(found).startswith("-"))
