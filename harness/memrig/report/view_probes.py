"""What the terminal and the page say of a memory in operation: numbers worded, places computed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memrig.report.charts_growth import growth_chart
from memrig.report.charts_lines import LineChart
from memrig.report.model_probes import GrowthRow, GrowthSummary, LoadFigures, ProbeSummary
from memrig.report.units import (
    NOT_AVAILABLE,
    brief,
    count,
    dollars,
    metric_head,
    milliseconds,
    percent,
    plural,
    size,
)
from memrig.report.view_probe_events import (
    OUTAGE_HEADS,
    RESTART_HEADS,
    EventLine,
    Said,
    event_sentences,
    failed_calls,
    outage_lines,
    restart_lines,
)
from memrig.stats.power import PowerFit

_MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class GrowthTable:
    """A table by size: its heads, and a row for each size.

    `spare` are the heads of columns that a narrow terminal does without, the first one first.
    """

    title: str
    note: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    spare: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProbeView:
    """The section. `lines` are what takes a sentence each."""

    tables: tuple[GrowthTable, ...]
    charts: tuple[LineChart, ...]
    lines: tuple[Said, ...]
    restart_heads: tuple[str, ...]
    restarts: tuple[EventLine, ...]
    outage_heads: tuple[str, ...]
    outages: tuple[EventLine, ...]
    notes: tuple[Said, ...]


def probe_view(found: ProbeSummary | None) -> ProbeView | None:
    """Words what probes found; None where a report has none."""
    if found is None:
        return None
    grown = found.growth
    return ProbeView(
        tables=tuple(_tables(grown)) if grown else (),
        charts=tuple(_charts(grown)) if grown else (),
        lines=tuple(_lines(found)),
        restart_heads=RESTART_HEADS,
        restarts=restart_lines(found),
        outage_heads=OUTAGE_HEADS,
        outages=outage_lines(found),
        notes=tuple(failed_calls(found.notes)),
    )


def _tables(found: GrowthSummary) -> Iterator[GrowthTable]:
    models = any(row.tokens is not None for row in found.rows)
    heads = ("episodes", "items", "memory", "files", "per 1,000", "marginal", "episodes/s", "CPU")
    yield GrowthTable(
        title="What the memory holds, by size",
        note="Files are those in memory and shared memory; per 1,000 episodes, over the empty pod, "
        "and marginal: over the size before",
        heads=(*heads, "tokens", "cost") if models else heads,
        rows=tuple(_holding(row, models=models) for row in found.rows),
        spare=("CPU", "items", "files", "per 1,000"),
    )
    clients = sorted({load.clients for row in found.rows for load in row.loads})
    if clients:
        recall = metric_head(found.recall) if found.recall else "recall"
        each = (f"{head} ×{number}" for number in clients for head in ("p50", "p95", "per s"))
        yield GrowthTable(
            title="Searches, by size",
            note="×8: of eight clients at once, and the calls per s of all of them; recall is of "
            "the questions asked at that size",
            heads=("episodes", *each, "errors", recall),
            rows=tuple(_searching(row, clients) for row in found.rows),
            spare=(f"per s ×{clients[0]}", f"p95 ×{clients[-1]}", f"per s ×{clients[-1]}"),
        )


def _holding(row: GrowthRow, *, models: bool) -> tuple[str, ...]:
    cells = (
        count(row.episodes),
        _count(row.items),
        size(row.memory_bytes),
        size(row.file_bytes),
        signed_size(row.bytes_per_1000),
        signed_size(row.marginal_per_1000),
        _rate(row.episodes_per_s),
        NOT_AVAILABLE if row.cpu_s is None else f"{row.cpu_s:,.1f} s",
    )
    return (*cells, _count(row.tokens), dollars(row.usd)) if models else cells


def _searching(row: GrowthRow, clients: Sequence[int]) -> tuple[str, ...]:
    loads = {load.clients: load for load in row.loads}
    cells = [cell for number in clients for cell in _load(loads.get(number))]
    errors = sum(load.errors for load in row.loads)
    return (count(row.episodes), *cells, count(errors), _recall(row))


def _load(load: LoadFigures | None) -> tuple[str, str, str]:
    if load is None or load.timing is None:
        return (NOT_AVAILABLE,) * 3
    times = load.timing
    return _brief(times.p50_ms), _brief(times.p95_ms), _rate(load.per_s)


def _recall(row: GrowthRow) -> str:
    """That of the questions; where there are none, of the searches under load."""
    if row.recall is not None:
        return percent(row.recall.value)
    return percent(next((load.recall for load in row.loads), None))


def _charts(found: GrowthSummary) -> Iterator[LineChart]:
    rows = found.rows
    held = [(r.episodes, r.memory_bytes / _MIB) for r in rows if r.memory_bytes is not None]
    more = [(r.episodes, r.bytes_per_1000 * r.episodes / 1000 / _MIB)
            for r in rows if r.bytes_per_1000 is not None]  # fmt: skip
    clients = sorted({load.clients for row in rows for load in row.loads})
    timed = [(f"p50, {plural(number, 'client')}", _medians(rows, number)) for number in clients[:2]]
    for chart in (
        growth_chart(
            "growth-memory", "Memory, MiB", [("the whole pod", held), ("over the empty pod", more)]
        ),
        growth_chart("growth-search", "Search time, ms", timed),
    ):
        if chart is not None:
            yield chart


def _medians(rows: Sequence[GrowthRow], clients: int) -> list[tuple[float, float]]:
    return [
        (row.episodes, load.timing.p50_ms)
        for row in rows
        for load in row.loads
        if load.clients == clients and load.timing is not None
    ]


def _lines(found: ProbeSummary) -> Iterator[Said]:
    if grown := found.growth:
        if grown.empty_bytes is not None:
            yield Said("empty pod", size(grown.empty_bytes))
        yield Said("memory grows", _grows(grown.memory))
        yield Said("search p50 grows", _grows(grown.latency))
    yield from event_sentences(found)


def _grows(fit: PowerFit) -> str:
    if fit.exponent is None:
        return f"{NOT_AVAILABLE}: {fit.why}"
    said = f"with episodes to the power of {fit.exponent:.2f}"
    parts = [] if fit.low is None else [f"95 %: {fit.low:.2f} to {fit.high:.2f}"]
    parts += [] if fit.r2 is None else [f"R² {fit.r2:.3f}"]
    parts.append(plural(fit.n, "point"))
    if fit.left_out:
        parts.append(f"{count(fit.left_out)} left out, where nothing grew")
    return f"{said} ({', '.join(parts)})"


def _count(number: int | None) -> str:
    return NOT_AVAILABLE if number is None else count(number)


def _brief(ms: float) -> str:
    """Three digits are enough in a table of many."""
    return brief(ms) if ms >= 100 else milliseconds(ms)


def _rate(value: float | None) -> str:
    if value is None:
        return NOT_AVAILABLE
    return f"{value:,.0f}" if value >= 100 else f"{value:,.1f}"


def signed_size(number: float | None) -> str:
    """Bytes that may have become fewer."""
    if number is None:
        return NOT_AVAILABLE
    return size(round(number)) if number >= 0 else f"-{size(round(-number))}"
