"""One number of a run's metrics by a profile, and all that stands behind it (scoring §4)."""

from collections import Counter
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from memrig.grading.base import Grade, Metric
from memrig.grading.profile import Contrast, Part, Profile
from memrig.model.canonical import derive
from memrig.stats.intervals import NOTHING, Interval, Method, clustered, student
from memrig.stats.table import Table


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class CompositeRow(_Frozen):
    """One metric of a profile, or one of tier 0 that stands beside it.

    Values are fractions; one that is a difference may be negative. `n` counts the questions behind
    it, `missing` the others that it was meant for by why it could not be measured there. Without a
    value, `reason` says why there is none.
    """

    metric: str
    tier: int
    weight: float
    value: float | None
    low: float | None
    high: float | None
    n: int
    interval: Method
    missing: dict[str, int]
    reason: str = ""


class GateRow(_Frozen):
    """A gate. `value` is None where its metric was not measured: then it does not close."""

    metric: str
    least: float
    value: float | None
    closed: bool


class ScopeRow(_Frozen):
    """The composite of one scope, its own gates applied; `closed` names those that closed.

    `missing` names the metrics that were not measured in it: composites of scopes with different
    ones are of different things.
    """

    scope: str
    value: float | None
    ungated: float | None
    measured_weight: float
    n: int
    closed: tuple[str, ...]
    missing: tuple[str, ...]


class Composite(_Frozen):
    """The composite of a run, over all questions together.

    `value` is 0 where a gate closed, `ungated` what it would have been; both are None where nothing
    was measured. `measured_weight` of `weight` stands behind them. `mean`, `low` and `high` are the
    mean of the scopes' values and its 95 % t interval; None for less than two scopes, and where
    not the same metrics were measured in all of them.
    `beside` are the protocol's other metrics, which weigh nothing.
    """

    profile: str
    value: float | None
    ungated: float | None
    weight: float
    measured_weight: float
    gates: tuple[GateRow, ...]
    rows: tuple[CompositeRow, ...]
    beside: tuple[CompositeRow, ...]
    scopes: tuple[ScopeRow, ...]
    mean: float | None
    low: float | None
    high: float | None


def composite(
    grades: Sequence[Grade], metrics: Sequence[Metric], profile: Profile, seed: int
) -> Composite | None:
    """What a profile makes of a run; None where no question was graded.

    Args:
        grades: all grades of a run; ungraded ones count in nothing.
        metrics: the protocol's.
        profile: weights and gates.
        seed: of the intervals' draws, from the run's lock.
    """
    graded = [grade for grade in grades if grade.status == "graded"]
    if not graded:
        return None
    known = {metric.name: metric for metric in metrics}
    rows = tuple(_row(graded, part, known.get(part.metric), seed) for part in profile.parts)
    others = [metric for metric in metrics if metric.name not in {row.metric for row in rows}]
    values = {row.metric: row.value for row in rows if row.value is not None}
    whole = profile.compose(values)
    scopes = _scopes(graded, profile)
    composites = _alike(scopes)
    # A composite that holds a difference may be below 0.
    spread = student(composites, least=-1.0)
    return Composite(
        profile=profile.name,
        value=whole.value,
        ungated=whole.ungated,
        weight=round(sum(part.weight for part in profile.parts), 6),
        measured_weight=whole.measured,
        gates=tuple(
            GateRow(
                metric=gate.metric,
                least=gate.least,
                value=values.get(gate.metric),
                closed=gate.metric in whole.hit,
            )
            for gate in profile.gates
        ),
        rows=rows,
        beside=tuple(_row(graded, Part(one.name, 0, 0.0), one, seed) for one in others),
        scopes=scopes,
        mean=sum(composites) / len(composites) if len(composites) > 1 else None,
        low=spread.low,
        high=spread.high,
    )


