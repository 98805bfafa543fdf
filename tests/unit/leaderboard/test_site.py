"""Sites of real archives: verified, whole or not at all, the same every time."""

import json
import shutil
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from memrig.errors import DataError, MissingDataError, UsageError, VerificationError
from memrig.leaderboard.entries import entry_id
from memrig.leaderboard.model import Board
from memrig.leaderboard.schema import board_schema
from memrig.leaderboard.sheet import sheet
from memrig.leaderboard.site import BoardOptions, Built, build_board
from memrig.model.canonical import canonical_json, digest_file
from memrig.submission.keys import ephemeral_key
from memrig.submission.verify import Opened, opened
from support.boards import Submitted
from support.command import memrig
from support.pages import Page, words

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def built(archives: Submitted, tmp_path_factory: pytest.TempPathFactory) -> Built:
    return build_board(archives.folder, tmp_path_factory.mktemp("built") / "site")


def entry_of(board: Board, archive: str):
    return next(entry for entry in board.entries if entry.archive == archive)


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_every_archive_that_verifies_is_listed(built: Built) -> None:
    """Recomputed, with each of its runs."""
    assert len(built.board.entries) == 3
    assert {entry.tier for entry in built.board.entries} == {"recomputed"}
    assert len(entry_of(built.board, "first.memrig").runs) == 2


def test_every_link_leads_somewhere(built: Built) -> None:
    """Within the site, to a file and an id that are there; and nothing else but the web."""
    ids: dict[Path, set[str]] = {}
    links: list[tuple[Path, str]] = []
    for path in sorted(built.folder.rglob("*.html")):
        page = Page(path.read_text("utf-8"))
        ids[path.resolve()] = {e.attributes["id"] for e in page.elements if "id" in e.attributes}
        links += [(path, e.attributes["href"]) for e in page.all("a") if "href" in e.attributes]
    assert len(links) > 300
    for path, href in links:
        if href.startswith(("https://", "http://")):
            continue
        target, _, fragment = href.partition("#")
        found = (path.parent / target).resolve() if target else path.resolve()
        assert found.is_file(), f"{path}: {href}"
        assert not fragment or fragment in ids[found], f"{path}: {href}"


def test_a_page_is_reached_by_its_content(built: Built) -> None:
    """Its address is made of manifest and key, so that it stays when others come and go."""
    for entry in built.board.entries:
        assert entry.id == entry_id(entry.manifest_digest, entry.key)
        assert (built.folder / "s" / entry.id / "index.html").is_file()


def test_every_question_has_its_place(built: Built) -> None:
    """On pages of fifty, each with an address of its own."""
    entry = entry_of(built.board, "second.memrig")
    folder = built.folder / "s" / entry.id / "1"
    pages = [Page((folder / f"questions-{n}.html").read_text("utf-8")) for n in (1, 2, 3)]
    shown = [e.attributes["id"] for page in pages for e in page.all("details")]
    assert shown == [f"q-{n}" for n in range(1, 145)]
    assert not (folder / "questions-4.html").exists()


def test_a_question_shows_what_was_found_and_should_have_been(built: Built) -> None:
    """With its gold, since the data ship with memrig."""
    entry = entry_of(built.board, "second.memrig")
    page = Page((built.folder / "s" / entry.id / "1" / "questions-1.html").read_text("utf-8"))
    text = words(page.first("details").text)
    for head in ("Gold answer", "What should have been found", "What was retrieved", "✓ evidence"):
        assert head in text


def test_any_two_of_a_table_are_compared(built: Built) -> None:
    """Each pair has a page with paired statistics, and the table's page leads to it."""
    pairs = [p for p in (built.folder / "compare").iterdir() if not p.name.startswith("table-")]
    assert len(pairs) == 3  # of three rows that searched; the one that read stands alone
    text = words(Page(pairs[0].read_text("utf-8")).first("main").text)
    assert "p Holm" in text


