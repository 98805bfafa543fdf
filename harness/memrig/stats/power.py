"""How something grows with a size: the exponent of a power law, from a few measured sizes."""

import math
from collections.abc import Iterable

import numpy as np
from pydantic import BaseModel, ConfigDict
from scipy import special

from memrig.stats.intervals import LEVEL

#: Two points give a line whatever they are.
LEAST_SIZES = 3


class PowerFit(BaseModel):
    """y = a · x^exponent, by least squares over the logarithms.

    `n` counts the points and `sizes` the distinct x among them. `low` and `high` are the 95 %
    interval of the exponent (Student's t, n - 2 degrees of freedom), `r2` the share of log y's
    variance that the line explains; None where it has none. `left_out` counts points without a
    logarithm: nothing grew there. Without an exponent, `why` says why.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    exponent: float | None
    low: float | None
    high: float | None
    r2: float | None
    n: int
    sizes: int
    left_out: int
    why: str


def fit_power(points: Iterable[tuple[float, float]]) -> PowerFit:
    """Fits the exponent.

    Args:
        points: pairs of a size and what was measured at it.
    """
    every = list(points)
    kept = [(x, y) for x, y in every if x > 0 and y > 0]
    sizes = len({x for x, _ in kept})
    left_out = len(every) - len(kept)
    if sizes < LEAST_SIZES:
        why = f"not enough sizes: {sizes} of at least {LEAST_SIZES}"
        if left_out:
            why += f"; {left_out} left out, where nothing grew"
        return no_fit(why, len(kept), sizes, left_out)
    x, y = np.log(np.asarray(kept, dtype=float)).T
    dx, dy = x - x.mean(), y - y.mean()
    varies = bool(np.ptp(y) > 0)  # else neither spread nor correlation is defined
    slope = float(dx @ dy / (dx @ dx))
    r2 = min(slope * float(dx @ dy / (dy @ dy)), 1.0) if varies else None
    half = None
    if r2 is not None:
        error = math.sqrt((1 - r2) * float(dy @ dy / (dx @ dx)) / (len(kept) - 2))
        half = float(special.stdtrit(len(kept) - 2, 0.5 + LEVEL / 2)) * error
    return PowerFit(
        exponent=round(slope, 4),
        low=None if half is None else round(slope - half, 4),
        high=None if half is None else round(slope + half, 4),
        r2=None if r2 is None else round(r2, 4),
        n=len(kept),
        sizes=sizes,
        left_out=left_out,
        why="",
    )


def no_fit(why: str, n: int = 0, sizes: int = 0, left_out: int = 0) -> PowerFit:
    """Says why there is no exponent."""
    return PowerFit(
        exponent=None, low=None, high=None, r2=None, n=n, sizes=sizes, left_out=left_out, why=why
    )
