"""What models did and cost, and what others published, below a run's summary."""

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from memrig.report.model import AnsweringSummary, ModelCost, Report
from memrig.report.terminal.base import DIM, WARN, new_table, warning, words
from memrig.report.units import NOT_AVAILABLE, count, dollars, percent
from memrig.stats.summary import MACRO, OVERALL

_SHOWN = 8


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


def print_costs(report: Report, console: Console) -> None:
    """Calls, tokens and money by phase; the memory system's own calls included."""
    if not report.costs:
        return
    table = new_table(
        "phase", "who", "model", "calls", "tokens in", "out", "cost", right=range(3, 7)
    )
    for row in report.costs:
        table.add_row(
            row.phase,
            row.purpose,
            words(row.model, limit=26),
            _calls(row),
            count(row.input_tokens),
            count(row.output_tokens),
            dollars(row.usd),
        )
    if len(report.costs) > 1:
        table.add_section()
        table.add_row(Text("in all", "bold"), "", "", *_totals(report.costs))
    console.print(table)
    console.print()


def _calls(row: ModelCost) -> str:
    again = row.attempts - row.calls
    return f"{count(row.calls)} +{count(again)}" if again > 0 else count(row.calls)


def _totals(rows: tuple[ModelCost, ...]) -> tuple[str, ...]:
    known = [row.usd for row in rows if row.usd is not None]
    usd = sum(known) if len(known) == len(rows) else None
    return (
        count(sum(row.calls for row in rows)),
        count(sum(row.input_tokens for row in rows)),
        count(sum(row.output_tokens for row in rows)),
        dollars(usd),
    )


def print_published(report: Report, console: Console) -> None:
    """Others' numbers beside this run's, micro and macro apart; nothing where nobody published."""
    ours = {v.group: v for v in report.metrics if v.metric == "accuracy"}
    if not report.published or not ours:
        return
    table = new_table("published", "reader", "macro", "micro", "as of", right=(2, 3))
    rows: dict[tuple[str, str], dict[str, str]] = {}
    for item in report.published:
        row = rows.setdefault((item.system, item.reader), {"as of": item.as_of})
        row[item.metric] = percent(item.value)
    for (system, reader), row in list(rows.items())[:_SHOWN]:
        macro, micro = (row.get(name, "-") for name in ("macro", "micro"))
        if "unspecified" in row:
            micro = f"{row['unspecified']} ?"
        table.add_row(words(system, limit=24), words(reader, limit=16), macro, micro, row["as of"])
    table.add_section()
    macro = percent(ours[MACRO].value) if MACRO in ours else NOT_AVAILABLE
    this = words(report.adapter.name, "bold", 24)
    ours_by = words(report.answering.reader if report.answering else "", limit=16)
    table.add_row(this, ours_by, macro, percent(ours[OVERALL].value), "this run")
    console.print(table)
    console.print(Text("? which mean is meant was not published. Sources: the report.", DIM))
    if report.answering and not report.answering.comparable:
        for reason in report.answering.why:
            console.print(warning(f"not comparable: {reason}", WARN))
    console.print()
