"""A profile, and in what a run differs from one."""

from collections.abc import Sequence

from rich.console import Console

from memrig.report.terminal.base import DIM, GOOD, WARN, facts, make_console, title, words
from memrig.report.units import plural, size
from memrig.runs.profiles import TIERS, Profile, ProfileSuite


def print_profile(profile: Profile, digest: str, console: Console | None = None) -> None:
    """Prints a profile: its hash, its pod, and its suites by tier."""
    console = console or make_console()
    console.print(title(profile.name))
    console.print(words(profile.title))
    limits = f"{profile.pod}; at most {profile.cpus:g} CPUs and {size(profile.memory_bytes)} in all"
    facts(console, [("hash", words(digest)), ("pod", words(limits))])
    for tier in TIERS:
        console.print(words(f"\nTier {tier}", "bold"))
        for suite in profile.suites_of(tier):
            console.print(words(f"  {suite.suite}", "bold"))
            facts(console, [(f"  {name}", words(text)) for name, text in _rows(suite)])
    more = f"`memrig profiles show {profile.name} --json` has every value"
    console.print(words(f"\n{more}", DIM))


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
    return rows


def print_differences(name: str, found: Sequence[str], console: Console | None = None) -> None:
    """Prints the division of a run, and what makes it open."""
    console = console or make_console()
    if not found:
        console.print(words(f"closed division: {name} to the letter", GOOD))
        return
    console.print(words(f"open division: {plural(len(found), 'difference')} from {name}", WARN))
    for line in found:
        console.print(words(f"  {line}"))
