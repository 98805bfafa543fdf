"""What verifying a submission came to: group by group, and every objection."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from rich.console import Console
from rich.table import Table
from rich.text import Text

from memrig.report.standing import Standing
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
from memrig.report.units import NOT_AVAILABLE, bounds, metric_head, percent, plural

_FAILED, _WARNING, _LEFT_OUT, _OK = "FAILED", "warning", "left out", "ok"
_STYLES = {_FAILED: f"bold {BAD}", _WARNING: f"bold {WARN}", _LEFT_OUT: WARN, _OK: GOOD}
#: So many objections of one check are printed.
_SHOWN = 5


class Objection(Protocol):
    """Something that a check objects to."""

    @property
    def where(self) -> str:
        """Where it is."""

    @property
    def message(self) -> str:
        """What is wrong there."""


class CheckMade(Protocol):
    """What became of a check."""

    @property
    def id(self) -> str:
        """Its group and its name."""

    @property
    def title(self) -> str:
        """What holds where it passes."""

    @property
    def reason(self) -> str:
        """What could be cheated without it."""

    @property
    def severity(self) -> str:
        """``error`` or ``warning``."""

    @property
    def count(self) -> int:
        """How many objections there are."""

    @property
    def found(self) -> Sequence[Objection]:
        """The first of them."""

    @property
    def skipped(self) -> str:
        """Why it could not be made; empty: it was."""


class Verified(Protocol):
    """What verifying an archive came to."""

    @property
    def archive(self) -> str:
        """The file's name."""

    @property
    def manifest_digest(self) -> str:
        """What names the submission."""

    @property
    def memrig_version(self) -> str:
        """Whose verdict it is."""

    @property
    def profile(self) -> str:
        """The profile that the runs claim."""

    @property
    def division(self) -> str:
        """``closed`` or ``open``."""

    @property
    def differences(self) -> Sequence[str]:
        """In what the runs are not the profile's."""

    @property
    def tier(self) -> str:
        """What is known of the submission."""

    @property
    def passed(self) -> bool:
        """Whether it is valid."""

    @property
    def checks(self) -> Sequence[CheckMade]:
        """Every check, group by group."""


@dataclass(frozen=True, slots=True)
class HeldRun:
    """A run of an archive. `standing` is of the report that was made again, if it was."""

    name: str
    suite: str
    standing: Standing | None = None


@dataclass(frozen=True, slots=True)
class Held:
    """What an archive holds. `title` and `submitter` are the submitter's word."""

    adapter: str
    runs: tuple[HeldRun, ...]
    title: str = ""
    submitter: str = ""


def print_verification(
    found: Verified,
    signer: str,
    held: Held | None = None,
    *,
    every: bool = False,
    console: Console | None = None,
) -> None:
    """Prints what became of the checks: what passed by group, and all else by itself.

    Args:
        found: the result.
        signer: the fingerprint of the key; empty where there is none.
        held: what the archive holds; None where that could not be read.
        every: name each check, whatever became of it.
        console: for tests.
    """
    console = console or make_console()
    console.print(title(found.archive, "submission", f"memrig {found.memrig_version}"))
    facts(console, [*_held(held), *_facts(found, signer)])
    console.print(_table(found.checks, every=every))
    counts = [(mark, sum(_mark(c) == mark for c in found.checks)) for mark in _STYLES]
    verdict = "Every number was made again" if found.passed else "This is no valid submission"
    said = ", ".join(f"{count} {_COUNTED[mark]}" for mark, count in counts if count)
    style = GOOD if found.passed else BAD
    console.print(Text(f"{verdict} ({found.tier})", style=f"bold {style}").append(f": {said}."))


_COUNTED = {_FAILED: "failed", _WARNING: "warned", _LEFT_OUT: "left out", _OK: "passed"}


def _held(held: Held | None) -> Iterator[tuple[str, Text]]:
    if held is None:
        return
    for name, text in (("title", held.title), ("submitter", held.submitter)):
        if text:
            yield name, words(text, limit=200).append(" (the submitter's word)", DIM)
    yield "system", words(held.adapter, limit=200)
    for run in held.runs:
        named = run.suite if run.suite == run.name else f"{run.name}: {run.suite}"
        yield "run", words(named, limit=200).append(_standing(run.standing))


def _standing(found: Standing | None) -> str:
    """A run's number as every other output shows it."""
    if found is None:
        return ""
    name = metric_head(found.metric)
    if found.value is None:
        return f", {name} {NOT_AVAILABLE}"
    known = bounds(found.low, found.high)
    return f", {name} {percent(found.value)} %{f' ({known})' if known else ''}"


def _facts(found: Verified, signer: str) -> Iterator[tuple[str, Text]]:
    digest = found.manifest_digest.removeprefix("sha256:")
    yield "manifest", words(digest or "no manifest could be read")
    yield "signed by", words(signer or "nobody")
    yield "division", words(f"{found.division}, {found.profile or 'no profile'}")
    for line in found.differences:
        yield "differs", words(line, limit=300)


def _mark(check: CheckMade) -> str:
    if check.count:
        return _FAILED if check.severity == "error" else _WARNING
    return _LEFT_OUT if check.skipped else _OK


def _groups(checks: Sequence[CheckMade]) -> Mapping[str, Sequence[CheckMade]]:
    """The checks by what their ids begin with: some of a group are made late, on all trials."""
    groups: dict[str, list[CheckMade]] = {}
    for check in checks:
        groups.setdefault(check.id.partition(".")[0], []).append(check)
    return groups


def _table(checks: Sequence[CheckMade], *, every: bool) -> Table:
    table = new_table("", "check", "what holds")
    table.columns[0].no_wrap = True
    left: dict[str, list[str]] = {}
    for group, several in _groups(checks).items():
        for check in several:
            if every or check.count:
                _row(table, _mark(check), check.id, _what(check))
        quiet = Counter(check.skipped for check in several if not (every or check.count))
        if made := quiet.pop("", 0):
            _row(table, _OK, group, words(plural(made, "check"), DIM))
        for why, number in quiet.items():
            left.setdefault(why, []).extend([group] * number)
    for why, groups in left.items():
        several_groups = len(set(groups))
        name = groups[0] if several_groups == 1 else f"{several_groups} groups"
        _row(table, _LEFT_OUT, name, words(f"{plural(len(groups), 'check')}: {why}", DIM))
    return table


def _row(table: Table, mark: str, name: str, what: Text) -> None:
    table.add_row(Text(mark, style=_STYLES[mark]), words(name), what)


def _what(check: CheckMade) -> Text:
    text = words(check.title, limit=300)
    if not check.count:
        why = words(f"({check.skipped})", DIM)
        return text.append(" ").append_text(why) if check.skipped else text
    for item in check.found[:_SHOWN]:
        text.append("\n").append_text(words(f"{item.where}: {item.message}", limit=600))
    if check.count > _SHOWN:
        text.append(f"\nand {check.count - _SHOWN:,} more", DIM)
    return text.append("\nwhy: ", DIM).append_text(words(check.reason, limit=300))
