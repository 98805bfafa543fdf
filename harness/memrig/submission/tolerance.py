"""How far a rerun may be from what was claimed: said before it, and held against it afterwards.

Pure: grades in, verdicts out. A system that calls no model outside of the rig must do everything
again to the letter. One that does cannot: its answers waver, and bounds on means take the place.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean
from typing import Literal

from memrig.grading.base import Grade, load_grader
from memrig.report.scores import primary_of
from memrig.runs.lock import Lock, differences
from memrig.runs.models import models_of
from memrig.stats.paired import Difference, Pair, compare
from memrig.stats.unpaired import unpaired
from memrig.submission.auditrecord import Deviation, MetricResult, Rule, RunResult, Tolerance

#: What a user can ask for: auto takes exact where nothing says that answers waver.
RuleChoice = Literal["auto", "exact", "statistical"]
#: By how much the means of a wavering system may differ, beyond what chance explains.
MARGIN = 0.02
#: How much more may be claimed than fresh seeds give: one world is harder than another.
FRESH_MARGIN = 0.05
#: Of fewer questions in all, bounds on means tell nothing.
LEAST_QUESTIONS = 10
#: The greatest variance that two draws of one question's score in 0 … 1 can differ by.
_VARIANCE = 0.5
_LEVEL = 0.95
_SHOWN = 20
_LOCAL = "local/"
#: What names a trial, and so is another one under another adapter's digest.
_NAMES = {"trial_id", "repeat"}

#: How a question ends that a memory system did not serve.
_UNSERVED = ("adapter_crashed", "adapter_error", "timeout")

Key = tuple[str, str]
Graded = Mapping[Key, Grade]


def tolerance_of(run_id: str, lock: Lock, grades: Iterable[Grade], choice: RuleChoice) -> Tolerance:
    """The tolerance of a run, from what is claimed of it alone.

    Args:
        run_id: the run's name.
        lock: its lock.
        grades: all that it claims.
        choice: the organiser's.
    """
    rule, why = _rule(lock, grades) if choice == "auto" else (choice, "the organiser's choice")
    grader = load_grader(lock.protocol)
    metrics = tuple(metric.name for metric in grader.metrics if metric.heads(lock.mode))
    return Tolerance(
        run_id=run_id,
        rule=rule,
        why=why,
        metric=primary_of(metrics),
        metrics=metrics,
        margin=0.0 if rule == "exact" else MARGIN,
        fresh_margin=FRESH_MARGIN,
    )


def _rule(lock: Lock, grades: Iterable[Grade]) -> tuple[Rule, str]:
    names = models_of(lock.adapter) | {lock.judge, lock.answer.model if lock.answer else ""}
    if called := sorted(name for name in names if name and not name.startswith(_LOCAL)):
        return "statistical", f"it calls {', '.join(called)}"
    if wavering := _wavering(grades):
        return "statistical", f"its own repeats differ in {wavering} questions"
    return "exact", "it calls no model but built-in ones"


def _wavering(grades: Iterable[Grade]) -> int:
    """How many questions a run's own repeats grade differently."""
    found: dict[tuple[str, int, str], set[str]] = defaultdict(set)
    for grade in grades:
        key = grade.scenario_id, grade.seed, grade.question_id
        found[key].add(grade.model_dump_json(exclude=_NAMES))
    return sum(len(forms) > 1 for forms in found.values())


def cell_bound(tolerance: Tolerance, questions: int, cells: int) -> float:
    """How far the means of one cell may be apart, as a fraction; known before it is run.

    Of an exact rule 0. Else what chance explains at worst: z · √(½ ÷ n), the level of 5 % shared
    by all cells (Bonferroni), since two draws of one question differ by a variance of ½ at most.
    """
    if tolerance.rule == "exact":
        return 0.0
    z = NormalDist().inv_cdf(1 - (1 - _LEVEL) / (2 * max(1, cells)))
    return min(1.0, z * math.sqrt(_VARIANCE / max(1, questions)))


def said(tolerance: Tolerance) -> str:
    """The tolerance of a run in one sentence, for who watches."""
    if tolerance.rule == "exact":
        return f"{tolerance.run_id}: every grade of every question the same ({tolerance.why})"
    return (
        f"{tolerance.run_id}: each cell's mean {tolerance.metric} within its bound, and the 95 % "
        f"intervals of the differences of {', '.join(tolerance.metrics)} over all of them meet "
        f"±{tolerance.margin:g} ({tolerance.why})"
    )


def by_question(grades: Iterable[Grade]) -> dict[Key, Grade]:
    """Grades of one trial by scenario and question."""
    return {(grade.scenario_id, grade.question_id): grade for grade in grades}


def over_repeats(grades: Iterable[Grade]) -> list[Grade]:
    """One grade a question: asking it again tells less than another one would.

    Of each score it is the mean over the repeats that have it.
    """
    found: dict[tuple[str, int, str], list[Grade]] = defaultdict(list)
    for grade in grades:
        if grade.status == "graded":
            found[grade.scenario_id, grade.seed, grade.question_id].append(grade)
    return [_mean_grade(several) for several in found.values()]


def _mean_grade(several: Sequence[Grade]) -> Grade:
    names = dict.fromkeys(name for grade in several for name in grade.scores)
    scores = {name: mean_of(several, name) for name in names}
    weights = {
        name: fmean(grade.weights[name] for grade in several if name in grade.weights)
        for name in dict.fromkeys(name for grade in several for name in grade.weights)
    }
    return several[0].model_copy(update={"scores": scores, "weights": weights})


