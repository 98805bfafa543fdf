"""What the question programs are made with: a scene to look around in, and forms to fill in."""

from __future__ import annotations

import random
from array import array
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from memrig.model.gold import Operation
from memrig.suites.longhorizon.interpreter import Interpreter
from memrig.suites.longhorizon.lexicon import Lexicon
from memrig.suites.longhorizon.log import EventLog
from memrig.suites.longhorizon.model import Entity, EventKind, WorldEvent
from memrig.suites.longhorizon.query import Condition, Named, Program, Value
from memrig.suites.longhorizon.schema import KINDS, Attribute

Category = str
#: An event that says from when on a change will hold has a mark of its own among the anchors.
LATER = "later"

#: How a kind is called in questions: one of it, several.
WORDS = {
    "person": ("person", "people"),
    "project": ("project", "projects"),
    "component": ("component", "components"),
    "rollout": ("rollout", "rollouts"),
    "metric": ("metric", "metrics"),
    "topic": ("topic", "topics"),
    "log": ("log entry", "log entries"),
    "incident": ("incident", "incidents"),
    "host": ("host", "hosts"),
    "case": ("case", "cases"),
}


def predicates(
    *kinds: str,
    changes: bool | None = None,
    values: Sequence[str] = (),
    but: Sequence[str] = (),
) -> tuple[str, ...]:
    """The predicates of these kinds that change or do not, with these kinds of values."""
    return tuple(
        name
        for kind in kinds
        for attribute in KINDS[kind].attributes
        if (changes is None or attribute.changes is changes)
        and (not values or attribute.value in values)
        and (name := f"{kind}.{attribute.name}") not in but
    )


def kind_of(event: WorldEvent) -> str:
    """The kind of the entity that an event is about."""
    return event.entity.partition("/")[0]


def predicate_of(event: WorldEvent) -> str:
    """What an event is about, such as ``project.budget``."""
    return f"{kind_of(event)}.{event.attribute}"


def condition(event: WorldEvent) -> Condition:
    """That an attribute has the value which an event tells."""
    return Condition(attribute=event.attribute, value=event.value)


def attribute_of(predicate: str) -> Attribute:
    """The schema of a predicate."""
    kind, _, name = predicate.partition(".")
    return KINDS[kind].attribute(name)


class Anchors:
    """Where in the log events of each predicate and kind are: a few bytes an event.

    Args:
        log: read through once, as a stream.
    """

    def __init__(self, log: EventLog) -> None:
        self._places: dict[tuple[str, str], tuple[array[int], array[int]]] = {}
        for turn in log.planned():
            day = turn.told_at[:10]
            for event in turn.events:
                later = event.kind == "updated" and event.valid_from > day
                self._add(event, event.kind)
                if later:
                    self._add(event, LATER)

    def _add(self, event: WorldEvent, kind: str) -> None:
        key = (predicate_of(event), kind)
        turns, ids = self._places.setdefault(key, (array("L"), array("L")))
        turns.append(event.turn)
        ids.append(event.event_id)

    def draw(
        self, predicate: str, kinds: Sequence[str], turns: range, chance: random.Random
    ) -> int | None:
        """An event's id in this stretch of turns; none: there is no such event."""
        stretches = []
        for kind in kinds:
            places, ids = self._places.get((predicate, kind), _NOWHERE)
            first, last = bisect_left(places, turns.start), bisect_left(places, turns.stop)
            stretches.append((ids, first, last - first))
        total = sum(length for _, _, length in stretches)
        if not total:
            return None
        number = int(chance.random() * total)
        for ids, first, length in stretches:
            if number < length:
                return ids[first + number]
            number -= length
        return None


_NOWHERE: tuple[array[int], array[int]] = (array("L"), array("L"))


