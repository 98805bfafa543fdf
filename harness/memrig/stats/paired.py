"""Paired differences of two runs: interval, permutation test, effect size, what could be seen.

The unit is the cluster, as in `intervals`: questions of one scenario share its luck, so it is whole
scenarios that are drawn, left out, and swapped between the runs (scoring §6).
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from scipy import special

from memrig.stats.intervals import FEW_CLUSTERS, LEVEL, Floats, bca, wilson

POWER = 0.8
#: Up to this many units all swaps are tried, beyond it so many are drawn.
EXACT_UNITS = 14
DRAWS = 20_000
_BLOCK = 1000
_RESAMPLES = 2000
#: Differences that are smaller are rounding.
_SAME = 1e-9

IntervalRule = Literal["bca", "cluster-bootstrap", "cluster-t", "t", "even", "no-spread", "none"]
TestRule = Literal["permutation", "cluster-t", "t", "even", "none"]


@dataclass(frozen=True, slots=True)
class Pair:
    """One question in both runs: its mean score over repeats.

    Where a metric is a ratio of counts, a score comes with its weight, and means are pooled ratios.
    """

    cluster: str
    category: str
    base: float
    other: float
    base_weight: float = 1.0
    other_weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Questions:
    """What the pairs tell by themselves, scenarios aside.

    Args:
        count: as how many of equal weight they count (Kish 1965: (Σw)² ÷ Σw²).
        error: the difference's standard error if they were independent.
    """

    count: float
    error: float

    @property
    def least(self) -> float:
        """The error, and no less than if one pair had come out otherwise.

        That is what the nearest result would have that has a spread between scenarios.
        """
        return max(self.error, 1 / self.count)


@dataclass(frozen=True, slots=True)
class Difference:
    """The other run less the base, as fractions.

    Args:
        base: the base's mean over the pairs.
        other: the other run's.
        value: `other` - `base`.
        low: of the 95 % interval; None where nothing can be said.
        high: likewise.
        interval: the rule behind the bounds.
        p: two-sided, of no difference; None where nothing can be said.
        test: the rule behind `p`.
        p_permutation: of swapping the runs unit by unit; the same as `p` from 12 units on.
        smallest_p: the least that the permutation can give with so many units.
        effect: Cohen's d of the pairs (mean ÷ sd of the questions' differences); None where all
            differ alike, and for ratios and macro means.
        error: the standard error of the difference.
        n: pairs.
        ties: those of them that do not differ.
        units: clusters.
    """

    base: float
    other: float
    value: float
    low: float | None
    high: float | None
    interval: IntervalRule
    p: float | None
    test: TestRule
    p_permutation: float | None
    smallest_p: float | None
    effect: float | None
    error: float | None
    n: int
    ties: int
    units: int


class Pairs:
    """The pairs of one metric as units × columns of sums, so that a resample is one product.

    A statistic is the mean over columns of the difference of two pooled means: one column makes it
    the mean over questions, a column a category the macro mean.

    Args:
        pairs: at least one.
        macro: whether categories weigh alike.
    """

    def __init__(self, pairs: Iterable[Pair], *, macro: bool = False) -> None:
        self.pairs = list(pairs)
        self.macro = macro
        rows = {name: i for i, name in enumerate(dict.fromkeys(p.cluster for p in self.pairs))}
        names = sorted({p.category for p in self.pairs}) if macro else [""]
        columns = {name: i for i, name in enumerate(names)}
        shape = len(rows), len(columns)
        self._sums = np.zeros((2, *shape))
        self._weights = np.zeros((2, *shape))
        for pair in self.pairs:
            place = rows[pair.cluster], columns[pair.category if macro else ""]
            self._sums[0][place] += pair.base * pair.base_weight
            self._sums[1][place] += pair.other * pair.other_weight
            self._weights[0][place] += pair.base_weight
            self._weights[1][place] += pair.other_weight
        self._filled = np.zeros(shape)
        for pair in self.pairs:
            self._filled[rows[pair.cluster], columns[pair.category if macro else ""]] += 1

    @property
    def units(self) -> int:
        """How many clusters there are."""
        return int(self._sums.shape[1])

    @property
    def independent(self) -> bool:
        """Whether every question is a cluster of its own."""
        return self.units == len(self.pairs)

    @property
    def weighted(self) -> bool:
        """Whether the metric is a ratio of counts."""
        return any(p.base_weight != 1 or p.other_weight != 1 for p in self.pairs)

    def means(self, drawn: Floats) -> tuple[Floats, Floats]:
        """Both runs' means for each row of `drawn`, which says how often each unit counts.

        NaN where a category has no question left; 0 where it has some, with nothing to count.
        """
        base, other = (self._mean(drawn @ self._sums[i], drawn @ self._weights[i], drawn)
                       for i in (0, 1))  # fmt: skip
        return base, other

    def differences(self, drawn: Floats) -> Floats:
        """The statistic for each row of `drawn`."""
        base, other = self.means(drawn)
        return other - base

    def swapped(self, swaps: Floats) -> Floats:
        """The statistic when the units marked 1 in a row of `swaps` change runs."""
        both = []
        for own, others in ((0, 1), (1, 0)):
            sums, weights = (
                part[own].sum(axis=0) + swaps @ (part[others] - part[own])
                for part in (self._sums, self._weights)
            )
            both.append(self._mean(sums, weights, np.ones((1, self.units))))
        return both[1] - both[0]

    def _mean(self, sums: Floats, weights: Floats, drawn: Floats) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            means = sums / weights
        counted = np.broadcast_to(drawn @ self._filled, means.shape) > 0
        means[(weights == 0) & counted] = 0.0
        found: Floats = means.mean(axis=1)
        return found

    @cached_property
    def value(self) -> float:
        """The difference over all pairs."""
        return float(self.differences(np.ones((1, self.units)))[0])

    @cached_property
    def left_out(self) -> Floats:
        """The statistic without each unit in turn; NaN where a category goes with it."""
        return self.differences(1.0 - np.eye(self.units))

    @cached_property
    def alike(self) -> bool:
        """Whether every unit differs as every other does, so that nothing shows a spread."""
        found = self.left_out
        return self.units > 1 and not np.isnan(found).any() and bool(np.ptp(found) < _SAME)

    @cached_property
    def error(self) -> float | None:
        """The delete-one-unit jackknife's standard error; sd ÷ √n for independent questions.

        Where all units differ alike it is that of the questions, as if they were independent.
        None where there is none: one unit, no spread, or a category that lives in one unit alone.
        """
        if self.units < 2 or np.isnan(self.left_out).any():
            return None
        if self.alike:
            return None if self.questions.error < _SAME else self.questions.least
        spread = float(np.sum((self.left_out - self.left_out.mean()) ** 2))
        return math.sqrt((self.units - 1) / self.units * spread)

    @cached_property
    def questions(self) -> Questions:
        """What the pairs tell by themselves: their count, and the error by linearisation."""
        columns: dict[str, list[Pair]] = {}
        for pair in self.pairs:
            columns.setdefault(pair.category if self.macro else "", []).append(pair)
        found = [_influences(part, len(columns)) for part in columns.values()]
        n = len(self.pairs)
        error = math.sqrt(sum(float(np.sum(of**2)) for of in found) * n / max(1, n - 1))
        share = sum(1 / len(part) for part in found) / len(found) ** 2
        return Questions(1 / share, error)


def _influences(pairs: Sequence[Pair], columns: int) -> Floats:
    """By how much each pair moves the difference of one column's means, to first order."""
    found = np.zeros(len(pairs))
    for sign, values, weights in (
        (-1, [p.base for p in pairs], [p.base_weight for p in pairs]),
        (1, [p.other for p in pairs], [p.other_weight for p in pairs]),
    ):
        if total := sum(weights):
            off = np.array(values) - np.average(values, weights=weights)
            found += sign * np.array(weights) * off / total / columns
    return found