def served(outcomes: Iterable[str]) -> bool:
    """Whether the memory system served any of the questions that ended so."""
    return not all(outcome.startswith(_UNSERVED) for outcome in outcomes)


def mean_of(grades: Iterable[Grade], metric: str) -> float | None:
    """The mean over the graded questions that have the metric; None of none."""
    found = [g.scores[metric] for g in grades if g.status == "graded" and metric in g.scores]
    return fmean(found) if found else None


def deviations(claimed: Graded, again: Graded) -> list[Deviation]:
    """The questions whose grades differ, and in what; one that is missing differs in everything."""
    return [
        Deviation(scenario_id=key[0], question_id=key[1], fields=fields)
        for key in sorted(claimed.keys() | again.keys())
        if (fields := tuple(_fields(claimed.get(key), again.get(key))))
    ]


def shown(found: Sequence[Deviation]) -> tuple[Deviation, ...]:
    """As many as a record keeps."""
    return tuple(found[:_SHOWN])


def _fields(claimed: Grade | None, again: Grade | None) -> Iterator[str]:
    if claimed is None or again is None:
        yield "was not settled again" if claimed else "was not claimed"
        return
    old, new = (grade.model_dump(mode="json", exclude=_NAMES) for grade in (claimed, again))
    yield from differences(old, new)


def within(claimed: float | None, again: float | None, bound: float) -> bool:
    """Whether two means of a cell agree; where one is missing, both must be."""
    if claimed is None or again is None:
        return claimed is again
    return abs(again - claimed) <= bound + 1e-12


def _paired(claimed: Sequence[Graded], again: Sequence[Graded], metric: str) -> Difference | None:
    """Again less claimed, over the questions of cells in pairs; None where there is no pair.

    Of a single scenario its questions are the units, since there is nothing else.
    """
    pairs = list(_pairs(claimed, again, metric))
    if not pairs:
        return None
    if len({pair.cluster for pair in pairs}) < 2:
        pairs = [
            Pair(str(n), p.category, p.base, p.other, p.base_weight, p.other_weight)
            for n, p in enumerate(pairs)
        ]
    return compare(pairs, seed=len(pairs))


def _pairs(claimed: Sequence[Graded], again: Sequence[Graded], metric: str) -> Iterator[Pair]:
    for old, new in zip(claimed, again, strict=True):
        for key in sorted(old.keys() & new.keys()):
            left, right = old[key], new[key]
            if metric in left.scores and metric in right.scores:
                yield Pair(
                    cluster=left.cluster,
                    category=left.category,
                    base=left.scores[metric],
                    other=right.scores[metric],
                    base_weight=left.weights.get(metric, 1.0),
                    other_weight=right.weights.get(metric, 1.0),
                )


def judge_run(
    tolerance: Tolerance, claimed: Sequence[Graded], again: Sequence[Graded]
) -> RunResult:
    """All cells of a run together."""
    differing = sum(len(deviations(old, new)) for old, new in zip(claimed, again, strict=True))
    exact = tolerance.rule == "exact"
    metrics = []
    for name in tolerance.metrics:
        bounds = same_questions(claimed, again, name)
        agrees = bounds.same if exact else bounds.meets(tolerance.margin)
        if exact:
            bounds = Bounds(bounds.claimed, bounds.found)
        metrics.append(bounds.result(name, agrees=agrees))
    return RunResult(
        run_id=tolerance.run_id,
        questions=sum(map(len, claimed)),
        differing=differing,
        metrics=tuple(metrics),
        agrees=not differing if exact else all(metric.agrees for metric in metrics),
    )


@dataclass(frozen=True, slots=True)
class Bounds:
    """Two means, and the 95 % interval of claimed less found; None: nothing can be said."""

    claimed: float | None
    found: float | None
    low: float | None = None
    high: float | None = None

    @property
    def same(self) -> bool:
        """Whether the means are."""
        return within(self.claimed, self.found, 0.0)

    def meets(self, margin: float) -> bool:
        """Whether the interval meets ± margin; where there is none, as it is."""
        if self.low is None or self.high is None:
            return within(self.claimed, self.found, margin)
        return self.low <= margin and self.high >= -margin

    def allows(self, margin: float) -> bool:
        """Whether no more than a margin more is claimed; where there is no interval, as it is."""
        if self.claimed is None or self.found is None:
            return self.claimed is self.found
        least = self.claimed - self.found if self.low is None else self.low
        return least <= margin

    def result(self, metric: str, *, agrees: bool) -> MetricResult:
        """As an audit record has it."""
        return MetricResult(
            metric=metric,
            claimed=self.claimed,
            found=self.found,
            low=self.low,
            high=self.high,
            agrees=agrees,
        )


def same_questions(claimed: Sequence[Graded], found: Sequence[Graded], metric: str) -> Bounds:
    """Two means over the same questions, cell by cell, in pairs."""
    result = _paired(claimed, found, metric)
    if result is None:
        return Bounds(mean_of(_all(claimed), metric), mean_of(_all(found), metric))
    if result.low is None or result.high is None:
        return Bounds(result.base, result.other)
    return Bounds(result.base, result.other, -result.high, -result.low)


def other_questions(claimed: Iterable[Grade], found: Iterable[Grade], metric: str) -> Bounds:
    """Two means over different questions, such as those of other worlds."""
    old, new = ([g for g in grades if g.status == "graded"] for grades in (claimed, found))
    result = unpaired(old, new, metric)
    if result is None:
        return Bounds(mean_of(old, metric), mean_of(new, metric))
    return Bounds(result.first, result.second, result.low, result.high)


def _all(cells: Iterable[Graded]) -> Iterator[Grade]:
    return (grade for cell in cells for grade in cell.values())
