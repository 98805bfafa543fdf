"""Which number a run is placed by."""

from memrig.report.scores import primary_of
from memrig.report.standing import COMPOSITE, standing_of
from support.composite_reports import composite_report, scope_grades
from support.reports import sample_report


def test_answers_come_before_recall_and_deep_recall_before_shallow() -> None:
    """A protocol that grades answers is about them."""
    assert primary_of(["recall_any@10", "accuracy"]) == "accuracy"
    assert primary_of(["recall_any@1", "recall_any@10", "mrr"]) == "recall_any@10"
    assert primary_of(["own_metric", "other"]) == "own_metric"


def test_a_score_has_its_interval() -> None:
    """As the report has it, over all questions."""
    found = standing_of(sample_report())
    value = sample_report().value("recall_any@10")
    assert (found.value, found.low, found.high) == (value.value, value.low, value.high)


def test_a_metric_that_was_not_measured_is_no_zero() -> None:
    """It has no value."""
    assert standing_of(sample_report(metrics=())).value is None


def test_a_composite_goes_before_its_metrics() -> None:
    """With the mean over scopes, to which the interval belongs."""
    report = composite_report(*scope_grades("a", recall=0.5), *scope_grades("b", recall=0.7))
    found, composite = standing_of(report), report.composite
    assert composite is not None
    assert (found.metric, found.value) == (COMPOSITE, composite.mean)
    assert (found.low, found.high) == (composite.low, composite.high)
