"""A comparison as one page that needs no network and no script, with forest plots."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memrig.report.compare_model import ComparedMetric, ComparedRun, Comparison
from memrig.report.forest import Forest, axis_end, forest
from memrig.report.html import Crumb, render_page
from memrig.report.units import count, metric_head, metric_help, percent, plural, seeds_text
from memrig.report.view_compare import (
    VERDICTS,
    conclusions,
    effect_text,
    incomplete_stamps,
    least_text,
    p_text,
    points,
    rules,
    span,
    stamps,
)


@dataclass(frozen=True, slots=True)
class Line:
    """One difference in a table."""

    group: str
    verdict: str
    kind: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """One metric of one run: its plot, and its numbers."""

    run: str
    head: str
    help: str
    chart: Forest
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class RunLine:
    """One run, as the page's head names it."""

    letter: str
    name: str
    what: str
    how: str
    pairs: str
    stamps: tuple[str, ...]
    complete: bool


def render_comparison(found: Comparison, crumbs: Sequence[Crumb] = ()) -> str:
    """The comparison as a page. The same comparison gives the same bytes.

    Args:
        found: the comparison.
        crumbs: where the page stands in a site; none: it stands alone.
    """
    return render_page(
        "compare.html.j2",
        "compare.css",
        *(["crumbs.css"] if crumbs else []),
        crumbs=crumbs,
        found=found,
        title=_title(found),
        runs=[_run(found, run) for run in found.runs],
        conclusions=list(conclusions(found)),
        blocks=list(_blocks(found)),
        rules=rules(found),
        page_stamps=incomplete_stamps(found),
    )


def _title(found: Comparison) -> str:
    base, *others = (run.name for run in found.runs)
    return f"{', '.join(others)} against {base}" if others else base


def _run(found: Comparison, run: ComparedRun) -> RunLine:
    how = [run.mode, f"{run.pod} pod", seeds_text(run.seeds), plural(run.repeats, "repeat")]
    how += [f"reader {run.reader}"] if run.reader else []
    how += [f"judge {run.judge}"] if run.judge else []
    counts = next((pair for pair in found.pairs if pair.run == run.letter), None)
    said = f"{count(run.graded)} graded"
    if counts is not None:
        said = f"{count(counts.pairs)} pairs in {plural(counts.scenarios, 'scenario')}"
    return RunLine(
        letter=run.letter,
        name=run.name,
        what=f"{run.adapter} {run.version} · {run.run_id}",
        how=" · ".join(how),
        pairs=said,
        stamps=stamps(run),
        complete=run.complete,
    )


def _blocks(found: Comparison) -> Iterator[Block]:
    end = axis_end(found.rows)
    places: dict[tuple[str, str], list[ComparedMetric]] = {}
    for row in found.rows:
        places.setdefault((row.run, row.metric), []).append(row)
    for number, ((run, metric), rows) in enumerate(places.items()):
        chart = forest(rows, end, found.runs[0].letter, number)
        lines = tuple(_line(row) for row in rows)
        yield Block(run, metric_head(metric), metric_help(metric), chart, lines)


def _line(row: ComparedMetric) -> Line:
    return Line(
        group=row.group,
        verdict=VERDICTS[row.verdict],
        kind=row.verdict,
        cells=(
            count(row.n),
            count(row.scenarios),
            percent(row.base_value),
            percent(row.run_value),
            points(row.difference),
            span(row),
            p_text(row.p),
            p_text(row.p_holm),
            p_text(row.p_permutation),
            effect_text(row.effect),
            least_text(row.mde),
        ),
    )
