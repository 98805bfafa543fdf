"""The one number that a run is placed by, wherever there is room for one only."""

from dataclasses import dataclass

from memrig.report.model import Report
from memrig.report.scores import primary_of

#: Stands for the protocol's metrics, weighed.
COMPOSITE = "composite"


@dataclass(frozen=True, slots=True)
class Standing:
    """A metric over all questions, as a fraction, with its 95 % interval where there is one."""

    metric: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0


def standing_of(report: Report) -> Standing:
    """The composite where the protocol has one, else the metric that `primary_of` names."""
    found = report.composite
    if found is None:
        return metric_standing(report, primary_of(report.headline))
    n = max((row.n for row in found.rows), default=0)
    value = found.value if found.mean is None else found.mean
    return Standing(COMPOSITE, value, found.low, found.high, n)


def metric_standing(report: Report, name: str) -> Standing:
    """A metric over all questions; without a value where it was not measured."""
    try:
        found = report.value(name)
    except KeyError:
        return Standing(name)
    return Standing(name, found.value, found.low, found.high, found.n)
