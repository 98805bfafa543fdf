"""A board's pages in words: what the templates print, every number already worded."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from memrig.leaderboard.model import Board, BoardRun, BoardScore
from memrig.leaderboard.pairs import Compared, Pairs, pair_key
from memrig.leaderboard.plot import Plot, name_of, plot_of
from memrig.leaderboard.tables import Better, Row, Table, ranks_of
from memrig.model.canonical import short
from memrig.report.compare_model import Verdict
from memrig.report.standing import COMPOSITE
from memrig.report.units import (
    NOT_AVAILABLE,
    bounds,
    brief,
    count,
    dollars,
    metric_head,
    metric_help,
    percent,
    plural,
)
from memrig.report.view_compare import VERDICTS, p_text, points

TIERS = ("self-reported", "recomputed", "organiser-rerun")
#: The same pair, seen from its other side.
_TURNED: dict[Verdict, Verdict] = {
    "better": "worse",
    "worse": "better",
    "none": "none",
    "unknown": "unknown",
}


@dataclass(frozen=True, slots=True)
class CellView:
    """A number: as it is read, and as it is sorted by (empty: it comes last)."""

    text: str
    sort: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class RowView:
    """A row of a table."""

    place: int
    rank: CellView
    name: str
    version: str
    by: str
    href: str
    suite: str
    division: str
    tier: str
    pod: str
    words: str
    badges: tuple[str, ...]
    complete: bool
    score: CellView
    cost: CellView
    search: CellView
    slowest: CellView
    context: CellView
    date: str


@dataclass(frozen=True, slots=True)
class TableView:
    """A table with its plot. `tags` is said of every row; `shows` names optional columns."""

    slug: str
    head: str
    suite: str
    about: str
    metric: str
    metric_help: str
    tags: tuple[str, ...]
    shows: frozenset[str]
    rows: tuple[RowView, ...]
    plot: Plot | None
    matrix: str
    pairs: str


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """A row less a column, and the page of the pair; `kind` is the verdict on the row."""

    kind: str
    text: str
    note: str
    href: str


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """A row's comparisons with every column."""

    name: str
    by: str
    href: str
    cells: tuple[MatrixCell, ...]


def table_view(table: Table, pairs: Pairs, number: int) -> TableView:
    """A table as the first page shows it."""
    ranks = ranks_of(table.rows, better_by(table, pairs))
    common = set.intersection(*({*row.run.labels, *_models(row.run)} for row in table.rows))
    first = table.rows[0].run
    rows = tuple(
        _row(row, place, ranks.get(row.key), common, _by(row, table.rows))
        for place, row in enumerate(table.rows, 1)
    )
    total = len(pairs.found)
    return TableView(
        slug=table.slug,
        head=table.suite,
        suite=table.suite,
        about=_about(table, common),
        metric=metric_name(table.metric),
        metric_help=_metric_help(table.metric),
        tags=tuple(label for label in first.labels if label in common),
        shows=frozenset(_shown(table.rows)),
        rows=rows,
        plot=plot_of(table, number),
        matrix=f"compare/table-{table.slug}.html" if total else "",
        pairs=plural(total, "pair"),
    )


def better_by(table: Table, pairs: Pairs) -> Better:
    """Who beats whom in a table. A composite is not paired: there, intervals decide."""
    if table.metric == COMPOSITE:
        return lambda _row, _other: None
    return pairs.better


def metric_name(metric: str) -> str:
    """A metric's short name."""
    return "Composite" if metric == COMPOSITE else metric_head(metric)


def _metric_help(metric: str) -> str:
    if metric == COMPOSITE:
        return "the protocol’s metrics, weighed as its profile says"
    return metric_help(metric)


def _models(run: BoardRun) -> tuple[str, ...]:
    named = (("reader", run.reader), ("judge", run.judge))
    return tuple(f"{role} {model}" for role, model in named if model)


def _about(table: Table, common: set[str]) -> str:
    run = table.rows[0].run
    named = [f"protocol {table.protocol}", f"mode {table.mode}", plural(run.planned, "question")]
    named += [text for text in _models(run) if text in common]
    named += [f"data {run.data}"] if run.data != table.suite else []
    named += [f"seed{'s' if len(run.seeds) > 1 else ''} {', '.join(map(str, run.seeds))}"]
    return " · ".join((*named, f"asked {short(run.asked, 8)}"))


