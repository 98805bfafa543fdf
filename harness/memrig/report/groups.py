"""A report's metrics by group, and what must be said beside any of them."""

from memrig.report.model import Report
from memrig.stats.summary import MACRO, OVERALL, MetricValue


def stamps(report: Report) -> tuple[str, ...]:
    """What every table of this run has to say beside its numbers."""
    found = [] if report.complete else ["incomplete run"]
    if report.audit.verdict == "failed":
        found.append("isolation audit failed")
    if report.isolation == "pooled":
        found.append("pooled")
    if any("sample" in label for label in report.labels):
        found.append("sample data")
    return tuple(found)


def headline_values(report: Report, group: str) -> list[MetricValue | None]:
    """The headline metrics of a group, in order; None where one was not measurable."""
    found = {v.metric: v for v in report.metrics if v.group == group}
    return [found.get(name) for name in report.headline]


def group_names(report: Report) -> list[str]:
    """Every group: overall, macro, then the categories."""
    return list(dict.fromkeys([OVERALL, MACRO, *(value.group for value in report.metrics)]))
