"""The geometry of line charts: shares upwards, from 0 to 100 % by default; anything across.

As in charts.py: across, places are percent of the chart's width; down, they are pixels.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from memrig.report.charts import Tick

_LEFT, _WIDTH = 10.0, 88.0  # the plot, between the labels and the edge
_TOP, _PLOT = 26, 170
_LEGEND = 45  # percent between two names
_APART = 1.4  # between the points of two curves at one place
PERCENT = tuple((share / 100, f"{share}%") for share in (0, 25, 50, 75, 100))


@dataclass(frozen=True, slots=True)
class Dot:
    """A value of a curve, as fractions; `low` and `high` are its interval."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Curve:
    """Dots in order of `x`; `dotted` curves show each of them, the others only the line.

    `said` has the values in words; empty: they are shares.
    """

    name: str
    dots: tuple[Dot, ...]
    dotted: bool = True
    said: str = ""


@dataclass(frozen=True, slots=True)
class Stroke:
    """A straight line."""

    x1: float
    y1: float
    x2: float
    y2: float


@dataclass(frozen=True, slots=True)
class Drawn:
    """A curve in place. `kind` is its class; `legend` is where its name stands."""

    kind: str
    name: str
    legend: float
    lines: tuple[Stroke, ...]
    whiskers: tuple[Stroke, ...]
    dots: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class LineChart:
    """Curves over an axis. `counts` stand below the axis, `across` names it."""

    id: str
    title: str
    description: str
    height: int
    left: float
    right: float
    curves: tuple[Drawn, ...]
    levels: tuple[tuple[int, str], ...]
    base: int
    ticks: tuple[Tick, ...]
    counts: tuple[Tick, ...]
    across: str
    diagonal: Stroke | None


def line_chart(
    name: str,
    title: str,
    curves: Sequence[Curve],
    ticks: Sequence[Tick],
    across: str,
    *,
    counts: Sequence[Tick] = (),
    diagonal: bool = False,
    levels: Sequence[tuple[float, str]] = PERCENT,
) -> LineChart:
    """Puts curves in place.

    Args:
        name: the chart's id on its page.
        title: what it shows.
        curves: one or two.
        ticks: their `x` are fractions of the axis.
        across: what the axis is.
        counts: numbers below the ticks, such as of questions; `x` likewise.
        diagonal: draws the line on which both axes agree.
        levels: marks of the upward axis, as fractions of it with their labels.
    """
    base = _TOP + _PLOT
    drawn = tuple(_drawn(curve, place, len(curves)) for place, curve in enumerate(curves))
    return LineChart(
        id=name,
        title=title,
        description="; ".join(f"{curve.name}: {_said(curve)}" for curve in curves),
        height=base + 40 + (16 if counts else 0),
        left=_LEFT,
        right=_LEFT + _WIDTH,
        curves=drawn,
        levels=tuple((round(_down(share)), label) for share, label in levels),
        base=base,
        ticks=tuple(Tick(_across(tick.x), tick.label, tick.anchor) for tick in ticks),
        counts=tuple(Tick(_across(count.x), count.label) for count in counts),
        across=across,
        diagonal=Stroke(_across(0), _down(0), _across(1), _down(1)) if diagonal else None,
    )


def _said(curve: Curve) -> str:
    return curve.said or ", ".join(f"{100 * dot.y:.0f} %" for dot in curve.dots)


def _drawn(curve: Curve, place: int, of: int) -> Drawn:
    aside = _APART * (place - (of - 1) / 2)
    spots = [(round(_across(dot.x) + aside, 2), _down(dot.y)) for dot in curve.dots]
    return Drawn(
        kind=("first", "second")[place % 2],
        name=curve.name,
        legend=round(_LEFT + 1 + _LEGEND * place, 2),
        lines=tuple(Stroke(*one, *other) for one, other in pairwise(spots)),
        whiskers=tuple(_whiskers(curve.dots, aside)),
        dots=tuple(spots) if curve.dotted else (),
    )


def _whiskers(dots: Sequence[Dot], aside: float) -> Iterator[Stroke]:
    for dot in dots:
        if dot.low is not None and dot.high is not None:
            x = round(_across(dot.x) + aside, 2)
            yield Stroke(x, _down(dot.low), x, _down(dot.high))


def _across(fraction: float) -> float:
    return round(_LEFT + _WIDTH * min(1.0, max(0.0, fraction)), 2)


def _down(fraction: float) -> float:
    return round(_TOP + _PLOT * (1 - min(1.0, max(0.0, fraction))), 1)
