"""Calibration from numeric confidence: against cases worked out by hand, and brute force."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrig.stats.calibration import (
    BINS,
    Forecast,
    abstention,
    calibration,
    reliability,
    risk_coverage,
)

SURE = [Forecast(1.0, 1.0), Forecast(1.0, 1.0)]
PAIRS = st.lists(
    st.tuples(st.integers(0, 20).map(lambda n: n / 20), st.sampled_from((0.0, 0.5, 1.0))),
    min_size=1,
    max_size=30,
)


def of(*pairs: tuple[float, float]):
    found = calibration(Forecast(*pair) for pair in pairs)
    assert found is not None
    return found


def test_who_is_sure_and_right_is_perfect():
    """Brier, ECE and risk are 0."""
    found = calibration(SURE)
    assert (found.brier, found.ece, found.aurc) == (0, 0, 0)
    assert (found.n, found.confidence, found.accuracy) == (2, 1, 1)


def test_who_is_sure_and_wrong_could_not_be_worse():
    """All three are 1."""
    found = of((1.0, 0.0), (1.0, 0.0))
    assert (found.brier, found.ece, found.aurc) == (1, 1, 1)


def test_a_case_worked_out_by_hand():
    """Two bins of two, and one wrong answer among the sure ones."""
    found = of((0.9, 1.0), (0.9, 0.0), (0.2, 0.0), (0.2, 1.0))
    assert found.brier == pytest.approx((0.01 + 0.81 + 0.04 + 0.64) / 4)
    assert found.ece == pytest.approx(0.5 * abs(0.5 - 0.9) + 0.5 * abs(0.5 - 0.2))
    assert [(b.low, b.n) for b in found.bins if b.n] == [(0.1, 2), (0.8, 2)]
    assert [(p.threshold, p.coverage, p.risk) for p in found.curve] == [
        (0.9, 0.5, 0.5),
        (0.2, 1.0, 0.5),
    ]


@pytest.mark.parametrize(
    ("confidence", "place"), [(0.0, 0), (0.1, 0), (0.1000001, 1), (0.3, 2), (0.7, 6), (1.0, 9)]
)
def test_a_bin_holds_its_upper_edge(confidence, place):
    """And the first one 0; thirds and sevenths of floats included."""
    bins = reliability([(confidence, 1.0)])
    assert len(bins) == BINS
    assert [b.n for b in bins].index(1) == place
    assert bins[place].confidence == confidence
    assert {(b.confidence, b.accuracy) for b in bins if not b.n} == {(None, None)}


def test_neither_abstentions_nor_answers_without_a_number_are_calibrated():
    """Not measurable is not 0."""
    others = [Forecast(0.1, 1.0, abstained=True), Forecast(None, 0.0)]
    assert calibration([*SURE, *others]) == calibration(SURE)
    assert calibration(others) is None


@pytest.mark.parametrize("confidence", [-0.1, 1.1, float("nan")])
def test_what_is_no_probability_is_refused(confidence):
    """It would be averaged with the others."""
    with pytest.raises(ValueError, match="outside of 0 to 1"):
        calibration([Forecast(confidence, 1.0)])


@given(PAIRS)
def test_the_bins_hold_every_answer_and_the_curve_ends_at_all_of_them(pairs):
    """Coverage rises; the last risk is what is wrong in all."""
    found = of(*pairs)
    assert sum(b.n for b in found.bins) == found.n == len(pairs)
    coverages = [point.coverage for point in found.curve]
    assert coverages == sorted(set(coverages))
    assert coverages[-1] == 1
    assert found.curve[-1].risk == pytest.approx(1 - found.accuracy)
    assert 0 <= found.ece <= 1
    # The mean error of bins is at most that of answers (Jensen), and at least the whole's.
    assert abs(found.accuracy - found.confidence) <= found.ece + 1e-9
    assert found.ece**2 <= found.brier + 1e-9


@given(st.lists(st.tuples(st.sampled_from((0.2, 0.8)), st.sampled_from((0.0, 0.5, 1.0))),
                min_size=1, max_size=6))  # fmt: skip
def test_the_area_is_the_mean_over_all_orders_of_equal_confidences(pairs):
    """By brute force over every order that sorts them."""
    areas = []
    for order in permutations(pairs):
        if list(order) == sorted(order, key=lambda pair: -pair[0]):
            losses = [1 - accuracy for _, accuracy in order]
            risks = [sum(losses[:n]) / n for n in range(1, len(losses) + 1)]
            areas.append(sum(risks) / len(risks))
    assert of(*pairs).aurc == pytest.approx(sum(areas) / len(areas))


@given(PAIRS)
def test_the_curve_is_what_a_threshold_leaves(pairs):
    """Answers at least so confident: their share and their errors."""
    for point in risk_coverage(pairs):
        kept = [1 - accuracy for confidence, accuracy in pairs if confidence >= point.threshold]
        assert point.coverage == len(kept) / len(pairs)
        assert point.risk == pytest.approx(sum(kept) / len(kept))


def test_abstentions_are_measured_by_what_was_unanswerable():
    """Two of three fell where there was nothing to say; of four such questions two were met."""
    silent = [Forecast(None, 1.0, abstained=True, answerable=False)] * 2
    wrong = [Forecast(None, 0.0, abstained=True)]
    missed = [Forecast(0.5, 0.0, answerable=False)] * 2
    found = abstention([*silent, *wrong, *missed, *SURE])
    assert (found.abstained, found.unanswerable, found.right) == (3, 4, 2)
    assert found.precision == pytest.approx(2 / 3)
    assert found.recall == 0.5
    assert found.f1 == pytest.approx(2 * (2 / 3) * 0.5 / (2 / 3 + 0.5))


def test_where_nobody_abstained_and_nothing_had_to_there_is_no_f1():
    """Nothing to divide by is not 0."""
    found = abstention(SURE)
    assert (found.precision, found.recall, found.f1) == (None, None, None)
