"""The composite below a run's scores."""

from rich.console import Console
from rich.text import Text

from memrig.report.model import Report
from memrig.report.terminal.base import BAD, DIM, GOOD, WARN, new_table, warning, words
from memrig.report.terminal.models import stamped
from memrig.report.units import NOT_AVAILABLE, plural
from memrig.report.view_composite import CompositeView, composite_view

_SCOPES, _NAME = 12, 30


def print_composite(report: Report, console: Console) -> None:
    """The one number, what must be read with it, its parts, and the scopes."""
    view = composite_view(report.composite)
    if view is None:
        return
    line = Text(f"composite {view.profile}: ").append(view.value, f"bold {_style(view)}")
    if view.value != NOT_AVAILABLE and not view.closed:
        line.append("  weighted mean of what was measured", DIM)
    if not report.complete:
        line.append("  incomplete run", BAD)
    console.print(line)
    for number, note in enumerate(view.notes):
        console.print(warning(note, BAD if view.closed and not number else WARN))
    console.print()
    _print_parts(report, view, console)
    _print_scopes(report, view, console)


def _style(view: CompositeView) -> str:
    if view.closed:
        return BAD
    return WARN if view.value == NOT_AVAILABLE else GOOD


def _print_parts(report: Report, view: CompositeView, console: Console) -> None:
    table = new_table("tier", "metric", "weight", "value", "95 %", "n", right=(2, 3, 4, 5))
    stamped(table, report, "what the composite is made of, percent")
    every = (*view.parts, *view.beside)
    for part in every:
        style = DIM if part.why else ""
        cells = (part.tier, part.name, part.weight, part.value, part.bounds, part.n)
        table.add_row(*(Text(cell, style) for cell in cells), end_section=part is view.parts[-1])
    console.print(table)
    console.print()
    reasons: dict[str, list[str]] = {}
    for part in every:
        if part.why:
            reasons.setdefault(part.why, []).append(part.name)
    for why, names in reasons.items():
        console.print(words(f"{', '.join(names)}: {NOT_AVAILABLE} ({why})", DIM, 400))
    if reasons:
        console.print()


def _print_scopes(report: Report, view: CompositeView, console: Console) -> None:
    if not view.scopes:
        return
    table = new_table(
        "scope", "n", "weight", "ungated", "composite", "closed gates", right=(1, 2, 3, 4)
    )
    stamped(table, report, "composite by scope, percent")
    for scope in view.scopes[:_SCOPES]:
        numbers = (scope.n, scope.weight, scope.ungated, scope.value)
        table.add_row(words(scope.name, limit=_NAME), *numbers, words(scope.closed, BAD))
    more = len(view.scopes) - _SCOPES
    if more > 0:
        table.add_row(Text(f"and {plural(more, 'more scope')}, in the report", DIM))
    console.print(table)
    console.print(Text(f"\n{view.mean}\n", DIM))
