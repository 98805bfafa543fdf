"""What changes over time: evolution, and the traps that it sets."""

from datetime import date

from memrig.suites.longhorizon.model import WorldEvent
from memrig.suites.longhorizon.programs.base import (
    LATER,
    Draft,
    Form,
    Scene,
    asked,
    capital,
    named,
    predicate_of,
    predicates,
    value_now,
)
from memrig.suites.longhorizon.programs.lookups import course, latest
from memrig.suites.longhorizon.query import Changes, Since, Value


def changes(scene: Scene, event: WorldEvent) -> Draft | None:
    """How often a value changed."""
    if not scene.changed(event):
        return None
    noun = scene.noun(event)
    texts = (
        f"How many times has {noun} changed since it was first told?",
        f"How often did {noun} change, the first value not counted?",
        f"Count the changes of {noun} so far.",
    )
    return Draft(Changes(of=named(event), attribute=event.attribute), texts, "count", temporal=True)


def original(scene: Scene, event: WorldEvent) -> Draft | None:
    """The first value of what changed."""
    chain = scene.plain(event)
    if len(chain) < 2 or chain[0].event_id != event.event_id:
        return None
    noun = scene.noun(event)
    texts = (
        f"What was {noun} originally, before any change?",
        f"Which value did {noun} have at first?",
        f"{capital(noun)} has changed over time. What was it at the very beginning?",
    )
    program = Value(of=named(event), attribute=event.attribute, which="first")
    return Draft(program, texts, "as-of", temporal=True)


def when_it_became(noun: str, value: str) -> tuple[str, ...]:
    """Asks for the day of a change, be there one or not."""
    return (
        f"On what date did {noun} become {value}?",
        f"Since what date has {value} been in force as {noun}, or when did it come into force?",
        f"When did {noun} change to {value}? Give the date.",
    )


def since(scene: Scene, event: WorldEvent) -> Draft | None:
    """The day from which a value holds."""
    chain = scene.plain(event)
    values = [e.value for e in chain]
    if len(chain) < 2 or chain[0].event_id == event.event_id:
        return None
    if values.count(event.value) != 1:
        return None
    program = Since(of=named(event), attribute=event.attribute, value=event.value)
    texts = when_it_became(scene.noun(event), scene.shown(event))
    return Draft(program, texts, "join", temporal=True)


def on_a_day(scene: Scene, event: WorldEvent) -> Draft | None:
    """The value on a day between two changes."""
    chain = scene.plain(event)
    places = [n for n, e in enumerate(chain[:-1]) if e.event_id == event.event_id]
    if not places:
        return None
    first = date.fromisoformat(event.valid_from).toordinal() + 1
    last = date.fromisoformat(chain[places[0] + 1].valid_from).toordinal() - 1
    if last < first:
        return None
    day = date.fromordinal(first + int(scene.chance.random() * (last - first + 1))).isoformat()
    name, said = scene.entity(event.entity).name, scene.lexicon.day(day)
    texts = tuple(
        text.format(entity=name, day=said) for text in scene.lexicon.asks_at(predicate_of(event))
    )
    program = Value(of=named(event), attribute=event.attribute, which="on", day=day)
    return Draft(program, texts, "as-of", temporal=True)


def retracted(scene: Scene, event: WorldEvent) -> Draft | None:
    """The value now, after a change was taken back."""
    if not scene.stands(event):
        return None
    return Draft(value_now(event), asked(scene, event), "latest", temporal=True)


def not_yet(scene: Scene, event: WorldEvent) -> Draft | None:
    """The value now, while a change to come is told already."""
    if event.valid_from <= scene.now.day:
        return None
    noun, held = scene.noun(event), scene.standing(event)
    if held is None or held.value == event.value:
        return None
    texts = (
        f"As of today, what is {noun}?",
        f"What is {noun} right now, leaving aside what only holds later?",
        f"{capital(noun)}: which value is in force at this moment?",
    )
    return Draft(value_now(event), texts, "as-of", temporal=True)


def told_again(scene: Scene, event: WorldEvent) -> Draft | None:
    """The value now, where an old one was told again after it."""
    held = scene.now.standing(event.entity, event.attribute)
    if held is None or held[0].turn >= event.turn or held[1] == event.value:
        return None
    return Draft(value_now(event), asked(scene, event), "latest", temporal=True)


CHANGING = predicates("project", "rollout", "person", "component", changes=True)
_ALL_CHANGING = predicates(
    "person", "project", "component", "rollout", "metric", "incident", "host", changes=True
)
_EVOLUTION, _TRAP = "temporal_evolution", "temporal_trap"
FORMS: tuple[Form, ...] = (
    Form(_EVOLUTION, "latest", CHANGING, latest),
    Form(_EVOLUTION, "changes", CHANGING, changes, kinds=("updated",)),
    Form(_EVOLUTION, "original", CHANGING, original, kinds=("stated",)),
    Form(_EVOLUTION, "history", CHANGING, course, kinds=("updated",)),
    Form(_EVOLUTION, "since", CHANGING, since, kinds=("updated",)),
    Form(_TRAP, "as-of", _ALL_CHANGING, on_a_day, kinds=("stated", "updated")),
    Form(_TRAP, "retracted", _ALL_CHANGING, retracted, kinds=("retracted",)),
    Form(_TRAP, "corrected", _ALL_CHANGING, retracted, kinds=("corrected",)),
    Form(_TRAP, "not-yet", _ALL_CHANGING, not_yet, kinds=(LATER,), anchored=False),
    Form(_TRAP, "told-again", _ALL_CHANGING, told_again, kinds=("recalled",), anchored=False),
)
