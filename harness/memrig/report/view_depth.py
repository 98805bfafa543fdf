"""The sections on depth, distance and operations, worded for the page and the terminal alike."""

from collections.abc import Sequence
from dataclasses import dataclass

from memrig.report.charts import Tick
from memrig.report.charts_lines import Curve, Dot, LineChart, line_chart
from memrig.report.model_depth import (
    CategoryLimit,
    DepthSummary,
    Estimate,
    OperationSummary,
    PlaceBin,
)
from memrig.report.operations import COMPUTING, COUNTING, JOINING, LISTING
from memrig.report.units import (
    NOT_AVAILABLE,
    bounds,
    count,
    metric_head,
    percent,
    plural,
    short_count,
)

_LABELS = 8  # that fit below a chart on a phone
#: A mean over fewer questions is noise that draws the eye: the tables have it, the charts do not.
_DRAWN = 5
#: What each operation takes, in words.
_OPERATIONS = {
    "lookup": "told once, asked for",
    "latest": "told several times: the newest counts",
    "as-of": "what held on a given day",
    "join": "several statements joined",
    "count": "counted over statements",
    "list": "several things, put together",
    "compute": "computed from figures",
    "attribute": "who said what",
    "explain": "in words of its own",
    "abstain": "not told: to be said so",
}
#: The same needs, where there is no room for words.
_IN_SHORT = {
    JOINING: "joining",
    COUNTING: "counting",
    LISTING: "listing",
    COMPUTING: "computing",
}


@dataclass(frozen=True, slots=True)
class Measured:
    """A number with its interval; `n` only where it is not the row's."""

    value: str
    bounds: str = ""
    n: str = ""


@dataclass(frozen=True, slots=True)
class PlaceRow:
    """A bin: its label, and the recall and score of its questions where the run has them."""

    label: str
    n: str
    cells: tuple[Measured, ...]


@dataclass(frozen=True, slots=True)
class DepthView:
    """Recall and score by place. `heads` name the metrics of the cells."""

    heads: tuple[str, ...]
    note: str
    depth: LineChart
    distance: LineChart
    by_depth: tuple[PlaceRow, ...]
    by_distance: tuple[PlaceRow, ...]


@dataclass(frozen=True, slots=True)
class OperationLine:
    """An operation, or a category, with its numbers."""

    name: str
    note: str
    n: str
    cells: tuple[Measured, ...]


@dataclass(frozen=True, slots=True)
class LimitLine:
    """A category that a built-in reader cannot answer, whole or in part.

    `why` says it in words, `short` in one for each need.
    """

    name: str
    n: str
    beyond: str
    why: str
    short: str
    within: Measured
    outside: Measured


@dataclass(frozen=True, slots=True)
class OperationView:
    """Scores by operation; `limits` where the reader is built in, `able` the other categories."""

    heads: tuple[str, ...]
    rows: tuple[OperationLine, ...]
    reader: str
    limits: tuple[LimitLine, ...]
    able: str


def depth_view(found: DepthSummary | None) -> DepthView | None:
    """Words recall by place; None where a report has none."""
    if found is None:
        return None
    last = len(found.by_distance)
    step = 1 if last <= _LABELS else 2
    return DepthView(
        heads=tuple(metric_head(name) for name in (found.recall, found.score) if name),
        note=_note(found),
        depth=_chart(
            found,
            "depth",
            found.by_depth,
            [Tick(tenth / 10, f"{10 * tenth} %") for tenth in range(0, 11, 2)],
            "place of the evidence, from the oldest episode",
        ),
        distance=_chart(
            found,
            "distance",
            found.by_distance,
            [
                Tick((place + 0.5) / last, short_count(int(item.low)))
                for place, item in enumerate(found.by_distance)
                if place % step == 0
            ],
            "episodes between evidence and question, from",
        ),
        by_depth=tuple(
            _row(found, item, f"{100 * item.low:.0f}–{100 * item.high:.0f} %")
            for item in found.by_depth
        ),
        by_distance=tuple(_row(found, item, distance_label(item)) for item in found.by_distance),
    )


