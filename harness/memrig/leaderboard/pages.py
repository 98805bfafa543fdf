"""The pages of a site, rendered."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from memrig.leaderboard.model import Board, BoardRun, BoardScore, Entry
from memrig.leaderboard.pairs import Pairs
from memrig.leaderboard.questions import page_name
from memrig.leaderboard.tables import RowKey, Table, ranks_of
from memrig.leaderboard.views import (
    better_by,
    choices,
    matrix_rows,
    metric_name,
    score_cell,
    table_view,
)
from memrig.model.canonical import short
from memrig.report.html import Crumb, render_page
from memrig.report.units import bounds, brief, count, dollars, percent, plural, size
from memrig.report.view_pairs import Pair
from memrig.submission.keys import fingerprint
from memrig.submission.model import CheckResult

_STYLES = ("crumbs.css", "board.css")
_PIECE = 1000
#: Limits that are sizes, in bytes.
_SIZES = frozenset({"memory", "shm", "tmp"})


def first_page(board: Board, tables: Sequence[Table], compared: Sequence[Pairs]) -> str:
    """The tables. It reads without script; with it, rows are sorted and filtered."""
    views = [
        table_view(table, pairs, number)
        for number, (table, pairs) in enumerate(zip(tables, compared, strict=True), 1)
    ]
    return render_page(
        "board.html.j2",
        "board.css",
        script="board.js",
        board=board,
        tables=views,
        choices=choices(board, views),
        facts=_facts(board),
    )


def _facts(board: Board) -> tuple[Pair, ...]:
    tiers = [entry.tier for entry in board.entries]
    return (
        Pair("Submissions", count(len(board.entries))),
        Pair("Memory systems", count(len({entry.adapter for entry in board.entries}))),
        Pair("Rerun by an organiser", count(tiers.count("organiser-rerun"))),
        Pair("Verified by", f"memrig {board.memrig_version}"),
    )


def about_page(board: Board) -> str:
    """What the columns, divisions and tiers say, and what a signature does not."""
    crumbs = (Crumb("leaderboard", "index.html"), Crumb("how to read it"))
    return render_page("board_about.html.j2", *_STYLES, board=board, crumbs=crumbs)


def matrix_page(board: Board, table: Table, pairs: Pairs) -> str:
    """Every row of a table against every other, each with a page of its own."""
    rows = matrix_rows(table, pairs)
    crumbs = (
        Crumb("leaderboard", "../index.html"),
        Crumb(table.suite, f"../index.html#{table.slug}"),
        Crumb("compare any two"),
    )
    return render_page(
        "board_matrix.html.j2",
        *_STYLES,
        board=board,
        crumbs=crumbs,
        table=table,
        metric=metric_name(pairs.metric),
        rows=rows,
        pairs=plural(len(pairs.found), "pair"),
        left_out=count(pairs.left_out) if pairs.left_out else "",
    )


@dataclass(frozen=True, slots=True)
class RunView:
    """A run as the page of its submission shows it."""

    run: BoardRun
    place: str
    table: str
    score: BoardScore
    facts: tuple[Pair, ...]
    metrics: tuple[tuple[str, str, str, str], ...]
    report: str
    questions: str
    pages: str
    compare: str


@dataclass(frozen=True, slots=True)
class CheckLine:
    """A check of the verification in words; `tone` is how it is marked."""

    check: CheckResult
    word: str
    tone: str


def entry_page(
    board: Board,
    entry: Entry,
    tables: Sequence[Table],
    compared: Sequence[Pairs],
    question_pages: Mapping[RowKey, int],
) -> str:
    """A submission: who, what, how well, on what machine, and what was verified."""
    names = {other.id: f"{other.adapter} {other.version}" for other in board.entries}
    runs = [
        _run_view(entry, run, table, pairs, question_pages)
        for table, pairs in zip(tables, compared, strict=True)
        for run in entry.runs
        if any(row.key == (entry.id, run.number) for row in table.rows)
    ]
    return render_page(
        "board_entry.html.j2",
        *_STYLES,
        board=board,
        entry=entry,
        crumbs=(
            Crumb("leaderboard", "../../index.html"),
            Crumb(f"{entry.adapter} {entry.version}"),
        ),
        link=safe_link(entry.url),
        changed=_pieces(entry.changed),
        fingerprint=fingerprint(entry.key) if entry.key else "none",
        runs=sorted(runs, key=lambda view: view.run.number),
        machine=_machine(entry),
        provenance=_provenance(entry),
        shared=[Crumb(names[other], f"../{other}/index.html") for other in entry.shared],
        checks=[_check_line(check) for check in entry.checks],
        passed=sum(check.passed for check in entry.checks),
    )


def _pieces(text: str) -> list[str]:
    """A long statement in pieces, since a page cuts every single text."""
    return [text[place : place + _PIECE] for place in range(0, len(text), _PIECE)]


def safe_link(url: str) -> str:
    """The address if it is one of the web; else empty: submitters may write anything."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return url if parts.scheme in {"http", "https"} and parts.netloc else ""