@dataclass(frozen=True, slots=True)
class Scene:
    """A moment of a world, as the forms of questions see it.

    Args:
        log: of the world.
        lexicon: how things are called.
        now: the interpreter of the moment.
        anchors: where events are.
        holdout: whether questions are about the entities that are held out.
        chance: draws for this question set.
    """

    log: EventLog
    lexicon: Lexicon
    now: Interpreter
    anchors: Anchors
    holdout: bool
    chance: random.Random

    def entity(self, entity_id: str) -> Entity:
        """An entity by its id."""
        return self.log.entity(entity_id)

    def owns(self, entity_id: str) -> bool:
        """Whether this set of questions may ask about an entity."""
        return self.entity(entity_id).holdout is self.holdout

    def noun(self, event: WorldEvent, number: int = 0) -> str:
        """What an event is about, such as "the budget of Atlas"."""
        owner = self.entity(event.entity).name
        return self.lexicon.noun(predicate_of(event), owner, number)

    def shown(self, event: WorldEvent, value: str | None = None) -> str:
        """A value of an event's attribute as it is said."""
        return self.shown_of(event.entity, event.attribute, event.value if value is None else value)

    def shown_of(self, entity: str, attribute: str, value: str) -> str:
        """A value of an attribute as it is said."""
        found = self.entity(entity)
        schema = KINDS[found.kind].attribute(attribute)
        if schema.value == "reference":
            return self.entity(value).name
        unit = found.unit if schema.unit == "*" else schema.unit
        return self.lexicon.value(found.kind, attribute, value, unit, found.name)

    def draw(self, predicate: str, kinds: Sequence[str]) -> WorldEvent | None:
        """Any event of a predicate up to the moment."""
        found = self.anchors.draw(predicate, kinds, range(self.now.told), self.chance)
        return None if found is None else self.log.event(found)

    def standing(self, event: WorldEvent, attribute: str = "") -> WorldEvent | None:
        """The event that the attribute of this one rests on now, or another of the entity's."""
        held = self.now.standing(event.entity, attribute or event.attribute)
        return held[0] if held else None

    def stands(self, event: WorldEvent) -> bool:
        """Whether an event is what its attribute rests on now."""
        found = self.standing(event)
        return found is not None and found.event_id == event.event_id

    def plain(self, event: WorldEvent) -> list[WorldEvent]:
        """A chain of plain changes that are all in effect; empty: it is another one."""
        chain = self.now.chain(event.entity, event.attribute)
        fits = all(e.kind in {"stated", "updated"} for e in chain)
        return chain if fits and chain and chain[-1].valid_from <= self.now.day else []

    def changed(self, event: WorldEvent) -> list[WorldEvent]:
        """A plain chain of two or more that ends in this event; empty: it is another one."""
        chain = self.plain(event)
        return chain if len(chain) > 1 and chain[-1].event_id == event.event_id else []


@dataclass(frozen=True, slots=True)
class Draft:
    """A question before it is answered.

    Args:
        program: what is asked.
        texts: phrasings of it; one is drawn.
        operation: what it takes to answer.
        reason: why nobody can answer; empty: somebody can.
        order: whether the order of the values is asked for.
        temporal: whether the answer depends on the time.
    """

    program: Program
    texts: tuple[str, ...]
    operation: Operation
    reason: str = ""
    order: bool = False
    temporal: bool = False


Maker = Callable[[Scene, WorldEvent], Draft | None]


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """A template of questions.

    Args:
        category: one of the fifteen.
        name: unique in its category.
        predicates: of the events that it starts from.
        kinds: of these events; `LATER` for changes that hold from a later day.
        make: fills it in from such an event; none: nothing can be asked about this one.
        anchored: whether the event it starts from is the last that the answer rests on.
    """

    category: Category
    name: str
    predicates: tuple[str, ...]
    make: Maker
    kinds: tuple[EventKind | str, ...] = ("stated", "updated", "corrected")
    anchored: bool = True
    tags: tuple[str, ...] = field(default=())


def named(event: WorldEvent) -> Named:
    """The entity of an event."""
    return Named(entity=event.entity)


def value_now(event: WorldEvent) -> Value:
    """The value of an event's attribute now."""
    return Value(of=named(event), attribute=event.attribute)


def asked(scene: Scene, event: WorldEvent) -> tuple[str, ...]:
    """The plain questions for the value of an event's attribute."""
    name = scene.entity(event.entity).name
    return tuple(text.format(entity=name) for text in scene.lexicon.asks(predicate_of(event)))


def capital(text: str) -> str:
    """The text with a large first letter."""
    return text[:1].upper() + text[1:]
