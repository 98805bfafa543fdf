"""Questions, for `memrig show`."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from memrig.report.model import Report, ShownHit, ShownQuestion
from memrig.report.terminal.base import (
    BAD,
    DIM,
    GOOD,
    WARN,
    facts,
    make_console,
    new_table,
    title,
    words,
)
from memrig.report.units import milliseconds
from memrig.runs.directory import RunDirectory

_LONG = 2000


def print_question(shown: ShownQuestion, console: Console | None = None) -> None:
    """Prints one question: what should have been found, and what was."""
    console = console or make_console()
    console.print(title(shown.question_id, shown.scenario_id, shown.category))
    rows = [("question", words(shown.text, "bold", _LONG))]
    if shown.gold:
        rows.append(("answer", words(shown.gold, limit=_LONG)))
    rows.append(("outcome", _outcome(shown)))
    rows += [
        ("expected", words(f"{item.source}  {item.text}", limit=_LONG)) for item in shown.evidence
    ]
    facts(console, rows)
    console.print()
    if not shown.hits:
        console.print("Nothing was retrieved.")
        return
    grid = Table.grid(padding=(0, 1))
    grid.add_column(justify="right", style=DIM)
    grid.add_column(no_wrap=True, min_width=10)
    grid.add_column(overflow="fold")
    for hit in shown.hits:
        grid.add_row(str(hit.rank), _mark(hit), _hit(hit))
    console.print(grid)
    console.print()


def _outcome(shown: ShownQuestion) -> Text:
    answered = shown.outcome == "answered"
    text = words(shown.outcome, "" if answered else BAD, 100)
    rank = "evidence not retrieved" if shown.rank is None else f"evidence at rank {shown.rank}"
    text.append(f", {rank}, {milliseconds(shown.latency_ms)}", "default")
    if shown.message:
        text.append(": ", "default").append_text(words(shown.message, "default", _LONG))
    return text


def _mark(hit: ShownHit) -> Text:
    if hit.relevant:
        return Text("evidence", style=GOOD)
    return Text("superseded", style=WARN) if hit.stale else Text("")


def _hit(hit: ShownHit) -> Text:
    sources = ", ".join(hit.sources) or "no source"
    text = words(hit.text, limit=_LONG)
    text.append("  (", DIM)
    text.append_text(words(sources, DIM, 200))
    return text.append(f"; score {hit.score:.4g})", DIM)


def print_questions_table(
    report: Report, directory: RunDirectory | None = None, console: Console | None = None
) -> None:
    """Prints the questions that went worst, and how to see one of them in full."""
    console = console or make_console()
    if not report.worst:
        console.print("Every graded question had its evidence at rank 1.")
        return
    mark = "" if report.complete else " (incomplete run)"
    console.print(Text(f"The questions that went worst{mark}", style="bold"))
    table = new_table("id", "category", "rank", "question", right=(2,))
    for shown in report.worst:
        rank = "-" if shown.rank is None else str(shown.rank)
        text = words(shown.text, limit=160)
        if shown.outcome != "answered":
            text = words(shown.outcome, BAD, 60).append(" ").append_text(text)
        table.add_row(
            words(shown.question_id, limit=60), words(shown.category, limit=40), rank, text
        )
    console.print(table)
    folder = directory.root if directory else "RUN"
    console.print(Text(f"In full: memrig show {folder} ID"), soft_wrap=True)
