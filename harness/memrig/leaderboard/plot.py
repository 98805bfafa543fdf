"""Quality against cost: the geometry of a table's plot, and its Pareto front.

As in report/charts: across, places are percent of the width; down, they are pixels.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from memrig.leaderboard.model import BoardCost
from memrig.leaderboard.tables import Row, Table
from memrig.report.charts import Tick
from memrig.report.charts_lines import Stroke
from memrig.report.units import brief, dollars, percent, seconds

_TOP, _HEIGHT, _AXIS = 14, 250, 40
#: Points keep this share of the width from each edge, so that no dot or whisker is cut.
_EDGE = 5.0
#: The narrowest plot, in pixels: where labels do not collide on it, they do nowhere.
_NARROW, _LETTER, _LINE = 300, 6.6, 15
_LABEL = 18
_LOG_FROM = 20


@dataclass(frozen=True, slots=True)
class Axis:
    """What stands for cost: its name, why it was chosen, how to read it from a row."""

    name: str
    why: str
    of: Callable[[BoardCost], float | None]
    text: Callable[[float], str]


_USD = Axis(
    "models, in US dollars for 1,000 questions",
    "the memory system’s own calls and the reader’s, without the judge’s",
    lambda cost: cost.usd_per_1000,
    dollars,
)
_CPU = Axis(
    "CPU seconds for 1,000 questions, ingest included",
    "no model was paid for here, so cost is what the memory system computed",
    lambda cost: cost.cpu_s_per_1000,
    seconds,
)
_SEARCH = Axis(
    "search time, median",
    "no model was paid for here and no CPU time is known, so cost is time",
    lambda cost: cost.search_p50_ms,
    brief,
)


@dataclass(frozen=True, slots=True)
class Point:
    """A row: a dot, its interval upright, and its label where there is room for one."""

    kind: str
    x: float
    y: float
    low: float | None
    high: float | None
    label: str
    label_dx: int
    label_y: float
    anchor: str
    title: str


@dataclass(frozen=True, slots=True)
class Plot:
    """A table’s plot. `front` names what no other beats in both; `absent` has no dot."""

    id: str
    title: str
    description: str
    axis: str
    why: str
    height: int
    baseline: int
    points: tuple[Point, ...]
    strokes: tuple[Stroke, ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[tuple[float, str], ...]
    front: tuple[str, ...]
    absent: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Spot:
    row: Row
    cost: float
    score: float


def plot_of(table: Table, number: int) -> Plot | None:
    """The plot of a table; None where fewer than two rows have both a score and a cost."""
    axis = _axis(table.rows)
    spots, absent = [], []
    for row in table.rows:
        cost, score = axis.of(row.run.cost), row.run.score.value
        if cost is None or score is None:
            absent.append(name_of(row))
        else:
            spots.append(_Spot(row, cost, score))
    if len(spots) < 2:
        return None
    costs = [spot.cost for spot in spots]
    scale_x, x_ticks = _across(costs, axis.text)
    scale_y, y_ticks = _down(spots)
    front = _front(spots)
    strokes = tuple(_strokes([(scale_x(spot.cost), scale_y(spot.score)) for spot in front]))
    return Plot(
        id=f"plot-{number}",
        title="Quality against cost",
        description="; ".join(
            f"{name_of(spot.row)}: {percent(spot.score)} % at {axis.text(spot.cost)}"
            for spot in spots
        ),
        axis=f"{axis.name}, logarithmic" if is_wide(costs) else axis.name,
        why=axis.why,
        height=_TOP + _HEIGHT + _AXIS,
        baseline=_TOP + _HEIGHT,
        points=tuple(_points(spots, front, strokes, scale_x, scale_y, axis)),
        strokes=strokes,
        x_ticks=x_ticks,
        y_ticks=y_ticks,
        front=tuple(name_of(spot.row) for spot in front),
        absent=tuple(absent),
    )


def name_of(row: Row) -> str:
    """The memory system's name and version."""
    return f"{row.entry.adapter} {row.entry.version}"


def _axis(rows: Iterable[Row]) -> Axis:
    costs = [row.run.cost for row in rows]
    if any(cost.usd_per_1000 for cost in costs):
        return _USD
    return _CPU if any(cost.cpu_s_per_1000 is not None for cost in costs) else _SEARCH


def _front(spots: Sequence[_Spot]) -> list[_Spot]:
    """Those that no other beats in one and equals in the other, cheapest first.

    The rig's own baselines are no memory systems, and what is not whole proves nothing.
    """
    able = [s for s in spots if s.row.entry.pod != "baseline" and s.row.run.complete]
    front: list[_Spot] = []
    for spot in sorted(able, key=lambda s: (s.cost, -s.score)):
        if not front or spot.score > front[-1].score:
            front.append(spot)
    return front


def is_wide(values: Sequence[float]) -> bool:
    """Whether an axis for these has to be logarithmic, and can be."""
    return min(values) > 0 and max(values) / min(values) > _LOG_FROM


