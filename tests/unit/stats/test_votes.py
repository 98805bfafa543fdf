"""What a judge's votes leave open."""

from collections import Counter
from itertools import product
from statistics import median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrig.stats.votes import median_draws, spread

VOTES = st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=1, max_size=5)


def by_enumeration(votes: list[float]) -> dict[float, float]:
    """Every draw with replacement, one by one."""
    medians = Counter(median(draw) for draw in product(votes, repeat=len(votes)))
    return {value: count / len(votes) ** len(votes) for value, count in medians.items()}


@given(VOTES)
def test_the_distribution_is_that_of_all_draws(votes):
    """Exactly: no draw is made, odd or even."""
    found: Counter[float] = Counter()
    for value, chance in median_draws(votes):
        found[value] += chance
    expected = by_enumeration(votes)
    assert sum(found.values()) == pytest.approx(1)
    for value in found.keys() | expected.keys():
        assert found[value] == pytest.approx(expected.get(value, 0.0), abs=1e-12)


@given(VOTES.filter(lambda votes: len(votes) > 1))
def test_the_spread_is_the_draws_variance(votes):
    """Over all draws there are."""
    draws = [median(draw) for draw in product(votes, repeat=len(votes))]
    expected = float(np.var(draws))
    assert spread(median_draws(votes)) == pytest.approx(expected, abs=1e-12)


def test_votes_that_agree_leave_nothing_open():
    """No other median can come of them."""
    assert spread(median_draws([1.0, 1.0, 1.0])) == 0


def test_two_against_one_is_a_known_figure():
    """The median is 1 with probability 20/27; a variance of 140/729."""
    assert spread(median_draws([1.0, 1.0, 0.0])) == pytest.approx(140 / 729)


def test_outcomes_that_cannot_be_graded_are_left_out():
    """The others' probabilities are taken as the whole."""
    assert spread([(0.0, 0.25), (1.0, 0.25)]) == pytest.approx(0.25)
    assert spread([]) == 0


def test_a_judge_that_differs_by_question_has_most_of_its_variance_found():
    """By simulation: on many questions it is of one mind, on some it tosses a coin."""
    rng = np.random.default_rng(8)
    leanings = rng.beta(0.2, 0.2, 3000)
    once, again = (rng.random((3000, 3)) < leanings[:, None] for _ in range(2))
    # Two medians of the same question differ with probability 2 p (1 - p).
    true = np.mean(np.median(once, axis=1) != np.median(again, axis=1)) / 2
    found = np.mean([spread(median_draws(votes)) for votes in once.astype(float).tolist()])
    assert 0.7 < found / true < 1.1
