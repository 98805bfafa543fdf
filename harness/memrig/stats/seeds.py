"""A run's figures across its seeds and repeats: their spread, and the questions that waver."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, stdev

from pydantic import BaseModel, ConfigDict

from memrig.grading.base import Grade
from memrig.stats.intervals import NOTHING, Method, student
from memrig.stats.summary import MACRO, OVERALL, Kind
from memrig.stats.table import Table, natural
from memrig.stats.variance import VariancePart, split_variance

#: A question whose score varies by more than this is noisy (scoring §6).
NOISY = 0.10
_ROUNDING = 1e-9

#: (trial id, scenario id, question id)
Key = tuple[str, str, str]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class SeedRow(_Frozen):
    """One metric of one group across seeds. Values are fractions.

    `values` and `counts` (graded questions, repeats included) are in the order of the run's seeds;
    a value is None where the seed has no such question. `mean` and `sd` (of a sample) are over
    seeds, `low` and `high` Student's t interval of the mean over them; None with fewer than two, or
    where all agree: that is no certainty.
    """

    metric: str
    group: str
    kind: Kind
    values: tuple[float | None, ...]
    counts: tuple[int, ...]
    mean: float
    sd: float | None
    low: float | None
    high: float | None
    interval: Method


class NoisyQuestion(_Frozen):
    """A question, or the form that questions of several seeds share, whose score varies.

    `values` are its means by seed, over `counts` questions. `between_seeds` is the distance of the
    highest from the lowest; `between_repeats` the greatest such distance of its means by repeat
    within one seed. None where there were not two to compare.
    """

    name: str
    category: str
    values: tuple[float | None, ...]
    counts: tuple[int, ...]
    between_seeds: float | None
    between_repeats: float | None

    @property
    def range(self) -> float:
        """By how much it varies at most."""
        return max(self.between_seeds or 0.0, self.between_repeats or 0.0)

    @property
    def least(self) -> int:
        """Over how many questions its means are at least: of few, the draw alone makes it vary."""
        return min(count for count in self.counts if count)


class AcrossSeeds(_Frozen):
    """What many seeds, or repeats, say of a run.

    `metric` is the one that `noisy` and `variance` are about. `compared` counts the questions (or
    forms of them) that were seen under two seeds or in two repeats; `noisy` are those whose score
    varied by more than 10 points: those of several questions a seed first, since of one the draw
    alone makes it vary; of either kind the most varying first.
    """

    seeds: tuple[int, ...]
    repeats: int
    rows: tuple[SeedRow, ...]
    metric: str
    compared: int
    noisy: tuple[NoisyQuestion, ...]
    variance: tuple[VariancePart, ...]


def across_seeds(
    grades: Sequence[Grade],
    metrics: Sequence[str],
    seeds: Sequence[int],
    repeats: int,
    noise: Mapping[Key, float] | None = None,
) -> AcrossSeeds | None:
    """Compares a run's seeds and repeats; None where there is one of each, or nothing was graded.

    Args:
        grades: all of the run; ungraded ones count in nothing.
        metrics: the headline ones, in the order of tables; the first that was measured is that of
            the questions and of the variance.
        seeds: the run's, in order.
        repeats: how often each was run.
        noise: by question, the variance that the judge's votes leave in its score, where it is not
            0; None: no judge voted more than once.
    """
    graded = [grade for grade in grades if grade.status == "graded"]
    measured = [name for name in metrics if any(name in grade.scores for grade in graded)]
    if not measured or (len(seeds) < 2 and repeats < 2):
        return None
    main = measured[0]
    questions = list(_questions(graded, main, seeds))
    wavering = [question for question in questions if question.range > NOISY + _ROUNDING]
    return AcrossSeeds(
        seeds=tuple(seeds),
        repeats=repeats,
        rows=tuple(row for name in measured for row in _rows(graded, name, seeds)),
        metric=main,
        compared=len(questions),
        noisy=tuple(sorted(wavering, key=lambda q: (q.least < 2, -q.range, -q.least, q.name))),
        variance=_variance(graded, main, seeds, noise),
    )


def _rows(grades: Sequence[Grade], metric: str, seeds: Sequence[int]) -> Iterator[SeedRow]:
    tables = [Table([g for g in grades if g.seed == seed], metric) for seed in seeds]
    yield _row(metric, OVERALL, "micro", tables)
    yield _row(metric, MACRO, "macro", tables)
    for category in sorted({name for table in tables for name in table.categories}, key=natural):
        parts = [Table([g for g in t.grades if g.category == category], metric) for t in tables]
        yield _row(metric, category, "category", parts)


def _row(metric: str, group: str, kind: Kind, tables: Sequence[Table]) -> SeedRow:
    counts = tuple(len(table.values) for table in tables)
    values = tuple(
        (table.macro(table.whole) if kind == "macro" else table.micro(table.whole))
        if len(table.values)
        else None
        for table in tables
    )
    known = [value for value in values if value is not None]
    interval = student(known) if len(known) > 1 else NOTHING
    return SeedRow(
        metric=metric,
        group=group,
        kind=kind,
        values=values,
        counts=counts,
        mean=fmean(known),
        sd=stdev(known) if len(known) > 1 else None,
        low=interval.low,
        high=interval.high,
        interval=interval.method,
    )


def _questions(
    grades: Sequence[Grade], metric: str, seeds: Sequence[int]
) -> Iterator[NoisyQuestion]:
    """Every question, or form of them, that can be compared."""
    alike: dict[tuple[str, str], list[Grade]] = defaultdict(list)
    for grade in grades:
        if metric in grade.scores:
            own = ("", grade.template) if grade.template else (grade.scenario_id, grade.question_id)
            alike[own].append(grade)
    for (_, name), found in alike.items():
        scores = [[g.scores[metric] for g in found if g.seed == seed] for seed in seeds]
        means = tuple(fmean(part) if part else None for part in scores)
        between = _range([mean for mean in means if mean is not None])
        repeats = _between_repeats(found, metric)
        if between is None and repeats is None:
            continue
        yield NoisyQuestion(
            name=name,
            category=found[0].category,
            values=means,
            counts=tuple(map(len, scores)),
            between_seeds=between,
            between_repeats=repeats,
        )


def _between_repeats(grades: Sequence[Grade], metric: str) -> float | None:
    cells: dict[int, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for grade in grades:
        cells[grade.seed][grade.repeat].append(grade.scores[metric])
    found = [_range([fmean(part) for part in repeats.values()]) for repeats in cells.values()]
    return max((value for value in found if value is not None), default=None)


def _range(values: Sequence[float]) -> float | None:
    return max(values) - min(values) if len(values) > 1 else None


def _variance(
    grades: Sequence[Grade], metric: str, seeds: Sequence[int], noise: Mapping[Key, float] | None
) -> tuple[VariancePart, ...]:
    parts: dict[tuple[int, int], list[Grade]] = defaultdict(list)
    for grade in grades:
        if metric in grade.scores:
            parts[grade.seed, grade.repeat].append(grade)
    tables = {place: Table(found, metric) for place, found in sorted(parts.items())}
    cells = {
        seed: [t.micro(t.whole) for (of, _), t in tables.items() if of == seed] for seed in seeds
    }
    judge = None if noise is None else fmean(_judged(t.grades, noise) for t in tables.values())
    return split_variance(cells, judge)


def _judged(grades: Sequence[Grade], noise: Mapping[Key, float]) -> float:
    """The variance that votes leave in a mean over questions, whose votes are independent."""
    keys = ((g.trial_id, g.scenario_id, g.question_id) for g in grades)
    return sum(noise.get(key, 0.0) for key in keys) / len(grades) ** 2
