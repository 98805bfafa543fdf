"""Sets runs side by side, question by question (scoring §6, `compare`)."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from string import ascii_uppercase

from memrig._version import __version__
from memrig.errors import UsageError
from memrig.model.canonical import derive
from memrig.report.comparable import check_alike, unlike_fields
from memrig.report.compare_model import (
    ALPHA,
    ComparedMetric,
    ComparedRun,
    Comparison,
    PairCounts,
    Verdict,
)
from memrig.report.compare_runs import LoadedRun, graded, half
from memrig.stats.intervals import FEW_CLUSTERS
from memrig.stats.paired import Difference, Pair, compare, detectable, holm
from memrig.stats.summary import MACRO, OVERALL, Kind
from memrig.stats.table import natural

MOST_RUNS = len(ascii_uppercase)


def compare_runs(runs: Sequence[LoadedRun]) -> Comparison:
    """Every run against the first one, over the headline metrics.

    Raises:
        UsageError: there are more than 26 runs, or they cannot be compared (`check_alike`), or two
            have no question in common.
    """
    if len(runs) > MOST_RUNS:
        fix = "compare the most telling ones"
        raise UsageError(f"{len(runs)} runs; at most {MOST_RUNS} can be named", fix=fix)
    check_alike(runs)
    metrics = tuple(dict.fromkeys(name for run in runs for name in run.report.headline))
    rows = [row for place in range(1, len(runs)) for row in _rows(runs, place, metrics)]
    pairs = tuple(_counts(runs, place) for place in range(1, len(runs)))
    rows = list(_adjusted(rows))
    return Comparison(
        memrig_version=__version__,
        suite=runs[0].lock.suite,
        protocol=runs[0].lock.protocol,
        metrics=metrics,
        runs=tuple(_run(runs, place, metrics) for place in range(len(runs))),
        unlike=tuple(unlike_fields(runs)),
        notes=tuple(_notes(runs, metrics, rows, pairs)),
        pairs=pairs,
        rows=tuple(rows),
    )


def _run(runs: Sequence[LoadedRun], place: int, metrics: Sequence[str]) -> ComparedRun:
    run = runs[place]
    report, lock = run.report, run.lock
    values: dict[str, dict[str, float]] = {}
    for value in report.metrics:
        if value.metric in metrics:
            values.setdefault(value.metric, {})[value.group] = value.value
    return ComparedRun(
        letter=ascii_uppercase[place],
        name=_name(runs, place),
        run_id=report.run_id,
        folder=str(run.folder),
        lock_digest=lock.digest,
        memrig_version=lock.memrig_version,
        adapter=report.adapter.name,
        version=report.adapter.version,
        digest=report.adapter.digest or report.adapter.inputs,
        pod=lock.adapter.pod,
        mode=lock.mode,
        reader=lock.reader,
        judge=lock.judge,
        seeds=lock.seeds,
        repeats=lock.repeats,
        complete=report.complete,
        incomplete=report.incomplete,
        labels=report.labels,
        graded=sum(graded(grades) for grades in run.grades.values()),
        ungraded=sum(not graded(grades) for grades in run.grades.values()),
        values=values,
    )


def _name(runs: Sequence[LoadedRun], place: int) -> str:
    """The adapter, its version too where that tells runs apart, else the run's folder."""
    report = runs[place].report
    short = [run.report.adapter.name for run in runs]
    if short.count(short[place]) == 1:
        return short[place]
    versioned = [f"{run.report.adapter.name} {run.report.adapter.version}" for run in runs]
    return versioned[place] if versioned.count(versioned[place]) == 1 else report.run_id


def _counts(runs: Sequence[LoadedRun], place: int) -> PairCounts:
    base, run = runs[0].grades, runs[place].grades
    both = base.keys() & run.keys()
    paired = [key for key in both if graded(base[key]) and graded(run[key])]
    if not paired:
        seeds = [", ".join(map(str, r.lock.seeds)) for r in (runs[0], runs[place])]
        raise UsageError(
            f"they have no graded question in common (seeds {seeds[0]}; seeds {seeds[1]}): "
            "questions are paired by scenario, seed and question",
            where=f"{runs[0].folder}, {runs[place].folder}",
            fix="run both with the same --seeds, --limit and data",
        )
    return PairCounts(
        run=ascii_uppercase[place],
        pairs=len(paired),
        scenarios=len({base[key][0].cluster for key in paired}),
        only_base=len(base.keys() - run.keys()),
        only_run=len(run.keys() - base.keys()),
        ungraded=len(both) - len(paired),
    )


def _rows(
    runs: Sequence[LoadedRun], place: int, metrics: Sequence[str]
) -> Iterator[ComparedMetric]:
    base, run = runs[0], runs[place]
    seed = int(base.lock.digest.removeprefix("sha256:")[:16], 16)
    for metric in metrics:
        pairs = list(_pairs(base, run, metric))
        for group, kind, members in _groups(pairs):
            draw = derive(seed, "compare", run.lock.digest, metric, group) % 2**32
            found = compare(members, draw, macro=kind == "macro")
            yield _row(found, ascii_uppercase[place], metric, group, kind)