def distance_label(item: PlaceBin) -> str:
    """A bin of distances: "2–3"."""
    low, high = count(int(item.low)), count(int(item.high))
    return low if low == high else f"{low}–{high}"


def _note(found: DepthSummary) -> str:
    said = (
        f"{plural(found.questions, 'question')} of scenarios of at least "
        f"{found.least_episodes} episodes"
    )
    if found.left_out:
        said += f"; {count(found.left_out)} more have no evidence before them"
    if found.beyond_reader:
        hard = count(found.beyond_reader)
        said += f"; the score leaves out {hard} that this reader cannot answer anywhere"
    return f"{said}. The charts leave out places with fewer than {_DRAWN} questions"


def _chart(
    found: DepthSummary, name: str, bins: Sequence[PlaceBin], ticks: Sequence[Tick], across: str
) -> LineChart:
    curves = []
    if found.recall:
        dots = _dots([item.recall for item in bins])
        curves.append(Curve(metric_head(found.recall), dots))
    if found.score:
        curves.append(Curve(metric_head(found.score), _dots([item.score for item in bins])))
    room = 1 / len(bins)
    counts = [Tick((place + 0.5) * room, count(item.n)) for place, item in enumerate(bins)]
    # Numbers of four digits would run into each other on a phone.
    fits = len(bins) <= 10 and max(item.n for item in bins) < 1000
    return line_chart(
        f"by-{name}", f"By {name}", curves, ticks, across, counts=counts if fits else ()
    )


def _dots(estimates: Sequence[Estimate | None]) -> tuple[Dot, ...]:
    room = 1 / len(estimates)
    return tuple(
        Dot((place + 0.5) * room, item.value, item.low, item.high)
        for place, item in enumerate(estimates)
        if item is not None and item.n >= _DRAWN
    )


def _row(found: DepthSummary, item: PlaceBin, label: str) -> PlaceRow:
    shown = [e for e, name in ((item.recall, found.recall), (item.score, found.score)) if name]
    return PlaceRow(label, count(item.n), tuple(measured(each, item.n) for each in shown))


def measured(estimate: Estimate | None, usual: int) -> Measured:
    """A number worded; `usual` is how many questions its row has."""
    if estimate is None:
        return Measured(NOT_AVAILABLE)
    n = "" if estimate.n == usual else f"n {count(estimate.n)}"
    return Measured(percent(estimate.value), bounds(estimate.low, estimate.high), n)


def operation_view(found: OperationSummary | None) -> OperationView | None:
    """Words the scores by operation; None where a report has none."""
    if found is None:
        return None
    names = [name for name in (found.recall, found.score) if name]
    lines = []
    for row in found.rows:
        shown = [e for e, name in ((row.recall, found.recall), (row.score, found.score)) if name]
        cells = tuple(measured(each, row.n) for each in shown)
        lines.append(OperationLine(row.operation, _OPERATIONS[row.operation], count(row.n), cells))
    return OperationView(
        heads=tuple(map(metric_head, names)),
        rows=tuple(lines),
        reader=found.reader,
        limits=tuple(_limit(item) for item in found.limits if item.beyond),
        able=", ".join(item.category for item in found.limits if not item.beyond),
    )


def _limit(item: CategoryLimit) -> LimitLine:
    alone = len(item.why) == 1
    why = "; ".join(words if alone else f"{words} ({count(n)})" for words, n in item.why.items())
    return LimitLine(
        name=item.category,
        n=count(item.n),
        beyond="all" if item.beyond == item.n else f"{count(item.beyond)} of {count(item.n)}",
        why=why,
        short=", ".join(
            _IN_SHORT[words] if alone else f"{_IN_SHORT[words]} {count(n)}"
            for words, n in item.why.items()
        ),
        within=measured(item.score_within, item.n - item.beyond),
        outside=measured(item.score_beyond, item.beyond),
    )
