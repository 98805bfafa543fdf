"""Recall by depth and by distance: how much the place of what was told matters.

Needs nothing of a suite but evidence and long scenarios: places are the episodes' own order.
"""

from collections.abc import Callable, Sequence

from memrig.grading.base import Metric
from memrig.report.estimates import Estimator
from memrig.report.model_depth import DepthSummary, PlaceBin
from memrig.report.operations import beyond
from memrig.report.settled import Settled, recall_name, score_name

#: In a shorter scenario, a tenth of it is no place to speak of.
LEAST_EPISODES = 50
_TENTHS = 10


def depth_summary(
    settled: Sequence[Settled], metrics: Sequence[Metric], seed: int, reader: str = ""
) -> DepthSummary | None:
    """Scores by where the evidence stands; None where no scenario is long or none has evidence.

    Args:
        settled: every question of the run.
        metrics: the protocol's.
        seed: of the intervals' draws.
        reader: the model that answered. What a built-in one cannot answer wherever it stands is
            left out of the scores: it stands late more often, since it has more evidence.
    """
    every = [row for row in settled if row.episodes >= LEAST_EPISODES]
    placed = [row for row in every if row.graded and row.evidence is not None]
    score, recall = score_name(placed), recall_name(placed)
    if not score and not recall:
        return None
    scores, recalls = (Estimator(metrics, name, seed) for name in (score, recall))

    def bin_of(low: float, high: float, rows: Sequence[Settled], what: str) -> PlaceBin:
        answered = [row.grade for row in rows if not beyond(row, reader)]
        return PlaceBin(
            low=low,
            high=high,
            n=len(rows),
            score=scores.mean(answered, what),
            recall=recalls.mean([row.grade for row in rows], what),
        )

    return DepthSummary(
        score=score,
        recall=recall,
        least_episodes=LEAST_EPISODES,
        questions=len(placed),
        left_out=len(every) - len(placed),
        beyond_reader=sum(beyond(row, reader) for row in placed),
        by_depth=tuple(
            bin_of(tenth / _TENTHS, (tenth + 1) / _TENTHS, rows, f"depth {tenth}")
            for tenth, rows in enumerate(_binned(placed, tenth_of, _TENTHS))
        ),
        by_distance=tuple(
            bin_of(*bounds_of(power), rows, f"distance {power}")
            for power, rows in enumerate(_binned(placed, power_of))
        ),
    )


def tenth_of(row: Settled) -> int:
    """Which tenth of the episodes before the question its evidence stands in, from 0."""
    return _TENTHS * (row.evidence or 0) // row.before


def power_of(row: Settled) -> int:
    """Which bin of distances: 0, 1, 2–3, 4–7 and so on, from 0."""
    return (row.before - 1 - (row.evidence or 0)).bit_length()


def bounds_of(power: int) -> tuple[int, int]:
    """The distances of a bin, both included."""
    return (2 ** (power - 1), 2**power - 1) if power else (0, 0)


def _binned(
    rows: Sequence[Settled], place: Callable[[Settled], int], count: int = 0
) -> list[list[Settled]]:
    """Questions by bin, the empty ones between them too."""
    places = [place(row) for row in rows]
    bins: list[list[Settled]] = [[] for _ in range(count or max(places) + 1)]
    for number, row in zip(places, rows, strict=True):
        bins[number].append(row)
    return bins
