"""Paired differences: against scipy, by hand, and by what must hold of any test."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from memrig.stats.intervals import clustered
from memrig.stats.paired import (
    DRAWS,
    EXACT_UNITS,
    Pair,
    Pairs,
    compare,
    detectable,
    holm,
    smallest_p,
)


def independent(base: list[float], other: list[float]) -> list[Pair]:
    """Every question its own scenario."""
    both = zip(base, other, strict=True)
    return [Pair(str(n), "c", a, b) for n, (a, b) in enumerate(both)]


def scenarios(count: int, size: int, seed: int = 0, shift: float = 0.1) -> list[Pair]:
    """Scenarios with luck of their own, in which the other run is a little better."""
    rng = np.random.default_rng(seed)
    found = []
    for unit in range(count):
        luck = rng.normal(shift, 0.1)
        for question in range(size):
            base = float(rng.random() < 0.5)
            other = float(np.clip(base + luck + rng.normal(0, 0.2), 0, 1))
            found.append(Pair(f"s{unit}", "ab"[question % 2], base, other))
    return found


def scores(n: int, seed: int) -> tuple[list[float], list[float]]:
    """Eighths, so that sums are exact and ties are ties in scipy too."""
    rng = np.random.default_rng(seed)
    base = rng.integers(0, 9, n) / 8
    other = np.clip(base + rng.integers(-3, 5, n) / 8, 0, 1)
    return base.tolist(), other.tolist()


def theirs(base: list[float], other: list[float], resamples: float = np.inf) -> float:
    """Scipy's paired permutation test of the mean difference."""

    def statistic(a, b, axis=-1):
        return np.mean(b, axis=axis) - np.mean(a, axis=axis)

    return stats.permutation_test(
        (base, other),
        statistic,
        permutation_type="samples",
        n_resamples=resamples,
        rng=np.random.default_rng(1),
    ).pvalue


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n", [5, 12, EXACT_UNITS])
def test_few_units_are_swapped_in_all_ways_as_scipy_does(n, seed):
    """The exact p."""
    base, other = scores(n, seed)
    found = compare(independent(base, other), 1)
    assert found.p_permutation == pytest.approx(theirs(base, other), abs=1e-12)


def test_many_units_are_swapped_at_random():
    """Near scipy's own draws, and near the exact p of one unit more than is tried exactly."""
    base, other = scores(60, 3)
    found = compare(independent(base, other), 1)
    assert found.test == "permutation"
    assert found.p == found.p_permutation
    assert found.p == pytest.approx(theirs(base, other, 20_000), abs=0.01)
    base, other = scores(EXACT_UNITS + 2, 8)
    assert compare(independent(base, other), 1).p == pytest.approx(theirs(base, other), abs=0.01)


def test_a_scenario_is_swapped_as_a_whole():
    """Every sign of the scenarios' sums, by brute force."""
    pairs = scenarios(7, 5)
    sums: dict[str, float] = {}
    for pair in pairs:
        sums[pair.cluster] = sums.get(pair.cluster, 0.0) + pair.other - pair.base
    seen = abs(sum(sums.values()))
    flips = [
        abs(sum(sign * value for sign, value in zip(signs, sums.values(), strict=True)))
        for signs in itertools.product((1, -1), repeat=len(sums))
    ]
    expected = np.mean([flip >= seen - 1e-9 for flip in flips])
    assert compare(pairs, 1).p_permutation == pytest.approx(expected)


@given(st.integers(2, 11), st.integers(1, 6), st.integers(0, 1000))
def test_few_scenarios_of_one_size_give_the_paired_t_test(count, size, seed):
    """Interval and p are the textbook's over the scenarios' mean differences."""
    pairs = scenarios(count, size, seed)
    means = [
        np.mean([p.other - p.base for p in pairs if p.cluster == f"s{n}"]) for n in range(count)
    ]
    if np.ptp(means) < 1e-3:
        return
    found = compare(pairs, 1)
    test = stats.ttest_1samp(means, 0.0)
    bounds = test.confidence_interval(0.95)
    assert found.value == pytest.approx(np.mean(means))
    assert found.p == pytest.approx(test.pvalue, abs=1e-9)
    assert found.low == pytest.approx(max(-1, bounds.low))
    assert found.high == pytest.approx(min(1, bounds.high))
    assert found.test == found.interval == ("t" if size == 1 else "cluster-t")


def test_scenarios_of_unequal_size_are_left_out_one_by_one():
    """The jackknife of the pooled mean, by hand."""
    sizes = {"a": [0.1] * 8 + [0.3], "b": [0.4, 0.2], "c": [-0.1] * 4}
    pairs = [Pair(name, "c", 0.5, 0.5 + d) for name, ds in sizes.items() for d in ds]
    every = [d for ds in sizes.values() for d in ds]
    without = [
        np.mean([d for other, ds in sizes.items() if other != name for d in ds]) for name in sizes
    ]
    error = math.sqrt(2 / 3 * sum((w - np.mean(without)) ** 2 for w in without))
    half = stats.t.ppf(0.975, 2) * error
    found = compare(pairs, 1)
    assert found.error == pytest.approx(error)
    assert (found.low, found.high) == pytest.approx((np.mean(every) - half, np.mean(every) + half))
    assert found.p == pytest.approx(2 * stats.t.sf(abs(np.mean(every)) / error, 2))


