"""Confidence intervals at 95 % (scoring §6).

Questions of one scenario are not independent: where scenarios hold several, whole scenarios are the
unit. Which rule applies is decided here and nowhere else.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

LEVEL = 0.95
#: Below this many clusters a bootstrap over them is too coarse (scoring §6).
FEW_CLUSTERS = 12
_RESAMPLES = 2000
#: Means that differ by less than this differ by rounding.
_SAME = 1e-9

Method = Literal[
    "wilson",
    "bca",
    "cluster-bootstrap",
    "cluster-t",
    "cluster-wilson",
    "even",
    "t",
    "none",
]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Interval:
    """Bounds as fractions, and the rule behind them; none where nothing can be said."""

    low: float | None
    high: float | None
    method: Method


NOTHING = Interval(None, None, "none")


def wilson(successes: float, n: float) -> Interval:
    """Wilson's score interval of a proportion of independent questions (Wilson 1927)."""
    if n == 0:
        return NOTHING
    z = float(special.ndtri(0.5 + LEVEL / 2))
    p = successes / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return Interval(max(0.0, centre - half), min(1.0, centre + half), "wilson")


def bca(values: Sequence[float], seed: int) -> Interval:
    """Bias-corrected and accelerated bootstrap of a mean of independent values (Efron 1987)."""
    data = np.asarray(values, dtype=float)
    if len(data) < 2 or np.ptp(data) < _SAME:
        return NOTHING
    # Loaded where it is used: it takes longer than all else that a command loads.
    from scipy.stats import bootstrap  # noqa: PLC0415

    rng = np.random.default_rng(seed)
    result = bootstrap(
        (data,), np.mean, confidence_level=LEVEL, n_resamples=_RESAMPLES, method="BCa", rng=rng
    )
    bounds = result.confidence_interval
    return Interval(float(bounds.low), float(bounds.high), "bca")


def student(values: Sequence[float], least: float = 0.0) -> Interval:
    """Student's t interval of a mean of few independent values, such as one a scenario.

    Args:
        values: at least two that differ, or nothing can be said: no spread is no certainty.
        least: what a value cannot fall below, as it cannot rise above 1.
    """
    data = np.asarray(values, dtype=float)
    if len(data) < 2 or np.ptp(data) < _SAME:
        return NOTHING
    error = float(data.std(ddof=1)) / math.sqrt(len(data))
    half = float(special.stdtrit(len(data) - 1, 0.5 + LEVEL / 2)) * error
    middle = float(data.mean())
    return Interval(max(least, middle - half), min(1.0, middle + half), "t")


def clustered(
    clusters: Sequence[object],
    statistic: Callable[[Floats], float],
    seed: int,
    least: float = 0.0,
    questions: float | None = None,
) -> Interval:
    """An interval of any statistic when whole clusters are the unit.

    Args:
        clusters: one entry a question: which cluster it is in.
        statistic: from a weight per cluster (in order of first occurrence) to the statistic; the
            weight is how often the cluster was drawn.
        seed: of the draws.
        least: what the statistic cannot fall below, as it cannot rise above 1.
        questions: as how many independent ones of equal weight the statistic's count; None: it is
            not said, so that clusters which agree tell no more than a question each.

    Under 12 clusters: Student's t on the delete-one-cluster jackknife, which is a t interval over
    cluster means when clusters are of equal size, and stays centred on the pooled value when they
    are not (ADR 0003). From 12 on: percentile bootstrap over clusters.
    """
    count = len(dict.fromkeys(clusters))
    if count < 2:
        return NOTHING
    singles = [statistic(row) for row in np.eye(count)]
    if np.ptp(singles) < _SAME:
        return _without_spread(singles[0], count, least, questions)
    if count < FEW_CLUSTERS:
        return _jackknife_t(count, statistic, least, questions)
    rng = np.random.default_rng(seed)
    draws = rng.multinomial(count, [1 / count] * count, size=_RESAMPLES)
    samples = [statistic(draw.astype(float)) for draw in draws]
    tail = (1 - LEVEL) / 2
    low, high = np.nanquantile(samples, [tail, 1 - tail])
    if high - low < _SAME:
        # A statistic that no single cluster gives, such as a mean of categories.
        return _without_spread(float(low), count, least, questions)
    return Interval(float(low), float(high), "cluster-bootstrap")


def _without_spread(value: float, count: int, least: float, questions: float | None) -> Interval:
    """All clusters agree, often at 0 or 1: a spread of nothing would claim certainty.

    Nothing then shows that clusters matter, and Wilson's interval over the questions is taken with
    the quantile of Student's t over the clusters (Korn and Graubard 1998; Dean and Pagano 2015): n
    questions are worth n (z ÷ t)². It is never worse than if each cluster held one (ADR 0003).
    """
    span = 1 - least
    size = float(count)
    method: Method = "cluster-wilson"
    if questions is not None:
        tail = 0.5 + LEVEL / 2
        ratio = float(special.ndtri(tail)) / float(special.stdtrit(count - 1, tail))
        size, method = max(size, questions * ratio**2), "even"
    bounds = wilson(min(1.0, max(0.0, (value - least) / span)) * size, size)
    if bounds.low is None or bounds.high is None:
        return NOTHING
    return Interval(least + span * bounds.low, least + span * bounds.high, method)


def _jackknife_t(
    count: int,
    statistic: Callable[[Floats], float],
    least: float,
    questions: float | None,
) -> Interval:
    whole = statistic(np.ones(count))
    left_out = np.array([statistic(1.0 - np.eye(count)[i]) for i in range(count)])
    if np.isnan(left_out).any():
        return NOTHING
    variance = (count - 1) / count * float(np.sum((left_out - left_out.mean()) ** 2))
    if np.ptp(left_out) < _SAME:
        return _without_spread(whole, count, least, questions)
    half = float(special.stdtrit(count - 1, 0.5 + LEVEL / 2)) * math.sqrt(variance)
    return Interval(max(least, whole - half), min(1.0, whole + half), "cluster-t")