def _shown(rows: Sequence[Row]) -> Iterable[str]:
    costs = [row.run.cost for row in rows]
    if any(cost.usd is None or cost.usd > 0 for cost in costs):
        yield "cost"
    if any(cost.cpu_s_per_1000 is not None for cost in costs):
        yield "cpu"
    if any(cost.search_p50_ms is not None for cost in costs):
        yield "search"
    if any(cost.context_tokens is not None for cost in costs):
        yield "context"


def _row(row: Row, place: int, rank: int | None, common: set[str], by: str) -> RowView:
    entry, run = row.entry, row.run
    # The pod is named beside the submitter.
    about_pod = (f"{entry.pod} pod: ", "a baseline of the rig")
    told = [label for label in run.labels if not label.startswith(about_pod)]
    badges = [label for label in (*told, *_models(run)) if label not in common]
    return RowView(
        place=place,
        rank=CellView("–") if rank is None else CellView(str(rank), str(rank), entry.division),
        name=entry.adapter,
        version=entry.version,
        by=by,
        href=entry_href(entry.id),
        suite=row.run.suite,
        division=entry.division,
        tier=entry.tier,
        pod=entry.pod,
        words=f"{entry.adapter} {entry.version} {by} {entry.title}".lower(),
        badges=tuple(badges),
        complete=run.complete,
        score=score_cell(run.score),
        cost=_cost_cell(row),
        search=_number(run.cost.search_p50_ms, brief),
        slowest=_number(run.cost.search_p95_ms, brief),
        context=_number(run.cost.context_tokens, lambda value: count(round(value))),
        date=f"{entry.last:%Y-%m-%d}",
    )


def _by(row: Row, rows: Iterable[Row]) -> str:
    """Who submitted a row; with its title, where another of the same name is from there too."""
    entry = row.entry
    by = entry.submitter or f"key {entry.key[:8]}"
    alike = [r for r in rows if name_of(r) == name_of(row) and r.entry.submitter == entry.submitter]
    return f"{by}: {entry.title}" if len(alike) > 1 and entry.title else by


def score_cell(score: BoardScore) -> CellView:
    """A score in per cent with its interval."""
    if score.value is None:
        return CellView(NOT_AVAILABLE)
    return CellView(percent(score.value), f"{score.value:.6f}", bounds(score.low, score.high))


def _cost_cell(row: Row) -> CellView:
    """Money, and the CPU time beneath it."""
    cost = row.run.cost
    cpu = f"{cost.cpu_s_per_1000:.3g} CPU s" if cost.cpu_s_per_1000 is not None else ""
    if cost.usd_per_1000 is None:
        return CellView("price unknown", "", cpu)
    return CellView(dollars(cost.usd_per_1000), f"{cost.usd_per_1000:.6f}", cpu)


def _number(value: float | None, text: Callable[[float], str]) -> CellView:
    return CellView(NOT_AVAILABLE) if value is None else CellView(text(value), f"{value:.6f}")


def entry_href(entry_id: str) -> str:
    """Where a submission's page is, from the site's first page."""
    return f"s/{entry_id}/index.html"


def matrix_rows(table: Table, pairs: Pairs) -> tuple[MatrixRow, ...]:
    """Every row against every other, as the comparison page of a table shows it."""
    return tuple(
        MatrixRow(
            name=name_of(row),
            by=_by(row, table.rows),
            href=f"../{entry_href(row.entry.id)}",
            cells=tuple(_matrix_cell(row, column, pairs) for column in table.rows),
        )
        for row in table.rows
    )


def _matrix_cell(row: Row, column: Row, pairs: Pairs) -> MatrixCell:
    if row.key == column.key:
        return MatrixCell("self", "–", "", "")
    found = pairs.of(row, column)
    if found is None:
        return MatrixCell("none", "not compared", "", "")
    if found.refused:
        return MatrixCell("none", "cannot be compared", found.refused, "")
    return _told(found, forward=pair_key(row, column)[1] == row.key)


def _told(found: Compared, *, forward: bool) -> MatrixCell:
    verdict = found.verdict if forward else _TURNED[found.verdict]
    difference = found.difference
    if difference is not None and not forward:
        difference = -difference
    words = VERDICTS[verdict]
    note = f"{words}, p {p_text(found.p)}" if found.p is not None else words
    return MatrixCell(verdict, points(difference), note, found.page.removeprefix("compare/"))


def choices(board: Board, tables: Sequence[TableView]) -> dict[str, tuple[str, ...]]:
    """What the filters offer."""
    return {
        "suite": tuple(dict.fromkeys(table.suite for table in tables)),
        "division": tuple(sorted({entry.division for entry in board.entries})),
        "tier": tuple(tier for tier in TIERS if any(e.tier == tier for e in board.entries)),
    }
