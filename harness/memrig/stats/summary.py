"""From grades to a flat list of metrics: overall, macro, and each category, with intervals."""

from collections.abc import Iterator, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict

from memrig.grading.base import Grade, Metric
from memrig.model.canonical import derive
from memrig.stats.intervals import Interval, Method
from memrig.stats.table import Table

OVERALL, MACRO = "overall", "macro"
Kind = Literal["micro", "macro", "tag", "category"]


class MetricValue(BaseModel):
    """One number of a report. Values are fractions; `n` counts graded questions.

    `group` is "overall" (micro mean over questions), "macro" (mean of the categories' means), a
    tag that cuts across categories, "without" such a tag, or a category. `low` and `high` are the
    95 % interval; None where none can be given.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    suite: str
    protocol: str
    metric: str
    group: str
    value: float
    low: float | None
    high: float | None
    n: int
    interval: Method
    kind: Kind = "micro"


def summarise(
    grades: Sequence[Grade], metrics: Sequence[Metric], suite: str, protocol: str, seed: int
) -> list[MetricValue]:
    """Every metric for every group, in the order of `metrics`, overall first.

    Args:
        grades: all grades of a run; ungraded ones count in nothing.
        metrics: the protocol's.
        suite: named in each value.
        protocol: likewise.
        seed: of the intervals' draws, from the run's lock.
    """
    graded = [grade for grade in grades if grade.status == "graded"]
    tags = sorted({tag for grade in graded for tag in grade.tags if ":" not in tag})
    result = []
    for metric in metrics:
        table = Table(graded, metric.name)
        if not len(table.values):
            continue
        draw = derive(seed, "interval", metric.name) % 2**32
        groups = list(_groups(table, metric.name, tags))
        for group, kind, part_table in groups:
            value = part_table.micro(part_table.whole)
            interval = part_table.interval(metric, draw)
            found = _value(suite, protocol, metric, group, value, interval, part_table)
            result.append(found.model_copy(update={"kind": kind}))
        result.insert(len(result) - len(groups) + 1, _macro(suite, protocol, metric, table, draw))
    return result


def _groups(table: Table, metric: str, tags: Sequence[str]) -> Iterator[tuple[str, Kind, Table]]:
    """Overall, what is tagged and what is not, and each category.

    A tag that is a category's name too has that category for its group, once.
    """
    yield OVERALL, "micro", table
    for tag in tags:
        without = [grade for grade in table.grades if tag not in grade.tags]
        if without:
            yield f"without {tag}", "tag", Table(without, metric)
        only = [grade for grade in table.grades if tag in grade.tags]
        if only and without and tag not in table.categories:
            yield tag, "tag", Table(only, metric)
    for category in table.categories:
        part = [grade for grade in table.grades if grade.category == category]
        yield category, "category", Table(part, metric)


def _macro(suite: str, protocol: str, metric: Metric, table: Table, seed: int) -> MetricValue:
    value = table.macro(table.whole)
    interval = table.macro_interval(seed)
    result = _value(suite, protocol, metric, MACRO, value, interval, table)
    return result.model_copy(update={"kind": "macro"})


def _value(
    suite: str,
    protocol: str,
    metric: Metric,
    group: str,
    value: float,
    interval: Interval,
    table: Table,
) -> MetricValue:
    return MetricValue(
        suite=suite,
        protocol=protocol,
        metric=metric.name,
        group=group,
        value=value,
        low=interval.low,
        high=interval.high,
        n=len(table.values),
        interval=interval.method,
    )
