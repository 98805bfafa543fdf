"""Any two rows of a table side by side, with paired statistics: as many pairs as are allowed."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations
from pathlib import Path

from memrig.errors import UsageError
from memrig.leaderboard.tables import Row, RowKey, Table
from memrig.report.compare import compare_runs
from memrig.report.compare_model import Comparison, Verdict
from memrig.report.compare_runs import LoadedRun, load_run
from memrig.report.model import Report
from memrig.report.scores import primary_of
from memrig.report.standing import COMPOSITE
from memrig.stats.summary import OVERALL

#: Runs whose grades are held at a time: those of a large run take tens of megabytes.
_HELD = 8

PairKey = tuple[RowKey, RowKey]


@dataclass(frozen=True, slots=True)
class Compared:
    """What comparing two rows came to: the second less the first, in the table's metric.

    `refused` says why they cannot be compared; then there is no page.
    """

    page: str
    verdict: Verdict = "unknown"
    difference: float | None = None
    p: float | None = None
    refused: str = ""


@dataclass(slots=True)
class Pairs:
    """Every pair of a table that was compared, and how many were not for want of room.

    `metric` is what their differences are of.
    """

    metric: str = ""
    found: dict[PairKey, Compared] = field(default_factory=dict)
    left_out: int = 0

    def of(self, row: Row, other: Row) -> Compared | None:
        """The pair, whichever comes first; its difference is the second key's less the first's."""
        return self.found.get(pair_key(row, other))

    def better(self, row: Row, other: Row) -> bool | None:
        """Whether the first row is shown to be better; None where nothing was compared."""
        found = self.of(row, other)
        if found is None or found.refused or found.difference is None:
            return None
        wanted: Verdict = "better" if pair_key(row, other)[1] == row.key else "worse"
        return found.verdict == wanted


def pair_key(row: Row, other: Row) -> PairKey:
    """The same for both orders, and as long as both submissions stand."""
    first, second = sorted((row.key, other.key))
    return first, second


def page_of(pair: PairKey) -> str:
    """Where a pair's page is, from the site's first page. It does not depend on places."""
    first, second = (f"{key.entry}.{key.number}" for key in pair)
    return f"compare/{first}-{second}.html"


def compare_table(
    table: Table,
    folders: Mapping[RowKey, Path],
    most: int,
    show: Callable[[str, Comparison], None],
) -> Pairs:
    """Compares the pairs of a table, those whose places are nearest to each other first.

    Args:
        table: whose rows.
        folders: the runs' folders, with lock, grades and report.
        most: how many pairs at most.
        show: told of each comparison, with its page.
    """
    pairs = Pairs(metric=paired_metric(table))
    chosen = list(_nearest(table.rows))
    pairs.left_out = max(0, len(chosen) - most)

    @lru_cache(maxsize=_HELD)
    def loaded(key: RowKey) -> LoadedRun:
        folder = folders[key]
        report = Report.model_validate_json((folder / "report.json").read_bytes())
        return load_run(folder, report)

    # In the order of rows, so that runs are not read again and again.
    for row, other in sorted(chosen[:most], key=lambda pair: pair_key(*pair)):
        key = pair_key(row, other)
        try:
            comparison = compare_runs([loaded(key[0]), loaded(key[1])])
        except UsageError as error:
            pairs.found[key] = Compared(page="", refused=error.message)
            continue
        pairs.found[key] = _compared(page_of(key), comparison, pairs.metric)
        show(page_of(key), comparison)
    return pairs


def paired_metric(table: Table) -> str:
    """A composite is no mean over questions and is not paired: a headline stands for it."""
    if table.metric != COMPOSITE:
        return table.metric
    return primary_of(score.metric for score in table.rows[0].run.headline)


def _nearest(rows: Sequence[Row]) -> Iterator[tuple[Row, Row]]:
    places = sorted(
        combinations(range(len(rows)), 2), key=lambda pair: (pair[1] - pair[0], pair[0])
    )
    return ((rows[first], rows[second]) for first, second in places)


def _compared(page: str, comparison: Comparison, metric: str) -> Compared:
    try:
        row = comparison.row(metric, OVERALL)
    except KeyError:
        return Compared(page)
    return Compared(page, row.verdict, row.difference, row.p_holm)