def compare(pairs: Iterable[Pair], seed: int, *, macro: bool = False) -> Difference:
    """What two runs differ by, and how sure that is.

    Args:
        pairs: at least one.
        seed: of all draws.
        macro: whether categories weigh alike.
    """
    table = Pairs(pairs, macro=macro)
    base, other = (float(mean[0]) for mean in table.means(np.ones((1, table.units))))
    low, high, rule = _interval(table, seed)
    p_permutation = _permutation(table, seed)
    p, test = _p_value(table, p_permutation)
    return Difference(
        base=base,
        other=other,
        value=other - base,
        low=low,
        high=high,
        interval=rule,
        p=p,
        test=test,
        p_permutation=p_permutation,
        smallest_p=smallest_p(table.units) if table.units > 1 else None,
        effect=_effect(table),
        error=table.error,
        n=len(table.pairs),
        ties=sum(abs(pair.other - pair.base) < _SAME for pair in table.pairs),
        units=table.units,
    )


def _interval(table: Pairs, seed: int) -> tuple[float | None, float | None, IntervalRule]:
    if table.units < 2:
        return None, None, "none"
    if table.alike:
        return _even(table)
    if table.units < FEW_CLUSTERS:
        return _student(table)
    if table.independent and not table.weighted and not table.macro:
        found = bca([pair.other - pair.base for pair in table.pairs], seed)
        if found.low is None or found.high is None or math.isnan(found.low + found.high):
            return _student(table)
        return found.low, found.high, "bca"
    drawn = np.random.default_rng(seed).multinomial(
        table.units, [1 / table.units] * table.units, size=_RESAMPLES
    )
    tail = (1 - LEVEL) / 2
    low, high = np.nanquantile(table.differences(drawn.astype(float)), [tail, 1 - tail])
    return float(low), float(high), "cluster-bootstrap"


