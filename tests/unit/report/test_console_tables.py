"""The tables of the other commands."""

import io
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from memrig.conformance.model import CheckResult, Subject, conclude
from memrig.errors import AdapterCrashedError, PrerequisiteError
from memrig.pod.check import Check
from memrig.pod.images.types import BuiltImage
from memrig.pod.reaper import CleanReport, Orphan
from memrig.report.console import (
    make_console,
    print_checks,
    print_clean,
    print_conformance,
    print_datasets,
    print_error,
    print_images,
    print_plan,
    print_problems,
    print_suites,
)
from memrig.suites.base import load_suite
from memrig.suites.datasets import DATASETS
from memrig.suites.problems import Problem
from support.reports import HOSTILE
from support.shown import shown_plan


def printed(show: Callable[[Console], None], width: int = 80) -> str:
    console = make_console(file=io.StringIO())
    console.width = width
    show(console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def row_of(text: str, name: str) -> list[str]:
    return next(line.split() for line in text.splitlines() if name in line)


def test_checks_say_what_is_missing_and_how_to_mend_it() -> None:
    """Each check is ok, a gap or a note; a fix stands only where something is to mend."""
    checks = (
        Check("disk", True, "77 GiB free", "never shown"),
        Check("Docker daemon", False, "nobody answers", "start it"),
        Check("data: locomo", False, "not here", "fetch it", needed=False),
    )
    text = printed(lambda console: print_checks(checks, console))
    assert row_of(text, "disk")[0] == "ok"
    assert row_of(text, "Docker daemon")[0] == "gap"
    assert row_of(text, "data: locomo")[0] == "note"
    assert "fix: start it" in text
    assert "never shown" not in text


def test_suites_name_their_protocols_and_label_sets() -> None:
    """What `memrig run` takes for each suite."""
    text = printed(lambda console: print_suites([load_suite("locomo")], console))
    assert "locomo-any" in text
    assert "category labels" in text


def test_a_suites_datasets_are_listed_where_it_has_several():
    """What `--variant` takes."""
    listed = printed(lambda console: print_suites([load_suite("longitudinal")], console))
    assert re.search(r"variants +40, 120", listed)
    assert "variants" not in printed(lambda c: print_suites([load_suite("locomo")], c))


def test_a_suite_that_makes_worlds_says_of_which_seeds():
    """And which sets of questions it has; others say nothing of either."""
    listed = printed(lambda console: print_suites([load_suite("longhorizon")], console))
    assert re.search(r"worlds of seeds +42, 123, 456, 789", listed)
    assert re.search(r"question sets +standard, holdout", listed)
    assert "seeds" not in printed(lambda c: print_suites([load_suite("locomo")], c))


def test_datasets_say_whether_they_are_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Size, licence, and the command that fetches what is not here."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    text = printed(lambda console: print_datasets(DATASETS.values(), console))
    assert row_of(text, "locomo") == (
        ["locomo", "2.7", "MiB", "CC", "BY-NC", "4.0", "no:", "memrig", "data", "fetch", "locomo"]
    )


def test_problems_are_counted_by_severity() -> None:
    """Where, what, how to mend it, and how many of each kind."""
    problems = [
        Problem("error", "q1", "names message 'x', which does not exist", "name another"),
        Problem("warning", "q2", "keyword 'y' is in no evidence", ""),
        Problem("warning", "q3", "likewise", ""),
    ]
    text = printed(lambda console: print_problems(problems, "set.json", console))
    assert row_of(text, "q1")[0] == "error"
    assert "fix: name another" in text
    assert text.endswith("set.json: 1 error, 2 warnings\n")


def test_a_file_without_a_problem_says_so() -> None:
    """No empty table."""
    assert printed(lambda c: print_problems([], "set.json", c)) == "set.json: no defect found.\n"


def test_clean_says_what_went_and_what_stayed() -> None:
    """Removed things with their reason, and what could not be removed or not be looked for."""
    orphan = Orphan("container", "memrig-ab12", "locomo-bm25", "conv-26", "its owner is gone")
    report = CleanReport((orphan,), ("volume v1: in use",), "no daemon answers")
    text = printed(lambda console: print_clean(report, console))
    assert row_of(text, "memrig-ab12")[:3] == ["container", "memrig-ab12", "locomo-bm25"]
    assert "Removed 1 item." in text
    assert "! Could not be removed: volume v1: in use" in text
    assert "! Containers and volumes were not looked for: no daemon answers" in text


def test_clean_with_nothing_to_do_is_one_sentence() -> None:
    """The common case is short."""
    assert printed(lambda c: print_clean(CleanReport(), c)) == "Nothing was left behind.\n"


def test_an_image_names_a_digest_that_can_be_copied() -> None:
    """The digest is never wrapped, however narrow the terminal."""
    digest = "sha256:" + "ab" * 32
    image = BuiltImage(
        "bm25", "memrig/bm25:0123", digest, "sha256:" + "cd" * 32, True, 300_000_000, 12.5
    )
    text = printed(lambda console: print_images([image], console), width=40)
    assert f"digest  {digest}\n" in text
    assert "built in 12.5 s" in text


def test_a_plan_counts_what_it_will_ask(tmp_path: Path) -> None:
    """Adapter, pod and why, trials, calls, and the scenarios with their sizes."""
    plan = shown_plan(tmp_path / "run", scenarios=14)
    text = printed(lambda console: print_plan(plan, console))
    assert "Process pods, as the test wants." in text
    assert "56 episodes into 14 memories, 56 searches for the top 3" in text
    assert row_of(text, "small-3") == ["small-3", "4", "4"]
    assert row_of(text, "and 2 more") == ["and", "2", "more", "8", "8"]
    assert row_of(text, "in all") == ["in", "all", "56", "56"]
    assert "will not run again" not in text


def test_a_resumed_plan_says_what_is_done(tmp_path: Path) -> None:
    """A dry run on a run's folder tells what is left."""
    plan = shown_plan(tmp_path / "run", finished=1, resumed=True)
    assert "1, which will not run again" in printed(lambda console: print_plan(plan, console))


def conformance(**changes: str) -> str:
    fields = {
        "id": "search.limit",
        "title": "Search keeps to its limit",
        "reason": "more would be free ranks",
        "spec": "docs/protocol.md, Search",
        "status": "failed",
        "message": "too many hits",
        "expected": "at most 3",
        "got": "7",
    }
    result = CheckResult.model_validate({**fields, **changes, "seconds": 0.1})
    subject = Subject(
        name="bm25",
        version="1",
        pod="process",
        images={},
        endpoint=None,
        declared_name="bm25",
        declared_version="1",
        contract_version="1.0",
    )
    report = conclude("0.1.0", subject, (result,), ("reset.empties",))
    return printed(lambda console: print_conformance(report, console))


def test_a_failed_check_says_expected_and_got_and_why() -> None:
    """A vendor sees what to change, and which rule says so."""
    text = conformance()
    for part in ("FAILED", "expected: at most 3", "got: 7", "why: more would", "rule: docs/"):
        assert part in text
    assert "The adapter does not conform: 1 failed." in text
    assert "1 check not chosen." in text


def test_a_passed_check_is_one_line() -> None:
    """No explanation where none is needed."""
    text = conformance(status="passed", message="", expected="", got="")
    assert " ".join(row_of(text, "search.limit")) == "ok search.limit Search keeps to its limit"
    assert "why:" not in text
    assert "The adapter conforms: 1 passed." in text


def test_an_error_says_where_what_and_the_next_step() -> None:
    """One line for what happened, one for what to do."""
    error = PrerequisiteError("no daemon answers", where="--pod docker", fix="start it")
    text = printed(lambda console: print_error(error, console))
    assert text == "error: --pod docker: no daemon answers\n  fix: start it\n"


def test_a_dead_adapters_last_lines_are_shown_and_inert() -> None:
    """The log's end helps, its escape sequences do not."""
    error = AdapterCrashedError("exit", "it ended", log_tail=f"first\n{HOSTILE}\nlast", where="t1")
    text = printed(lambda console: print_error(error, console))
    assert "  | first\n" in text
    assert text.endswith("  | last\n")
    assert [c for c in text if c != "\n" and not c.isprintable()] == []
