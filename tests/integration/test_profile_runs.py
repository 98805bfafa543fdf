"""A whole tier of a profile on the command line: interrupted, repeated, and told in one table."""

import signal
import time
from pathlib import Path

import pytest

from memrig.report.model import Report
from support.command import ROOT, Done, memrig, start

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
SUITES = ("practical", "longhorizon", "longitudinal")
ASKED = ("run", "--profile", "official-v1", "--adapter", "baseline:oracle", "--top-k", 3)
PATIENCE_S = 300


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    """Where the runs are made."""
    return tmp_path_factory.mktemp("tier")


@pytest.fixture(scope="module")
def interrupted(home) -> Done:
    """The tier, with Ctrl-C as soon as its first suite is whole."""
    with start(*ASKED, "--out", "all", cwd=home) as process:
        until = time.monotonic() + PATIENCE_S
        while not (home / "all" / "practical" / "report.json").exists():
            assert time.monotonic() < until
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE_S)
    return Done(process.returncode, out, err)


@pytest.fixture(scope="module")
def sealed(home, interrupted) -> dict[Path, int]:
    """When the trials were sealed that the first command finished."""
    assert interrupted.code == 130
    return {path: path.stat().st_mtime_ns for path in home.glob("all/*/trials/*/outcome.json")}


@pytest.fixture(scope="module")
def repeated(home, sealed) -> Done:
    """The same command again."""
    assert len(sealed) >= 6
    return memrig(*ASKED, "--out", "all", cwd=home, timeout=PATIENCE_S)


def test_an_interrupted_tier_says_how_to_go_on(interrupted) -> None:
    """Exit code 130, and one sentence."""
    assert "Interrupted; repeat the command" in interrupted.err
    assert "1 of 3: practical" in interrupted.err


def test_the_same_command_goes_on_where_the_tier_was_interrupted(home, sealed, repeated) -> None:
    """What was finished is kept, the other suites are run, each in a folder of its own."""
    assert repeated.code == 0, repeated.err
    assert "Resuming all/practical: 6 of 6 trials finished" in repeated.err
    for path, stamp in sealed.items():
        assert path.stat().st_mtime_ns == stamp
    for suite in SUITES:
        report = (home / "all" / suite / "report.json").read_bytes()
        assert Report.model_validate_json(report).complete


def test_a_whole_tier_ends_in_one_table(repeated) -> None:
    """Every suite with its division, and the command that packs them."""
    last = repeated.out[repeated.out.index("all suites") :]
    for suite in SUITES:
        assert f"\n{suite}" in last
    assert last.count(" open ") == 3
    assert "memrig submission pack all/practical all/longhorizon all/longitudinal" in last


def test_what_was_chosen_makes_every_suite_open_by_name(home, repeated) -> None:
    """Under the profile's name, and with its value first."""
    assert repeated.code == 0
    for suite in SUITES:
        done = memrig("profiles", "diff", "official-v1", Path("all") / suite, cwd=home)
        assert "top_k: 10 → 3" in done.out


def test_a_tier_as_json_tells_which_suite_comes(home, repeated) -> None:
    """One line before each suite's own."""
    assert repeated.code == 0
    done = memrig(*ASKED, "--out", "all", "--json", cwd=home, timeout=PATIENCE_S)
    suites = [line["suite"] for line in done.lines if line["event"] == "suite"]
    assert suites == list(SUITES)
    assert [line["event"] for line in done.lines].count("report") == 3


@pytest.mark.parametrize(("given", "audits"), [((), 2), (("--no-audits",), 1)])
def test_a_default_that_is_given_is_a_choice(home, given, audits) -> None:
    """`--no-audits` is what a run without a profile does anyway; under one it takes them away."""
    asked = ("--profile", "official-v1", "--suite", "practical", "--pod", "process", "--dry-run")
    done = memrig("run", "--adapter", ROOT / "images" / "none", *asked, *given, cwd=home)
    assert done.code == 0, done.err
    assert f"of which {audits} audit" in done.out


BROKEN = """
name = "broken"
version = "1"
[image]
build = "."
[process]
command = ["false"]
"""


def test_a_suite_that_fails_does_not_keep_the_others_from_being_run(tmp_path) -> None:
    """All are tried, the table says so, and the exit code is that of a run that is not whole."""
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "adapter.toml").write_text(BROKEN)
    asked = ("--profile", "official-v1", "--adapter", "broken", "--pod", "process", "--limit", 1)
    done = memrig("run", *asked, "--out", "all", cwd=tmp_path, timeout=PATIENCE_S)
    assert done.code == 4
    assert "3 of 3: longitudinal" in done.err
    assert "3 of 3 suites are not whole" in done.err
    assert "memrig submission pack" not in done.out


def test_runs_of_a_profile_and_of_none_are_packed_and_verified_as_of_none(home, repeated) -> None:
    """In the open division, as packing says."""
    assert repeated.code == 0
    own = ("--suite", "practical", "--sample", "--out", "own")
    memrig("run", "--adapter", "baseline:oracle", *own, cwd=home, timeout=PATIENCE_S)
    memrig("key", "new", "--out", "key", cwd=home)
    packed = ("submission", "pack", "all/practical", "own", "--out", "mixed.memrig", "--key", "key")
    done = memrig(*packed, cwd=home, timeout=PATIENCE_S)
    assert done.code == 0, done.err
    assert "not every run names it" in " ".join((done.out + done.err).split())
    done = memrig("submission", "verify", "mixed.memrig", "--json", cwd=home, timeout=PATIENCE_S)
    assert done.code == 0, done.out
    assert '"division":"open"' in done.out.replace(" ", "")
