"""Profiles in the terminal: what one holds, and what all of its suites came to."""

import io
from collections.abc import Callable
from pathlib import Path

from rich.console import Console

from memrig.errors import IncompleteError
from memrig.report.console import (
    SuiteRun,
    make_console,
    print_differences,
    print_profile,
    print_report,
    print_suite_runs,
)
from memrig.report.html import render_html
from memrig.report.model import ProfileSummary, Report
from memrig.runs.profiles import load_profile
from support.reports import incomplete_report, sample_report

OFFICIAL = load_profile("official-v1")


def printed(show: Callable[[Console], None], width: int = 80) -> str:
    console = make_console(file=io.StringIO())
    console.width = width
    show(console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def under(report: Report, *differences: str) -> Report:
    """The report as one of a run under the profile."""
    profile = ProfileSummary(
        name="official-v1",
        tier="no-key",
        digest="sha256:0",
        division="open" if differences else "closed",
        differences=differences,
    )
    return report.model_copy(update={"profile": profile})


def row_of(text: str, name: str) -> str:
    return next(line for line in text.splitlines() if line.startswith(name))


def test_a_profile_is_shown_by_suite_with_its_hash() -> None:
    """Every suite with its tier, grader, data, seeds, and whom it asks; 80 columns are enough."""
    text = printed(lambda console: print_profile(OFFICIAL, "sha256:abc", console))
    assert "sha256:abc" in text
    for suite in OFFICIAL.suites:
        assert f"{suite.suite} · tier {suite.tier}" in text
        assert suite.grader in text
    assert "42, 123, 456, 789" in text
    assert max(map(len, text.splitlines())) <= 80


def test_the_division_of_a_run_is_told_with_what_makes_it_open() -> None:
    """One line a difference."""
    text = printed(lambda console: print_differences("official-v1", ["top_k: 10 → 5"], console))
    assert text == "open division: 1 difference from official-v1\ntop_k: 10 → 5\n"
    text = printed(lambda console: print_differences("official-v1", [], console))
    assert text == "closed division: official-v1 to the letter\n"


def test_a_closed_run_says_so_in_its_summary_and_on_its_page() -> None:
    """It is no warning; a run without a profile says nothing."""
    said = "closed division: official-v1, no-key"
    closed = under(sample_report())
    text = printed(lambda console: print_report(closed, console=console))
    assert row_of(text, "profile").split(maxsplit=1)[1] == said
    assert f'<span class="badge good">{said}</span>' in render_html(closed)
    for other in (sample_report(), under(sample_report(), "top_k: 10 → 5")):
        assert "closed division" not in printed(lambda c, r=other: print_report(r, console=c))
        assert "closed division" not in render_html(other)


def test_all_suites_stand_in_one_table_and_can_be_packed() -> None:
    """Division, headline score with its interval, questions; then the command for all folders."""
    runs = [
        SuiteRun("practical", under(sample_report()), Path("o/practical")),
        SuiteRun("longhorizon", under(sample_report(), "top_k: 10 → 5"), Path("o/longhorizon")),
    ]
    text = printed(lambda console: print_suite_runs("official-v1", runs, console))
    value = sample_report().value("recall_any@10").value
    assert row_of(text, "practical").split()[1:4] == ["closed", "R@10", f"{100 * value:.1f}"]
    assert row_of(text, "longhorizon").split()[1] == "open"
    pack = row_of(text, "pack")
    assert "memrig submission pack o/practical o/longhorizon --out " in pack
    table = [line for line in text.splitlines() if not line.startswith("pack")]
    assert max(map(len, table)) <= 80


def test_a_suite_that_is_not_whole_is_seen_and_nothing_is_to_be_packed() -> None:
    """Whether some of it could be graded or nothing."""
    error = IncompleteError("no pod was ready")
    runs = [
        SuiteRun("practical", incomplete_report(), None, error),
        SuiteRun("longhorizon", None, None, error),
        SuiteRun("longitudinal", under(sample_report()), Path("o/longitudinal")),
    ]
    text = printed(lambda console: print_suite_runs("official-v1", runs, console))
    assert row_of(text, "practical").split()[1] == "INCOMPLETE"
    assert row_of(text, "longhorizon").split()[1] == "failed"
    assert "pack" not in text
