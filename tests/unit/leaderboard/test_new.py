"""The repository of a new leaderboard: whole, and its scripts do what its README says."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from memrig._version import __version__
from memrig.errors import DataError, UsageError
from memrig.leaderboard.new import new_leaderboard

SUBMISSION = "submissions/new.memrig"


@pytest.fixture
def made(tmp_path: Path) -> Path:
    return new_leaderboard(tmp_path / "board", "Our board").folder


def test_it_has_workflows_scripts_and_how_to_submit(made: Path) -> None:
    """Scripts can be run; nothing of the template is left unfilled."""
    files = {p.relative_to(made).as_posix(): p for p in made.rglob("*") if p.is_file()}
    assert {
        ".github/workflows/verify.yml", ".github/workflows/site.yml", "verify-new.sh",
        "build-site.sh", "organisers.txt", "requirements.txt", "README.md",
        "submissions/README.md",
    } == set(files)  # fmt: skip
    assert os.access(files["verify-new.sh"], os.X_OK)
    assert not any("@TITLE@" in p.read_text("utf-8") for p in files.values())
    assert f"memrig=={__version__}" in files["requirements.txt"].read_text("utf-8")


def test_a_check_of_strangers_files_has_no_rights(made: Path) -> None:
    """A pull request runs with its own changes: without secrets, and it may only read."""
    workflow = yaml.safe_load((made / ".github/workflows/verify.yml").read_text("utf-8"))
    assert list(workflow[True]) == ["pull_request"]  # `on` is a truth value to YAML
    assert workflow["permissions"] == {"contents": "read"}
    (job,) = workflow["jobs"].values()
    assert "permissions" not in job
    assert "secrets." not in str(workflow)
    assert job["steps"][0]["with"]["persist-credentials"] is False


def test_only_publishing_may_publish(made: Path) -> None:
    """What verifies strangers' archives has no right to write pages."""
    workflow = yaml.safe_load((made / ".github/workflows/site.yml").read_text("utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    assert "permissions" not in workflow["jobs"]["build"]
    assert workflow["jobs"]["publish"]["permissions"] == {"pages": "write", "id-token": "write"}


def test_nothing_is_overwritten(made: Path) -> None:
    """A folder with files stays as it is."""
    with pytest.raises(DataError, match="nothing in it is overwritten"):
        new_leaderboard(made, "Another")


@pytest.mark.parametrize("title", ["", "$(rm -rf /)", 'a"b', "a`b`", "a\nb", "a\\b"])
def test_a_title_cannot_be_a_command(tmp_path: Path, title: str) -> None:
    """It stands in a script."""
    with pytest.raises(UsageError, match="cannot be a title"):
        new_leaderboard(tmp_path / "board", title)


@pytest.fixture
def repository(made: Path, tmp_path: Path) -> Path:
    """The folder under git with one listed submission, and a `memrig` that takes what is good."""
    program = tmp_path / "bin" / "memrig"
    program.parent.mkdir()
    program.write_text(
        f"#!{sys.executable}\nimport pathlib, sys\n"
        'assert sys.argv[1:3] == ["submission", "verify"], sys.argv\n'
        'sys.exit(0 if pathlib.Path(sys.argv[3]).read_text() == "good" else 6)\n'
    )
    program.chmod(0o755)
    (made / "submissions" / "listed.memrig").write_text("good")
    git(made, "init", "-q", "-b", "main")
    commit(made)
    git(made, "checkout", "-q", "-b", "proposal")
    return made


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


def commit(folder: Path) -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "x")


def verified(folder: Path) -> subprocess.CompletedProcess[str]:
    """What the check of a pull request comes to."""
    commit(folder)
    path = f"{folder.parent / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["./verify-new.sh", "main"], cwd=folder, env=os.environ | {"PATH": path},
        text=True, capture_output=True, check=False,
    )  # fmt: skip


def test_a_good_submission_passes(repository: Path) -> None:
    """Alone in its pull request."""
    (repository / SUBMISSION).write_text("good")
    done = verified(repository)
    assert done.returncode == 0, done.stderr
    assert SUBMISSION in done.stdout


def test_one_that_does_not_verify_fails(repository: Path) -> None:
    """With the exit code of the verification, though others are good."""
    (repository / SUBMISSION).write_text("bad")
    (repository / "submissions" / "other.memrig").write_text("good")
    assert verified(repository).returncode == 6


def test_a_listed_submission_stays_as_it_is(repository: Path) -> None:
    """Its page has a permanent address: changing and removing it fail."""
    (repository / "submissions" / "listed.memrig").write_text("better")
    assert "must stay as it is" in verified(repository).stderr
    (repository / "submissions" / "listed.memrig").unlink()
    assert verified(repository).returncode == 6


def test_a_submission_comes_alone(repository: Path) -> None:
    """Nobody slips a change of the scripts in beside it."""
    (repository / SUBMISSION).write_text("good")
    (repository / "organisers.txt").write_text("0" * 64)
    done = verified(repository)
    assert done.returncode == 6
    assert "organisers.txt" in done.stderr


def test_other_changes_are_let_through(repository: Path) -> None:
    """People look at them, not this check."""
    (repository / "README.md").write_text("x")
    assert verified(repository).returncode == 0


def test_odd_names_are_only_names(repository: Path) -> None:
    """Spaces, quotes, line ends, a dash in front."""
    for name in ("a b", "-rf", "$(touch owned)", "x\ny", "'q'"):
        (repository / "submissions" / f"{name}.memrig").write_text("good")
    assert verified(repository).returncode == 0
    assert not (repository / "owned").exists()