def _across(
    values: Sequence[float], text: Callable[[float], str]
) -> tuple[Callable[[float], float], tuple[Tick, ...]]:
    low, high = min(values), max(values)
    logarithmic = is_wide(values)
    if not logarithmic:
        low, high = 0.0, high or 1.0

    def place(value: float) -> float:
        if logarithmic:
            share = (math.log(value) - math.log(low)) / (math.log(high) - math.log(low))
        else:
            share = (value - low) / (high - low)
        return round(_EDGE + share * (100 - 2 * _EDGE), 2)

    middle = math.sqrt(low) * math.sqrt(high) if logarithmic else (low + high) / 2
    marks = ((low, "start"), (middle, "middle"), (high, "end"))
    return place, tuple(
        Tick(place(value), text(value) if value else "0", anchor) for value, anchor in marks
    )


def _down(
    spots: Sequence[_Spot],
) -> tuple[Callable[[float], float], tuple[tuple[float, str], ...]]:
    """From the ten per cent below all intervals to those above them."""
    lows = [s.score if s.row.run.score.low is None else s.row.run.score.low for s in spots]
    highs = [s.score if s.row.run.score.high is None else s.row.run.score.high for s in spots]
    low, high = math.floor(10 * min(lows)) / 10, math.ceil(10 * max(highs)) / 10
    low = min(low, high - 0.1)

    def place(value: float) -> float:
        return round(_TOP + _HEIGHT * (1 - (value - low) / (high - low)), 1)

    tens = round((high - low) * 10)
    step = 0.05 if tens <= 2 else 0.1 if tens <= 5 else 0.2
    marks = (low + step * number for number in range(int((high - low) / step + 1.01)))
    return place, tuple((place(mark), f"{100 * mark:.0f} %") for mark in marks)


def _strokes(places: Sequence[tuple[float, float]]) -> Iterable[Stroke]:
    """A staircase: what is spent between two of the front buys what the cheaper one gives."""
    for (x1, y1), (x2, y2) in pairwise(places):
        yield Stroke(x1, y1, x2, y1)
        yield Stroke(x2, y1, x2, y2)
    if places:
        yield Stroke(places[-1][0], places[-1][1], 100.0, places[-1][1])


def _points(
    spots: Sequence[_Spot],
    front: Sequence[_Spot],
    strokes: Iterable[Stroke],
    scale_x: Callable[[float], float],
    scale_y: Callable[[float], float],
    axis: Axis,
) -> Iterable[Point]:
    """Those of the front first: they get the labels that there is room for."""
    taken = [(scale_x(s.cost) * _NARROW / 100, scale_y(s.score), 12.0, 12.0) for s in spots]
    taken += map(_along, strokes)
    for spot in sorted(spots, key=lambda s: (s not in front, -s.score)):
        x, y = scale_x(spot.cost), scale_y(spot.score)
        name = spot.row.entry.adapter[:_LABEL]
        label = _label(name, x, y, taken)
        found = spot.row.run.score
        yield Point(
            kind=_kind(spot, front),
            x=x,
            y=y,
            low=None if found.low is None else scale_y(found.low),
            high=None if found.high is None else scale_y(found.high),
            label=name if label else "",
            label_dx=label[0] if label else 0,
            label_y=label[1] if label else y,
            anchor=label[2] if label else "start",
            title=f"{name_of(spot.row)}: {percent(spot.score)} % at {axis.text(spot.cost)}",
        )


def _kind(spot: _Spot, front: Sequence[_Spot]) -> str:
    if spot.row.entry.pod == "baseline":
        return "baseline"
    return "front" if spot in front else "behind"


_Box = tuple[float, float, float, float]  #: middle across and down, width, height; pixels


def _along(stroke: Stroke) -> _Box:
    """The box of a line of the front."""
    wide = abs(stroke.x2 - stroke.x1) * _NARROW / 100
    centre = (stroke.x1 + stroke.x2) / 2 * _NARROW / 100
    return centre, (stroke.y1 + stroke.y2) / 2, wide + 2, abs(stroke.y2 - stroke.y1) + 2


def _label(name: str, x: float, y: float, taken: list[_Box]) -> tuple[int, float, str] | None:
    """Where a label collides with no dot, no other label and no front: above its dot if it can."""
    wide, middle = len(name) * _LETTER, x * _NARROW / 100
    sides = ((9, "start"), (-9, "end"))
    for shift in (-10, _LINE, 0):
        for dx, anchor in sides:
            centre = middle + dx + (wide / 2 if dx > 0 else -wide / 2)
            box = (centre, y + shift, wide, float(_LINE))
            inside = centre - wide / 2 >= 0 and centre + wide / 2 <= _NARROW
            inside = inside and y + shift + _LINE / 2 <= _TOP + _HEIGHT  # below is the axis
            if inside and not any(_overlap(box, other) for other in taken):
                taken.append(box)
                return dx, y + shift + 4, anchor
    return None


def _overlap(one: _Box, other: _Box) -> bool:
    across = abs(one[0] - other[0]) < (one[2] + other[2]) / 2
    return across and abs(one[1] - other[1]) < (one[3] + other[3]) / 2