def _scopes(graded: Sequence[Grade], profile: Profile) -> tuple[ScopeRow, ...]:
    by_scope: dict[str, list[Grade]] = {}
    for grade in graded:
        by_scope.setdefault(grade.cluster, []).append(grade)
    rows = []
    for name, part in sorted(by_scope.items()):
        found = {item.metric: _value(_table(part, item), item) for item in profile.parts}
        values = {metric: value for metric, value in found.items() if value is not None}
        one = profile.compose(values)
        row = ScopeRow(
            scope=name,
            value=one.value,
            ungated=one.ungated,
            measured_weight=one.measured,
            n=len(part),
            closed=one.hit,
            missing=tuple(item.metric for item in profile.parts if item.metric not in values),
        )
        rows.append(row)
    return tuple(rows)


def _alike(scopes: Sequence[ScopeRow]) -> list[float]:
    """The scopes' values, if they are of the same metrics; a mean of others is of nothing."""
    if len({scope.missing for scope in scopes}) > 1:
        return []
    return [scope.value for scope in scopes if scope.value is not None]


def _row(graded: Sequence[Grade], part: Part, metric: Metric | None, seed: int) -> CompositeRow:
    table = _table(graded, part)
    value = _value(table, part)
    name = part.contrast.metric if part.contrast else part.metric
    meant = graded if part.contrast is None else _of_either(graded, part.contrast)
    missing = Counter(grade.missing[name] for grade in meant if name in grade.missing)
    spread = NOTHING if value is None else _interval(table, part, metric, seed)
    return CompositeRow(
        metric=part.metric,
        tier=part.tier,
        weight=part.weight,
        value=value,
        low=spread.low,
        high=spread.high,
        n=0 if value is None else len(table.values),
        interval=spread.method,
        missing=dict(missing.most_common()),
        reason=_reason(graded, part, missing) if value is None else "",
    )


def _table(graded: Sequence[Grade], part: Part) -> Table:
    if part.contrast is None:
        return Table(graded, part.metric)
    return Table(_of_either(graded, part.contrast), part.contrast.metric)


def _of_either(graded: Sequence[Grade], contrast: Contrast) -> list[Grade]:
    """The grades of the categories that are set against each other."""
    either = contrast.of[1] | contrast.less[1]
    return [grade for grade in graded if grade.category in either]


def _value(table: Table, part: Part) -> float | None:
    if part.contrast is None:
        return table.micro(table.whole) if len(table.values) else None
    both = (part.contrast.of[1], part.contrast.less[1])
    if any(group.isdisjoint(table.categories) for group in both):
        return None
    return table.difference(table.whole, *both)


def _interval(table: Table, part: Part, metric: Metric | None, seed: int) -> Interval:
    draw = derive(seed, "interval", part.metric) % 2**32
    if part.contrast is None:
        return table.interval(metric or Metric(part.metric, binary=False), draw)
    of, less = part.contrast.of[1], part.contrast.less[1]
    return clustered(
        table.clusters, lambda drawn: table.difference(drawn, of, less), draw, least=-1.0
    )


def _reason(graded: Sequence[Grade], part: Part, missing: Counter[str]) -> str:
    """Why nothing was measured, the most common reason first."""
    if part.contrast is not None:
        return _empty_group(graded, part.contrast)
    return "; ".join(why for why, _ in missing.most_common()) or "no question is of a type for it"


def _empty_group(graded: Sequence[Grade], contrast: Contrast) -> str:
    metric = contrast.metric
    for name, group in (contrast.less, contrast.of):
        asked = [grade for grade in graded if grade.category in group]
        if not asked:
            return f"no {name} question was graded"
        if not any(metric in grade.scores for grade in asked):
            reasons = dict.fromkeys(grade.missing.get(metric, "") for grade in asked)
            why = "; ".join(filter(None, reasons))
            said = f"no {name} question has {metric.replace('_', ' ')}"
            return f"{said}: {why}" if why else said
    return ""
