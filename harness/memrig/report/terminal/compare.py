"""A comparison of runs, at 80 columns."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from memrig.errors import UsageError
from memrig.report.compare_model import ComparedMetric, Comparison
from memrig.report.terminal.base import (
    BAD,
    DIM,
    GOOD,
    WARN,
    facts,
    make_console,
    new_table,
    title,
    warning,
    words,
)
from memrig.report.units import metric_head, percent, plural
from memrig.report.view_compare import (
    conclusions,
    effect_text,
    incomplete_stamps,
    least_text,
    p_text,
    points,
    span,
    stamps,
)

_STYLES = {"better": GOOD, "worse": BAD, "none": "", "unknown": WARN}
_SIGNS = {"better": "▲", "worse": "▼", "none": "=", "unknown": "?"}
_GROUP = 24
_LEGEND = (
    "*: shown, Holm's p (over all rows of a kind) is below 0.05; 95 %: of one row. d: Cohen's d "
    "of the pairs. MDE: the least difference that one such test shows four times in five."
)


def print_comparison(
    found: Comparison, metric: str = "", html: Path | None = None, console: Console | None = None
) -> None:
    """Prints a comparison.

    Args:
        found: what to print.
        metric: whose categories are shown; empty: the first.
        html: the page that was written, named at the end.
        console: for tests.

    Raises:
        UsageError: the comparison has no such metric.
    """
    if metric and metric not in found.metrics:
        fix = f"one of: {', '.join(found.metrics)}"
        raise UsageError("is no headline metric here", where=f"--metric {metric}", fix=fix)
    console = console or make_console()
    console.print(title(_names(found), f"{found.suite} ({found.protocol})"))
    _print_runs(found, console)
    if found.rows:
        _print_overall(found, console)
        _print_groups(found, metric or found.metrics[0], console)
        _print_conclusions(found, console)
    _print_gates(found, console)
    if html is not None:
        facts(console, [("page", words(str(html)))])


def _names(found: Comparison) -> str:
    base, *others = (run.name for run in found.runs)
    return f"{', '.join(others)} against {base}" if others else base


def _print_runs(found: Comparison, console: Console) -> None:
    rows = []
    for run in found.runs:
        told = words(f"{run.adapter} {run.version} · {run.folder}")
        rows.append((run.letter, told))
    for counts in found.pairs:
        name = "pairs" if len(found.pairs) == 1 else f"pairs {counts.run}"
        said = f"{plural(counts.pairs, 'question')} in {plural(counts.scenarios, 'scenario')}"
        rows.append((name, words(said)))
    facts(console, rows)
    for run in found.runs:
        if not run.complete:
            console.print(warning(f"{run.letter}: incomplete run: {run.incomplete}", BAD))
    shared: dict[str, list[str]] = {}
    for run in found.runs:
        for label in stamps(run)[0 if run.complete else 1 :]:
            shared.setdefault(label, []).append(run.letter)
    for label, letters in shared.items():
        console.print(warning(f"{', '.join(letters)}: {label}"))
    for unlike in found.unlike:
        values = zip(found.runs, unlike.values, strict=True)
        said = ", ".join(f"{run.letter} {value}" for run, value in values)
        console.print(warning(f"not alike in {unlike.field}: {said}"))
    for note in found.notes:
        console.print(words(f"note: {note}", DIM))
    console.print()


def _print_overall(found: Comparison, console: Console) -> None:
    """Every metric, over all questions."""
    head = "overall: percent, differences in points, 95 % intervals"
    console.print(_stamped(head, found))
    rows = [row for row in found.rows if row.kind == "micro"]
    _print_rows(found, rows, "metric", console)


def _print_groups(found: Comparison, metric: str, console: Console) -> None:
    rows = [row for row in found.rows if row.metric == metric and row.kind != "micro"]
    if rows:
        console.print(_stamped(f"{metric_head(metric)} by group", found))
        _print_rows(found, rows, "group", console)


def _stamped(head: str, found: Comparison) -> Text:
    text = Text(head, DIM)
    for stamp in incomplete_stamps(found):
        text.append(f"  {stamp}", BAD)
    return text


def _print_rows(
    found: Comparison, rows: Iterable[ComparedMetric], first: str, console: Console
) -> None:
    """One line a row; with several runs, a part a run."""
    overall = first == "metric"  # a category's name is longer, and leaves no room for d
    for run in found.runs[1:]:
        letter = run.letter
        heads = [first, "n", "A", letter, f"{letter}-A", "95 %", "p Holm", "d", "MDE"]
        if not overall:
            heads.remove("d")
        table = new_table(*heads, right=range(1, len(heads)))
        table.padding = (0, 1, 0, 0)
        for row in (row for row in rows if row.run == letter):
            table.add_row(*_cells(row, overall=overall))
        console.print(table)
        console.print()


def _cells(row: ComparedMetric, *, overall: bool) -> Iterator[Text | str]:
    style = _STYLES[row.verdict]
    # Whole hundreds are written short, or a category's name would be broken.
    short = (percent(row.base_value), percent(row.run_value), points(row.difference), span(row))
    base, run, difference, bounds = (text.replace("100.0", "100") for text in short)
    yield words(metric_head(row.metric) if overall else row.group, limit=_GROUP)
    yield str(row.n)
    yield base
    yield run
    yield Text(difference, style)
    yield bounds
    yield Text(p_text(row.p_holm) + ("*" if row.verdict in {"better", "worse"} else " "), style)
    if overall:
        yield effect_text(row.effect)
    yield least_text(row.mde)


def _print_conclusions(found: Comparison, console: Console) -> None:
    for item in conclusions(found):
        mark = Text(_SIGNS[item.verdict], _STYLES[item.verdict] or "bold")
        grid = Table.grid(padding=(0, 1))
        grid.add_row(mark, words(item.text, _STYLES[item.verdict]))
        console.print(grid)
    console.print(Text(_LEGEND, DIM))


def _print_gates(found: Comparison, console: Console) -> None:
    if not found.gates:
        return
    if found.rows:
        console.print()
    table = new_table("", "gate", "run", "found")
    for gate in found.gates:
        mark = Text("met", GOOD) if gate.met else Text("NOT MET", BAD)
        table.add_row(mark, words(gate.gate), gate.run, words(gate.said))
    table.columns[0].no_wrap = True
    console.print(table)
