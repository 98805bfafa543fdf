"""The difference of two means over different questions, such as those of two sets of seeds.

Where nothing pairs the questions, both means waver, each with its worlds: the unit is the cluster
wherever a side has several (scoring §6), and the question where each has one.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy import special

from memrig.grading.base import Grade
from memrig.stats.intervals import LEVEL
from memrig.stats.table import Table


@dataclass(frozen=True, slots=True)
class Unpaired:
    """The first mean less the second, as fractions.

    Args:
        first: the mean of the first.
        second: of the second.
        value: `first` - `second`.
        low: of the 95 % interval.
        high: likewise.
        freedom: degrees of freedom of Student's t behind it.
    """

    first: float
    second: float
    value: float
    low: float
    high: float
    freedom: int


def unpaired(first: Iterable[Grade], second: Iterable[Grade], metric: str) -> Unpaired | None:
    """What the means of two sets of grades differ by.

    Student's t of two samples: the standard errors of both sides together, with the degrees of
    freedom of their clusters, or of their questions where neither side has two clusters.

    Args:
        first: grades; those that lack the metric count in nothing.
        second: likewise.
        metric: its name.

    Returns:
        None where a side has no question, or each has one and no more.
    """
    tables = [Table(grades, metric) for grades in (first, second)]
    if not all(len(table.values) for table in tables):
        return None
    clusters = [len(table.whole) for table in tables]
    questions = [len(table.values) for table in tables]
    counts = clusters if max(clusters) > 1 else questions
    freedom = sum(count - 1 for count in counts)
    if freedom < 1:
        return None
    one, two = (table.micro(table.whole) for table in tables)
    error = math.hypot(*(_error(table, metric) for table in tables))
    half = float(special.stdtrit(freedom, 0.5 + LEVEL / 2)) * error
    value = one - two
    return Unpaired(one, two, value, max(-1.0, value - half), min(1.0, value + half), freedom)


def _error(table: Table, metric: str) -> float:
    """The standard error of one mean: its clusters' or its questions', whichever is more.

    And no less than if one question had come out otherwise: no spread is no certainty.
    """
    weights = np.array([grade.weights.get(metric, 1.0) for grade in table.grades])
    total = float(weights.sum())
    if not total:
        return 1.0
    n = len(weights)
    off = weights * (table.values - table.micro(table.whole)) / total
    alone = math.sqrt(float(np.sum(off**2)) * n / max(1, n - 1))
    least = float(np.sum((weights / total) ** 2))
    return max(alone, least, _between(table))


def _between(table: Table) -> float:
    """The delete-one-cluster jackknife's error; 0 of a single cluster."""
    count = len(table.whole)
    if count < 2:
        return 0.0
    left_out = np.array([table.micro(1.0 - row) for row in np.eye(count)])
    if np.isnan(left_out).any():
        return 0.0
    spread = float(np.sum((left_out - left_out.mean()) ** 2))
    return math.sqrt((count - 1) / count * spread)