def _run_view(
    entry: Entry, run: BoardRun, table: Table, pairs: Pairs, question_pages: Mapping[RowKey, int]
) -> RunView:
    key = RowKey(entry.id, run.number)
    place = next(n for n, row in enumerate(table.rows, 1) if row.key == key)
    rank = ranks_of(table.rows, better_by(table, pairs)).get(key)
    said = f"place {place} of {len(table.rows)}"
    pages = question_pages[key]
    return RunView(
        run=run,
        place=f"{said}, rank {rank} of the {entry.division} division" if rank else said,
        table=f"../../index.html#{table.slug}",
        score=run.score,
        facts=tuple(_run_facts(run)),
        metrics=tuple(_metric_line(score) for score in run.headline),
        report=f"{run.number}/report.html",
        questions=f"{run.number}/{page_name(1)}",
        pages=plural(pages, "page"),
        compare=f"../../compare/table-{table.slug}.html" if pairs.found else "",
    )


def _metric_line(score: BoardScore) -> tuple[str, str, str, str]:
    cell = score_cell(score)
    return metric_name(score.metric), cell.text, cell.note, count(score.n)


def _run_facts(run: BoardRun) -> Iterator[Pair]:
    cost, score = run.cost, run.score
    if score.value is not None:
        span = bounds(score.low, score.high)
        note = f"95 %: {span}" if span else "no interval can be given"
        yield Pair(metric_name(score.metric), f"{percent(score.value)} %", note)
    yield Pair("questions", count(run.graded), f"of {count(run.planned)} graded")
    if cost.search_p50_ms is not None and cost.search_p95_ms is not None:
        yield Pair("search", brief(cost.search_p50_ms), f"p95 {brief(cost.search_p95_ms)}")
    usd = "price unknown" if cost.usd_per_1000 is None else dollars(cost.usd_per_1000)
    yield Pair("models", usd, "for 1,000 questions")
    if cost.cpu_s_per_1000 is not None:
        yield Pair("CPU", f"{cost.cpu_s_per_1000:.3g} s", "for 1,000 questions")
    if cost.peak_memory_bytes is not None:
        yield Pair("memory", size(cost.peak_memory_bytes), "peak of a pod")
    if cost.context_tokens is not None:
        yield Pair("context", count(round(cost.context_tokens)), "tokens, median")


def _machine(entry: Entry) -> tuple[Pair, ...]:
    machine = entry.machine
    return (
        Pair("CPU", f"{machine.cpu}, {plural(machine.cores, 'core')}, {machine.architecture}"),
        Pair("memory", size(machine.memory_bytes)),
        Pair("system", f"{machine.system} {machine.kernel}, Python {machine.python}"),
        *(Pair(f"engine: {name}", text) for name, text in sorted(entry.engine.items())),
        *(Pair(f"limits: {name}", _limits(text)) for name, text in sorted(entry.limits.items())),
        Pair("runs begun", f"{entry.first:%Y-%m-%d %H:%M} UTC"),
        Pair("runs ended", f"{entry.last:%Y-%m-%d %H:%M} UTC"),
    )


def _limits(text: str) -> str:
    """A container's limits as a pod's own record has them, with sizes that can be read."""
    parts = (part.partition("=") for part in text.split())
    return ", ".join(
        f"{name} {size(int(value))}" if name in _SIZES and value.isdecimal() else f"{name} {value}"
        for name, _, value in parts
    )


def _provenance(entry: Entry) -> tuple[Pair, ...]:
    return (
        Pair("permanent id", entry.id),
        Pair("archive", entry.archive),
        Pair("archive, sha256", entry.archive_sha256),
        Pair("manifest", entry.manifest_digest),
        Pair("signed by", entry.key or "nobody"),
        Pair("pod", entry.pod),
        *(Pair(f"image: {name}", digest) for name, digest in sorted(entry.images.items())),
        Pair("profile", f"{entry.profile} {short(entry.profile_digest)}".strip() or "none"),
        *(Pair(f"lock: {run.suite}", run.lock_digest) for run in entry.runs),
        Pair("made with", f"memrig {entry.memrig_version}"),
    )


def _check_line(check: CheckResult) -> CheckLine:
    if check.skipped:
        return CheckLine(check, "left out", "warn")
    if check.passed:
        return CheckLine(check, "holds", "good")
    tone = "bad" if check.severity == "error" else "warn"
    return CheckLine(check, "warns" if tone == "warn" else "fails", tone)
