"""The geometry of growth: size across, memory or time upwards, both logarithmic."""

import math
from collections.abc import Sequence

from memrig.report.charts import Tick
from memrig.report.charts_lines import Curve, Dot, LineChart, line_chart
from memrig.report.units import count

#: A size and what was measured at it.
Points = Sequence[tuple[float, float]]
_INSET = 0.05  # of the plot, left free at both ends
_LEVELS = 6  # that fit above each other
_STEPS = ((1, 2, 5), (1,), (1, 100))  # of the marks, ever wider


def growth_chart(name: str, title: str, curves: Sequence[tuple[str, Points]]) -> LineChart | None:
    """Curves over sizes; None where there are fewer than two sizes to draw.

    Args:
        name: the chart's id on its page.
        title: what it shows, with its unit.
        curves: one or two, each with its name and its points. What is not above 0 has no place.
    """
    drawn = [(label, [(x, y) for x, y in points if x > 0 and y > 0]) for label, points in curves]
    drawn = [(label, points) for label, points in drawn if points]
    sizes = sorted({x for _, points in drawn for x, _ in points})
    if len(sizes) < 2:
        return None
    marks = _marks([y for _, points in drawn for _, y in points])
    low, high = marks[0], marks[-1]
    return line_chart(
        name,
        title,
        [_curve(label, points, sizes, (low, high)) for label, points in drawn],
        [Tick(_across(size, sizes), _size(size)) for size in _apart(sizes)],
        "episodes ingested",
        levels=tuple((_share(mark, low, high), _number(mark)) for mark in marks),
    )


def _curve(
    label: str, points: Points, sizes: Sequence[float], bounds: tuple[float, float]
) -> Curve:
    dots = tuple(Dot(_across(x, sizes), _share(y, *bounds)) for x, y in points)
    return Curve(label, dots, said=", ".join(f"{count(round(x))} {y:.3g}" for x, y in points))


def _across(size: float, sizes: Sequence[float]) -> float:
    return _INSET + (1 - 2 * _INSET) * _share(size, sizes[0], sizes[-1])


def _share(value: float, low: float, high: float) -> float:
    return math.log(value / low) / math.log(high / low)


def _marks(values: Sequence[float]) -> list[float]:
    """Round values that enclose all of these, few enough to be told apart."""
    low, high = min(values), max(values)
    powers = range(math.floor(math.log10(low)) - 2, math.ceil(math.log10(high)) + 3)
    found: list[float] = []
    for steps in _STEPS:
        every = sorted(step * 10.0**power for power in powers for step in steps)
        first = max(i for i, mark in enumerate(every) if mark <= low)
        last = min(i for i, mark in enumerate(every) if mark >= high)
        found = every[first : max(last, first + 1) + 1]
        if len(found) <= _LEVELS:
            break
    return found


def _apart(sizes: Sequence[float]) -> list[float]:
    """Sizes whose labels do not run into each other; the last one is always among them."""
    kept = [sizes[-1]]
    for size in reversed(sizes[:-1]):
        if _across(kept[-1], sizes) - _across(size, sizes) >= 0.12:
            kept.append(size)
    return kept[::-1]


def _size(size: float) -> str:
    whole = round(size)
    return f"{whole // 1000}k" if whole >= 1000 and whole % 1000 == 0 else count(whole)


def _number(value: float) -> str:
    return f"{value:g}" if value < 1 else f"{value:,.0f}"
