"""Intervals at 95 %: against textbooks, other libraries, and a small simulation."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from memrig.stats.intervals import FEW_CLUSTERS, NOTHING, Floats, bca, clustered, student, wilson

VALUES = st.lists(st.integers(0, 10).map(lambda n: n / 10), min_size=8, max_size=40)


def mean_of(values: dict[str, list[float]]):
    """The pooled mean as a statistic of cluster weights."""
    sums = np.array([sum(group) for group in values.values()])
    counts = np.array([len(group) for group in values.values()])

    def statistic(weights: Floats) -> float:
        return float(weights @ sums / (weights @ counts))

    return statistic


def interval_over(values: dict[str, list[float]], seed: int = 1):
    clusters = [name for name, group in values.items() for _ in group]
    return clustered(clusters, mean_of(values), seed)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_is_scipys(case):
    """A score interval, never outside 0 and 1."""
    successes, n = case
    theirs = stats.binomtest(successes, n).proportion_ci(method="wilson")
    ours = wilson(successes, n)
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-9)
    assert ours.method == "wilson"
    assert 0 <= ours.low <= ours.high <= 1


def test_nothing_is_said_of_no_question():
    """Not 0, and not from 0 to 1."""
    assert wilson(0, 0) == NOTHING
    assert (NOTHING.low, NOTHING.high, NOTHING.method) == (None, None, "none")


@given(VALUES)
def test_bca_holds_the_mean_and_stays_inside_the_data(values):
    """Where there is any variation at all."""
    interval = bca(values, 3)
    if len(set(values)) == 1:
        assert interval == NOTHING
    else:
        assert min(values) <= interval.low <= np.mean(values) <= interval.high <= max(values)


def test_bca_is_scipys_under_the_same_seed():
    """2,000 resamples."""
    values = np.random.default_rng(0).beta(2, 5, 60)
    theirs = stats.bootstrap(
        (values,), np.mean, n_resamples=2000, method="BCa", rng=np.random.default_rng(9)
    ).confidence_interval
    ours = bca(values.tolist(), 9)
    assert (ours.low, ours.high, ours.method) == (theirs.low, theirs.high, "bca")


def test_draws_are_seeded():
    """The same seed, the same interval; another seed, another."""
    values = [0.0, 0.1, 0.5, 0.7, 0.9, 1.0, 0.3, 0.2]
    assert bca(values, 1) == bca(values, 1)
    assert bca(values, 1) != bca(values, 2)
    drawn = np.random.default_rng(0).random(20)
    groups = {str(n): [float(value), 0.5] for n, value in enumerate(drawn)}
    assert interval_over(groups, 1) == interval_over(groups, 1)
    assert interval_over(groups, 1) != interval_over(groups, 2)


@pytest.mark.parametrize("values", [[], [0.5], [0.5, 0.5, 0.5]])
def test_bca_says_nothing_without_variation(values):
    """A bootstrap of equal values would claim certainty."""
    assert bca(values, 1) == NOTHING


@given(
    st.integers(2, FEW_CLUSTERS - 1),
    st.integers(1, 5),
    st.integers(0, 10_000),
)
def test_few_clusters_of_one_size_give_the_textbook_t_interval(count, size, seed):
    """Student's t over the means of the clusters."""
    drawn = np.random.default_rng(seed).uniform(0.3, 0.7, (count, size))
    groups = {str(n): group.tolist() for n, group in enumerate(drawn)}
    means = [float(np.mean(group)) for group in groups.values()]
    half = stats.t.ppf(0.975, count - 1) * np.std(means, ddof=1) / math.sqrt(count)
    expected = max(0.0, np.mean(means) - half), min(1.0, np.mean(means) + half)
    interval = interval_over(groups)
    assert interval.method == "cluster-t"
    assert (interval.low, interval.high) == pytest.approx(expected, abs=1e-9)


def test_few_clusters_of_unequal_sizes_stay_centred_on_the_pooled_mean():
    """A small cluster counts for little, as it does in the value itself."""
    groups = {"a": [0.6] * 99 + [0.5], "b": [0.6] * 98 + [0.5, 0.4], "c": [0.1]}
    pooled = sum(map(sum, groups.values())) / 201
    interval = interval_over(groups)
    assert (interval.low + interval.high) / 2 == pytest.approx(pooled)


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_few_clusters_that_agree_do_not_give_certainty(value):
    """Five dialogues at 100 % do not prove 100 %."""
    interval = interval_over({str(n): [value] * 20 for n in range(5)})
    assert interval.low <= value <= interval.high
    assert interval.high - interval.low > 0.2


