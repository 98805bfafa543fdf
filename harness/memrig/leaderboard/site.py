"""Builds the site: every page, `board.json` and `board.csv`, whole or not at all."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from memrig._version import __version__
from memrig.errors import DataError, UsageError, VerificationError
from memrig.leaderboard.audits import read_audits
from memrig.leaderboard.entries import Opener, archives_of, gather
from memrig.leaderboard.folders import whole_folder
from memrig.leaderboard.model import Board, BoardRun, Refused
from memrig.leaderboard.pages import about_page, entry_page, first_page, matrix_page
from memrig.leaderboard.pairs import Pairs, compare_table
from memrig.leaderboard.questions import write_question_pages
from memrig.leaderboard.sheet import sheet
from memrig.leaderboard.tables import RowKey, Table, tables_of
from memrig.leaderboard.texts import may_show, without_texts
from memrig.report.compare_html import render_comparison
from memrig.report.compare_model import Comparison
from memrig.report.html import Crumb, render_html
from memrig.report.units import plural
from memrig.submission.verify import OpenedRun, opened
from memrig.trial.directory import disk_errors

BOARD_JSON, BOARD_CSV = "board.json", "board.csv"
#: All that a site holds at its top.
_TOP = frozenset({"index.html", "about.html", BOARD_JSON, BOARD_CSV, "s", "compare"})


def _silent(_: str) -> None:
    return None


@dataclass(frozen=True, slots=True)
class BoardOptions:
    """How a site is built.

    Args:
        title: of its pages.
        data: folders with data that does not ship, for verification.
        organisers: public keys, in hex, whose audit records count.
        most_pairs: how many pairs of each table are compared at most, neighbours first.
        skip_refused: list what does not verify as refused, instead of building nothing.
    """

    title: str = "Memory systems, measured"
    data: tuple[Path, ...] = ()
    organisers: tuple[str, ...] = ()
    most_pairs: int = 300
    skip_refused: bool = False


@dataclass(frozen=True, slots=True)
class Built:
    """A site that was built, and how many pages it has."""

    folder: Path
    board: Board
    pages: int


def build_board(
    submissions: Path,
    out: Path,
    options: BoardOptions | None = None,
    *,
    say: Callable[[str], None] = _silent,
    opener: Opener = opened,
) -> Built:
    """Verifies every submission of a folder and builds a static site of them.

    Args:
        submissions: a folder of archives, and of organisers' audit records beside them.
        out: the site; one that is there already is replaced.
        options: how.
        say: told what goes on, a line at a time.
        opener: opens an archive and verifies it.

    Raises:
        UsageError: there is no submission in the folder, or an option cannot be.
        DataError: `out` holds something that no build made.
        VerificationError: one does not verify, unless `skip_refused`; nothing is written.
        MissingDataError: data that a verification needs is not on this machine.
    """
    options = options or BoardOptions()
    if not options.title.strip() or not options.title.isprintable():
        raise UsageError("cannot be a title", where="--title", fix="give a line of text")
    archives = archives_of(submissions)
    audits = read_audits(submissions, options.organisers, say)
    with whole_folder(out, _is_site) as folder, TemporaryDirectory(prefix="memrig-board-") as work:
        site = _Site(folder)
        say(f"verifying {plural(len(archives), 'submission')}")
        gathered = gather(
            archives,
            root=submissions,
            work=Path(work),
            opener=opener,
            data=options.data,
            audits=audits,
            on_run=site.add_run,
            skip_unknown=options.skip_refused,
        )
        for refused in gathered.refused:
            say(f"refused: {refused.archive}: {refused.reasons[0]}")
        stopping = [one for one in gathered.refused if one.archive not in gathered.repeats]
        if stopping and not options.skip_refused:
            raise _refused(stopping)
        board = Board(
            memrig_version=__version__,
            title=options.title,
            entries=gathered.listed(),
            refused=tuple(gathered.refused),
        )
        site.add_board(board, gathered.kept, options.most_pairs, say)
    return Built(out, board, site.pages)


def _is_site(folder: Path) -> bool:
    """Whether this is a site of ours, which may be built again.

    Raises:
        DataError: there is something in it that no build made, and would be gone.
    """
    path = folder / BOARD_JSON
    if not (path.is_file() and b'"memrig.board/1"' in path.read_bytes()[:200]):
        return False
    if strange := sorted(path.name for path in folder.iterdir() if path.name not in _TOP):
        raise DataError(
            f"holds {', '.join(strange[:3])}, which building it again would remove",
            where=str(folder),
            fix="build into another folder, and copy the site here",
        )
    return True


def _refused(refused: Sequence[Refused]) -> VerificationError:
    first = refused[0]
    more = f" (and {plural(len(refused) - 1, 'more archive')})" if len(refused) > 1 else ""
    return VerificationError(
        f"is refused: {'; '.join(first.reasons)}{more}",
        where=first.archive,
        fix="take it out of the folder, or build with --skip-refused, which lists it as refused",
    )


@dataclass(slots=True)
class _Site:
    """The pages, as they are written."""

    root: Path
    pages: int = 0
    question_pages: dict[RowKey, int] = field(default_factory=dict)

    def write(self, path: str, text: str) -> None:
        """Writes a page; `path` from the site's root."""
        target = self.root / path
        with disk_errors(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, "utf-8")
        self.pages += path.endswith(".html")

    def add_run(self, entry: str, row: BoardRun, run: OpenedRun) -> None:
        """Writes a run's report and its questions."""
        folder = f"s/{entry}/{row.number}"
        texts = may_show(run.lock)
        name = f"{run.report.adapter.name} {run.report.adapter.version}"
        head = (Crumb("leaderboard", "../../../index.html"), Crumb(name, "../index.html"))
        report = run.report if texts else without_texts(run.report)
        crumbs = (*head, Crumb(f"report on {row.suite}"))
        self.write(f"{folder}/report.html", render_html(report, crumbs))
        self.question_pages[RowKey(entry, row.number)] = write_question_pages(
            run.directory,
            total=run.report.questions.settled,
            texts=texts,
            head=(*head, Crumb(f"report on {row.suite}", "report.html")),
            write=lambda page, text: self.write(f"{folder}/{page}", text),
        )

    def add_board(
        self,
        board: Board,
        kept: dict[RowKey, Path],
        most_pairs: int,
        say: Callable[[str], None],
    ) -> None:
        """Writes what stands above single runs."""
        tables = tables_of(board.entries)
        compared = []
        for table in tables:
            say(f"comparing {plural(len(table.rows), 'row')} on {table.suite} ({table.protocol})")
            pairs = self._compare(table, kept, most_pairs)
            if pairs.found:
                page = f"compare/table-{table.slug}.html"
                self.write(page, matrix_page(board, table, pairs))
            compared.append(pairs)
        self.write("index.html", first_page(board, tables, compared))
        for entry in board.entries:
            page = entry_page(board, entry, tables, compared, self.question_pages)
            self.write(f"s/{entry.id}/index.html", page)
        self.write("about.html", about_page(board))
        self.write(BOARD_JSON, board.model_dump_json(indent=1) + "\n")
        self.write(BOARD_CSV, sheet(board))

    def _compare(self, table: Table, kept: dict[RowKey, Path], most: int) -> Pairs:
        home = Crumb("leaderboard", "../index.html")
        whole = Crumb(f"compare on {table.suite}", f"table-{table.slug}.html")

        def show(page: str, found: Comparison) -> None:
            # Where the verifier put them for a while says nothing to a reader.
            runs = tuple(run.model_copy(update={"folder": ""}) for run in found.runs)
            crumbs: Sequence[Crumb] = (home, whole, Crumb("two of them"))
            text = render_comparison(found.model_copy(update={"runs": runs}), crumbs)
            self.write(page, text)

        return compare_table(table, kept, most, show)
