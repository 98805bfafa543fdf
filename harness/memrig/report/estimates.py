"""Means over some of a run's questions, with the intervals that the whole table has."""

from collections.abc import Sequence

from memrig.grading.base import Grade, Metric
from memrig.model.canonical import derive
from memrig.report.model_depth import Estimate
from memrig.stats.table import Table


class Estimator:
    """Means of one metric.

    Args:
        metrics: the protocol's.
        name: the metric; empty: nothing can be estimated.
        seed: of the intervals' draws, from the run's lock.
    """

    def __init__(self, metrics: Sequence[Metric], name: str, seed: int) -> None:
        found = next((metric for metric in metrics if metric.name == name), None)
        # A name that its grader does not list is still a mean; only Wilson's rule needs more.
        self._metric = found or Metric(name, binary=False)
        self._seed = seed

    def mean(self, grades: Sequence[Grade], what: str) -> Estimate | None:
        """The mean over these questions; None where none of them has the metric.

        `what` names the group: its draws are its own.
        """
        table = Table(grades, self._metric.name)
        if not self._metric.name or not len(table.values):
            return None
        draw = derive(self._seed, "part", self._metric.name, what) % 2**32
        interval = table.interval(self._metric, draw)
        return Estimate(
            value=round(table.micro(table.whole), 6),
            n=len(table.values),
            low=interval.low,
            high=interval.high,
            interval=interval.method,
        )
