"""`board.csv`: a line for each row of the board."""

import csv
import io
from collections.abc import Iterator

from memrig.leaderboard.model import Board, BoardRun, Entry
from memrig.report.text import one_line

_HEAD = (
    *("id", "adapter", "version", "pod", "submitter", "title", "division", "tier", "profile"),
    *("suite", "protocol", "mode", "asked", "reader", "judge", "complete", "questions", "graded"),
    *("metric", "score", "low", "high", "usd_per_1000", "cpu_s_per_1000", "search_p50_ms"),
    *("search_p95_ms", "answer_p50_ms", "context_tokens", "peak_memory_bytes"),
    *("date", "key", "manifest_digest", "page"),
)
#: A cell that begins so is a formula to a spreadsheet.
_FORMULA = ("=", "+", "-", "@")


def sheet(board: Board) -> str:
    """The board as comma-separated values with a head line; scores are fractions."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_HEAD)
    for entry in board.entries:
        for run in entry.runs:
            writer.writerow(_cells(entry, run))
    return text.getvalue()


def _cells(entry: Entry, run: BoardRun) -> Iterator[str | int | float | None]:
    score, cost = run.score, run.cost
    yield from map(_plain, (entry.id, entry.adapter, entry.version, entry.pod))
    yield from map(_plain, (entry.submitter, entry.title, entry.division, entry.tier))
    yield from map(_plain, (entry.profile, run.suite, run.protocol, run.mode, run.asked))
    yield from map(_plain, (run.reader, run.judge, str(run.complete).lower()))
    yield from (run.planned, run.graded)
    yield _plain(score.metric)
    yield from (score.value, score.low, score.high)
    yield from (cost.usd_per_1000, cost.cpu_s_per_1000, cost.search_p50_ms, cost.search_p95_ms)
    yield from (cost.answer_p50_ms, cost.context_tokens, cost.peak_memory_bytes)
    yield from (entry.last.isoformat(), entry.key, entry.manifest_digest, run.page)


def _plain(text: str) -> str:
    """A text on one line that no spreadsheet takes for a formula: submitters choose some."""
    line = one_line(text)
    return f"'{line}" if line.startswith(_FORMULA) else line
