"""The composite of a run: pooled, by scope, gated, and honest about what is missing."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrig.grading.base import Grade
from memrig.grading.lens import V1
from memrig.stats.composite import Composite, CompositeRow, composite
from support.lens import lens_grade

FULL = {"evidence_grounding": 1.0, "fact_recall": 0.6, "evidence_coverage": 0.8,
        "budget_compliance": 1.0, "answer_quality": 0.4, "reasoning_quality": 1.0}  # fmt: skip


def scope(name: str, recall: float = 0.6, control: float = 0.4, **scores: float) -> list[Grade]:
    """Three questions: synthesis, control, decision."""
    every = FULL | {"fact_recall": recall} | scores
    return [
        lens_grade(name, "longitudinal", scores=every | {"insight_depth": 1.0}),
        lens_grade(name, "null_hypothesis", scores=every | {"fact_recall": control}),
        lens_grade(name, "action_recommendation", scores=every | {"action_quality": 0.2}),
    ]


def made(*grades: Grade) -> Composite:
    found = composite(list(grades), V1.metrics, V1.profile, seed=11)
    assert found is not None
    return found


def row(found: Composite, metric: str) -> CompositeRow:
    return next(row for row in found.rows if row.metric == metric)


def test_it_is_the_weighted_mean_over_the_whole_run():
    """By hand: recall (.6 + .4 + .6) ÷ 3, advantage .6 - .4."""
    found = made(*scope("s1"))
    recall, advantage = (0.6 + 0.4 + 0.6) / 3, 0.2
    total = 0.1 * (1 + recall + 0.8 + 1) + 0.15 * (0.4 + 1) + 0.1 * 1
    total += 0.15 * advantage + 0.05 * 0.2
    assert found.value == pytest.approx(total)
    assert (found.ungated, found.measured_weight, found.weight) == (found.value, 1.0, 1.0)


def test_longitudinal_advantage_is_of_the_run():
    """Mean fact recall of synthesis less that of control; decisions are in neither."""
    found = row(made(*scope("s1", 0.9, 0.2)), "longitudinal_advantage")
    assert found.value == pytest.approx(0.7)
    assert (found.n, found.tier, found.weight) == (2, 3, 0.15)


def test_it_may_be_negative_and_so_may_its_bounds():
    """A memory that only looks things up."""
    grades = [g for n in range(4) for g in scope(f"s{n}", 0.1 * n, 0.9)]
    found = row(made(*grades), "longitudinal_advantage")
    assert found.value < 0
    assert -1 <= found.low < found.value < found.high <= 1
    assert found.low < -0.5


def test_control_questions_without_facts_make_it_not_available():
    """And the reason is told; its weight is not measured."""
    bare = lens_grade("s1", "null_hypothesis", missing={"fact_recall": "no key facts"})
    found = made(scope("s1")[0], bare)
    part = row(found, "longitudinal_advantage")
    assert part.value is None
    assert part.reason == "no control question has fact recall: no key facts"
    assert found.measured_weight == pytest.approx(1 - 0.15 - 0.05)


def test_without_control_questions_it_says_so():
    """Nothing to compare with."""
    part = row(made(scope("s1")[0]), "longitudinal_advantage")
    assert part.reason == "no control question was graded"


def test_a_metric_that_was_nowhere_measured_says_why():
    """All reasons, the most common first, and how often each."""
    grades = [
        lens_grade("s1", scores={"fact_recall": 1.0}, missing={"answer_quality": why})
        for why in ("no facts", "no judge", "no judge")
    ]
    part = row(made(*grades), "answer_quality")
    assert (part.value, part.n, part.missing) == (None, 0, {"no judge": 2, "no facts": 1})
    assert part.reason == "no judge; no facts"
    assert row(made(*grades), "action_quality").reason == "no question is of a type for it"


def test_a_metric_that_was_measured_in_part_counts_what_was():
    """Missing is not 0."""
    grades = [
        lens_grade("s1", scores={"answer_quality": 0.8}),
        lens_grade("s1", missing={"answer_quality": "no key facts"}),
    ]
    part = row(made(*grades), "answer_quality")
    assert (part.value, part.n, part.missing) == (0.8, 1, {"no key facts": 1})
    assert part.reason == ""


@pytest.mark.parametrize("metric", ["evidence_retrieved", "naive_baseline_advantage"])
def test_other_metrics_stand_beside_it_and_weigh_nothing(metric):
    """What was retrieved, and how the naive opponent did."""
    plain = made(*scope("s1"))
    found = made(*scope("s1", **{metric: 0.25}))
    (beside,) = [row for row in found.beside if row.metric == metric]
    assert (beside.value, beside.weight, beside.tier) == (0.25, 0, 0)
    assert found.value == plain.value
    assert metric not in {row.metric for row in found.rows}


@pytest.mark.parametrize("metric", ["evidence_grounding", "budget_compliance"])
def test_a_gate_makes_the_composite_0(metric):
    """With the ungated value beside it."""
    found = made(*scope("s1", **{metric: 0.4}))
    assert found.value == 0
    assert found.ungated > 0.4
    (gate,) = [gate for gate in found.gates if gate.closed]
    assert (gate.metric, gate.least, gate.value) == (metric, 0.5, pytest.approx(0.4))


def test_a_gate_that_nobody_measured_stays_open_and_is_told():
    """Given answers have no budget."""
    grades = [
        g.model_copy(update={"scores": {k: v for k, v in g.scores.items() if "budget" not in k}})
        for g in scope("s1")
    ]
    found = made(*grades)
    (gate,) = [gate for gate in found.gates if gate.metric == "budget_compliance"]
    assert (gate.closed, gate.value) == (False, None)
    assert found.value == found.ungated


def test_scopes_are_composed_each_by_itself():
    """With their own gates, and a t interval over them."""
    found = made(*scope("a"), *scope("b", 0.9), *scope("c", evidence_grounding=0.1))
    assert [part.scope for part in found.scopes] == ["a", "b", "c"]
    first, second, third = found.scopes
    assert first.value == pytest.approx(made(*scope("a")).value)
    assert second.value > first.value
    assert (third.value, third.closed) == (0.0, ("evidence_grounding",))
    assert found.value > 0  # pooled, two of three refs are good
    assert found.mean == pytest.approx((first.value + second.value) / 3)
    assert found.low < found.mean < found.high


def test_scopes_that_were_measured_by_different_metrics_have_no_mean():
    """Without the control question's facts one leaves the advantage out, and looks better."""
    other = [
        grade
        if grade.category != "null_hypothesis"
        else grade.model_copy(
            update={"scores": {k: v for k, v in grade.scores.items() if k != "fact_recall"}}
        )
        for grade in scope("b", 0.2)
    ]
    found = made(*scope("a", 0.2), *other)
    assert [part.missing for part in found.scopes] == [(), ("longitudinal_advantage",)]
    assert found.scopes[1].value > found.scopes[0].value
    assert (found.mean, found.low, found.high) == (None, None, None)
    assert found.value is not None