def test_who_holds_another_ones_transcripts_is_told(built: Built) -> None:
    """Both ways: nobody can say who copied."""
    second, third = (entry_of(built.board, f"{name}.memrig") for name in ("second", "third"))
    assert (second.shared, third.shared) == ((third.id,), (second.id,))
    assert entry_of(built.board, "first.memrig").shared == ()


def test_board_json_is_the_board(built: Built) -> None:
    """As its published schema says."""
    text = (built.folder / "board.json").read_text("utf-8")
    assert Board.model_validate_json(text) == built.board
    assert set(json.loads(text)) == set(json.loads(board_schema())["properties"])
    assert (built.folder / "board.csv").read_text("utf-8") == sheet(built.board)


def test_nothing_of_this_machine_is_in_it(built: Built, archives: Submitted) -> None:
    """Neither where archives lay nor where they were unpacked."""
    for path, data in contents(built.folder).items():
        assert str(archives.folder).encode() not in data, path
        assert b"/tmp/" not in data, path


def test_the_same_archives_give_the_same_site(built: Built, archives: Submitted, tmp_path) -> None:
    """Byte for byte; and a site that is there is replaced."""
    again = tmp_path / "site"
    build_board(archives.folder, again)
    build_board(archives.folder, again)
    assert contents(again) == contents(built.folder)


def test_fewer_pairs_may_be_compared(archives: Submitted, tmp_path) -> None:
    """Neighbours first; the page says how many were left out."""
    site = build_board(archives.folder, tmp_path / "site", BoardOptions(most_pairs=1)).folder
    (page,) = (p for p in (site / "compare").iterdir() if p.name.startswith("table-"))
    assert "2 more were left out" in words(Page(page.read_text("utf-8")).first("header").text)
    assert len(list((site / "compare").iterdir())) == 2


@pytest.fixture
def with_forgery(archives: Submitted, tmp_path) -> Path:
    folder = tmp_path / "submissions"
    shutil.copytree(archives.folder, folder)
    for name in ("second", "third"):
        (folder / f"{name}.memrig").unlink()
    shutil.copy(archives.forgery, folder / "forged.memrig")
    return folder


def test_a_forgery_stops_the_build(with_forgery: Path, tmp_path) -> None:
    """And names the check that caught it; nothing is written."""
    with pytest.raises(VerificationError, match=r"grades\.") as caught:
        build_board(with_forgery, tmp_path / "site")
    assert caught.value.where == "forged.memrig"
    assert caught.value.exit_code == 6
    assert sorted(path.name for path in tmp_path.iterdir()) == ["submissions"]


def test_a_forgery_may_be_named_instead(with_forgery: Path, tmp_path) -> None:
    """It is refused on the page, and has no row."""
    options = BoardOptions(skip_refused=True)
    board = build_board(with_forgery, tmp_path / "site", options).board
    assert [entry.archive for entry in board.entries] == ["first.memrig"]
    (refused,) = board.refused
    assert refused.archive == "forged.memrig"
    assert any(reason.startswith("grades.") for reason in refused.reasons)


@pytest.mark.parametrize("skip", [False, True])
def test_the_same_archive_twice_is_listed_once(archives: Submitted, tmp_path, skip: bool) -> None:
    """Under its first name, and a copy stops no build: whoever made it changed nothing."""
    folder = tmp_path / "submissions"
    folder.mkdir()
    for name in ("a", "b"):
        shutil.copy(archives.folder / "second.memrig", folder / f"{name}.memrig")
    board = build_board(folder, tmp_path / "site", BoardOptions(skip_refused=skip)).board
    assert [entry.archive for entry in board.entries] == ["a.memrig"]
    assert "the same submission as a.memrig" in board.refused[0].reasons[0]
    assert board.refused[0].archive_sha256 == digest_file(folder / "b.memrig")


