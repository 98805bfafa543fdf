"""A profile, in what a run differs from one, and what all suites of one came to."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.text import Text

from memrig.errors import MemrigError
from memrig.model.trial import Budget
from memrig.report.model import Report
from memrig.report.standing import standing_of
from memrig.report.terminal.base import (
    BAD,
    DIM,
    GOOD,
    WARN,
    facts,
    make_console,
    new_table,
    title,
    words,
)
from memrig.report.units import bounds, count, metric_head, percent, plural, seconds, size
from memrig.runs.profiles import TIERS, Profile, ProfileSuite


def print_profile(profile: Profile, digest: str, console: Console | None = None) -> None:
    """Prints a profile: its hash, its pod, and its suites by tier."""
    console = console or make_console()
    console.print(title(profile.name))
    console.print(words(profile.title))
    limits = f"{profile.pod}; at most {profile.cpus:g} CPUs and {size(profile.memory_bytes)} in all"
    facts(console, [("hash", words(digest)), ("pod", words(limits))])
    for tier in TIERS:
        for suite in profile.suites_of(tier):
            console.print()
            console.print(title(suite.suite, f"tier {tier}"))
            facts(console, [(name, words(text)) for name, text in _rows(suite)])
    console.print()
    console.print(words(f"every value: memrig profiles show {profile.name} --json", DIM))


def _rows(suite: ProfileSuite) -> list[tuple[str, str]]:
    rows = [
        ("protocol", f"{suite.grader}, mode {suite.mode}, top {suite.top_k}"),
        ("data", f"{suite.data.name}  {suite.data.sha256[:19]}…"),
        ("seeds", ", ".join(map(str, suite.seeds))),
    ]
    options = ", ".join(f"{name} {value}" for name, value in suite.options.items())
    rows += [("options", options)] if options else []
    if suite.answer and suite.answer.model:
        rows.append(("reader", f"{suite.answer.model}, prompt {suite.answer.prompt}"))
    rows += [("judge", suite.judge)] if suite.judge else []
    rows.append(("budget", _budget(suite.budget)))
    return rows


def _budget(budget: Budget) -> str:
    if budget.preset:
        return budget.preset
    return f"{seconds(budget.wall_time_s)} and {size(budget.payload_bytes)} a question"


def print_differences(name: str, found: Sequence[str], console: Console | None = None) -> None:
    """Prints the division of a run, and what makes it open."""
    console = console or make_console()
    if not found:
        console.print(words(f"closed division: {name} to the letter", GOOD))
        return
    console.print(words(f"open division: {plural(len(found), 'difference')} from {name}", WARN))
    for line in found:
        console.print(words(line))


@dataclass(frozen=True, slots=True)
class SuiteRun:
    """What became of one suite of a profile; `report` is None where nothing could be graded."""

    suite: str
    report: Report | None
    folder: Path | None
    error: MemrigError | None = None


def print_suite_head(
    suite: str, profile: str, number: int, several: int, console: Console | None = None
) -> None:
    """Says on stderr which suite of a profile comes now."""
    console = console or make_console(stderr=True)
    console.print()
    console.print(title(f"{number} of {several}: {suite}", profile))


def print_suite_runs(
    profile: str, runs: Sequence[SuiteRun], console: Console | None = None
) -> None:
    """Prints what all suites of a profile came to, and how to pack them into one archive."""
    console = console or make_console()
    console.print()
    adapter = next((run.report.adapter for run in runs if run.report), None)
    console.print(title(adapter.name if adapter else profile, profile, "all suites"))
    table = new_table("suite", "division", "score", "%", "95 %", "questions", right=(3, 4, 5))
    for run in runs:
        table.add_row(words(run.suite), *_cells(run))
    console.print(table)
    folders = [run.folder for run in runs if run.folder]
    if len(folders) == len(runs):
        name = f"{adapter.name.replace(':', '-')}.memrig" if adapter else "NAME.memrig"
        command = " ".join(["memrig submission pack", *map(str, folders), "--out", name])
        console.print(Text(f"\npack  {command}"), soft_wrap=True)


def _cells(run: SuiteRun) -> Iterator[Text]:
    """Division, score, its value and interval, and questions of a suite."""
    report = run.report
    if report is None:
        yield words("failed", BAD)
        return
    closed = report.profile is not None and report.profile.division == "closed"
    state = ("closed", GOOD) if closed else ("open", WARN)
    if not report.complete or run.error:
        state = ("failed" if report.complete else "INCOMPLETE", BAD)
    yield words(*state)
    yield from _score(report)
    yield Text(f"{count(report.questions.settled)} of {count(report.questions.planned)}")


def _score(report: Report) -> Iterator[Text]:
    """As the leaderboard places it."""
    found = standing_of(report)
    yield words(metric_head(found.metric))
    yield Text(percent(found.value))
    yield Text(bounds(found.low, found.high), DIM)
