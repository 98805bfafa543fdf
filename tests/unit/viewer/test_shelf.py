"""Which runs there are below a folder, and that no name leads out of it."""

import shutil

import pytest

import memrig
from memrig.errors import UsageError
from memrig.trial.directory import LOG
from memrig.viewer import Shelf
from support.viewed import client, made_run


def test_runs_are_found_up_to_three_folders_down(tmp_path):
    """Keys are made of the folders' names."""
    for place in ("a", "of/may/b", "one/two/three/four"):
        made_run(tmp_path / place)
    assert set(Shelf(tmp_path).runs()) == {"a", "of~may~b"}


def test_a_single_runs_folder_will_do(tmp_path):
    """It is the only one then."""
    made_run(tmp_path / "mine")
    assert set(Shelf(tmp_path / "mine").runs()) == {"mine"}


def test_nothing_below_a_run_is_a_run(tmp_path):
    """Whatever lies in its folder."""
    made_run(tmp_path / "a")
    made_run(tmp_path / "a" / "inner")
    assert set(Shelf(tmp_path).runs()) == {"a"}


def test_a_folder_that_is_not_there_is_named(tmp_path):
    """With what to give instead."""
    with pytest.raises(UsageError, match="there is no such folder") as caught:
        Shelf(tmp_path / "nowhere").runs()
    assert "nowhere" in caught.value.where


@pytest.mark.parametrize("key", ["..", "a/../..", "../secret", "%2e%2e", "", "a~..", "/etc"])
def test_no_key_leads_out_of_the_folder(tmp_path, key):
    """Keys are looked up, never joined."""
    made_run(tmp_path / "runs" / "a")
    made_run(tmp_path / "secret")
    with pytest.raises(UsageError, match="there is no run"):
        Shelf(tmp_path / "runs").run(key)


@pytest.mark.parametrize("name", ["../../secret", "..", "a/b", "", "x" * 300, "a\0b"])
def test_no_trials_name_leads_out_of_its_run(tmp_path, name):
    """A trial is called by letters, digits, _ and -."""
    made = made_run(tmp_path / "a")
    (tmp_path / "secret.json").write_text("{}", "utf-8")
    shelf = Shelf(tmp_path)
    with pytest.raises(UsageError, match="there is no trial"):
        shelf.spec(made.directory, name)


def test_a_spec_under_another_name_is_no_trial(tmp_path):
    """Its own content names it."""
    made = made_run(tmp_path / "a")
    specs = made.directory.root / "specs"
    shutil.copy(specs / f"{made.spec.trial_id}.json", specs / "other.json")
    with pytest.raises(UsageError, match="there is no trial"):
        Shelf(tmp_path).spec(made.directory, "other")


def test_a_report_is_read_again_once_it_changed(tmp_path):
    """And not before: reading it takes longer than showing it."""
    made = made_run(tmp_path / "a")
    shelf = Shelf(tmp_path)
    assert shelf.report(made.directory) is None
    memrig.score(made.directory.root)
    first = shelf.report(made.directory)
    assert first is not None
    assert shelf.report(made.directory) is first
    memrig.score(made.directory.root)
    assert shelf.report(made.directory) is not first


async def test_a_run_that_cannot_be_read_hides_no_other(tmp_path):
    """It says why, in its place in the list."""
    made_run(tmp_path / "good")
    broken = made_run(tmp_path / "broken").directory
    broken.lock_path.write_text('{"format": "memrig.lock/9"}', "utf-8")
    page = (await client(tmp_path).get("/")).text
    assert 'href="/runs/good"' in page
    assert "is not a lock of this version" in page


def test_no_link_leads_out_of_the_folder(tmp_path):
    """Nor back into it, which would show runs twice."""
    made_run(tmp_path / "elsewhere" / "secret")
    made_run(tmp_path / "runs" / "a")
    (tmp_path / "runs" / "out").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "runs" / "again").symlink_to(tmp_path / "runs" / "a")
    (tmp_path / "runs" / "round").symlink_to(tmp_path / "runs")
    assert set(Shelf(tmp_path / "runs").runs()) == {"a"}


@pytest.mark.parametrize("file", ["lock.json", "report.json", "specs/{}.json"])
async def test_a_file_that_is_none_is_named_with_what_to_do(tmp_path, file):
    """It is there, so the page is no missing one."""
    made = made_run(tmp_path / "a")
    memrig.score(made.directory.root)
    path = made.directory.root / file.format(made.spec.trial_id)
    path.write_text("[1]", "utf-8")
    reply = await client(tmp_path).get("/runs/a")
    assert reply.status == 500
    assert str(path) in reply.text
    assert "What to do" in reply.text


async def test_a_trial_can_be_looked_at_without_grades(tmp_path):
    """What happened in it does not depend on them."""
    made = made_run(tmp_path / "a")
    made.directory.grades.write_text("{", "utf-8")
    for path in ("", "/timeline?scenario=small"):
        reply = await client(tmp_path).get(f"/runs/a/trials/{made.spec.trial_id}{path}")
        assert reply.status == 200


async def test_a_log_elsewhere_is_not_shown(tmp_path):
    """Whoever made a run's folder may have put a link there."""
    made = made_run(tmp_path / "a")
    (tmp_path / "secret").write_text("hunter2", "utf-8")
    log = made.transcript.with_name(LOG)
    log.write_text("the adapter says", "utf-8")
    path = f"/runs/a/trials/{made.spec.trial_id}"
    assert "the adapter says" in (await client(tmp_path).get(path)).text
    log.unlink()
    log.symlink_to(tmp_path / "secret")
    assert "hunter2" not in (await client(tmp_path).get(path)).text


async def test_runs_can_be_narrowed_to_a_suite(tmp_path):
    """Where there is more than one."""
    made_run(tmp_path / "a")
    made_run(tmp_path / "b", suite="locomo", protocol="locomo-any")
    page = (await client(tmp_path).get("/?suite=locomo")).text
    assert 'href="/runs/b"' in page
    assert 'href="/runs/a"' not in page
    assert "no run of this suite" in (await client(tmp_path).get("/?suite=practicle")).text
