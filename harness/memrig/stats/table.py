"""One metric's values over a run, and the means that are taken of them."""

import re
from collections.abc import Iterable, Sequence

import numpy as np

from memrig.grading.base import Grade, Metric
from memrig.stats.intervals import Floats, Interval, bca, clustered, wilson

_NUMBER = re.compile(r"([0-9]+)")


def natural(name: str) -> tuple[tuple[int, str], ...]:
    """Sorts names by the numbers in them: ``growth-300`` before ``growth-1000``."""
    parts = _NUMBER.split(name)
    return tuple((int(part), "") if part.isdecimal() else (-1, part) for part in parts)


class Table:
    """One metric as clusters × categories sums, so that a resample is one product.

    A metric that is a ratio of counts comes with a weight a question: means of it are the pooled
    ratio. Where there was nothing to count, such as no citation in a whole group, it is 0.

    Args:
        grades: those that lack the metric count in nothing.
        metric: its name.
    """

    def __init__(self, grades: Iterable[Grade], metric: str) -> None:
        self.grades = [grade for grade in grades if metric in grade.scores]
        self.values = np.array([grade.scores[metric] for grade in self.grades], dtype=float)
        self.clusters = [grade.cluster for grade in self.grades]
        self.categories = sorted({grade.category for grade in self.grades}, key=natural)
        weights = [grade.weights.get(metric, 1.0) for grade in self.grades]
        self.weighted = any(weight != 1 for weight in weights)
        self._each = np.array(weights, dtype=float)
        row = {name: i for i, name in enumerate(dict.fromkeys(self.clusters))}
        column = {name: i for i, name in enumerate(self.categories)}
        self._sums = np.zeros((len(row), len(column)))
        self._weights = np.zeros_like(self._sums)
        self._counts = np.zeros_like(self._sums)
        for grade, value, weight in zip(self.grades, self.values, weights, strict=True):
            place = row[grade.cluster], column[grade.category]
            self._sums[place] += value * weight
            self._weights[place] += weight
            self._counts[place] += 1

    @property
    def whole(self) -> Floats:
        """Every cluster once."""
        return np.ones(len(self._sums))

    def micro(self, drawn: Floats) -> float:
        """The mean over questions, each cluster as often as it was drawn."""
        return self._mean(drawn, slice(None))

    def macro(self, drawn: Floats) -> float:
        """The mean of the categories' means; NaN where one has no question."""
        weights = drawn @ self._weights
        with np.errstate(invalid="ignore", divide="ignore"):
            means = (drawn @ self._sums) / weights
        means[(weights == 0) & (drawn @ self._counts > 0)] = 0.0
        return float(means.mean())

    def difference(self, drawn: Floats, of: frozenset[str], less: frozenset[str]) -> float:
        """The mean over questions of some categories less that of others; NaN without any."""
        return self._mean(drawn, self._places(of)) - self._mean(drawn, self._places(less))

    def interval(self, metric: Metric, seed: int) -> Interval:
        """That of the mean over questions."""
        independent = len(set(self.clusters)) == len(self.clusters)
        if independent and not self.weighted:
            if metric.binary:
                return wilson(float(self.values.sum()), len(self.values))
            return bca(self.values.tolist(), seed)
        return clustered(self.clusters, self.micro, seed, questions=self._worth([""]))

    def macro_interval(self, seed: int) -> Interval:
        """That of the mean of the categories' means."""
        return clustered(self.clusters, self.macro, seed, questions=self._worth(self.categories))

    def _worth(self, columns: Sequence[str]) -> float | None:
        """As how many questions of equal weight the mean of some columns' means counts.

        That is 1 ÷ Σw² (Kish 1965); "" is the column of all. None where one has nothing to count.
        """
        of = np.array([grade.category for grade in self.grades])
        share = 0.0
        for name in columns:
            weights = self._each if name == "" else self._each[of == name]
            if not weights.sum():
                return None
            share += float(np.sum((weights / weights.sum() / len(columns)) ** 2))
        return 1 / share

    def _places(self, names: frozenset[str]) -> list[int]:
        return [place for place, name in enumerate(self.categories) if name in names]

    def _mean(self, drawn: Floats, places: slice | list[int]) -> float:
        counts, weights, sums = (
            float(drawn @ part[:, places].sum(axis=1))
            for part in (self._counts, self._weights, self._sums)
        )
        if not counts:
            return float("nan")
        return sums / weights if weights else 0.0
