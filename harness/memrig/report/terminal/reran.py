"""What packing and running a submission again say: while they are at it, and in the end."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from memrig.report.terminal.base import BAD, DIM, GOOD, facts, make_console, new_table, words
from memrig.report.units import metric_head

#: A step that names what it is about does so in so many columns.
_LABEL = 11
_AGREES, _DIFFERS = "agrees", "DIFFERS"


@dataclass(frozen=True, slots=True)
class MeanAgain:
    """A metric's mean as it was claimed and as it was found; None where there is none.

    `low` and `high` are the interval of claimed less found, where it was worked out.
    """

    metric: str
    claimed: float | None
    found: float | None
    low: float | None = None
    high: float | None = None
    agrees: bool = True


@dataclass(frozen=True, slots=True)
class PartAgain:
    """Something that was made again: its name, what is to be said of it, and its means."""

    agrees: bool
    name: str
    told: tuple[str, ...]
    means: tuple[MeanAgain, ...]


def print_rerun(
    cells: Sequence[PartAgain],
    wholes: Sequence[PartAgain],
    rows: Iterable[tuple[str, str]],
    summary: str,
    *,
    passed: bool,
    console: Console | None = None,
) -> None:
    """Prints what was run again, cell by cell and over whole runs, and the verdict.

    Args:
        cells: the trials.
        wholes: runs over all their cells, and under fresh seeds.
        rows: names, and what is to be said under them.
        summary: the verdict's sentence.
        passed: whether all of it agrees.
        console: for tests.
    """
    console = console or make_console()
    for head, parts in (("cell", cells), ("run", wholes)):
        if parts:
            console.print(_table(head, parts))
    print_facts(rows, console, whole=("written",))
    style = GOOD if passed else BAD
    verdict = "agrees" if passed else "DISAGREES"
    console.print(Text(verdict, style=f"bold {style}").append_text(words(f": {summary}", "none")))


def print_facts(
    rows: Iterable[tuple[str, str]], console: Console | None = None, *, whole: Collection[str] = ()
) -> None:
    """Prints names and what they stand for; text from anywhere.

    Args:
        rows: the names with their texts.
        console: for tests.
        whole: names whose text is to be copied: it is broken by nobody but the terminal.
    """
    console, rows = console or make_console(), list(rows)
    width = max((len(name) for name, _ in rows), default=0)
    for name, text in rows:
        if name in whole:
            line = Text(f"{name:{width}}  ", DIM).append_text(words(text, "not dim"))
            console.print(line, soft_wrap=True)
        else:
            facts(console, [(f"{name:{width}}", words(text))])


def print_step(line: str, console: Console | None = None) -> None:
    """Prints on stderr what is being done; ``name   what`` hangs below its own start."""
    console = console or make_console(stderr=True)
    name, gap, what = line.partition("  ")
    if not gap or len(name) > _LABEL:
        console.print(words(line), soft_wrap=True)
        return
    grid = Table.grid(padding=(0, 0))
    grid.add_column(style=DIM, no_wrap=True, width=_LABEL)
    grid.add_column(overflow="fold")
    grid.add_row(words(name), words(what))
    console.print(grid)


def _table(head: str, parts: Sequence[PartAgain]) -> Table:
    bounded = any(mean.low is not None for part in parts for mean in part.means)
    heads = ["", head, "metric", "claimed", "found", *(["claimed - found"] if bounded else [])]
    table = new_table(*heads, right=range(3, len(heads)))
    for column in (table.columns[0], table.columns[2]):
        column.no_wrap = True
    for part in parts:
        table.add_row(*_row(part, bounded=bounded))
    return table


def _row(part: PartAgain, *, bounded: bool) -> Iterator[Text]:
    yield _mark(agrees=part.agrees)
    name = words(part.name)
    for line in part.told:
        name.append("\n").append_text(words(line, DIM))
    yield name
    styles = ["" if mean.agrees else BAD for mean in part.means]
    yield _lines([metric_head(mean.metric) for mean in part.means], styles)
    yield _lines([_number(mean.claimed) for mean in part.means], styles)
    yield _lines([_number(mean.found) for mean in part.means], styles)
    if bounded:
        yield _lines([_interval(mean) for mean in part.means], styles)


def _mark(*, agrees: bool) -> Text:
    return Text(_AGREES if agrees else _DIFFERS, style=GOOD if agrees else f"bold {BAD}")


def _lines(texts: Sequence[str], styles: Sequence[str]) -> Text:
    lines = [words(text, style) for text, style in zip(texts, styles, strict=True)]
    return Text("\n").join(lines)


def _number(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.3f}"


def _interval(mean: MeanAgain) -> str:
    if mean.low is None or mean.high is None:
        return ""
    return f"{mean.low:+.3f} … {mean.high:+.3f}"
