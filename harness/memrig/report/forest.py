"""The geometry of a forest plot: differences in, places out. The template only draws.

As in `charts`: across, places are percent of the width; down, they are pixels.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from memrig.report.charts import Tick
from memrig.report.compare_model import ComparedMetric, Verdict
from memrig.report.units import count, metric_head
from memrig.report.view_compare import VERDICTS, points, span

_ROW, _TOP, _AXIS = 38, 22, 22
#: What an axis may end at, in points.
_ENDS = (1, 2, 5, 10, 20, 30, 40, 50, 60, 80, 100)
#: Intervals beyond the axis end in an arrow: a category of few questions must not flatten the rest.
_WITHIN = 0.75


@dataclass(frozen=True, slots=True)
class ForestRow:
    """A dot at `x` and a whisker; `cut_low`, `cut_high` where it goes on beyond the axis."""

    kind: str
    verdict: Verdict
    label: str
    n: str
    value: str
    x: float
    low: float | None
    high: float | None
    cut_low: bool
    cut_high: bool
    y_text: int
    y: int


@dataclass(frozen=True, slots=True)
class Forest:
    """One metric of one run less the base, by group; the middle of the axis is no difference."""

    id: str
    head: str
    title: str
    description: str
    height: int
    rows: tuple[ForestRow, ...]
    ticks: tuple[Tick, ...]
    y_axis: int
    worse: str
    better: str


def axis_end(rows: Sequence[ComparedMetric]) -> float:
    """Where a symmetric axis for all of these ends, as a fraction.

    Every difference is inside, and three in four of the intervals' bounds; where no pair differs
    from another, bounds tell how few there are, and count only if there are no others.
    """
    told = [row for row in rows if row.interval != "no-spread"] or rows
    far = sorted(abs(b) for row in told for b in (row.low, row.high) if b is not None)
    most = max([abs(row.difference) for row in rows], default=0.0)
    if far:
        most = max(most, far[min(len(far) - 1, int(_WITHIN * len(far)))])
    return next((end / 100 for end in _ENDS if end / 100 >= most), 1.0)


def forest(rows: Sequence[ComparedMetric], end: float, base: str, number: int) -> Forest:
    """The plot of one metric of one run.

    Args:
        rows: of that metric and run, in the order of the plot.
        end: of the axis, from `axis_end`; the same for all plots of a page.
        base: the base's letter.
        number: makes the id unique on its page.
    """
    first = rows[0]
    drawn = tuple(_row(row, place, end) for place, row in enumerate(rows))
    y_axis = _TOP + _ROW * len(drawn)
    said = (f"{row.label} {row.value}, {VERDICTS[row.verdict]}" for row in drawn)
    return Forest(
        id=f"forest-{number}",
        head=f"{metric_head(first.metric)}: {first.run} less {base}",
        title=f"{metric_head(first.metric)}: {first.run} less {base}, in points",
        description="; ".join(said),
        height=y_axis + _AXIS,
        rows=drawn,
        ticks=_ticks(end),
        y_axis=y_axis,
        worse=f"‹ {base} is better",
        better=f"{first.run} is better ›",
    )


def _row(row: ComparedMetric, place: int, end: float) -> ForestRow:
    top = _TOP + place * _ROW
    known = row.low is not None and row.high is not None
    return ForestRow(
        kind=row.group if row.kind in {"micro", "macro"} else "category",
        verdict=row.verdict,
        label=row.group,
        n=f"n {count(row.n)}",
        value=f"{points(row.difference)} ({span(row)})" if known else points(row.difference),
        x=_place(row.difference, end),
        low=None if row.low is None else _place(row.low, end),
        high=None if row.high is None else _place(row.high, end),
        cut_low=row.low is not None and row.low < -end,
        cut_high=row.high is not None and row.high > end,
        y_text=top + 13,
        y=top + 25,
    )


def _place(value: float, end: float) -> float:
    return round(50 + 50 * min(1.0, max(-1.0, value / end)), 2)


def _ticks(end: float) -> tuple[Tick, ...]:
    anchors = {-1.0: "start", 1.0: "end"}
    return tuple(
        Tick(50 + 50 * part, _label(100 * end * part), anchors.get(part, "middle"))
        for part in (-1.0, -0.5, 0.0, 0.5, 1.0)
    )


def _label(value: float) -> str:
    return f"{value:+g}" if value else "0"
