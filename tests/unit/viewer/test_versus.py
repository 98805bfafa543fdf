"""Two runs side by side."""

import pytest

from memrig.report.compare import compare_runs
from memrig.report.compare_html import render_comparison
from memrig.report.compare_runs import load_run
from memrig.report.html import Crumb
from memrig.viewer import Shelf
from support.comparisons import STRONG, WEAK, saved_run
from support.viewed import client, contents, made_run


@pytest.fixture
def runs(tmp_path):
    saved_run(tmp_path / "weak", WEAK)
    saved_run(tmp_path / "strong", STRONG)
    return tmp_path


async def test_it_is_the_comparison_that_the_command_makes(runs):
    """The same statistics, the same page, with a way back."""
    shelf = Shelf(runs)
    directories = [shelf.run("weak"), shelf.run("strong")]
    loaded = [load_run(found.root, shelf.report(found)) for found in directories]
    crumbs = [Crumb("all runs", "/"), Crumb("weak", "/runs/weak")]
    crumbs += [Crumb("compare", "/compare/weak"), Crumb("strong", "/runs/strong")]
    page = (await client(runs).get("/compare/weak/strong")).text
    assert page == render_comparison(compare_runs(loaded), crumbs)


async def test_a_run_that_was_not_graded_is_not_graded_here(runs):
    """That would write into its folder; what would is named."""
    made_run(runs / "new")
    before = contents(runs)
    reply = await client(runs).get("/compare/weak/new")
    assert reply.status == 404
    assert "memrig score" in reply.text
    assert contents(runs) == before


async def test_only_runs_that_ask_the_same_are_offered(runs):
    """The others are counted."""
    saved_run(runs / "other", WEAK, suite="locomo")
    made_run(runs / "ungraded")
    page = (await client(runs).get("/compare/weak")).text
    assert 'href="/compare/weak/strong"' in page
    assert "/compare/weak/other" not in page
    assert "2 other runs ask something else, or were not graded" in page


async def test_a_run_that_cannot_be_read_hides_no_other(runs):
    """The list of runs says what is wrong with it."""
    for name in ("torn", "odd"):
        saved_run(runs / name, WEAK)
        (runs / name / "report.json").unlink()
    (runs / "torn" / "report.json").write_text("{", "utf-8")
    (runs / "odd" / "report.json").mkdir()
    reply = await client(runs).get("/compare/weak")
    assert reply.status == 200
    assert 'href="/compare/weak/strong"' in reply.text
    assert "/compare/weak/torn" not in reply.text


async def test_a_run_that_was_graded_anew_is_compared_anew(runs):
    """What is kept is of those very files."""
    asker = client(runs)
    first = (await asker.get("/compare/weak/strong")).text
    assert (await asker.get("/compare/weak/strong")).text == first
    saved_run(runs / "strong", WEAK)
    assert (await asker.get("/compare/weak/strong")).text != first


async def test_runs_that_cannot_be_compared_say_why(runs):
    """As the command would."""
    saved_run(runs / "other", WEAK, suite="locomo")
    reply = await client(runs).get("/compare/weak/other")
    assert reply.status == 404
    assert "suite" in reply.text
