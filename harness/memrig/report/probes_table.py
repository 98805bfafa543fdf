"""Several runs of the operations suite beside each other, as Markdown."""

from collections.abc import Iterator, Sequence
from typing import get_args

from memrig.model.scenario import ModelFault
from memrig.report.model import Report
from memrig.report.model_probes import (
    FreshnessSummary,
    GrowthRow,
    GrowthSummary,
    LoadFigures,
    ProbeSummary,
)
from memrig.report.text import one_line
from memrig.report.units import NOT_AVAILABLE, brief, count, milliseconds, percent, rate, size
from memrig.report.view_probes import signed_size
from memrig.stats.power import PowerFit

#: An image's name as it is run, and its report.
Named = tuple[str, Report]
_GROWTH = (
    "image", "episodes", "empty pod", "memory", "marginal per 1,000", "memory ~ nˣ", "ingest",
    "search p50", "p95", "8 clients p50", "p50 ~ nˣ", "R@10", "tokens", "cost",
)  # fmt: skip
_EVENTS = ("image", "found without a barrier", "after a kill", "down for", "leak",
           "models slow", "models refuse", "models down")  # fmt: skip


def operations_table(reports: Sequence[Named]) -> str:
    """Two tables: what a memory of the last size takes, and what becomes of one that is disturbed.

    Runs without probes are left out.
    """
    events = [_events(name, report.probes) for name, report in reports if report.probes is not None]
    return "\n".join((growth_table(reports), "", *_table(_EVENTS, events)))


def growth_table(reports: Sequence[Named]) -> str:
    """What a memory of the last size takes. Runs without probes are left out."""
    found = [(name, report.probes) for name, report in reports if report.probes is not None]
    rows = [_growth(name, probes.growth) for name, probes in found if probes.growth]
    return "\n".join(_table(_GROWTH, rows))


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield "|" + "---|" * len(heads)
    for row in rows:
        yield f"| {' | '.join(_cell(text) for text in row)} |"


def _cell(text: str) -> str:
    """A container's name is its maker's: no more of it than fits a cell."""
    return one_line(text, 200).replace("|", "\\|")


def _growth(name: str, found: GrowthSummary) -> tuple[str, ...]:
    row = found.rows[-1]
    alone, crowd = _load(row, 1), _load(row, 8)
    return (
        name,
        count(row.episodes),
        size(found.empty_bytes),
        size(row.memory_bytes),
        signed_size(row.marginal_per_1000),
        _exponent(found.memory),
        rate(row.episodes_per_s, "").replace(" /", "/"),
        _ms(alone, "p50_ms"),
        _ms(alone, "p95_ms"),
        _ms(crowd, "p50_ms"),
        _exponent(found.latency),
        _recalls(found.rows),
        NOT_AVAILABLE if row.tokens is None else count(row.tokens),
        NOT_AVAILABLE if row.usd is None else f"${row.usd:,.2f}",
    )


def _load(row: GrowthRow, clients: int) -> LoadFigures | None:
    return next((load for load in row.loads if load.clients == clients), None)


def _ms(load: LoadFigures | None, which: str) -> str:
    if load is None or load.timing is None:
        return NOT_AVAILABLE
    value = load.timing.p50_ms if which == "p50_ms" else load.timing.p95_ms
    return brief(value) if value >= 100 else milliseconds(value)


def _exponent(fit: PowerFit) -> str:
    if fit.exponent is None:
        return NOT_AVAILABLE
    if fit.low is None or fit.high is None:
        return f"{fit.exponent:.2f}"
    return f"{fit.exponent:.2f} ({fit.low:.2f} to {fit.high:.2f})"


def _recalls(rows: Sequence[GrowthRow]) -> str:
    """Recall at the first size and at the last one."""
    values = [percent(row.recall.value) for row in rows if row.recall is not None]
    if not values:
        return NOT_AVAILABLE
    return values[0] if len(values) == 1 else f"{values[0]} → {values[-1]}"


def _events(name: str, found: ProbeSummary) -> tuple[str, ...]:
    return (
        name,
        _fresh(found.freshness) if found.freshness else _why(found, "freshness"),
        ", ".join(f"{row.subject}: {row.verdict}" for row in found.restarts)
        or _why(found, "restart"),
        ", ".join(brief(row.down.p50_ms) if row.down else NOT_AVAILABLE for row in found.restarts)
        or NOT_AVAILABLE,
        found.leak.verdict if found.leak else _why(found, "leak"),
        *(_outage(found, fault) for fault in get_args(ModelFault)),
    )


def _fresh(found: FreshnessSummary) -> str:
    said = f"{count(found.found)} of {count(found.asked)}"
    return f"{said}, {brief(found.visible.p50_ms)}" if found.visible else said


def _outage(found: ProbeSummary, fault: str) -> str:
    row = next((row for row in found.outages if row.fault == fault), None)
    if row is None:
        return _why(found, "outage")
    if row.verdict == "not met":
        return row.verdict
    return f"{row.verdict}; stored {count(row.acked)}/{count(row.episodes)} meanwhile"


def _why(found: ProbeSummary, probe: str) -> str:
    """A reason in short: the page of the run has it in full."""
    skipped = any(note.kind == "skipped" and note.probe == probe for note in found.notes)
    return "no models" if skipped and probe == "outage" else NOT_AVAILABLE