def test_many_independent_pairs_get_the_bca_bootstrap_of_scipy():
    """Of the mean of their differences."""
    base, other = scores(40, 5)
    expected = stats.bootstrap(
        (np.subtract(other, base),),
        np.mean,
        n_resamples=2000,
        method="BCa",
        rng=np.random.default_rng(9),
    ).confidence_interval
    found = compare(independent(base, other), 9)
    assert found.interval == "bca"
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


def test_many_scenarios_are_drawn_as_a_reports_are():
    """The same draws give the same bounds as the house's own cluster bootstrap."""
    pairs = scenarios(15, 4)
    names = [pair.cluster for pair in pairs]
    sums = dict.fromkeys(names, 0.0)
    for pair in pairs:
        sums[pair.cluster] += pair.other - pair.base
    values = np.array(list(sums.values()))
    expected = clustered(names, lambda w: float(w @ values / (4 * w.sum())), 7, least=-1.0)
    found = compare(pairs, 7)
    assert found.interval == expected.method == "cluster-bootstrap"
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


def test_the_macro_difference_weighs_categories_alike():
    """However few questions one has."""
    pairs = [Pair("a", "big", 0.0, 1.0)] * 9 + [Pair("b", "small", 1.0, 0.0)]
    assert compare(pairs, 1).value == pytest.approx(0.8)
    assert compare(pairs, 1, macro=True).value == pytest.approx(0.0)


def test_a_ratio_is_pooled_and_swapped_with_its_weights():
    """3 of 4 citations against 1 of 2, then 1 of 1 against 0 of 3: 4/5 against 1/5."""
    pairs = [
        Pair("a", "c", 0.75, 0.5, base_weight=4, other_weight=2),
        Pair("b", "c", 1.0, 0.0, base_weight=1, other_weight=3),
    ]
    found = compare(pairs, 1)
    assert (found.base, found.other, found.value) == pytest.approx((0.8, 0.2, -0.6))
    # With b swapped: 3/7 against 2/3; its absolute difference is less than 0.6.
    swapped = Pairs(pairs).swapped(np.array([[0.0, 1.0]]))
    assert swapped[0] == pytest.approx(2 / 3 - 3 / 7)
    assert found.p_permutation == pytest.approx(0.5)
    assert found.effect is None


@given(st.integers(0, 10_000), st.integers(2, 20), st.integers(1, 3))
def test_changing_sides_changes_the_sign_alone(seed, count, size):
    """Neither run is privileged."""
    pairs = scenarios(count, size, seed)
    turned = [Pair(p.cluster, p.category, p.other, p.base) for p in pairs]
    one, two = compare(pairs, 3), compare(turned, 3)
    assert one.value == pytest.approx(-two.value)
    assert one.p_permutation == pytest.approx(two.p_permutation)
    assert one.effect == (None if two.effect is None else pytest.approx(-two.effect))


@pytest.mark.parametrize("count", [5, 40])
def test_a_run_against_itself_shows_nothing_and_claims_no_certainty(count):
    """p is 1; the interval holds 0 and is as wide as so few pairs deserve."""
    values = [0.0, 1.0] * count
    found = compare(independent(values, values), 1)
    assert (found.value, found.p, found.effect, found.error) == (0.0, 1.0, None, None)
    assert found.interval == "no-spread"
    share = stats.binomtest(0, 2 * count).proportion_ci(method="wilson").high
    assert (found.low, found.high) == pytest.approx((-share, share))


def test_pairs_that_all_turn_are_shown_and_stay_within_bounds():
    """From all wrong to all right, in twenty questions."""
    found = compare(independent([0.0] * 20, [1.0] * 20), 1)
    assert found.value == found.high == 1.0
    assert 0.5 < found.low < 1.0
    assert found.p <= 2 * smallest_p(20)


@pytest.mark.parametrize(("units", "size"), [(2, 100), (4, 13), (8, 25)])
def test_pairs_that_all_tie_in_few_scenarios_are_bounded_by_their_number(units, size):
    """Rule of three and its kin: no wider than the nearest result that has a spread, or Wilson."""
    n = units * size
    found = compare([Pair(str(i % units), "c", 0.5, 0.5) for i in range(n)], 1)
    wilson = stats.binomtest(0, n).proportion_ci(method="wilson").high
    nearest = stats.t.ppf(0.975, units - 1) / n
    bound = max(wilson, nearest)
    assert (found.low, found.high, found.p) == (pytest.approx(-bound), pytest.approx(bound), 1.0)
    assert (found.interval, found.ties, found.error) == ("no-spread", n, None)


