"""The difference of two means over different questions: against scipy, and of little."""

import math

import numpy as np
import pytest
from scipy import stats

from memrig.grading.base import Grade
from memrig.stats.unpaired import unpaired


def grades(worlds: list[list[float]], weights: list[float] | None = None) -> list[Grade]:
    """Graded questions, a list a world."""
    found = []
    for world, values in enumerate(worlds):
        for number, value in enumerate(values):
            weight = {} if weights is None else {"score": weights[number]}
            found.append(
                Grade(
                    trial_id=f"t{world}", scenario_id=f"w{world}", question_id=f"q{number}",
                    category="c", cluster=f"w{world}", seed=world, repeat=0, protocol="p",
                    grader="p/1", status="graded", outcome="answered", scores={"score": value},
                    weights=weight,
                )
            )  # fmt: skip
    return found


def test_of_single_worlds_it_is_students_t_over_questions() -> None:
    """With the error of both sides, as scipy has it for samples of one size."""
    rng = np.random.default_rng(3)
    one, two = rng.random(30).tolist(), (rng.random(30) * 0.8).tolist()
    found = unpaired(grades([one]), grades([two]), "score")
    assert found is not None
    by_scipy = stats.ttest_ind(one, two).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((by_scipy.low, by_scipy.high), abs=1e-9)
    assert found.freedom == 58


def test_of_several_worlds_it_is_students_t_over_worlds() -> None:
    """Questions of one world share its luck: their number does not make it surer."""
    one = [[value] * 20 for value in (0.9, 0.7, 0.8, 0.95)]
    two = [[value] * 20 for value in (0.6, 0.75, 0.5, 0.85)]
    found = unpaired(grades(one), grades(two), "score")
    assert found is not None
    means = [[world[0] for world in side] for side in (one, two)]
    by_scipy = stats.ttest_ind(*means).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((by_scipy.low, by_scipy.high), abs=1e-9)
    assert found.freedom == 6


def test_no_spread_is_no_certainty() -> None:
    """All right on one side and on the other leaves room for a question of each."""
    found = unpaired(grades([[1.0] * 10]), grades([[1.0] * 10]), "score")
    assert found is not None
    assert found.value == 0
    assert found.high == pytest.approx(stats.t.ppf(0.975, 18) * math.hypot(0.1, 0.1))


def test_a_ratios_mean_is_pooled() -> None:
    """Its questions weigh by what they count."""
    found = unpaired(grades([[1.0, 0.0]], [3.0, 1.0]), grades([[0.0, 0.0]], [1.0, 1.0]), "score")
    assert found is not None
    assert (found.first, found.second) == (0.75, 0.0)


def test_of_nothing_nothing_is_said() -> None:
    """Neither without a question, nor of one on each side."""
    assert unpaired([], grades([[1.0, 0.0]]), "score") is None
    assert unpaired(grades([[1.0]]), grades([[0.0]]), "score") is None
    assert unpaired(grades([[1.0, 1.0]]), grades([[1.0, 0.0]]), "other") is None
