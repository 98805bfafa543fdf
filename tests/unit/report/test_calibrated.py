"""What a run's confidences are held against, and which answers count."""

import pytest

from memrig.report.calibrated import calibration_summary
from memrig.report.model_depth import CalibrationSummary
from memrig.report.settled import Settled
from memrig.report.view_calibration import calibration_lines, calibration_view
from support.places import grade, settled


def summary(*rows: Settled) -> CalibrationSummary:
    found = calibration_summary(rows)
    assert found is not None
    return found


def of(score: float, confidence: float | None, **changes: object) -> Settled:
    return settled(grade=grade(scores={"score": score}), confidence=confidence, **changes)


def test_confidence_is_held_against_accuracy_where_it_is_graded_by_itself():
    """A score that calibration is part of would be held against itself."""
    scores = {"score": 0.1, "factual_accuracy": 1.0}
    found = summary(settled(grade=grade(scores=scores), confidence=0.9))
    assert found.accuracy == "factual_accuracy"
    assert found.calibration.accuracy == 1.0
    assert found.calibration.brier == pytest.approx(0.01)


def test_elsewhere_it_is_held_against_the_protocols_own_score():
    """Whatever it is called."""
    found = summary(of(0.5, 0.5), settled(grade=grade(scores={"f1": 0.5}), confidence=0.5))
    assert (found.accuracy, found.calibration.n, found.calibration.brier) == ("score", 2, 0.0)


def test_only_graded_answers_that_say_something_count():
    """No number, no answer, or no grade: no calibration."""
    ungraded = grade(status="ungraded", reason="no verdict", scores={})
    rows = [
        of(1.0, 0.8),
        of(1.0, None),
        of(0.0, 0.1, abstained=True),
        settled(grade=ungraded, confidence=0.5),
    ]
    assert summary(*rows).calibration.n == 1


def test_silence_is_counted_with_and_without_a_confidence():
    """Right where there is no answer, wrong where there is one."""
    rows = [
        of(1.0, None, abstained=True, answerable=False),
        of(0.0, 0.2, abstained=True),
        of(0.0, 0.9, answerable=False),
        of(1.0, 0.9),
    ]
    silence = summary(*rows).abstention
    assert (silence.abstained, silence.unanswerable, silence.right) == (2, 2, 1)
    assert (silence.precision, silence.recall, silence.f1) == (0.5, 0.5, 0.5)


def test_a_run_without_numbers_or_silence_has_no_section():
    """Nothing to say is not said."""
    assert calibration_summary([of(1.0, None)]) is None
    assert calibration_summary([settled(grade=grade(scores={"mrr": 1.0}), confidence=0.5)]) is None
    assert calibration_view(None) is None
    assert list(calibration_lines(None)) == []


def test_without_a_confidence_there_are_no_charts():
    """An empty diagram would look like a result."""
    view = calibration_view(summary(of(0.0, None, abstained=True)))
    assert view is not None
    assert (view.confidence, view.reliability, view.risk) == ((), None, None)
    ((name, line),) = calibration_lines(summary(of(0.0, None, abstained=True)))
    assert (name, line) == ("declined", "1, 0 rightly; 0 questions without an answer")


def test_the_words_say_which_way_it_errs():
    """By how many points."""
    over = calibration_view(summary(of(0.5, 0.9)))
    under = calibration_view(summary(of(1.0, 0.9)))
    assert over is not None
    assert under is not None
    assert "overconfident by 40.0 points" in [pair.note for pair in over.confidence]
    assert "underconfident by 10.0 points" in [pair.note for pair in under.confidence]


def test_a_long_curve_is_thinned_to_what_can_be_seen():
    """Its ends stay."""
    rows = [of(float(n % 2), n / 1000) for n in range(1, 1000)]
    found = summary(*rows)
    view = calibration_view(found)
    assert view is not None
    assert view.risk is not None
    (curve,) = view.risk.curves
    assert len(found.calibration.curve) == 999
    assert 40 < len(curve.lines) <= 80
    assert curve.lines[-1].x2 == view.risk.right
