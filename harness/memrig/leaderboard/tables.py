"""Rows that may stand in one table, in what order, and who is shown to be better than whom."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memrig.leaderboard.model import BoardRun, Entry
from memrig.model.canonical import short

_UNSAFE = re.compile(r"[^a-z0-9]+")


class RowKey(NamedTuple):
    """What names a row for good: its submission, and its place there."""

    entry: str
    number: int


@dataclass(frozen=True, slots=True)
class Row:
    """A run, and the submission that it is of."""

    entry: Entry
    run: BoardRun

    @property
    def key(self) -> RowKey:
        """Its name."""
        return RowKey(self.entry.id, self.run.number)

    @property
    def ranked(self) -> bool:
        """Whether it has a rank: a whole run of a memory system that was isolated.

        The rig's own baselines see the gold; of a system outside a Docker pod nobody can say what
        else it could see.
        """
        return self.entry.pod == "docker" and self.run.complete and self.run.score.value is not None


@dataclass(frozen=True, slots=True)
class Table:
    """Rows that answered the same questions under one protocol and mode, best first."""

    slug: str
    suite: str
    protocol: str
    mode: str
    metric: str
    rows: tuple[Row, ...]


#: Whether the first row is shown to be better than the second; None: they were not compared.
Better = Callable[[Row, Row], bool | None]


def tables_of(entries: Iterable[Entry]) -> tuple[Table, ...]:
    """Every table of a board, by suite, protocol and mode; the one with the most rows first."""
    found: dict[tuple[str, str, str, str], list[Row]] = {}
    for entry in entries:
        for run in entry.runs:
            key = run.suite, run.protocol, run.mode, run.asked
            found.setdefault(key, []).append(Row(entry, run))
    return tuple(
        Table(
            slug=_slug(*key),
            suite=key[0],
            protocol=key[1],
            mode=key[2],
            metric=rows[0].run.score.metric,
            rows=tuple(sorted(rows, key=_place)),
        )
        for key, rows in sorted(
            found.items(), key=lambda item: (item[0][:3], -len(item[1]), item[0][3])
        )
    )


def _place(row: Row) -> tuple[bool, float, RowKey]:
    value = row.run.score.value
    return value is None, -(value or 0.0), row.key


def _slug(suite: str, protocol: str, mode: str, asked: str) -> str:
    parts = dict.fromkeys(_UNSAFE.sub("-", part.lower()).strip("-") for part in (suite, protocol))
    return "-".join(filter(None, (*parts, _UNSAFE.sub("-", mode.lower()), short(asked, 8))))


def ranks_of(rows: Sequence[Row], better: Better) -> dict[RowKey, int]:
    """Each ranked row's rank: 1, and one more for every row that is shown to be better.

    Rows that cannot be told apart so share a rank. Divisions are ranked apart.

    Args:
        rows: of one table.
        better: what paired statistics say; where they say nothing, intervals that lie apart do.
    """
    ranked = [row for row in rows if row.ranked]
    return {
        row.key: 1
        + sum(
            _beats(other, row, better)
            for other in ranked
            if other.entry.division == row.entry.division and other.key != row.key
        )
        for row in ranked
    }


def _beats(row: Row, other: Row, better: Better) -> bool:
    found = better(row, other)
    if found is not None:
        return found
    low, high = row.run.score.low, other.run.score.high
    return low is not None and high is not None and low > high