def _student(table: Pairs) -> tuple[float | None, float | None, IntervalRule]:
    if table.error is None:
        return None, None, "none"
    half = float(special.stdtrit(table.units - 1, 0.5 + LEVEL / 2)) * table.error
    rule: IntervalRule = "t" if table.independent else "cluster-t"
    return max(-1.0, table.value - half), min(1.0, table.value + half), rule


def _even(table: Pairs) -> tuple[float, float, IntervalRule]:
    """All units differ alike, often by nothing: a spread of nothing would claim certainty.

    Then the questions tell what there is to tell. Where they differ alike as well, at most a share
    h of all would differ otherwise, and those by all that is possible at worst: h is Wilson's bound
    over the questions, or t ÷ n if that is more, and at most Wilson's bound over the units.
    """
    t = float(special.stdtrit(table.units - 1, 0.5 + LEVEL / 2))
    value, half = table.value, t * table.questions.least
    if table.error is not None:
        return max(-1.0, value - half), min(1.0, value + half), "even"
    share = max(wilson(0, table.questions.count).high or 0.0, half)
    share = min(share, wilson(0, table.units).high or 1.0)
    return value - share * (1 + value), value + share * (1 - value), "no-spread"


def _even_p(table: Pairs) -> float:
    """The p by the rules of `_even`, where all pairs differ alike."""
    size, n = abs(table.value), table.questions.count
    p = max(
        2 * float(special.stdtr(table.units - 1, -n * size)),
        2 * float(special.ndtr(-math.sqrt(n * size))),
    )
    return min(p, 2 * float(special.ndtr(-math.sqrt(table.units * size))))


def _p_value(table: Pairs, p_permutation: float | None) -> tuple[float | None, TestRule]:
    """From 12 units on the permutation's; of fewer, which allow few swaps, Student's t."""
    if table.units >= FEW_CLUSTERS:
        return p_permutation, "permutation"
    if table.alike and table.error is None:
        return _even_p(table), "even"
    if table.error is None:
        return None, "none"
    p = 2 * float(special.stdtr(table.units - 1, -abs(table.value) / table.error))
    return min(1.0, p), "even" if table.alike else "t" if table.independent else "cluster-t"


def smallest_p(units: int) -> float:
    """The least p that swapping so many units can give."""
    return 2.0 / 2**units if units <= EXACT_UNITS else 1.0 / (DRAWS + 1)


def _permutation(table: Pairs, seed: int) -> float | None:
    """The share of swaps whose difference is at least the one seen; two-sided.

    All swaps of up to 14 units; beyond, 20,000 drawn ones and the one seen (Phipson and Smyth 2010:
    a p of 0 would claim more than was tried).
    """
    if table.units < 2:
        return None
    seen = abs(table.value) - _SAME
    if table.units <= EXACT_UNITS:
        codes = np.arange(2**table.units)[:, None] >> np.arange(table.units)[None, :]
        found = table.swapped((codes & 1).astype(float))
        return float(np.mean(np.abs(found) >= seen))
    rng = np.random.default_rng(seed)
    as_far = 0
    for _ in range(DRAWS // _BLOCK):
        swaps = rng.integers(0, 2, (_BLOCK, table.units), dtype=np.int8).astype(float)
        as_far += int(np.sum(np.abs(table.swapped(swaps)) >= seen))
    return (as_far + 1) / (DRAWS + 1)


def _effect(table: Pairs) -> float | None:
    found = np.array([pair.other - pair.base for pair in table.pairs])
    if table.macro or table.weighted or len(found) < 2 or np.ptp(found) < _SAME:
        return None
    return float(found.mean() / found.std(ddof=1))


def detectable(error: float | None, units: int, tests: int = 1) -> float | None:
    """The least difference that such a comparison would have shown four times in five.

    (t_{1-α/2} + t_{0.8}) × standard error, both quantiles of Student's t over units - 1 degrees of
    freedom (Bloom 1995); None without a standard error.

    Args:
        error: of the difference.
        units: clusters.
        tests: how many tests share the level of 5 %: Holm's first step.
    """
    if error is None or units < 2:
        return None
    level, freedom = 1 - (1 - LEVEL) / tests / 2, units - 1
    quantiles = float(special.stdtrit(freedom, level)) + float(special.stdtrit(freedom, POWER))
    return quantiles * error


def holm(values: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down adjustment (Holm 1979); what could not be tested is no test."""
    tested = sorted((p, place) for place, p in enumerate(values) if p is not None)
    adjusted: list[float | None] = [None] * len(values)
    most = 0.0
    for done, (p, place) in enumerate(tested):
        most = max(most, min(1.0, (len(tested) - done) * p))
        adjusted[place] = most
    return adjusted
