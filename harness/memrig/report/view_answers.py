"""What is said of readers, judges, money, and of what others published."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from memrig.report.model import PublishedRow, Report, ShownNaive, ShownQuestion, ShownVerdict
from memrig.report.units import NOT_AVAILABLE, count, dollars, percent, plural
from memrig.report.view_pairs import Pair
from memrig.stats.summary import MACRO, OVERALL


def score_word(score: float | None) -> str:
    """How an answer did, in a word; empty where answers were not graded."""
    if score is None:
        return ""
    if score >= 1:
        return "right"
    return "wrong" if score <= 0 else f"{score:.2f} of 1"


def evidence_words(shown: ShownQuestion) -> str:
    """Whether the evidence was found; empty where there is none to find."""
    if shown.rank is not None:
        return f"evidence at rank {shown.rank}"
    if any(hit.relevant for hit in shown.hits):
        return "evidence among the hits"
    return "evidence not retrieved" if shown.evidence else ""


def verdict_words(verdict: ShownVerdict) -> str:
    """A verdict and, of several votes, each: ``right (right, right, wrong)``."""
    text = score_word(verdict.score) or f"no verdict: {verdict.reason}"
    if len(verdict.votes) < 2:
        return text
    votes = ", ".join(score_word(vote.score) or "missing" for vote in verdict.votes)
    return f"{text} ({votes})"


def naive_words(naive: ShownNaive) -> str:
    """What the naive opponent said, and from how much."""
    if naive.failure:
        return f"none: {naive.failure}"
    whole = naive.shown == naive.episodes
    seen = "all episodes" if whole else f"the newest {naive.shown} of {naive.episodes} episodes"
    return f"{naive.text or '(empty)'}  (shown {seen})"


def unknown_words(shown: ShownQuestion) -> str:
    """Citations of what no model was shown; empty where there are none."""
    unknown = shown.unknown_citations
    return f"and {plural(unknown, 'handle')} that no memory has" if unknown else ""


def answering_pairs(report: Report) -> tuple[Pair, ...]:
    """Reader, judge, context."""
    return tuple(_pairs(report))


def _pairs(report: Report) -> Iterator[Pair]:
    found = report.answering
    if found is None:
        return
    if found.reader:
        yield Pair("Reader", found.reader, _served(found.reader, found.served_readers))
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
        yield Pair("Judge", found.judge, _served(found.judge, found.served_judges))
    if found.judge_agreement is not None:
        yield Pair("Votes that agree", f"{percent(found.judge_agreement)} %")


def _served(asked: str, served: tuple[str, ...]) -> str:
    others = ", ".join(name for name in served if name != asked)
    return f"served as {others}" if others else ""


def cost_rows(report: Report) -> tuple[tuple[str, ...], ...]:
    """Phase, who, model, calls, attempts, tokens, money; of several rows, their sum last."""
    rows = [
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
    ]
    return (*rows, *([cost_sum(report)] if len(rows) > 1 else []))


def cost_sum(report: Report) -> tuple[str, ...]:
    """The last row of the costs. One row without a price makes the sum of money unknown."""
    rows = report.costs
    known = [row.usd for row in rows if row.usd is not None]
    return (
        "in all",
        "",
        "",
        count(sum(row.calls for row in rows)),
        count(sum(row.attempts for row in rows)),
        count(sum(row.input_tokens for row in rows)),
        count(sum(row.output_tokens for row in rows)),
        dollars(sum(known) if len(known) == len(rows) else None),
    )


@dataclass(slots=True)
class PublishedLine:
    """One measurement of a system: its means, each empty where it was not published.

    `unstated` is a number of which the source does not say which mean it is.
    """

    system: str
    reader: str
    macro: str = ""
    micro: str = ""
    unstated: str = ""
    n: str = ""
    source: str = ""
    as_of: str = ""
    note: str = ""
    kinds: set[str] = field(default_factory=set)

    def take(self, item: PublishedRow) -> None:
        """Takes one number in."""
        self.kinds.add(item.metric)
        value = percent(item.value)
        if item.metric == "macro":
            self.macro = value
        elif item.metric == "micro":
            self.micro = value
        else:
            self.unstated = value

    def misses(self, item: PublishedRow) -> bool:
        """Whether the number is the other mean of this very measurement."""
        ours = self.system, self.reader, self.source
        theirs = item.system, item.reader, item.source
        return ours == theirs and {*self.kinds, item.metric} == {"macro", "micro"} != self.kinds


def published_lines(report: Report) -> tuple[PublishedLine, ...]:
    """Others' numbers, this run's last. Empty where none applies, or nothing was graded."""
    ours = {value.group: value for value in report.metrics if value.metric == "accuracy"}
    if not report.published or OVERALL not in ours:
        return ()
    lines: list[PublishedLine] = []
    for item in report.published:
        if not (lines and lines[-1].misses(item)):
            lines.append(_line(item))
        lines[-1].take(item)
    own = PublishedLine(
        system=report.adapter.name,
        reader=report.answering.reader if report.answering else "",
        macro=percent(ours[MACRO].value) if MACRO in ours else NOT_AVAILABLE,
        micro=percent(ours[OVERALL].value),
        n=count(ours[OVERALL].n),
    )
    return (*lines, own)


def _line(item: PublishedRow) -> PublishedLine:
    notes = (
        f"top {item.top_k}" if item.top_k else "",
        f"judge {item.judge}" if item.judge else "",
        item.note,
    )
    return PublishedLine(
        system=item.system,
        reader=item.reader,
        n=count(item.n) if item.n else "",
        source=item.source,
        as_of=f"read {item.as_of}" if item.dated == "read" else item.as_of,
        note="; ".join(note for note in notes if note),
    )
