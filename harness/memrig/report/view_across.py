"""What the terminal and the page say across seeds and repeats: numbers worded, places computed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from memrig.report.boots import Boot, shared_boots
from memrig.report.charts import WhiskerChart, whisker_chart
from memrig.report.model import Report
from memrig.report.text import one_line
from memrig.report.units import NOT_AVAILABLE, bounds, count, metric_head, percent, plural
from memrig.stats.seeds import AcrossSeeds, NoisyQuestion, SeedRow
from memrig.stats.summary import MetricValue
from memrig.stats.variance import Source, VariancePart

_LABEL, _NAME = 28, 80
_NOISY, _BOOTS = 40, 200
_ROUND = 2


@dataclass(frozen=True, slots=True)
class SeedLine:
    """A group's values by seed, worded, with what is said over all of them."""

    name: str
    values: tuple[str, ...]
    mean: str
    sd: str
    bounds: str


@dataclass(frozen=True, slots=True)
class SeedTable:
    """A metric across seeds."""

    head: str
    lines: tuple[SeedLine, ...]


@dataclass(frozen=True, slots=True)
class Strip:
    """A chart of means and intervals over seeds. `dots` has the seeds' own places by row."""

    chart: WhiskerChart
    dots: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class NoisyLine:
    """A noisy question, worded."""

    name: str
    category: str
    n: str
    values: tuple[str, ...]
    seeds: str
    repeats: str


@dataclass(frozen=True, slots=True)
class PartLine:
    """A source of variance, worded. `sd` is in points."""

    source: str
    share: str
    sd: str
    note: str


@dataclass(frozen=True, slots=True)
class AcrossView:
    """The section. `repeated` tells whether there are repeats to compare.

    `more` counts noisy questions that are not shown, and `more_boots` processes.
    """

    lead: str
    head: str
    seeds: tuple[str, ...]
    strip: Strip | None
    tables: tuple[SeedTable, ...]
    noisy: tuple[NoisyLine, ...]
    noisy_note: str
    repeated: bool
    more: int
    variance: tuple[PartLine, ...]
    boots_note: str
    boots: tuple[Boot, ...]
    more_boots: int


def across_view(report: Report) -> AcrossView | None:
    """Words the section; None where the run has one seed and one repeat."""
    found = report.across
    if found is None:
        return None
    several = len(found.seeds) > 1
    return AcrossView(
        lead=_lead(found),
        head=metric_head(found.metric),
        seeds=tuple(map(str, found.seeds)),
        strip=_strip(found) if several else None,
        tables=tuple(_tables(found)) if several else (),
        noisy=tuple(_noisy(item) for item in found.noisy[:_NOISY]),
        noisy_note=noisy_note(found),
        repeated=found.repeats > 1,
        more=len(found.noisy[_NOISY:]),
        variance=tuple(_parts(found.variance)),
        boots_note=boots_note(report.boots),
        boots=report.boots[:_BOOTS],
        more_boots=len(report.boots[_BOOTS:]),
    )


def _lead(found: AcrossSeeds) -> str:
    seeds, repeats = plural(len(found.seeds), "seed"), plural(found.repeats, "repeat")
    return f"{seeds}, {repeats} of each" if found.repeats > 1 else seeds


def noisy_note(found: AcrossSeeds) -> str:
    """How many questions waver, and how many of them have too few to tell anything."""
    if not found.compared:
        return "no question, nor a form of it, was seen twice"
    said = (
        f"{count(len(found.noisy))} of {count(found.compared)} questions, or forms of them, vary "
        f"by more than 10 points in {metric_head(found.metric)}"
    )
    single = sum(item.least == 1 for item in found.noisy)
    if not single or found.repeats > 1:
        return said
    return f"{said}; {count(single)} of these have one question a seed: its draw alone can do it"


def boots_note(boots: Sequence[Boot]) -> str:
    """How many processes served the trials; empty where the rig starts none."""
    if not boots:
        return ""
    trials, ids = {boot.trial_id for boot in boots}, {boot.boot_id for boot in boots}
    said = "some share one" if shared_boots(boots) else "no two share one"
    return f"{plural(len(trials), 'trial')}, {plural(len(ids), 'boot_id')}, {said}"


def _strip(found: AcrossSeeds) -> Strip:
    rows = [row for row in found.rows if row.metric == found.metric]
    values = [_as_value(row) for row in rows]
    places = tuple(
        tuple(
            round(100 * min(1.0, max(0.0, value)), _ROUND)
            for value in row.values
            if value is not None
        )
        for row in rows
    )
    chart = whisker_chart(found.metric, values, len(found.rows))
    return Strip(chart, places)


def _as_value(row: SeedRow) -> MetricValue:
    return MetricValue(
        suite="",
        protocol="",
        metric=row.metric,
        group=one_line(row.group, _LABEL),
        value=row.mean,
        low=row.low,
        high=row.high,
        n=sum(row.counts),
        interval=row.interval,
        kind=row.kind,
    )


def _tables(found: AcrossSeeds) -> Iterator[SeedTable]:
    for metric in dict.fromkeys(row.metric for row in found.rows):
        rows = [row for row in found.rows if row.metric == metric]
        yield SeedTable(metric_head(metric), tuple(map(seed_line, rows)))


def seed_line(row: SeedRow) -> SeedLine:
    """One row, worded: percent, and percentage points for the standard deviation."""
    return SeedLine(
        name=one_line(row.group, _LABEL),
        values=tuple(map(percent, row.values)),
        mean=percent(row.mean),
        sd=percent(row.sd),
        bounds=bounds(row.low, row.high) or ("all alike" if row.sd is not None else ""),
    )


def _noisy(item: NoisyQuestion) -> NoisyLine:
    return NoisyLine(
        name=one_line(item.name, _NAME),
        category=one_line(item.category, _LABEL),
        n=questions_each(item),
        values=tuple(map(percent, item.values)),
        seeds=percent(item.between_seeds),
        repeats=percent(item.between_repeats),
    )


def questions_each(item: NoisyQuestion) -> str:
    """Over how many questions each of its means is: ``3`` or ``1–4``."""
    asked = [number for number in item.counts if number]
    low, high = min(asked), max(asked)
    return count(low) if low == high else f"{count(low)}–{count(high)}"


def _parts(parts: Sequence[VariancePart]) -> Iterator[PartLine]:
    """A line a source; seed and repeat are one where each seed ran once."""
    known = {part.source: part for part in parts}
    for part in parts:
        if part.source == "seed" and part.variance is not None and _once(known):
            yield replace(_part(part), source="seed and repeat together")
        elif part.source != "repeat" or not _once(known):
            yield _part(part)


def _once(known: Mapping[Source, VariancePart]) -> bool:
    return known["repeat"].variance is None and known["seed"].variance is not None


def _part(part: VariancePart) -> PartLine:
    share = NOT_AVAILABLE if part.share is None else f"{percent(part.share)} %"
    return PartLine(part.source, share, percent(part.sd), part.note)
