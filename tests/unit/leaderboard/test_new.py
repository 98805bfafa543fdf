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
        'sys.exit({"good": 0, "data": 3}.get(pathlib.Path(sys.argv[3]).read_text()[:4], 6))\n'
    )
    program.chmod(0o755)
    (made / "submissions" / "listed.memrig").write_text("good, and listed")
    (made / "submissions" / "listed.audit.json").write_text("disagrees")
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
    (repository / "submissions" / "z.memrig").write_text("data is not here")
    assert verified(repository).returncode == 6


def test_a_listed_submission_stays_as_it_is(repository: Path) -> None:
    """Its page has a permanent address: changing and removing it fail."""
    (repository / "submissions" / "listed.memrig").write_text("better")
    assert "must stay as it is" in verified(repository).stderr
    (repository / "submissions" / "listed.memrig").unlink()
    assert verified(repository).returncode == 6


@pytest.mark.parametrize("said", ["agrees", ""])
def test_an_audit_record_stays_as_it_is(repository: Path, said: str) -> None:
    """Every one counts, also one that disagrees; another may come."""
    record = repository / "submissions" / "listed.audit.json"
    (repository / "submissions" / "again.audit.json").write_text("agrees")
    assert verified(repository).returncode == 0
    record.write_text(said) if said else record.unlink()
    done = verified(repository)
    assert (done.returncode, "must stay as it is" in done.stderr) == (6, True)


def test_a_copy_of_a_listed_submission_is_refused(repository: Path) -> None:
    """By content: it would be listed once, and nobody could say for whom."""
    (repository / SUBMISSION).write_text("good, and listed")
    done = verified(repository)
    assert (done.returncode, "is a copy" in done.stderr) == (6, True)


def test_a_link_is_no_submission(repository: Path) -> None:
    """It verifies as what it leads to, which may be changed later."""
    (repository / SUBMISSION).symlink_to("listed.memrig")
    done = verified(repository)
    assert (done.returncode, "must be a plain file" in done.stderr) == (6, True)


@pytest.mark.parametrize("base", [(), ("nowhere",)])
def test_the_check_of_nothing_says_how_it_is_called(
    repository: Path, base: tuple[str, ...]
) -> None:
    """Exit code 2: nothing was verified."""
    asked = ["./verify-new.sh", *base]
    done = subprocess.run(asked, cwd=repository, text=True, capture_output=True, check=False)
    assert done.returncode == 2
    assert "BASE" in done.stderr or "nowhere" in done.stderr


KEY = "0123456789abcdef" * 4


def built(folder: Path, organisers: str) -> subprocess.CompletedProcess[str]:
    """Runs `build-site.sh` beside a `memrig` that prints what it is asked."""
    program = folder.parent / "bin" / "memrig"
    program.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    (folder / "organisers.txt").write_bytes(organisers.encode())
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["./build-site.sh", "site"], cwd=folder, env=os.environ | {"PATH": path},
        text=True, capture_output=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("text", [KEY, f"# ours\n\n{KEY} Ada\n", f"{KEY}\r\n", f"{KEY.upper()}\n"])
def test_an_organisers_key_counts_however_its_line_ends(repository: Path, text: str) -> None:
    """Without a line end, with Windows' own, in capitals, with a name behind it."""
    done = built(repository, text)
    assert done.returncode == 0, done.stderr
    words = done.stdout.splitlines()
    assert words[words.index("--organiser") + 1] == KEY


def test_a_line_that_is_no_key_is_refused(repository: Path) -> None:
    """A fingerprint, say: its records would silently count for nothing."""
    done = built(repository, f"{KEY}\n1795-030e-4f5a-835f Bob\n")
    assert done.returncode == 2
    assert "line 2" in done.stderr


def test_a_new_leaderboard_has_a_page_before_its_first_submission(made: Path) -> None:
    """Its first push publishes, and does not fail."""
    done = subprocess.run(["./build-site.sh", "site"], cwd=made, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "no submission yet" in (made / "site" / "index.html").read_text()


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
    for name in ("a b", "-rf", "$(touch owned)", "x\ny", "'q'", "[l]*"):
        (repository / "submissions" / f"{name}.memrig").write_text(f"good: {name}")
    assert verified(repository).returncode == 0
    assert not (repository / "owned").exists()