def test_what_is_missing_of_a_difference_is_counted_among_its_own_questions():
    """A decision without facts is none of its business."""
    grades = [
        grade.model_copy(update={"missing": {"fact_recall": "the question has no key facts"}})
        for grade in scope("a")
    ]
    assert row(made(*grades), "longitudinal_advantage").missing == {
        "the question has no key facts": 2
    }


def test_the_interval_is_students():
    """Two scopes: t with one degree of freedom."""
    found = made(*scope("a", 0.5), *scope("b", 0.7))
    one, two = (part.value for part in found.scopes)
    half = 12.706 * math.sqrt((one - two) ** 2 / 2) / math.sqrt(2)
    assert found.high == pytest.approx(min(1.0, found.mean + half), abs=1e-3)
    assert found.low == pytest.approx(max(-1.0, found.mean - half), abs=1e-3)


def test_one_scope_has_no_interval():
    """Nothing can be said of others."""
    found = made(*scope("a"))
    assert (found.mean, found.low, found.high) == (None, None, None)


def test_ungraded_questions_count_in_nothing():
    """A fault of the rig is no 0."""
    lost = lens_grade("a", status="ungraded", reason="harness_error")
    assert made(*scope("a"), lost) == made(*scope("a"))
    assert composite([lost], V1.metrics, V1.profile, 1) is None


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a", "b", "c"]),
            st.sampled_from(["longitudinal", "null_hypothesis", "action_recommendation"]),
            st.dictionaries(st.sampled_from(sorted(FULL)), st.floats(0, 1), min_size=1),
            st.integers(0, 4),
        ),
        min_size=1,
        max_size=12,
    )
)
def test_the_composite_lies_within_its_measurable_values(rows):
    """Whatever is missing, over the run and over each scope."""
    grades = [
        lens_grade(name, category, scores=scores, weights={"evidence_grounding": refs})
        for name, category, scores, refs in rows
    ]
    found = made(*grades)
    known = [part.value for part in found.rows if part.value is not None]
    assert min(known) - 1e-9 <= found.ungated <= max(known) + 1e-9
    assert found.value in {0.0, found.ungated}
    assert all(part.value is not None or part.reason for part in found.rows)
    assert found.measured_weight == pytest.approx(
        sum(part.weight for part in found.rows if part.value is not None)
    )
