"""A composite worded: for its table in the terminal and its section of the page alike."""

from collections.abc import Iterator
from dataclasses import dataclass

from memrig.report.units import NOT_AVAILABLE, bounds, count, metric_help, percent
from memrig.stats.composite import Composite, CompositeRow, GateRow, ScopeRow


@dataclass(frozen=True, slots=True)
class PartView:
    """One metric of a profile. `why` is empty where it has a value, `help` says what it is."""

    tier: str
    name: str
    help: str
    weight: str
    value: str
    bounds: str
    n: str
    why: str


@dataclass(frozen=True, slots=True)
class ScopeView:
    """One scope's composite; `closed` names its gates that closed."""

    name: str
    value: str
    ungated: str
    weight: str
    n: str
    closed: str


@dataclass(frozen=True, slots=True)
class CompositeView:
    """A composite. `notes` are what must be read with the number: gates, and what is missing.

    `beside` are metrics that weigh nothing; `mean` is a line on all scopes together.
    """

    profile: str
    value: str
    measured: str
    closed: bool
    notes: tuple[str, ...]
    parts: tuple[PartView, ...]
    beside: tuple[PartView, ...]
    scopes: tuple[ScopeView, ...]
    mean: str


def composite_view(found: Composite | None) -> CompositeView | None:
    """Words a composite; None where a report has none."""
    if found is None:
        return None
    return CompositeView(
        profile=found.profile,
        value=_signed(found.value),
        measured=_share(found),
        closed=any(gate.closed for gate in found.gates),
        notes=tuple(_notes(found)),
        parts=tuple(map(_part, found.rows)),
        beside=tuple(map(_part, found.beside)),
        scopes=tuple(map(_scope, found.scopes)) if len(found.scopes) > 1 else (),
        mean=_mean(found),
    )


def spoken(metric: str) -> str:
    """A metric's name as people say it."""
    return metric.replace("_", " ")


def _notes(found: Composite) -> Iterator[str]:
    closed = [_gate(gate) for gate in found.gates if gate.closed]
    if closed:
        yield f"gate closed: {', '.join(closed)}; without it {_signed(found.ungated)}"
    for gate in found.gates:
        if gate.value is None:
            yield f"gate not applied: {spoken(gate.metric)} was not measured"
    if found.measured_weight < found.weight:
        names = ", ".join(spoken(row.metric) for row in found.rows if row.value is None)
        yield (
            f"{_share(found)} of the weight was measured, without {names}; compare only with runs "
            "that measured the same"
        )


def _share(found: Composite) -> str:
    return f"{found.measured_weight / found.weight:.0%}".replace("%", " %")


def _gate(gate: GateRow) -> str:
    value, least = _signed(gate.value), _signed(gate.least)
    if value == least and gate.value is not None:  # what closed a gate must not look like enough
        value = f"{gate.value * 100:.4f} %"
    return f"{spoken(gate.metric)} {value} is below {least}"


def _part(row: CompositeRow) -> PartView:
    return PartView(
        tier=str(row.tier or ""),
        name=spoken(row.metric),
        help=metric_help(row.metric),
        weight=_weight(row.weight) if row.tier else "",
        value=percent(row.value),
        bounds=bounds(row.low, row.high),
        n=count(row.n) if row.n else "",
        why=row.reason,
    )


def _scope(row: ScopeRow) -> ScopeView:
    return ScopeView(
        name=row.scope,
        value=percent(row.value),
        ungated=percent(row.ungated),
        weight=_weight(row.measured_weight),
        n=count(row.n),
        closed=", ".join(map(spoken, row.closed)),
    )


def _mean(found: Composite) -> str:
    """The mean over scopes with its interval, or why there is none; empty for a single scope."""
    if len(found.scopes) < 2:
        return ""
    if found.mean is None:
        return "no mean over scopes: not the same metrics were measured in all of them"
    span = bounds(found.low, found.high)
    more = f"95 % t interval {span}" if span else "without an interval"
    return f"mean over scopes {percent(found.mean)}, {more}"


def _signed(fraction: float | None) -> str:
    return NOT_AVAILABLE if fraction is None else f"{percent(fraction)} %"


def _weight(weight: float) -> str:
    return f"{weight:.2f}"
