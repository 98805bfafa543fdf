"""From grades to a flat list of metrics: overall, macro, and each category, with intervals."""

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict

from memrig.grading.base import Grade, Metric
from memrig.model.canonical import derive
from memrig.stats.intervals import NOTHING, Floats, Interval, Method, bca, clustered, wilson

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


class _Table:
    """One metric's values as clusters × categories sums, so that a resample is one product."""

    def __init__(self, grades: Sequence[Grade], metric: str) -> None:
        self.grades = [grade for grade in grades if metric in grade.scores]
        self.values = np.array([grade.scores[metric] for grade in self.grades], dtype=float)
        self.clusters = [grade.cluster for grade in self.grades]
        self.categories = sorted({grade.category for grade in self.grades})
        row = {name: i for i, name in enumerate(dict.fromkeys(self.clusters))}
        column = {name: i for i, name in enumerate(self.categories)}
        self._sums = np.zeros((len(row), len(column)))
        self._counts = np.zeros_like(self._sums)
        for grade, value in zip(self.grades, self.values, strict=True):
            place = row[grade.cluster], column[grade.category]
            self._sums[place] += value
            self._counts[place] += 1

    def micro(self, weights: Floats) -> float:
        return float(weights @ self._sums.sum(axis=1) / (weights @ self._counts.sum(axis=1)))

    def macro(self, weights: Floats) -> float:
        with np.errstate(invalid="ignore", divide="ignore"):
            means = (weights @ self._sums) / (weights @ self._counts)
        return float(means.mean())


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
        table = _Table(graded, metric.name)
        if not len(table.values):
            continue
        draw = derive(seed, "interval", metric.name) % 2**32
        groups = list(_groups(table, metric.name, tags))
        for group, kind, part_table in groups:
            value = part_table.micro(np.ones(len(dict.fromkeys(part_table.clusters))))
            interval = _interval(part_table, metric, draw)
            found = _value(suite, protocol, metric, group, value, interval, part_table)
            result.append(found.model_copy(update={"kind": kind}))
        result.insert(len(result) - len(groups) + 1, _macro(suite, protocol, metric, table, draw))
    return result


def _groups(table: _Table, metric: str, tags: Sequence[str]) -> Iterator[tuple[str, Kind, _Table]]:
    """Overall, what is tagged and what is not, and each category.

    A tag that is a category's name too has that category for its group, once.
    """
    yield OVERALL, "micro", table
    for tag in tags:
        without = [grade for grade in table.grades if tag not in grade.tags]
        if without:
            yield f"without {tag}", "tag", _Table(without, metric)
        only = [grade for grade in table.grades if tag in grade.tags]
        if only and without and tag not in table.categories:
            yield tag, "tag", _Table(only, metric)
    for category in table.categories:
        part = [grade for grade in table.grades if grade.category == category]
        yield category, "category", _Table(part, metric)


def _interval(table: _Table, metric: Metric, seed: int) -> Interval:
    independent = len(set(table.clusters)) == len(table.clusters)
    if independent and metric.binary:
        return wilson(float(table.values.sum()), len(table.values))
    if independent:
        return bca(table.values.tolist(), seed)
    return clustered(table.clusters, table.micro, seed)


def _macro(suite: str, protocol: str, metric: Metric, table: _Table, seed: int) -> MetricValue:
    clusters = len(dict.fromkeys(table.clusters))
    value = table.macro(np.ones(clusters))
    interval = clustered(table.clusters, table.macro, seed) if clusters > 1 else NOTHING
    result = _value(suite, protocol, metric, MACRO, value, interval, table)
    return result.model_copy(update={"kind": "macro"})


def _value(
    suite: str,
    protocol: str,
    metric: Metric,
    group: str,
    value: float,
    interval: Interval,
    table: _Table,
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
