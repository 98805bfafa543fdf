"""Depth, distance and operations below a run's scores."""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from memrig.report.groups import stamps
from memrig.report.model import Report
from memrig.report.model_depth import Estimate, PlaceBin
from memrig.report.terminal.base import DIM, new_table, words
from memrig.report.terminal.models import stamped
from memrig.report.units import NOT_AVAILABLE, count, metric_head, plural, short_count
from memrig.report.view_depth import Measured, OperationView, operation_view

_ACROSS = 10  # bins that fit beside each other in 80 columns
_NAME = 24


def print_depth(report: Report, console: Console) -> None:
    """Recall and score by the place of the evidence; ranges are the page's."""
    found = report.depth
    if found is None:
        return
    tenths = [f"{10 * place}%" for place in range(len(found.by_depth))]
    distances = [short_count(int(item.low)) for item in found.by_distance]
    for title, head, labels, bins in (
        ("by depth of the evidence, from the oldest episode on", "from", tenths, found.by_depth),
        ("by episodes since the evidence", "from", distances, found.by_distance),
    ):
        for start in range(0, len(bins), _ACROSS):
            some = slice(start, start + _ACROSS)
            said = "and further away" if start else title
            _print_bins(report, console, said, [head, *labels[some]], bins[some])
    if found.score and found.beyond_reader:
        left = plural(found.beyond_reader, "question")
        said = f"{metric_head(found.score)}: without {left} that the reader cannot answer (below)"
        console.print(words(said, DIM))
        console.print()


def _print_bins(
    report: Report, console: Console, title: str, heads: Sequence[str], bins: Sequence[PlaceBin]
) -> None:
    found = report.depth
    if found is None:
        return
    table = new_table(*heads, right=range(1, len(heads)))
    # Above the table, not of it: a title is no wider than its table, and these are narrow.
    console.print(words(", ".join((title, "percent", *stamps(report))), DIM))
    table.add_row(Text("n", DIM), *(Text(count(item.n), DIM) for item in bins))
    if found.recall:
        table.add_row(metric_head(found.recall), *(_whole(item.recall) for item in bins))
    if found.score:
        table.add_row(metric_head(found.score), *(_whole(item.score) for item in bins))
    console.print(table)
    console.print()


def _whole(estimate: Estimate | None) -> Text:
    if estimate is None:
        return Text("·", DIM)
    return Text(f"{100 * estimate.value:.0f}")


def print_operations(report: Report, console: Console) -> None:
    """Scores by operation, and what a built-in reader cannot do."""
    view = operation_view(report.operations)
    if view is None:
        return
    table = new_table("operation", "n", *view.heads, "", right=range(1, 2 + len(view.heads)))
    stamped(table, report, "by what answering takes, percent")
    for row in view.rows:
        cells = (Text(cell.value) for cell in row.cells)
        table.add_row(row.name, Text(row.n, DIM), *cells, words(row.note, DIM))
    console.print(table)
    console.print()
    if view.limits:
        _print_limits(report, view, console)


def _print_limits(report: Report, view: OperationView, console: Console) -> None:
    table = new_table("category", "cannot", "score", "others", "it needs", right=(1, 2, 3))
    stamped(table, report, f"what {view.reader} cannot do: it copies out of one statement")
    for row in view.limits:
        numbers = (row.beyond, _plain(row.outside), _plain(row.within))
        table.add_row(words(row.name, limit=_NAME), *numbers, words(row.short, DIM))
    console.print(table)
    console.print()


def _plain(cell: Measured) -> Text:
    return Text("·", DIM) if cell.value == NOT_AVAILABLE else Text(cell.value)
