"""What models did and cost, and what others published, below a run's summary."""

from collections.abc import Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from memrig.report.groups import stamps
from memrig.report.model import AnsweringSummary, Report
from memrig.report.terminal.base import DIM, new_table, warning, words
from memrig.report.units import count, dollars, percent
from memrig.report.view_answers import PublishedLine, cost_sum, published_lines

_SHOWN, _NAME, _READER = 8, 27, 16


def answering_lines(report: Report) -> Iterator[tuple[str, Text]]:
    """Reader, judge and context, for the list of facts."""
    found = report.answering
    if found is None:
        return
    if found.reader:
        yield "reader", _model(found.reader, found.served_readers, _reader_note(found, report.mode))
    if found.judge:
        agreed = found.judge_agreement
        note = f"votes agree {percent(agreed)} %" if agreed is not None and agreed < 1 else ""
        yield "judge", _model(found.judge, found.served_judges, note)
    if found.context_tokens_p50 is not None:
        p95 = count(round(found.context_tokens_p95 or 0))
        limit = f", limit {count(found.context_limit)}" if found.context_limit else ""
        text = f"p50 {count(round(found.context_tokens_p50))} tokens, p95 {p95}{limit} (estimated)"
        yield "context", Text(text)


def _reader_note(found: AnsweringSummary, mode: str) -> str:
    style = found.prompt if mode == "reader" else mode
    return f"{style}, budget {found.budget}" if found.budget else style


def _model(name: str, served: tuple[str, ...], note: str) -> Text:
    text = words(name)
    others = [other for other in served if other != name]
    if others:
        text.append(" served as ").append_text(words(", ".join(others)))
    return text.append(f" ({note})", DIM) if note else text


def stamped(table: Table, report: Report, head: str) -> None:
    """Puts a head above a table, with what every table of the run has to say."""
    marks = ", ".join(stamps(report))
    table.title = Text(f"{head} ({marks})" if marks else head, style=DIM)
    table.title_justify = "left"


def print_costs(report: Report, console: Console) -> None:
    """Calls, tokens and money by phase; the memory system's own calls included."""
    if not report.costs:
        return
    table = new_table(
        "phase", "who", "model", "calls", "tokens in", "out", "cost", right=range(3, 7)
    )
    again = any(row.attempts > row.calls for row in report.costs)
    stamped(table, report, f"model calls{', + those made again' if again else ''}")
    for row in report.costs:
        table.add_row(
            row.phase,
            row.purpose,
            words(row.model, limit=26),
            _calls(row.calls, row.attempts),
            count(row.input_tokens),
            count(row.output_tokens),
            dollars(row.usd),
        )
    if len(report.costs) > 1:
        *_, tokens_in, tokens_out, usd = cost_sum(report)
        calls = sum(row.calls for row in report.costs)
        attempts = sum(row.attempts for row in report.costs)
        table.add_section()
        whole = Text("in all", "bold")
        table.add_row(whole, "", "", _calls(calls, attempts), tokens_in, tokens_out, usd)
    console.print(table)
    console.print()


def _calls(calls: int, attempts: int) -> str:
    again = attempts - calls
    return f"{count(calls)} +{count(again)}" if again > 0 else count(calls)


def print_published(report: Report, console: Console) -> None:
    """Others' numbers beside this run's, micro and macro apart; nothing where nobody published."""
    lines = published_lines(report)
    if not lines:
        return
    *others, own = lines
    table = new_table("published", "reader", "macro", "micro", "mean?", "as of", right=(2, 3, 4))
    stamped(table, report, "accuracy in percent, as published")
    for line in others[:_SHOWN]:
        _add_line(table, line)
    if (more := len(others) - _SHOWN) > 0:
        table.add_row(Text(f"and {count(more)} more", DIM))
    table.add_section()
    _add_line(table, own, "bold")
    console.print(table)
    said = "mean?: the source does not say which of the two. Sources are in the report."
    console.print(Text(said, DIM))
    if report.answering and not report.answering.comparable:
        console.print(warning("This run cannot be compared with them:"))
        for reason in report.answering.why:
            console.print(warning(reason))
    console.print()


def _add_line(table: Table, line: PublishedLine, style: str = "") -> None:
    table.add_row(
        words(line.system, style, _NAME),
        words(line.reader, limit=_READER),
        *(Text(value, style) for value in (line.macro, line.micro, line.unstated)),
        line.as_of.removeprefix("read "),
    )
