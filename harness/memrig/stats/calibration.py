"""How far a system knows what it knows: calibration from its own numeric confidence (scoring §2).

Nothing here is estimated from words: an answer without a number, or outside of 0 to 1, has none.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

BINS = 10
_EDGES = tuple((place + 1) / BINS for place in range(BINS))


class Forecast(NamedTuple):
    """One answer with what its system gave for it.

    Args:
        confidence: from 0 to 1; None where none was given.
        accuracy: how right the answer was, from 0 to 1; of an abstention, how right that was.
        abstained: whether the answer was that there is none.
        answerable: whether there is one.
    """

    confidence: float | None
    accuracy: float
    abstained: bool = False
    answerable: bool = True


class _Result(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Bin(_Result):
    """A bar of the reliability diagram: confidences above `low` and up to `high`.

    The first holds 0 as well. `confidence` and `accuracy` are means; None where `n` is 0.
    """

    low: float
    high: float
    n: int
    confidence: float | None
    accuracy: float | None


class RiskPoint(_Result):
    """A point of the risk-coverage curve: what is wrong among answers at least so confident.

    `coverage` is their share of all forecasts, `risk` the mean of 1 - accuracy over them.
    """

    threshold: float
    coverage: float
    risk: float


class Calibration(_Result):
    """What confidences are worth, over `n` answers that gave one and did not abstain.

    - `brier`: mean of (confidence - accuracy)² (Brier 1950); 0 is best, 0.25 is always "0.5".
    - `ece`: Σ n_b ÷ n · |mean accuracy - mean confidence| over ten bins of equal width (Naeini et
      al. 2015, Guo et al. 2017). It depends on the bins, and with few answers is biased upwards:
      read it beside `n` and the bins.
    - `aurc`: the mean risk over all coverages (Geifman et al. 2019); lower is better. Answers of
      the same confidence count in random order, on average.
    - `confidence`, `accuracy`: means; their difference is the overconfidence.
    """

    n: int
    brier: float
    ece: float
    aurc: float
    confidence: float
    accuracy: float
    bins: tuple[Bin, ...]
    curve: tuple[RiskPoint, ...]


class Abstention(_Result):
    """Whether silence fell where there was nothing to say.

    `precision` is the share of abstentions that were right, `recall` the share of unanswerable
    questions that were met by one, `f1` their harmonic mean. None: nothing to divide by.
    """

    abstained: int
    unanswerable: int
    right: int
    precision: float | None
    recall: float | None
    f1: float | None


def calibration(forecasts: Iterable[Forecast]) -> Calibration | None:
    """Calibration of the answers that gave a confidence and did not abstain; None without any.

    Raises:
        ValueError: a confidence is outside of 0 to 1.
    """
    pairs = [
        (forecast.confidence, forecast.accuracy)
        for forecast in forecasts
        if forecast.confidence is not None and not forecast.abstained
    ]
    if any(not 0 <= confidence <= 1 for confidence, _ in pairs):
        raise ValueError("a confidence is outside of 0 to 1")
    if not pairs:
        return None
    n = len(pairs)
    bins = reliability(pairs)
    return Calibration(
        n=n,
        brier=sum((confidence - accuracy) ** 2 for confidence, accuracy in pairs) / n,
        ece=sum(b.n / n * abs((b.accuracy or 0) - (b.confidence or 0)) for b in bins),
        aurc=_aurc(pairs),
        confidence=sum(confidence for confidence, _ in pairs) / n,
        accuracy=sum(accuracy for _, accuracy in pairs) / n,
        bins=bins,
        curve=risk_coverage(pairs),
    )


def reliability(pairs: Sequence[tuple[float, float]]) -> tuple[Bin, ...]:
    """Ten bins of equal width over pairs of confidence and accuracy, the empty ones too."""
    held: list[list[tuple[float, float]]] = [[] for _ in range(BINS)]
    for pair in pairs:
        held[bisect_left(_EDGES, pair[0])].append(pair)
    return tuple(_bin(place, inside) for place, inside in enumerate(held))


def _bin(place: int, inside: Sequence[tuple[float, float]]) -> Bin:
    n = len(inside)
    return Bin(
        low=place / BINS,
        high=_EDGES[place],
        n=n,
        confidence=sum(confidence for confidence, _ in inside) / n if n else None,
        accuracy=sum(accuracy for _, accuracy in inside) / n if n else None,
    )


def risk_coverage(pairs: Sequence[tuple[float, float]]) -> tuple[RiskPoint, ...]:
    """The curve, from the most confident answers to all of them: a point a distinct confidence."""
    points, seen, lost = [], 0, 0.0
    for confidence, losses in _levels(pairs):
        seen += len(losses)
        lost += sum(losses)
        points.append(RiskPoint(threshold=confidence, coverage=seen / len(pairs), risk=lost / seen))
    return tuple(points)


def _aurc(pairs: Sequence[tuple[float, float]]) -> float:
    """The mean over i of the expected risk of the i most confident, ties in random order."""
    total, seen, lost = 0.0, 0, 0.0
    for _, losses in _levels(pairs):
        mean = sum(losses) / len(losses)
        total += sum((lost + taken * mean) / (seen + taken) for taken in range(1, len(losses) + 1))
        seen += len(losses)
        lost += sum(losses)
    return total / len(pairs)


def _levels(pairs: Sequence[tuple[float, float]]) -> list[tuple[float, list[float]]]:
    """Losses by confidence, the highest first."""
    ranked = sorted(pairs, key=lambda pair: -pair[0])
    return [
        (confidence, [1 - accuracy for _, accuracy in group])
        for confidence, group in groupby(ranked, key=lambda pair: pair[0])
    ]


def abstention(forecasts: Iterable[Forecast]) -> Abstention:
    """Precision, recall and F1 of abstaining; whether a confidence was given does not matter."""
    every = list(forecasts)
    said = sum(forecast.abstained for forecast in every)
    wanted = sum(not forecast.answerable for forecast in every)
    right = sum(forecast.abstained and not forecast.answerable for forecast in every)
    return Abstention(
        abstained=said,
        unanswerable=wanted,
        right=right,
        precision=right / said if said else None,
        recall=right / wanted if wanted else None,
        f1=2 * right / (said + wanted) if said + wanted else None,
    )
