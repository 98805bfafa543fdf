"""Reports of longitudinal runs: open, gated, and over many scopes."""

from memrig.grading.base import Grade
from memrig.grading.lens import V1
from memrig.report.model import Report
from memrig.stats.composite import composite
from memrig.stats.summary import summarise
from support.answer_reports import answered_report
from support.lens import lens_grade

HEADLINE = ("fact_recall", "evidence_grounding", "evidence_coverage", "budget_compliance")


def scope_grades(scope: str, grounding: float = 0.9, recall: float = 0.6) -> list[Grade]:
    """A synthesis, a control and a decision question; nobody judged."""
    base = {
        "evidence_grounding": grounding,
        "fact_recall": recall,
        "evidence_coverage": 0.5,
        "budget_compliance": 1.0,
        "reasoning_quality": 1.0,
    }
    missing = {"answer_quality": "no judge was asked"}
    decides = missing | {"action_quality": "no judge was asked"}
    return [
        lens_grade(scope, "longitudinal", scores=base | {"insight_depth": 1.0}, missing=missing),
        lens_grade(scope, "null_hypothesis", scores=base | {"fact_recall": 0.3}, missing=missing),
        lens_grade(scope, "action_recommendation", scores=base, missing=decides),
    ]


def composite_report(*grades: Grade, **changes: object) -> Report:
    """A report with the composite of these grades."""
    every = list(grades) or [g for name in ("reef", "mill") for g in scope_grades(name)]
    fields: dict[str, object] = {
        "suite": "longitudinal",
        "protocol": "lens-v1",
        "mode": "agent",
        "headline": HEADLINE,
        "metrics": tuple(summarise(every, V1.metrics, "longitudinal", "lens-v1", 5)),
        "composite": composite(every, V1.metrics, V1.profile, 5),
    }
    return answered_report().model_copy(update=fields | changes)
