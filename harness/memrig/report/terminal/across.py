"""Seeds and repeats below a run's scores."""

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from memrig.report.groups import stamps
from memrig.report.model import Report
from memrig.report.terminal.base import DIM, new_table, words
from memrig.report.terminal.models import stamped
from memrig.report.units import metric_head
from memrig.report.view_across import AcrossView, SeedTable, across_view

_SEEDS = 4  # that fit beside mean, sd and interval in 80 columns
_GROUP, _NAME = 24, 44
_NOISY = 5


def print_across(report: Report, console: Console) -> None:
    """The main metric by seed, and the questions that waver most; the page has the rest."""
    view = across_view(report)
    found = report.across
    if view is None or found is None:
        return
    main = metric_head(found.metric)
    for table in view.tables:
        if table.head == main:
            _print_seeds(report, view, table, console)
    if view.noisy:
        _print_noisy(report, view, console)


def _print_seeds(report: Report, view: AcrossView, found: SeedTable, console: Console) -> None:
    """Each seed's value where they fit, else the lowest and the highest."""
    every = len(view.seeds) <= _SEEDS
    heads = [f"s{seed}"[-7:] for seed in view.seeds] if every else ["lowest", "highest"]
    table = new_table("group", *heads, "mean", "sd", "95 %", right=range(1, len(heads) + 4))
    stamped(
        table, report, f"{found.head} across {view.lead}: percent; sd in points; 95 %: t over seeds"
    )
    for line in found.lines:
        numbers = sorted((value for value in line.values if value[:1].isdigit()), key=float)
        values = line.values if every else (numbers[0], numbers[-1])
        short = [text.replace("100.0", "100") for text in (*values, line.mean)]
        span = Text(line.bounds.replace("100.0", "100"), DIM)
        table.add_row(words(line.name, limit=_GROUP), *short, line.sd, span)
    console.print(table)
    console.print()


def _print_noisy(report: Report, view: AcrossView, console: Console) -> None:
    heads = ("n each", "seeds", "repeats")[: 3 if view.repeated else 2]
    table = new_table("question", *heads, right=range(1, len(heads) + 1))
    for line in view.noisy[:_NOISY]:
        numbers = (line.n, line.seeds, line.repeats)[: len(heads)]
        table.add_row(words(line.name, limit=_NAME), *numbers)
    marks = "".join(f" ({mark})" for mark in stamps(report))
    console.print(Text(f"{view.noisy_note}; ranges in points{marks}", DIM))
    console.print(table)
    console.print()


def across_lines(report: Report) -> Iterator[tuple[str, str]]:
    """Noisy questions, variance and processes, a line each."""
    view = across_view(report)
    if view is None:
        return
    if not view.noisy:
        yield "noisy", view.noisy_note
    yield "variance", f"of {view.head}, one seed run once: {'; '.join(_variance(view))}"
    if view.boots_note:
        yield "pods", view.boots_note


def _variance(view: AcrossView) -> Iterator[str]:
    for part in view.variance:
        note = f" ({part.note})" if part.note else ""
        if part.sd[:1].isdigit():
            share = "" if not part.share[:1].isdigit() else f"{part.share}, "
            yield f"{part.source} {share}sd {part.sd} points{note}"
        else:
            yield f"{part.source} {part.sd}{note}"
