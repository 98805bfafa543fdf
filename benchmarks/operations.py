"""Every image through the suite `operations`, into one page of two tables.

    python -m benchmarks.operations [--only images/bm25] [--turns 10000] [--minutes 60]

(`make operations ARGS="--only images/bm25"`.) Each image is one `memrig run` in Docker pods, one
scenario at a time, so that memory and latencies are its own. What is finished in `--out` is not run
again, and what was interrupted goes on; an image that takes longer than `--minutes` says so, and so
does one that cannot be run. Models that take a key are the tests' stand-in: how a memory works with
a model, and without one, does not hang on what it says. `--page-only` runs nothing. The tables go
into docs/operations.md.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.marked import between
from benchmarks.results import Entry, entries, run_all, shown
from benchmarks.results_page import Shown
from benchmarks.results_suites import Suite
from benchmarks.standin import provider, subjects

from memrig.errors import MemrigError
from memrig.report.probes_table import growth_table, operations_table
from memrig.report.units import size

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "operations.md"
OUT = ROOT / "runs" / "operations"
TURNS = 10_000


def suite_of(turns: int) -> Suite:
    """The suite at a size; another size is another run."""
    sized = () if turns == TURNS else ("--turns", str(turns))
    return Suite(
        name=f"operations-{turns}",
        title="operations",
        about=f"One seed; a memory of up to {turns:,} episodes.",
        # A size that is named marks a run as unusual, the usual one too.
        arguments=("--suite", "operations", *sized),
        columns=(),
    )


def served(adapters: Sequence[str]) -> list[Entry]:
    """The images with models that they can reach here: their own, or a stand-in's."""
    return [
        replace(entry, refused="", note="its models are the test suite's stand-in")
        if entry.wants_key
        else entry
        for entry in entries(adapters)
    ]


def page(cells: Sequence[Shown]) -> str:
    """What stands between the markers."""
    reports = [(cell.image, cell.report) for cell in cells if cell.report]
    lines = [operations_table(reports), ""] if reports else []
    reasons: dict[str, list[str]] = {}
    for cell in cells:
        if not cell.report:
            reasons.setdefault(cell.why.rstrip("."), []).append(cell.image)
    lines += [f"- {', '.join(images)}: {why}." for why, images in reasons.items()]
    lines += [f"- {cell.image}: {cell.note}." for cell in cells if cell.report and cell.note]
    return "\n".join([*lines, "", *_made(cells)])


def grown(turns: int, cells: Sequence[Shown]) -> Iterator[str]:
    """What stands below it: how memories went on to grow, of the images that were taken there."""
    reports = [(cell.image, cell.report) for cell in cells if cell.report]
    if reports:
        yield from ("", f"Grown to {turns:,} episodes (`--turns {turns}`):", "")
        yield growth_table(reports)


def _sizes(out: Path) -> list[int]:
    """The other sizes that something was run at."""
    found = {path.name.removeprefix("operations-") for path in out.glob("*/operations-*")}
    return sorted({int(size) for size in found if size.isdecimal()} - {TURNS})


def _made(cells: Sequence[Shown]) -> Iterator[str]:
    """Where and when the figures came about, and what of it was not isolated or not whole."""
    machines: dict[str, list[str]] = {}
    for cell in cells:
        if cell.report is None:
            continue
        at, day = cell.report.machine, cell.report.executions[-1].started_at
        where = (
            f"{at.cpu}, {at.cores} cores, {size(at.memory_bytes)}, {at.system} {at.kernel}, "
            f"memrig {cell.report.memrig_version}, {day:%Y-%m-%d}"
        )
        machines.setdefault(where, []).append(cell.image)
        marks = [*cell.report.labels, *filter(None, [cell.report.incomplete])]
        if marks:
            yield f"- {cell.image}: {'; '.join(marks)}."
    for where, images in machines.items():
        yield f"- Measured on {where}: {', '.join(images)}."
    yield ""
    yield f"`{cells[0].suite.shown}`"


def main() -> None:
    """Runs what is left to run, then writes the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", action="append", default=[], help="an image; repeatable")
    parser.add_argument("--turns", type=int, default=TURNS, help="the last size")
    parser.add_argument(
        "--minutes", type=float, default=60, help="the longest that an image may take"
    )
    parser.add_argument("--out", type=Path, default=OUT, help="where the runs are kept")
    parser.add_argument("--again", action="store_true", help="run what is done, once more")
    parser.add_argument("--page-only", action="store_true", help="run nothing")
    parser.add_argument("--page", type=Path, default=PAGE)
    options = parser.parse_args(namespace=argparse.Namespace(data=None))
    suite = suite_of(options.turns)
    try:
        chosen, everything = served(options.only or subjects()), served(subjects())
    except MemrigError as error:
        sys.exit(f"error: {error}")
    with provider():
        for entry in [] if options.page_only else chosen:
            run_all(entry, [suite], options)
    listed: list[Entry] = everything + [entry for entry in chosen if entry not in everything]
    usual = suite_of(TURNS)
    lines = [page([shown(entry, usual, options) for entry in listed])]
    for turns in _sizes(options.out):
        larger = suite_of(turns)
        lines += grown(turns, [shown(entry, larger, options) for entry in listed])
    between(options.page, "operations", "\n".join(lines))


if __name__ == "__main__":
    main()