_Tagged = tuple[Pair, tuple[str, ...]]


def _pairs(base: LoadedRun, run: LoadedRun, metric: str) -> Iterator[_Tagged]:
    """The pairs with their tags, in an order that no set decides."""
    for key in sorted(base.grades.keys() & run.grades.keys()):
        left, right = half(base.grades[key], metric), half(run.grades[key], metric)
        if left is not None and right is not None:
            pair = Pair(
                left.grade.cluster,
                left.grade.category,
                left.value,
                right.value,
                left.weight,
                right.weight,
            )
            yield pair, left.grade.tags


def _groups(pairs: Sequence[_Tagged]) -> Iterator[tuple[str, Kind, list[Pair]]]:
    """As in a report: overall, macro, what tags tell apart, each category."""
    if not pairs:
        return
    every = [pair for pair, _ in pairs]
    categories = sorted({pair.category for pair in every}, key=natural)
    yield OVERALL, "micro", every
    yield MACRO, "macro", every
    for tag in sorted({tag for _, tags in pairs for tag in tags if ":" not in tag}):
        without = [pair for pair, tags in pairs if tag not in tags]
        if without:
            yield f"without {tag}", "tag", without
            if tag not in categories:
                yield tag, "tag", [pair for pair, tags in pairs if tag in tags]
    for category in categories:
        yield category, "category", [pair for pair in every if pair.category == category]


def _row(found: Difference, run: str, metric: str, group: str, kind: Kind) -> ComparedMetric:
    return ComparedMetric(
        run=run,
        metric=metric,
        group=group,
        kind=kind,
        base_value=found.base,
        run_value=found.other,
        difference=found.value,
        low=found.low,
        high=found.high,
        interval=found.interval,
        p=found.p,
        p_holm=None,
        test=found.test,
        p_permutation=found.p_permutation,
        smallest_p=found.smallest_p,
        effect=found.effect,
        error=found.error,
        mde=detectable(found.error, found.units),
        n=found.n,
        ties=found.ties,
        scenarios=found.units,
        verdict="unknown",
    )


def _adjusted(rows: Sequence[ComparedMetric]) -> Iterator[ComparedMetric]:
    """Holm within each kind of group: over metrics, runs, and the groups themselves."""
    adjusted: list[float | None] = [None] * len(rows)
    for kind in dict.fromkeys(row.kind for row in rows):
        places = [place for place, row in enumerate(rows) if row.kind == kind]
        for place, p in zip(places, holm([rows[place].p for place in places]), strict=True):
            adjusted[place] = p
    for row, p in zip(rows, adjusted, strict=True):
        yield row.model_copy(update={"p_holm": p, "verdict": _verdict(row.difference, p)})


def _verdict(difference: float, p: float | None) -> Verdict:
    if p is None:
        return "unknown"
    if p >= ALPHA:
        return "none"
    return "better" if difference > 0 else "worse"


def _notes(
    runs: Sequence[LoadedRun],
    metrics: Sequence[str],
    rows: Sequence[ComparedMetric],
    pairs: Iterable[PairCounts],
) -> Iterator[str]:
    """What must be read with the numbers."""
    if len(runs) < 2:
        return
    compared = {row.metric for row in rows}
    if absent := [name for name in metrics if name not in compared]:
        yield f"not compared, since no question has it in both: {', '.join(absent)}"
    for run in runs:
        if composite := run.report.composite:
            yield f"the composite {composite.profile} is no mean over questions and is not paired"
            break
    whole = [row for row in rows if row.group == OVERALL]
    for count in sorted({row.scenarios for row in whole if row.scenarios != row.n}):
        yield _few(count, whole)
    clones = Counter(run.lock.digest for run in runs)
    if any(number > 1 for number in clones.values()):
        yield "some of these are one run: equal locks"
    for found in pairs:
        if lost := found.only_base + found.only_run + found.ungraded:
            yield (
                f"{found.run}: {lost} questions are left out: {found.only_base} only in A, "
                f"{found.only_run} only in {found.run}, {found.ungraded} ungraded in one or both"
            )


def _few(count: int, rows: Iterable[ComparedMetric]) -> str:
    if count == 1:
        return (
            "one scenario: its questions are not independent, so neither interval nor p can be "
            "given; run more scenarios or seeds"
        )
    if count >= FEW_CLUSTERS:
        return f"whole scenarios are drawn and swapped: {count} of them"
    least = max((r.smallest_p or 0.0 for r in rows if r.scenarios == count), default=0.0)
    return (
        f"only {count} scenarios: interval and p are Student's t over them, since swapping the "
        f"runs scenario by scenario cannot reach p below {least:.3g}"
    )
