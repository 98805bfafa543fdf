"""What a page says of readers, judges, money, and of what others published."""

from collections.abc import Iterator

from memrig.report.model import Report
from memrig.report.units import NOT_AVAILABLE, count, dollars, percent
from memrig.report.view_pairs import Pair
from memrig.stats.summary import MACRO, OVERALL


def score_word(score: float | None) -> str:
    """How an answer did, in a word; empty where answers were not graded."""
    if score is None:
        return ""
    if score >= 1:
        return "right"
    return "wrong" if score <= 0 else f"{score:.2f} of 1"


def answering_pairs(report: Report) -> tuple[Pair, ...]:
    """Reader, judge, context, and what keeps the numbers from being compared."""
    return tuple(_pairs(report))


def _pairs(report: Report) -> Iterator[Pair]:
    found = report.answering
    if found is None:
        return
    if found.reader:
        served = ", ".join(name for name in found.served_readers if name != found.reader)
        yield Pair("Reader", found.reader, f"served as {served}" if served else "")
    if found.prompt:
        yield Pair("Prompt", found.prompt)
    if found.budget:
        yield Pair("Budget", found.budget)
    if found.context_tokens_p50 is not None:
        p95 = count(round(found.context_tokens_p95 or 0))
        limit = f"limit {count(found.context_limit)}, " if found.context_limit else ""
        note = f"p95 {p95}; {limit}by the rig's estimate"
        yield Pair("Tokens of memories a question", count(round(found.context_tokens_p50)), note)
    if found.judge:
        served = ", ".join(name for name in found.served_judges if name != found.judge)
        yield Pair("Judge", found.judge, f"served as {served}" if served else "")
    if found.judge_agreement is not None:
        yield Pair("Votes that agree", f"{percent(found.judge_agreement)} %")
    for reason in found.why:
        yield Pair("Not comparable", "", reason)


def cost_rows(report: Report) -> tuple[tuple[str, ...], ...]:
    """Phase, who, model, calls, attempts, tokens, money."""
    return tuple(
        (
            row.phase,
            row.purpose,
            row.model,
            count(row.calls),
            count(row.attempts),
            count(row.input_tokens),
            count(row.output_tokens),
            dollars(row.usd),
        )
        for row in report.costs
    )


def published_rows(report: Report) -> tuple[tuple[str, ...], ...]:
    """System, reader, macro, micro, n, source, date; this run last. Empty where none applies."""
    ours = {value.group: value for value in report.metrics if value.metric == "accuracy"}
    if not report.published or OVERALL not in ours:
        return ()
    rows = [
        (
            item.system,
            item.reader,
            percent(item.value) if item.metric == "macro" else "",
            percent(item.value) + ("" if item.metric == "micro" else " ?")
            if item.metric != "macro"
            else "",
            count(item.n) if item.n else "",
            item.source,
            item.as_of,
        )
        for item in report.published
    ]
    macro = percent(ours[MACRO].value) if MACRO in ours else NOT_AVAILABLE
    reader = report.answering.reader if report.answering else ""
    overall = ours[OVERALL]
    own = (report.adapter.name, reader, macro, percent(overall.value), count(overall.n), "", "")
    return (*rows, own)
