"""The exponent of a growth."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrig.stats.power import fit_power


@given(st.floats(-2, 3), st.floats(0.001, 1000))
def test_a_power_law_gives_its_exponent(exponent, factor):
    """Whatever its factor; the line explains all of it."""
    found = fit_power((size, factor * size**exponent) for size in (100, 1_000, 10_000, 100_000))
    assert found.exponent == pytest.approx(exponent, abs=1e-3)
    if abs(exponent) > 0.01:
        assert found.r2 == pytest.approx(1)
    assert (found.n, found.sizes, found.left_out, found.why) == (4, 4, 0, "")


def test_scatter_widens_the_interval():
    """Student's t with n - 2 degrees of freedom, by hand for three points."""
    points = [(math.e**x, math.e**y) for x, y in ((0, 0), (1, 2), (2, 2))]
    found = fit_power(points)
    # slope 1, residuals -1/3, 2/3, -1/3: s² = 2/3 over 1, so its error is sqrt(2/3 / 2).
    half = 12.7062 * math.sqrt(1 / 3)
    assert found.exponent == pytest.approx(1)
    assert found.low == pytest.approx(1 - half, abs=1e-3)
    assert found.high == pytest.approx(1 + half, abs=1e-3)
    assert found.r2 == pytest.approx(0.75, abs=1e-4)


def test_two_sizes_are_too_few():
    """Any two points lie on a line, however often each was measured."""
    found = fit_power([(10, 1), (10, 1.1), (100, 10)])
    assert found.exponent is None
    assert found.why == "not enough sizes: 2 of at least 3"


def test_what_did_not_grow_is_left_out_and_counted():
    """It has no logarithm."""
    found = fit_power([(10, -5), (100, 100), (1_000, 1_000), (10_000, 10_000)])
    assert (found.exponent, found.left_out, found.n) == (1, 1, 3)
    none = fit_power([(10, 0), (100, -1), (1_000, 5), (10_000, 6)])
    assert none.why == "not enough sizes: 2 of at least 3; 2 left out, where nothing grew"


def test_what_stays_the_same_has_exponent_0_and_no_r2():
    """There is no variance to explain, and no interval but a number that JSON can hold."""
    found = fit_power([(10, 7), (100, 7), (1_000, 7)])
    assert (found.exponent, found.low, found.high, found.r2) == (0, None, None, None)
