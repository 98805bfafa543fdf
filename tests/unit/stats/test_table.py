"""Means of metrics that are ratios of counts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrig.grading.base import Grade, Metric
from memrig.stats.summary import MetricValue, summarise
from memrig.stats.table import Table
from support.lens import lens_grade

CITED = Metric("evidence_grounding", binary=False)


def cited(scope: str, good: float, refs: float, category: str = "longitudinal") -> Grade:
    """A question that cites so many refs, so many of them good."""
    return lens_grade(
        scope,
        category,
        scores={"evidence_grounding": good / refs if refs else 0.0},
        weights={"evidence_grounding": refs},
    )


def values(*grades: Grade) -> dict[str, MetricValue]:
    found = summarise(list(grades), (CITED,), "longitudinal", "lens-v1", seed=3)
    return {value.group: value for value in found}


def test_the_mean_is_the_pooled_ratio():
    """One of one and one of nine: two of ten, not the mean of the shares."""
    found = values(cited("s1", 1, 1), cited("s2", 1, 9))
    assert found["overall"].value == pytest.approx(0.2)
    assert found["overall"].n == 2


def test_macro_is_the_mean_of_the_categories_pooled_ratios():
    """Each category by its own counts."""
    grades = (cited("s1", 1, 1), cited("s1", 0, 3), cited("s1", 1, 1, "negative"))
    found = values(*grades)
    assert found["longitudinal"].value == pytest.approx(1 / 4)
    assert found["negative"].value == 1
    assert found["macro"].value == pytest.approx((1 / 4 + 1) / 2)


def test_a_group_that_counts_nothing_is_0():
    """Nothing cited is nothing grounded: never NaN."""
    found = values(cited("s1", 0, 0), cited("s2", 2, 2, "negative"))
    assert found["longitudinal"].value == 0
    assert found["overall"].value == 1
    assert found["macro"].value == 0.5


def test_scenarios_are_resampled_with_both_sums():
    """A question of many refs pulls the bounds as it pulls the mean."""
    grades = [cited(f"s{n}", n % 3, 2 + n % 4) for n in range(15)]
    found = values(*grades)["overall"]
    assert found.interval == "cluster-bootstrap"
    assert found.low < found.value < found.high
    whole = sum(n % 3 for n in range(15)) / sum(2 + n % 4 for n in range(15))
    assert found.value == pytest.approx(whole)


def test_a_weighted_share_is_no_proportion_of_questions():
    """Wilson's interval does not hold for it."""
    grades = [cited(f"s{n}", 0 if n else 2, 2) for n in range(5)]
    (value, *_) = summarise(grades, (Metric("evidence_grounding", binary=True),), "s", "p", 3)
    assert value.interval == "cluster-t"


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=20))
def test_it_is_good_refs_over_refs_whatever_the_split(pairs):
    """The property that gives the metric its name."""
    counts = [(min(pair), max(pair)) for pair in pairs]
    table = Table([cited(f"s{n % 4}", *pair) for n, pair in enumerate(counts)], CITED.name)
    refs = sum(total for _, total in counts)
    expected = sum(good for good, _ in counts) / refs if refs else 0.0
    assert table.micro(table.whole) == pytest.approx(expected)


def test_a_difference_of_groups_needs_both():
    """NaN without one of them: nobody can tell."""
    grades = [
        lens_grade("s1", "longitudinal", scores={"fact_recall": 0.9}),
        lens_grade("s1", "temporal", scores={"fact_recall": 0.5}),
        lens_grade("s1", "null_hypothesis", scores={"fact_recall": 0.4}),
    ]
    table = Table(grades, "fact_recall")
    of, less = frozenset({"longitudinal", "temporal"}), frozenset({"null_hypothesis"})
    assert table.difference(table.whole, of, less) == pytest.approx(0.3)
    nothing = table.difference(table.whole, of, frozenset({"negative"}))
    assert nothing != nothing  # noqa: PLR0124  (NaN is what differs from itself)