@pytest.mark.parametrize("odd", [0, 1])
def test_pairs_that_all_turn_in_four_scenarios_are_shown(odd):
    """One pair that does not turn makes little difference; its absence must not hide the rest."""
    pairs = [Pair(str(i % 4), "c", 0.0, 0.0 if i < odd else 1.0) for i in range(52)]
    found = compare(pairs, 1)
    assert found.low > 0.8
    assert found.p < 0.0001
    assert found.p_permutation == 0.125


def test_scenarios_alike_whose_questions_are_not_take_the_questions_spread():
    """One better and one worse in each: t over scenarios of the questions' standard error."""
    change = [1.0, -1.0, *[0.0] * 11]
    pairs = [Pair(str(unit), "c", 0.5, 0.5 + d / 2) for unit in range(4) for d in change]
    found = compare(pairs, 1)
    error = np.std([p.other - p.base for p in pairs], ddof=1) / math.sqrt(52)
    half = stats.t.ppf(0.975, 3) * max(error, 1 / 52)
    assert (found.low, found.high) == (pytest.approx(-half), pytest.approx(half))
    assert (found.interval, found.test, found.p, found.ties) == ("even", "even", 1.0, 44)
    assert found.error == pytest.approx(max(error, 1 / 52))


def test_one_scenario_tells_nothing():
    """However many questions it holds."""
    found = compare([Pair("a", "c", 0.0, 1.0), Pair("a", "c", 1.0, 1.0)] * 50, 1)
    assert (found.p, found.low, found.high, found.smallest_p) == (None, None, None, None)
    assert (found.interval, found.test) == ("none", "none")
    assert found.value == 0.5


@pytest.mark.parametrize(("units", "expected"), [(2, 0.5), (4, 0.125), (6, 0.03125)])
def test_the_smallest_p_is_reached_when_all_units_agree(units, expected):
    """Two swaps of all are as far out: none and all."""
    pairs = independent([0.0] * units, [0.1 * (n + 1) for n in range(units)])
    assert compare(pairs, 1).p_permutation == smallest_p(units) == expected
    assert smallest_p(EXACT_UNITS + 1) == 1 / (DRAWS + 1)


def test_the_effect_is_cohens_of_the_pairs():
    """Mean ÷ standard deviation of the differences."""
    base, other = scores(30, 2)
    diffs = np.subtract(other, base)
    found = compare(independent(base, other), 1)
    assert found.effect == pytest.approx(diffs.mean() / diffs.std(ddof=1))


def test_a_detectable_difference_is_detected_four_times_in_five():
    """By simulation: eight scenarios, a true difference of the MDE."""
    rng, rounds, count = np.random.default_rng(4), 400, 8
    true = detectable(0.1 / math.sqrt(count), count)
    shown = 0
    for _ in range(rounds):
        drawn = rng.normal(true, 0.1, count)
        shown += compare(independent([0.0] * count, drawn.tolist()), 1).p < 0.05
    assert 0.72 < shown / rounds < 0.88


def test_no_difference_is_shown_by_chance_one_time_in_twenty():
    """By simulation, where runs are alike: scenarios' luck is no difference."""
    rounds = 300
    p = [compare(scenarios(8, 6, seed, shift=0.0), 1).p for seed in range(rounds)]
    base = [compare(scenarios(8, 6, seed, shift=0.4), 1).p for seed in range(20)]
    assert np.mean([value < 0.05 for value in p]) < 0.12
    assert all(value < 0.05 for value in base)


@given(st.lists(st.one_of(st.none(), st.floats(0, 1)), max_size=12))
def test_holm_is_scipys_step_down(values):
    """Adjusted p fall below the level exactly where Holm's steps reject; None stays None."""
    adjusted = holm(values)
    tested = sorted(p for p in values if p is not None)
    for level in (0.01, 0.05, 0.3):
        rejected = 0
        while rejected < len(tested) and tested[rejected] < level / (len(tested) - rejected):
            rejected += 1
        found = sum(p is not None and p < level for p in adjusted)
        near = any(
            abs(p * (len(tested) - i) - level) < 1e-9 for i, p in enumerate(tested)
        )  # a tie that rounding decides
        assert near or found == rejected
    assert [p is None for p in adjusted] == [p is None for p in values]


def test_holm_by_hand():
    """0.01 × 3, 0.02 × 2, then 0.9 as it is; never falling."""
    assert holm([0.02, None, 0.9, 0.01]) == [pytest.approx(0.04), None, 0.9, pytest.approx(0.03)]
    assert holm([0.03, 0.031]) == [0.06, 0.06]


def test_draws_are_seeded():
    """The same seed, the same figures."""
    pairs = scenarios(20, 3)
    assert compare(pairs, 1) == compare(pairs, 1)
    assert compare(pairs, 1).low != compare(pairs, 2).low
