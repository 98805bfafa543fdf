"""Where the wobble of a figure comes from: the seed, the repeat, or the judge (scoring §6)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from pydantic import BaseModel, ConfigDict

Source = Literal["seed", "repeat", "judge"]


class VariancePart(BaseModel):
    """One source's part in the variance of one run's figure: one seed, once.

    `estimate` is what the moments give, and may be negative: then `variance` is 0, and `note` says
    so. Both are None where the run cannot tell the source apart. `share` is of the sum of the
    variances that are known; None where that is 0, or no other source is known: of one, its share
    says nothing. The seed's part holds the repeat's where that is not known.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    source: Source
    variance: float | None
    estimate: float | None
    share: float | None
    note: str = ""

    @property
    def sd(self) -> float | None:
        """The standard deviation, in the figure's own unit."""
        return None if self.variance is None else math.sqrt(self.variance)


@dataclass(frozen=True, slots=True)
class _Moments:
    """Mean squares of repeats within seeds; `within` is None where no seed was repeated."""

    between: float | None
    within: float | None
    size: float


def split_variance(
    cells: Mapping[int, Sequence[float]], judge: float | None
) -> tuple[VariancePart, ...]:
    """Splits the variance of a figure by nested random effects, estimated by moments.

    The figure of repeat r under seed s is ``m_sr = μ + seed_s + repeat_sr``, and the judge's error
    is a part of the second. With S seeds, R_s repeats of each and N figures in all,
    ``MSW = Σ_s Σ_r (m_sr − m_s)² ÷ (N − S)``, ``MSB = Σ_s R_s (m_s − m)² ÷ (S − 1)`` and
    ``n₀ = (N − Σ R_s² ÷ N) ÷ (S − 1)``; then σ²(judge) is given, σ²(repeat) = MSW − σ²(judge) and
    σ²(seed) = (MSB − MSW) ÷ n₀. Without repeats, σ²(seed) = MSB − σ²(judge), and holds what
    repeats would tell apart. (Searle, Casella and McCulloch 1992, Variance Components, chapter 3.)

    Args:
        cells: by seed, the figure of each of its repeats, fractions.
        judge: the mean variance that the judge's votes leave in one such figure; None where it
            was not measured: it then stays in the repeat's part.
    """
    moments = _moments([list(values) for values in cells.values() if values])
    rest = judge or 0.0
    seed = repeat = None
    if moments.within is not None:
        repeat = moments.within - rest
        if moments.between is not None:
            seed = (moments.between - moments.within) / moments.size
    elif moments.between is not None:
        seed = moments.between - rest
    estimates: dict[Source, float | None] = {"seed": seed, "repeat": repeat, "judge": judge}
    notes: dict[Source, str] = {
        "seed": _seed_note(moments),
        "repeat": _repeat_note(moments, judge),
        "judge": "" if judge is not None else "no judge voted more than once on an answer",
    }
    known = [max(0.0, value) for value in estimates.values() if value is not None]
    total = sum(known) if len(known) > 1 else 0.0
    return tuple(_part(name, value, total, notes[name]) for name, value in estimates.items())


def _moments(groups: list[list[float]]) -> _Moments:
    number = sum(len(group) for group in groups)
    seeds = len(groups)
    means = [fmean(group) for group in groups]
    within = None
    if number > seeds:
        squares = sum((m - mean) ** 2 for g, mean in zip(groups, means, strict=True) for m in g)
        within = squares / (number - seeds)
    if seeds < 2:
        return _Moments(None, within, 1.0)
    whole = sum(sum(group) for group in groups) / number
    pairs = zip(groups, means, strict=True)
    between = sum(len(group) * (mean - whole) ** 2 for group, mean in pairs) / (seeds - 1)
    size = (number - sum(len(group) ** 2 for group in groups) / number) / (seeds - 1)
    return _Moments(between, within, size)


def _seed_note(moments: _Moments) -> str:
    if moments.between is None:
        return "one seed: give several with --seeds"
    return "" if moments.within is not None else "each seed ran once: --repeats tells them apart"


def _repeat_note(moments: _Moments, judge: float | None) -> str:
    if moments.within is None:
        return "each seed ran once: give --repeats"
    return "" if judge is not None else "a judge's share, if any, is in it"


def _part(source: Source, estimate: float | None, total: float, note: str) -> VariancePart:
    if estimate is None:
        return VariancePart(source=source, variance=None, estimate=None, share=None, note=note)
    if estimate < 0:
        below = f"the estimate is below 0 ({estimate:.2g}): no more than chance, shown as 0"
        note = f"{below}; {note}" if note else below
    variance = max(0.0, estimate)
    share = variance / total if total > 0 else None
    return VariancePart(source=source, variance=variance, estimate=estimate, share=share, note=note)