def test_data_that_is_not_here_stops_the_build_and_names_the_archive(
    archives: Submitted, tmp_path
) -> None:
    """Or is told on the page: nothing was found out about that archive."""

    def opener(path: Path, data: Sequence[Path]) -> AbstractContextManager[Opened]:
        if path.name == "second.memrig":
            raise MissingDataError("sha256:1 is not on this machine", where="suite x")
        return opened(path, data)

    with pytest.raises(MissingDataError) as caught:
        build_board(archives.folder, tmp_path / "site", opener=opener)
    assert caught.value.where == "second.memrig: suite x"
    options = BoardOptions(skip_refused=True)
    board = build_board(archives.folder, tmp_path / "site", options, opener=opener).board
    assert len(board.entries) == 2
    assert board.refused[0].reasons == ("cannot be verified here: sha256:1 is not on this machine",)


@pytest.mark.parametrize("title", ["", "  ", "a\nb", "\x1b[31m"])
def test_a_title_is_a_line_of_text(archives: Submitted, tmp_path, title: str) -> None:
    """It is the page's first heading."""
    with pytest.raises(UsageError, match="cannot be a title"):
        build_board(archives.folder, tmp_path / "site", BoardOptions(title=title))


def test_an_organisers_rerun_lifts_its_submission(archives: Submitted, built, tmp_path) -> None:
    """The one whose manifest it names; the page says who signed it."""
    folder, key = tmp_path / "submissions", ephemeral_key()
    folder.mkdir()
    shutil.copy(archives.folder / "second.memrig", folder)
    digest = entry_of(built.board, "second.memrig").manifest_digest
    audit = {"manifest_digest": digest, "passed": True, "summary": "5 of 5 cells agree"}
    audit["fresh_seeds"] = True
    signature = key.sign(canonical_json(audit)).model_dump()
    record = {"format": "memrig.audit/1", "audit": audit, "signature": signature}
    (folder / "second.audit.json").write_text(json.dumps(record), "utf-8")
    options = BoardOptions(organisers=(key.public,))
    found = build_board(folder, tmp_path / "site", options)
    (entry,) = found.board.entries
    assert entry.tier == "organiser-rerun"
    page = Page((found.folder / "s" / entry.id / "index.html").read_text("utf-8"))
    assert "5 of 5 cells agree" in words(page.first("main").text)


def test_what_is_no_site_is_not_overwritten(archives: Submitted, tmp_path) -> None:
    """A folder of somebody's files stays as it is."""
    (tmp_path / "mine").write_text("x")
    with pytest.raises(DataError, match="nothing in it is overwritten"):
        build_board(archives.folder, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_what_somebody_put_into_a_site_is_not_removed(archives: Submitted, tmp_path) -> None:
    """A site that is kept under git, say; without it, it is built again in its place."""
    site = tmp_path / "site"
    build_board(archives.folder, site, BoardOptions(most_pairs=0))
    (site / "CNAME").write_text("board.example")
    with pytest.raises(DataError, match="CNAME"):
        build_board(archives.folder, site)
    (site / "CNAME").unlink()
    assert build_board(archives.folder, site, BoardOptions(most_pairs=0)).folder == site


def test_a_folder_without_submissions_is_refused(tmp_path) -> None:
    """An empty site would be taken for an empty leaderboard."""
    with pytest.raises(UsageError, match="holds no submission"):
        build_board(tmp_path, tmp_path / "site")
    with pytest.raises(UsageError, match="no such folder"):
        build_board(tmp_path / "nowhere", tmp_path / "site")


def test_the_command_builds_a_site(archives: Submitted, tmp_path) -> None:
    """And says where; a folder with a forgery ends with exit code 6."""
    done = memrig(
        "leaderboard", "build", archives.folder, "--out", "site", "--pairs", 0, cwd=tmp_path
    )
    assert done.code == 0, done.err
    assert done.out == "site/index.html  3 submissions\n"
    assert not (tmp_path / "site" / "compare").exists()
    shutil.copy(archives.forgery, tmp_path)
    failed = memrig("leaderboard", "build", ".", "--out", "other", cwd=tmp_path)
    assert failed.code == 6
    assert "forged.memrig" in failed.err
