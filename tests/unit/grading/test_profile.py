"""Weights and gates as data, and what they make of values (scoring §4)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrig.grading.profile import LENS_V1, LENS_V3_4, Contrast, Gate, Part, Profile

PROFILES = (LENS_V1, LENS_V3_4)
NAMES = [part.metric for part in LENS_V1.parts]
VALUES = st.dictionaries(st.sampled_from(NAMES), st.floats(-1, 1, allow_nan=False))
TWO = Profile("two", (Part("a", 1, 0.25), Part("b", 2, 0.75)), (Gate("a", 0.5),))


@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.name)
def test_the_weights_sum_to_one(profile):
    """And every gate is on a metric that weighs."""
    assert sum(part.weight for part in profile.parts) == pytest.approx(1)
    assert {gate.metric for gate in profile.gates} <= {part.metric for part in profile.parts}


def test_lens_v1_has_both_gates_and_the_later_weights_one():
    """As their authors changed them."""
    both = {"evidence_grounding": 0.5, "budget_compliance": 0.5}
    assert {gate.metric: gate.least for gate in LENS_V1.gates} == both
    assert [gate.metric for gate in LENS_V3_4.gates] == ["evidence_grounding"]


def test_the_weights_are_those_of_the_table():
    """Scoring §4, and the predecessor's last ones without what weighs nothing."""
    assert {part.metric: part.weight for part in LENS_V1.parts} == {
        "evidence_grounding": 0.10,
        "fact_recall": 0.10,
        "evidence_coverage": 0.10,
        "budget_compliance": 0.10,
        "answer_quality": 0.15,
        "insight_depth": 0.15,
        "reasoning_quality": 0.10,
        "longitudinal_advantage": 0.15,
        "action_quality": 0.05,
    }
    assert {part.metric: part.weight for part in LENS_V3_4.parts} == {
        "evidence_grounding": 0.09,
        "evidence_coverage": 0.09,
        "budget_compliance": 0.07,
        "citation_coverage": 0.10,
        "answer_quality": 0.22,
        "insight_depth": 0.18,
        "reasoning_quality": 0.10,
        "longitudinal_advantage": 0.07,
        "action_quality": 0.08,
    }


def test_longitudinal_advantage_is_synthesis_less_control():
    """Of fact recall, over the whole run."""
    (part,) = [part for part in LENS_V1.parts if part.contrast]
    assert part.metric == "longitudinal_advantage"
    assert isinstance(part.contrast, Contrast)
    assert part.contrast.metric == "fact_recall"
    assert (part.contrast.of[0], part.contrast.less[0]) == ("synthesis", "control")


def test_the_composite_is_the_weighted_mean_of_what_was_measured():
    """By hand, whole and in part."""
    assert TWO.compose({"a": 0.8, "b": 0.4}).value == pytest.approx(0.5)
    part = TWO.compose({"b": 0.4})
    assert (part.value, part.measured) == (pytest.approx(0.4), 0.75)


def test_a_gate_that_closes_makes_it_0_and_the_ungated_value_stays():
    """0.49 is below a half, 0.5 is not."""
    shut = TWO.compose({"a": 0.49, "b": 1.0})
    assert (shut.value, shut.hit) == (0.0, ("a",))
    assert shut.ungated == pytest.approx(0.25 * 0.49 + 0.75)
    for enough in (0.5, 0.4999999999):
        assert TWO.compose({"a": enough, "b": 1.0}).hit == ()


def test_a_gate_whose_metric_was_not_measured_does_not_close():
    """Nobody knows that it should."""
    assert TWO.compose({"b": 0.4}).hit == ()


def test_nothing_measured_is_no_0():
    """Nor 1."""
    nothing = TWO.compose({})
    assert (nothing.value, nothing.ungated, nothing.measured) == (None, None, 0.0)


def test_a_difference_enters_as_it_is():
    """A memory that helps on control questions alone loses by it."""
    base = dict.fromkeys(NAMES, 0.5)
    worse = LENS_V1.compose(base | {"longitudinal_advantage": -1.0})
    assert worse.value == pytest.approx(0.85 * 0.5 - 0.15)


@given(st.sampled_from(PROFILES), VALUES)
def test_the_ungated_composite_lies_within_its_measured_values(profile, values):
    """And the gated one is it, or 0."""
    found = profile.compose(values)
    known = [values[part.metric] for part in profile.parts if part.metric in values]
    if not known:
        assert found.value is None
        return
    assert min(known) - 1e-9 <= found.ungated <= max(known) + 1e-9
    assert found.value == (0.0 if found.hit else found.ungated)
    assert 0 < found.measured <= 1


@given(VALUES, st.sampled_from(NAMES), st.floats(0, 1))
def test_more_of_any_metric_is_never_less_of_the_whole(values, name, more):
    """Neither by the mean nor by a gate."""
    low = LENS_V1.compose(values | {name: -1.0})
    high = LENS_V1.compose(values | {name: more})
    assert low.ungated <= high.ungated + 1e-9
    assert set(high.hit) <= set(low.hit)
