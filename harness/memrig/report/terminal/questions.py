"""Questions, for `memrig show`."""

from collections.abc import Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from memrig.report.model import Report, ShownHit, ShownQuestion, ShownTool
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
from memrig.report.text import question_name
from memrig.report.units import milliseconds
from memrig.report.view_answers import (
    evidence_words,
    naive_words,
    score_word,
    unknown_words,
    verdict_words,
)
from memrig.runs.directory import RunDirectory

_LONG = 2000
_GRADE = {"right": GOOD, "wrong": BAD}


def print_question(shown: ShownQuestion, console: Console | None = None) -> None:
    """Prints one question: what should have been found, what was, and what was answered."""
    console = console or make_console()
    names = dict.fromkeys((shown.question_id, shown.scenario_id, shown.category))
    console.print(title(*names))
    facts(console, _rows(shown))
    console.print()
    if not shown.hits:
        console.print("Nothing was retrieved.\n")
        return
    grid = Table.grid(padding=(0, 1))
    grid.add_column(justify="right", style=DIM)
    grid.add_column(no_wrap=True, min_width=10)
    grid.add_column(overflow="fold")
    for hit in shown.hits:
        grid.add_row(str(hit.rank), _mark(hit), _hit(hit))
    console.print(grid)
    console.print()


def _rows(shown: ShownQuestion) -> Iterator[tuple[str, Text]]:
    yield "question", words(shown.text, "bold", _LONG)
    if shown.asked_at:
        yield "asked", Text(shown.asked_at)
    if shown.gold:
        yield "gold", words(shown.gold, limit=_LONG)
    yield from _answer(shown)
    for verdict in shown.verdicts:
        said = " · ".join(vote.said for vote in verdict.votes if vote.said)
        text = words(verdict_words(verdict), _GRADE.get(verdict_words(verdict), ""), _LONG)
        if len(shown.verdicts) > 1:
            text = words(verdict.task).append(": ").append_text(text)
        yield "judge", text.append("  ").append_text(words(said, DIM, _LONG)) if said else text
    for cited in shown.citations:
        text = words(cited.handle)
        text.append(" evidence", GOOD) if cited.relevant else text
        said = f"  {', '.join(cited.sources)}  {cited.text}"
        yield "cited", text.append("  ").append_text(words(said, limit=_LONG))
    if unknown := unknown_words(shown):
        yield "cited", Text(unknown, WARN)
    for tool in shown.tools:
        yield "called", _tool(tool)
    yield "outcome", _outcome(shown)
    for item in shown.evidence:
        yield "expected", words(f"{item.source}  {item.text}", limit=_LONG)


def _answer(shown: ShownQuestion) -> Iterator[tuple[str, Text]]:
    """What was answered, and how it was graded; nothing where only searches are."""
    if shown.answer is not None:
        text = words(shown.answer, limit=_LONG) if shown.answer else Text("(empty)", DIM)
        if shown.reserved_turn:
            text.append("  (in the turn reserved for it, its budget used up)", DIM)
        if shown.confidence is not None:
            text.append(f"  (confidence {shown.confidence:.2f})", DIM)
        yield "answer", text
    if shown.naive is not None:
        yield "naive", words(naive_words(shown.naive), limit=_LONG)
    if word := score_word(shown.score):
        yield "grade", Text(word, _GRADE.get(word, WARN))
    elif shown.ungraded:
        yield "grade", Text("none: ", WARN).append_text(words(shown.ungraded, WARN, _LONG))


def _tool(tool: ShownTool) -> Text:
    text = words(tool.name)
    if tool.arguments:
        text.append(" ").append_text(words(tool.arguments, limit=_LONG))
    if tool.result:
        style = WARN if tool.is_error else DIM
        text.append(": ", style).append_text(words(tool.result, style, _LONG))
    return text


def _outcome(shown: ShownQuestion) -> Text:
    style = {"answered": "", "abstained": ""}.get(shown.outcome, BAD)
    text = words(shown.outcome, style, 100)
    for part in (evidence_words(shown), milliseconds(shown.latency_ms)):
        if part:
            text.append(f", {part}", "default")
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
    text.append(f"  ({hit.handle}; " if hit.handle else "  (", DIM)
    text.append_text(words(sources, DIM, 200))
    return text.append(f"; score {hit.score:.4g})", DIM)


def print_questions_table(
    report: Report, directory: RunDirectory | None = None, console: Console | None = None
) -> None:
    """Prints the questions that went worst, and how to see one of them in full."""
    console = console or make_console()
    answers = report.answering is not None
    if not report.worst:
        well = "was answered right" if answers else "had its evidence at rank 1"
        console.print(f"Every graded question {well}.")
        return
    mark = "" if report.complete else " (incomplete run)"
    console.print(Text(f"The questions that went worst{mark}", style="bold"))
    heads = ("id", "grade", "rank", "question") if answers else ("id", "rank", "question")
    table = new_table(*heads, right=range(1, len(heads) - 1))
    for shown in report.worst:
        rank = "-" if shown.rank is None else str(shown.rank)
        grade = [score_word(shown.score).removesuffix(" of 1")] if answers else []
        name = words(question_name(shown.scenario_id, shown.question_id), limit=60)
        name.append("\n").append_text(words(shown.category, DIM, 40))
        table.add_row(name, *grade, rank, _question(shown))
    console.print(table)
    folder = directory.root if directory else "RUN"
    console.print(Text(f"In full: memrig show {folder} ID"), soft_wrap=True)


def _question(shown: ShownQuestion) -> Text:
    text = words(shown.text, limit=160)
    if shown.outcome == "answered":
        return text
    style = "" if shown.outcome == "abstained" else BAD
    return words(f"{shown.outcome}:", style, 60).append(" ", "").append_text(text)
