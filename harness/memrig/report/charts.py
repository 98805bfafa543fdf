"""The geometry of the report's charts: numbers in, places out. The template only draws.

Across, places are percent of the chart's width, so that a chart fits a phone and a desk without
its text being scaled; down, they are pixels.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from memrig.report.model import Bar, Latency
from memrig.report.units import bounds, count, metric_head, milliseconds, percent
from memrig.stats.summary import MACRO, OVERALL, MetricValue

_ROW, _TOP, _AXIS = 38, 4, 22
_PLOT, _HEAD = 140, 46
_GAP = 0.18  # of a bar's room, left empty


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark on an axis. `anchor` keeps the outermost labels inside the chart."""

    x: float
    label: str
    anchor: str = "middle"


@dataclass(frozen=True, slots=True)
class Whisker:
    """A row: a dot at `x`, a whisker from `low` to `high`; none where no interval can be given."""

    kind: str
    label: str
    n: str
    value: str
    x: float
    low: float | None
    high: float | None
    y_text: int
    y: int


@dataclass(frozen=True, slots=True)
class WhiskerChart:
    """One metric over all groups, on an axis from 0 to 100 %."""

    id: str
    head: str
    title: str
    description: str
    height: int
    rows: tuple[Whisker, ...]
    ticks: tuple[Tick, ...]
    y_axis: int


@dataclass(frozen=True, slots=True)
class Column:
    """An upright bar."""

    kind: str
    x: float
    width: float
    y: float
    height: float
    label: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """An upright line with a label, such as a quantile."""

    x: float
    y_text: int
    label: str
    anchor: str


@dataclass(frozen=True, slots=True)
class BarChart:
    """Bars side by side. `baseline` is where they stand."""

    id: str
    title: str
    description: str
    height: int
    baseline: int
    bars: tuple[Column, ...]
    ticks: tuple[Tick, ...]
    marks: tuple[Mark, ...] = ()


def whisker_chart(metric: str, values: Sequence[MetricValue], number: int) -> WhiskerChart:
    """Dots and whiskers of one metric.

    Args:
        metric: its name.
        values: its values, in the order of the rows.
        number: makes the chart's id unique on its page.
    """
    rows = tuple(_whisker(value, place) for place, value in enumerate(values))
    y_axis = _TOP + _ROW * len(rows)
    said = (f"{r.label} {r.value}" for r in rows)
    return WhiskerChart(
        id=f"whiskers-{number}",
        head=metric_head(metric),
        title=f"{metric_head(metric)} by category",
        description="; ".join(said),
        height=y_axis + _AXIS,
        rows=rows,
        ticks=_percent_ticks(),
        y_axis=y_axis,
    )


def _whisker(value: MetricValue, place: int) -> Whisker:
    top = _TOP + place * _ROW
    span = bounds(value.low, value.high)
    return Whisker(
        kind=value.group if value.group in (OVERALL, MACRO) else "category",
        label=value.group,
        n=f"n {count(value.n)}",
        value=f"{percent(value.value)} %" + (f" ({span})" if span else ""),
        x=_place(value.value),
        low=None if value.low is None else _place(value.low),
        high=None if value.high is None else _place(value.high),
        y_text=top + 13,
        y=top + 25,
    )


def _place(fraction: float) -> float:
    return round(100 * min(1.0, max(0.0, fraction)), 2)


def _percent_ticks() -> tuple[Tick, ...]:
    anchors = {0: "start", 100: "end"}
    return tuple(Tick(x, f"{x}%", anchors.get(x, "middle")) for x in (0, 25, 50, 75, 100))


def rank_chart(ranks: dict[str, int]) -> BarChart:
    """How many questions found their first evidence at each rank; the last bar: at none."""
    room = 100 / max(1, len(ranks))
    most = max(ranks.values(), default=0) or 1
    bars, ticks = [], []
    for place, (rank, number) in enumerate(ranks.items()):
        height = round(_PLOT * number / most, 1)
        kind = "missed" if rank == "none" else "found"
        x, width = _bar_place(place, room)
        bars.append(Column(kind, x, width, 20 + _PLOT - height, height, count(number)))
        ticks.append(Tick(round((place + 0.5) * room, 2), rank))
    return BarChart(
        id="ranks",
        title="Rank of the first evidence",
        description="; ".join(f"rank {rank}: {number}" for rank, number in ranks.items()),
        height=20 + _PLOT + _AXIS,
        baseline=20 + _PLOT,
        bars=tuple(bars),
        ticks=tuple(ticks),
    )


def latency_chart(bars: Sequence[Bar], latency: Latency | None) -> BarChart | None:
    """How long searches took, on a logarithmic axis; None without a search."""
    if not bars or latency is None:
        return None
    low, high = bars[0].low, bars[-1].high
    room = 100 / len(bars)
    most = max(bar.count for bar in bars) or 1
    columns = []
    for place, bar in enumerate(bars):
        x, width = _bar_place(place, room)
        height = round(_PLOT * bar.count / most, 1)
        columns.append(Column("time", x, width, _HEAD + _PLOT - height, height))
    quantiles = (("p50", latency.p50_ms), ("p95", latency.p95_ms), ("p99", latency.p99_ms))
    said = ", ".join(f"{name} {milliseconds(value)}" for name, value in quantiles)
    return BarChart(
        id="latency",
        title="Search latency",
        description=f"{count(latency.n)} searches; {said}; slowest {milliseconds(latency.max_ms)}",
        height=_HEAD + _PLOT + _AXIS,
        baseline=_HEAD + _PLOT,
        bars=tuple(columns),
        ticks=_log_ticks(low, high),
        marks=tuple(
            _mark(f"{name} {milliseconds(value)}", _log_place(value, low, high), row)
            for row, (name, value) in enumerate(quantiles)
        ),
    )


def _bar_place(place: int, room: float) -> tuple[float, float]:
    return round((place + _GAP / 2) * room, 2), round((1 - _GAP) * room, 2)


def _mark(label: str, x: float, row: int) -> Mark:
    # Labels step down, so that quantiles near each other do not write over one another.
    return Mark(x, 12 + 14 * row, label, "end" if x > 70 else "start")


def _log_place(value: float, low: float, high: float) -> float:
    if high <= low or value <= 0:
        return 50.0
    share = math.log(value / low) / math.log(high / low)
    return round(100 * min(1.0, max(0.0, share)), 2)


def _log_ticks(low: float, high: float) -> tuple[Tick, ...]:
    """Round values (1, 2, 5 times a power of ten) that are not too near to each other."""
    if high <= low:
        return (Tick(50.0, milliseconds(low)),)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    values = [step * 10.0**power for power in powers for step in (1, 2, 5)]
    ticks: list[Tick] = []
    for value in values:
        x = _log_place(value, low, high)
        if low <= value <= high and (not ticks or x - ticks[-1].x >= 14):
            ticks.append(Tick(x, _tick_label(value), _tick_anchor(x)))
    if len(ticks) >= 2:
        return tuple(ticks)
    return Tick(0.0, milliseconds(low), "start"), Tick(100.0, milliseconds(high), "end")


def _tick_label(ms: float) -> str:
    return f"{ms / 1000:g} s" if ms >= 1000 else f"{ms:g} ms"


def _tick_anchor(x: float) -> str:
    if x < 6:
        return "start"
    return "end" if x > 94 else "middle"
