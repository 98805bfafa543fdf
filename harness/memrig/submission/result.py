"""Keeps what every check objected to, over all runs and trials, and says what came of it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from memrig.submission.checks.base import Check
from memrig.submission.model import CheckResult, Found, Severity

#: So many objections of one check are kept; all are counted.
SHOWN = 20
#: A message holds values of the archive, which can be of any length.
_LONGEST = 500

E = TypeVar("E")


class Named(Protocol):
    """What the ledger knows of a check."""

    @property
    def id(self) -> str:
        """Its stable name."""

    @property
    def title(self) -> str:
        """What holds where it passes."""

    @property
    def reason(self) -> str:
        """What could be cheated without it."""

    @property
    def severity(self) -> Severity:
        """Whether an objection makes the archive invalid."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A check that is made by reading: it fails where something cannot be read as it must be."""

    id: str
    title: str
    reason: str
    severity: Severity = "error"


@dataclass(slots=True)
class _Row:
    check: Named
    count: int = 0
    found: list[Found] = field(default_factory=list)
    skipped: str = ""
    made: bool = False


class Ledger:
    """The checks in the order in which they were listed, and what became of each.

    Args:
        checks: all there are; one that is neither made nor left out counts as left out.
    """

    def __init__(self, checks: Iterable[Named]) -> None:
        self._rows = {check.id: _Row(check) for check in checks}

    def make(self, check: Check[E], evidence: E) -> bool:
        """Makes a check on a piece of evidence; whether it objects to nothing.

        A check raises nothing. Should one do so all the same, on what nobody thought of, that is
        an objection: an archive must not pass because a check broke on it.
        """
        row = self._rows[check.id]
        row.made = True
        before = row.count
        try:
            for found in check.find(evidence):
                self._add(row, found)
        except Exception as error:  # noqa: BLE001 - it fails closed, and says which check broke
            message = f"the check itself failed: {type(error).__name__}: {error}"
            self._add(row, Found(where="the rig", message=message))
        return row.count == before

    def passed(self, check: Named) -> None:
        """Notes that a check was made, and found nothing this time."""
        self._rows[check.id].made = True

    def object(self, check: Named, where: str, message: str) -> None:
        """Notes an objection."""
        row = self._rows[check.id]
        row.made = True
        self._add(row, Found(where=where, message=message))

    def skip(self, checks: Iterable[Named], why: str) -> None:
        """Notes that checks could not be made, and why; the first reason stays."""
        for check in checks:
            row = self._rows[check.id]
            row.skipped = row.skipped or why

    def results(self) -> tuple[CheckResult, ...]:
        """What became of every check."""
        return tuple(_result(row) for row in self._rows.values())

    @staticmethod
    def _add(row: _Row, found: Found) -> None:
        row.count += 1
        if len(row.found) < SHOWN:
            row.found.append(Found(where=_cut(found.where), message=_cut(found.message)))


def _result(row: _Row) -> CheckResult:
    return CheckResult(
        id=row.check.id,
        title=row.check.title,
        reason=row.check.reason,
        severity=row.check.severity,
        count=row.count,
        found=tuple(row.found),
        skipped=row.skipped or ("" if row.made else "nothing was there to make it on"),
    )


def _cut(text: str) -> str:
    """Short, and something that JSON can hold."""
    text = text.encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
