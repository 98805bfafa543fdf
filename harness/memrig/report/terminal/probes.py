"""A memory in operation, below a run's scores: growth, restarts, leaks, outages."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from memrig.report.groups import stamps
from memrig.report.model import Report
from memrig.report.terminal.base import BAD, DIM, GOOD, WARN, facts, new_table, words
from memrig.report.view_probe_events import EventLine, Said
from memrig.report.view_probes import GrowthTable, ProbeView, probe_view

_TONES = {"good": GOOD, "warn": WARN, "bad": BAD, "": ""}
_NAME, _NOTE = 20, 240
_NOTES = 8


def print_probes(report: Report, console: Console) -> None:
    """What probes found; the page has the charts."""
    view = probe_view(report.probes)
    if view is None:
        return
    for table in view.tables:
        _head(report, table.title, console)
        console.print(_fitting(table, console))
        console.print()
    _print_events(report, view, console)
    facts(console, [(line.name, words(line.value, _TONES[line.tone])) for line in view.lines])
    console.print()
    _print_notes(view.notes, console)


def _head(report: Report, title: str, console: Console) -> None:
    marks = ", ".join(stamps(report))
    console.print(Text(f"{title} ({marks})" if marks else title, style=DIM))


def _fitting(found: GrowthTable, console: Console) -> Table:
    """The table, without the columns that there is no room for."""
    spare = list(found.spare)
    dropped: set[str] = set()
    unbounded = console.options.update(width=10_000)
    while True:
        table = _growth(found, dropped)
        if not spare or console.measure(table, options=unbounded).maximum <= console.width:
            return table
        dropped.add(spare.pop(0))


def _growth(found: GrowthTable, dropped: set[str]) -> Table:
    kept = [place for place, head in enumerate(found.heads) if head not in dropped]
    table = new_table(*(found.heads[place] for place in kept), right=range(len(kept)))
    for row in found.rows:
        table.add_row(*(row[place] for place in kept))
    return table


def _print_events(report: Report, view: ProbeView, console: Console) -> None:
    if view.restarts:
        _head(report, "Killed and started again; recall before and after, percent", console)
        console.print(_events("container", view.restart_heads, view.restarts))
        console.print()
    if view.outages:
        _head(
            report,
            "While its models are out; recall of what was told then and later, percent",
            console,
        )
        console.print(_events("models", view.outage_heads, view.outages))
        console.print()


def _events(first: str, heads: Sequence[str], lines: Sequence[EventLine]) -> Table:
    table = new_table(first, *heads, "", right=range(1, len(heads) + 1))
    for line in lines:
        verdict = words(line.verdict, _TONES[line.tone])
        table.add_row(words(line.name, limit=_NAME), *line.cells, verdict)
    return table


def _print_notes(notes: Sequence[Said], console: Console) -> None:
    for note in notes[:_NOTES]:
        console.print(words(f"{note.name}: {note.value}", _TONES[note.tone] or DIM, _NOTE))
    if len(notes) > _NOTES:
        console.print(Text(f"and {len(notes) - _NOTES} more, in the report", DIM))
    if notes:
        console.print()
