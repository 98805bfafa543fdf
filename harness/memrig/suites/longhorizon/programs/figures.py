"""What has to be worked out from several figures."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Literal

from memrig.suites.longhorizon.model import WorldEvent
from memrig.suites.longhorizon.programs.base import (
    Draft,
    Form,
    Scene,
    named,
    predicate_of,
    predicates,
    value_now,
)
from memrig.suites.longhorizon.query import Computed, Value

_CATEGORY = "numerical_reasoning"
_KINDS = ("stated", "updated", "corrected")
_TRIES = 12


def _others(scene: Scene, event: WorldEvent, most: int = 1) -> list[WorldEvent]:
    """Events on the same attribute of other entities that hold now, in the same unit.

    From one to `most` of them, as many as chance has it; none where the event does not hold.
    """
    if not scene.stands(event):
        return []
    wanted = 1 + int(scene.chance.random() * most) if most > 1 else 1
    found: dict[str, WorldEvent] = {}
    for _ in range(_TRIES):
        other = scene.draw(predicate_of(event), _KINDS)
        fits = (
            other is not None
            and other.entity != event.entity
            and other.unit == event.unit
            and scene.owns(other.entity)
            and scene.stands(other)
        )
        if fits and other is not None:
            found.setdefault(other.entity, other)
        if len(found) == wanted:
            return list(found.values())
    return []


def _together(scene: Scene, events: Sequence[WorldEvent]) -> str:
    nouns = [scene.noun(event) for event in events]
    return ", ".join(nouns[:-1]) + f" and {nouns[-1]}"


def _computed(
    operator: Literal["difference", "sum", "mean", "days"], events: Sequence[WorldEvent]
) -> Computed:
    return Computed(operator=operator, operands=tuple(value_now(event) for event in events))


def difference(scene: Scene, event: WorldEvent) -> Draft | None:
    """How far two figures lie apart."""
    others = _others(scene, event)
    if not others or Decimal(others[0].value) == Decimal(event.value):
        return None
    both = _together(scene, (*others, event))
    texts = (
        f"What is the difference between {both}?",
        f"By how much do {both} differ?",
        f"How far apart are {both}?",
    )
    return Draft(_computed("difference", (*others, event)), texts, "compute")


def total(scene: Scene, event: WorldEvent) -> Draft | None:
    """What two or three figures add up to."""
    others = _others(scene, event, most=2)
    if not others:
        return None
    said = _together(scene, (*others, event))
    texts = (
        f"What do {said} add up to?",
        f"What is the sum of {said}?",
        f"Add up {said}: what is the total?",
    )
    return Draft(_computed("sum", (*others, event)), texts, "compute")


def mean(scene: Scene, event: WorldEvent) -> Draft | None:
    """The average of figures, where it has at most two decimals."""
    others = _others(scene, event, most=3)
    if not others:
        return None
    figures = [Decimal(e.value) for e in (*others, event)]
    if sum(figures, Decimal(0)) * 100 % len(figures):
        return None
    said = _together(scene, (*others, event))
    texts = (
        f"What is the average of {said}?",
        f"What is the mean of {said}?",
        f"Work out the average of {said}.",
    )
    return Draft(_computed("mean", (*others, event)), texts, "compute")


def percent(scene: Scene, event: WorldEvent) -> Draft | None:
    """How much a figure changed since it was first told, in percent."""
    chain = scene.changed(event)
    if not chain:
        return None
    first, last = Decimal(chain[0].value), Decimal(event.value)
    if not first or first == last:
        return None
    noun = scene.noun(event)
    grown = "risen" if last > first else "fallen"
    texts = (
        f"By how many percent has {noun} {grown} since it was first told? One decimal, please.",
        f"By what percentage has {noun} {grown} from first to latest value, to one decimal?",
        (
            f"Compare the first and the latest value of {noun}: by what percentage has it {grown}, "
            "to one decimal?"
        ),
    )
    at_first = Value(of=named(event), attribute=event.attribute, which="first")
    program = Computed(operator="percent", operands=(at_first, value_now(event)))
    return Draft(program, texts, "compute", temporal=True)


def days(scene: Scene, event: WorldEvent) -> Draft | None:
    """The days between two dates."""
    others = _others(scene, event)
    if not others or others[0].value == event.value:
        return None
    both = _together(scene, (*others, event))
    texts = (
        f"How many days lie between {both}?",
        f"How many days are there from one to the other: {both}?",
        f"Count the days between {both}.",
    )
    return Draft(_computed("days", (*others, event)), texts, "compute")


_NUMBERS = predicates("project", "rollout", "metric", "host", values=("number",))
_CHANGING = predicates("project", "rollout", "metric", "host", values=("number",), changes=True)
_DATES = ("project.deadline", "rollout.launch", "incident.opened")
FORMS: tuple[Form, ...] = (
    Form(_CATEGORY, "difference", _NUMBERS, difference, anchored=False),
    Form(_CATEGORY, "sum", _NUMBERS, total, anchored=False),
    Form(_CATEGORY, "mean", _NUMBERS, mean, anchored=False),
    Form(_CATEGORY, "percent", _CHANGING, percent, kinds=("updated",)),
    Form(_CATEGORY, "days", _DATES, days, anchored=False),
)