def test_from_twelve_clusters_on_the_clusters_are_resampled():
    """The percentiles hold the mean."""
    groups = {str(n): [n / 20, n / 20] for n in range(FEW_CLUSTERS)}
    interval = interval_over(groups)
    assert interval.method == "cluster-bootstrap"
    assert interval.low < 0.275 < interval.high


@pytest.mark.parametrize("groups", [{}, {"a": [0.0, 1.0, 1.0]}])
def test_one_cluster_says_nothing(groups):
    """However many questions it holds."""
    assert interval_over(groups) == NOTHING


@pytest.mark.parametrize("count", [8, 20])
def test_clustered_intervals_cover_what_naive_ones_do_not(count):
    """Questions of one scenario share its luck: Wilson over all of them is far too sure."""
    rng = np.random.default_rng(2026)
    rounds, covered, naive = 200, 0, 0
    for number in range(rounds):
        chances = rng.beta(3, 3, count)
        groups = {str(n): rng.binomial(1, p, 25).astype(float).tolist()
                  for n, p in enumerate(chances)}  # fmt: skip
        interval = interval_over(groups, number)
        covered += interval.low <= 0.5 <= interval.high
        whole = wilson(sum(map(sum, groups.values())), 25 * count)
        naive += whole.low <= 0.5 <= whole.high
    assert 0.88 <= covered / rounds <= 1.0
    assert naive / rounds < 0.75


@given(st.lists(st.floats(-0.2, 1), min_size=2, max_size=12))
def test_students_interval_is_scipys(values):
    """Cut at what a value can be."""
    ours = student(values, least=-1.0)
    if np.ptp(values) < 1e-9:
        assert ours == NOTHING
        return
    error = float(stats.sem(values))
    low, high = stats.t.interval(0.95, len(values) - 1, loc=np.mean(values), scale=error)
    assert (ours.low, ours.high) == pytest.approx((max(-1, low), min(1, high)))


@pytest.mark.parametrize("values", [[], [0.5], [0.0, 0.0, 0.0]])
def test_students_interval_needs_two_values_that_differ(values):
    """One says nothing of its spread, and scopes that are all gated would claim certainty."""
    assert student(values) == NOTHING


@pytest.mark.parametrize("spread", [0.0, 0.05])
def test_a_difference_may_lie_below_0(spread):
    """Where its bounds say so: all scenarios alike, or not."""
    values = np.array([-0.5 - spread, -0.5, -0.5 + spread])

    def statistic(drawn: Floats) -> float:
        return float(drawn @ values / drawn.sum())

    found = clustered(["a", "b", "c"], statistic, 1, least=-1.0)
    assert -1 <= found.low < -0.5 < found.high < 1
    assert found.method == ("cluster-t" if spread else "cluster-wilson")


@pytest.mark.parametrize(("clusters", "size"), [(2, 100), (4, 13), (8, 50)])
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_clusters_that_agree_leave_it_to_their_questions(clusters, size, share):
    """Wilson's interval with the quantile of t over clusters, worked out by its formula."""
    names = [str(n) for n in range(clusters) for _ in range(size)]
    found = clustered(names, lambda _: share, 1, questions=clusters * size)
    t, n = stats.t.ppf(0.975, clusters - 1), clusters * size
    middle = (share + t * t / 2 / n) / (1 + t * t / n)
    half = t / (1 + t * t / n) * np.sqrt(share * (1 - share) / n + t * t / 4 / n / n)
    assert (found.low, found.high) == pytest.approx((middle - half, middle + half))
    assert found.method == "even"


@pytest.mark.parametrize("questions", [None, 4.0, 6.0])
def test_few_questions_are_worth_no_less_than_their_clusters(questions):
    """Four scenarios that agree are four independent questions at least."""
    found = clustered(list("abcd"), lambda _: 1.0, 1, questions=questions)
    expected = wilson(4, 4)
    assert (found.low, found.high) == (expected.low, expected.high)
