"""A report's metrics by group, and what must be said beside any of them."""

from collections.abc import Iterable

from memrig.report.model import Report
from memrig.report.units import metric_help
from memrig.stats.summary import MACRO, OVERALL, MetricValue


def stamps(report: Report) -> tuple[str, ...]:
    """What every table of this run has to say beside its numbers."""
    found = [] if report.complete else ["incomplete run"]
    if report.audit.verdict == "failed":
        found.append("isolation audit failed")
    if report.audits is not None and report.audits.failed:
        found.append("audits failed")
    if report.isolation == "pooled":
        found.append("pooled")
    if any("sample" in label for label in report.labels):
        found.append("sample data")
    return tuple(found)


def headline_values(report: Report, group: str) -> list[MetricValue | None]:
    """The headline metrics of a group, in order; None where one was not measurable."""
    return group_values(report, group, report.headline)


def group_values(report: Report, group: str, names: Iterable[str]) -> list[MetricValue | None]:
    """These metrics of a group, in order; None where one was not measurable."""
    found = {v.metric: v for v in report.metrics if v.group == group}
    return [found.get(name) for name in names]


def why_missing(report: Report, metric: str) -> str:
    """Why a headline metric has no number for any group."""
    if not report.metrics:
        return "no question was graded"
    for row in report.composite.rows if report.composite else ():
        if row.metric == metric and row.reason:
            return row.reason
    # Of a plug-in's metric, only the plug-in knows.
    return "too few hits were asked for" if metric_help(metric) else "not measured"


def group_names(report: Report) -> list[str]:
    """Every group: overall, macro, what tags tell apart, then the categories."""
    kinds = {value.group: value.kind for value in report.metrics}
    tags = [name for name, kind in kinds.items() if kind == "tag"]
    return list(dict.fromkeys([OVERALL, MACRO, *tags, *kinds]))
