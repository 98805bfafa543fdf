"""How far a run is, and whether anybody is at work in it."""

import pytest

import memrig
from memrig.errors import UsageError
from memrig.trial.directory import hold
from memrig.viewer import Shelf
from memrig.viewer.holders import Holders
from memrig.viewer.live import Live
from support.viewed import client, contents, made_run


@pytest.fixture
def open_run(tmp_path):
    return made_run(tmp_path / "run", settled=2, sealed=False)


def progress(made):
    return Live(Shelf(made.directory.root)).progress(made.directory)


def test_a_folder_that_is_held_has_a_run_at_work(open_run):
    """Its trial too, where that is held."""
    with hold(open_run.directory.root), hold(open_run.partial):
        found = progress(open_run)
    assert (found.state, found.trials[0].state) == ("running", "running")
    assert (found.questions, found.of_questions) == (2, 4)
    assert (found.episodes, found.of_episodes) == (4, 4)


def test_a_run_that_nobody_holds_is_stopped(open_run):
    """A kill leaves its transcripts as they were."""
    found = progress(open_run)
    assert (found.state, found.trials[0].state) == ("stopped", "interrupted")


def test_a_trial_that_waits_to_be_resumed_is_not_running(open_run):
    """The run is at another one."""
    with hold(open_run.directory.root):
        found = progress(open_run)
    assert (found.state, found.trials[0].state) == ("running", "interrupted")


def test_a_sealed_run_is_done(tmp_path):
    """All its questions are settled."""
    found = progress(made_run(tmp_path / "run"))
    assert (found.state, found.sealed, found.questions) == ("done", 1, 4)


async def test_a_run_that_is_being_graded_is_followed_to_its_report(tmp_path):
    """Its folder is held until it has one; a page that stood still there would miss it."""
    made = made_run(tmp_path / "run")
    with hold(made.directory.root):
        assert progress(made).state == "running"
        page = (await client(tmp_path).get("/runs/run")).text
        assert 'http-equiv="refresh"' in page
        assert "grading goes on" in page
        memrig.score(made.directory.root)
    assert progress(made).state == "done"
    page = (await client(tmp_path).get("/runs/run")).text
    assert 'http-equiv="refresh"' not in page
    assert "Full report" in page


def test_a_run_that_was_only_planned_waits(tmp_path):
    """Nothing of it has begun."""
    made = made_run(tmp_path / "run", sealed=False)
    made.transcript.unlink()
    found = progress(made)
    assert (found.state, found.trials[0].state, found.questions) == ("stopped", "waiting", 0)


def test_a_trial_without_its_judge_is_not_done(tmp_path):
    """Its verdicts are part of the run."""
    made = made_run(tmp_path / "run", judge="judge-1")
    assert (progress(made).state, progress(made).unjudged) == ("stopped", 1)


async def test_looking_takes_no_lock(open_run):
    """A run that begins while somebody looks is not refused, and looking changes nothing."""
    before = contents(open_run.directory.root)
    asker = client(open_run.directory.root.parent)
    with hold(open_run.directory.root), hold(open_run.partial):
        for path in ("/", "/runs/run", "/runs/run/progress.json", "/runs/run/trials"):
            assert (await asker.get(path)).status == 200
    with hold(open_run.directory.root):
        pass
    assert contents(open_run.directory.root) == before


async def test_the_page_of_a_run_at_work_loads_itself_again(open_run):
    """Without a script, and it can be stopped."""
    asker = client(open_run.directory.root.parent)
    with hold(open_run.directory.root):
        going, still = (await asker.get("/runs/run")).text, await asker.get("/runs/run?still=1")
    assert '<meta http-equiv="refresh" content="3">' in going
    assert 'href="/runs/run?still=1"' in going
    assert 'http-equiv="refresh"' not in still.text
    assert 'http-equiv="refresh"' not in (await asker.get("/runs/run")).text


def test_holders_are_those_that_the_kernel_lists(tmp_path):
    """Ours among them, as long as it is held."""
    with hold(tmp_path):
        assert Holders.now().hold(tmp_path) is True
    assert Holders.now().hold(tmp_path) is False
    assert Holders.now().hold(tmp_path / "nowhere") is False


def test_where_the_kernel_tells_nothing_nothing_is_claimed(tmp_path):
    """Then what was written lately decides."""
    assert Holders.now(tmp_path / "nowhere").hold(tmp_path) is None


def test_a_lock_that_is_held_refuses_another_run(open_run):
    """The counter-check: what the viewer must not do would be seen."""
    with (
        hold(open_run.directory.root),
        pytest.raises(UsageError, match="another memrig"),
        hold(open_run.directory.root),
    ):
        pass
