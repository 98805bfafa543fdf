"""What is told of whom, and about when: the plan of a world before anything has a value.

An entity is no paragraph but an arc: each of its attributes has places of its own on the whole
horizon. A *beat* is one turn's worth: one to three attributes of one entity. Beats of all blocks
are sorted by place at the end, and the first gets turn 0.
"""

import random
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from math import gcd
from typing import Final, NamedTuple, Protocol

from memrig.errors import UsageError
from memrig.model.canonical import derive
from memrig.suites.longhorizon.model import Block, Entity
from memrig.suites.longhorizon.schedule import (
    TICKS,
    Chance,
    below,
    chain,
    even,
    quotas,
    together,
)
from memrig.suites.longhorizon.schema import KINDS, METRIC_UNITS, Kind

#: Chances in percent: that an attribute is told at all, that one that may change does, that a
#: sibling is told what the first one is, and what it is not.
_TOLD, _CHANGES, _SHARED, _OWN = 70, 55, 85, 50
#: One to four changes, in percent.
_LENGTHS: Final = (40, 70, 90, 100)
#: One of so many entities is asked about in the holdout set only; one of so many has a sibling.
#: Counted, not drawn, and from another place in each kind: the smallest world has some of both.
_HOLDOUT, _SIBLING = 5, 7
#: People of each set, at least: whoever leads a project must be someone.
_PEOPLE = 10
#: A distractor in four is small talk: two percent of the turns.
_TALK = 25
#: What is told of a case, in this order.
_CASE: Final = (("symptom", "constraint"), ("approach", "reason"), ("rejected",), ("outcome",))
_CASE_ALWAYS = frozenset({"symptom", "approach", "reason"})


class Names(Protocol):
    """What a world needs of the lexicon."""

    def pool(self, name: str) -> tuple[str, ...]:
        """The values of a pool, always in the same order."""

    def capacity(self, kind: str) -> int:
        """How many names a kind has."""

    def name(self, kind: str, number: int) -> str:
        """A name, unique for its kind and number."""

    def sibling(self, kind: str, number: int) -> str:
        """Nearly that name, and nobody's."""


@dataclass(slots=True, eq=False)
class Thing:
    """An entity while its world is made.

    Args:
        entity: as it goes into the log.
        kind: of it.
        told: the attributes that are told of it, now or later.
        twin: its sibling.
        used: for each attribute the values that were said of it, true or not.
        last: for each attribute the truth event told last.
        turns: for each attribute the turns that tell it, in order.
        born: the ordinal of the day it is first told of; 0: it is yet to come.
    """

    entity: Entity
    kind: Kind
    told: tuple[str, ...] = ()
    twin: "Thing | None" = None
    used: dict[str, tuple[str, ...]] = field(default_factory=dict)
    last: "dict[str, Last]" = field(default_factory=dict)
    turns: dict[str, tuple[int, ...]] = field(default_factory=dict)
    born: int = 0


class Last(NamedTuple):
    """A truth event as the next one of its key needs it. A tuple, for there are many.

    Args:
        event_id: its id.
        kind: what it did to the truth.
        value: its value.
        valid_from: the ordinal of the day from which it holds.
        before: the value that held before; none: it is the first.
    """

    event_id: int
    kind: str
    value: str
    valid_from: int
    before: str | None


class Beat(NamedTuple):
    """A turn's worth: attributes of an entity, or without one a distractor, callback or talk.

    A tuple, for there are many.
    """

    block: Block
    thing: Thing | None
    attributes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """All beats of a world in the order of its turns, and all its entities.

    Beats come once: who is told about for the last time is forgotten.
    """

    beats: Iterator[Beat]
    things: list[Thing]


class Planner:
    """Makes the plan of a world.

    Args:
        names: where names come from.
        seed: of the world.
        turns: how many there are.
    """

    def __init__(self, names: Names, seed: int, turns: int) -> None:
        self._names, self._seed = names, seed
        self._quotas = quotas(turns)
        self._horizon = turns * TICKS
        self._things: list[Thing] = []
        self._beats: list[Beat] = []
        self._places = array("Q")
        self._taken: set[str] = set()

    def plan(self) -> Plan:
        """The beats in order.

        Raises:
            UsageError: the lexicon has too few names for so many turns.
        """
        for kind in KINDS.values():
            self._plan_kind(kind)
        for block in ("callbacks", "distractors"):
            self._plan_asides(block)
        order = sorted(range(len(self._beats)), key=self._places.__getitem__)
        for turn, number in enumerate(order):
            beat = self._beats[number]
            if beat.thing is not None and not beat.thing.kind.at_once:
                turns = beat.thing.turns
                for attribute in beat.attributes:
                    turns[attribute] = (*turns.get(attribute, ()), turn)
        waiting = [self._beats[number] for number in reversed(order)]
        self._beats.clear()
        return Plan((waiting.pop() for _ in order), self._things)

    def chance(self, *purpose: str) -> Chance:
        """A stream of chance of its own for each purpose."""
        return random.Random(derive(self._seed, "longhorizon", *purpose)).random  # noqa: S311

    def _plan_asides(self, block: Block) -> None:
        """Callbacks and distractors: what is said at random of what was said before."""
        chance, count = self.chance("plan", block), self._quotas[block]
        # The first turns have nothing to come back to.
        for number, place in enumerate(even(chance, self._horizon // 50, self._horizon, count)):
            said: tuple[str, ...] = ("recalled",)
            if block == "distractors":
                talk = number * _TALK // 100 != (number + 1) * _TALK // 100
                said = () if talk else (("supposed", "rumoured")[below(chance, 2)],)
            self._add(place, Beat(block, None, said))

    def _plan_kind(self, kind: Kind) -> None:
        """Entities of a kind until its block has its turns, and people enough to refer to."""
        chance, place = self.chance("plan", kind.name), self._seed + list(KINDS).index(kind.name)
        left = self._quotas[kind.block]
        for number, (name, near) in self._named(kind, chance):
            if left <= 0 and (kind.name != "person" or number >= _PEOPLE * _HOLDOUT):
                break
            holdout = (number + place) % _HOLDOUT == 0
            first = self._thing(kind, name, holdout, _unit(kind, chance))
            left -= self._arc(first, _choose(kind, chance), left, chance)
            free = left > 0 and f"{kind.name}:{near}" not in self._taken
            if free and (number + place) % _SIBLING == 0:
                twin = self._thing(kind, near, holdout, first.entity.unit)
                left -= self._arc(twin, _choose(kind, chance, first.told), left, chance)
                _pair(first, twin)

    def _named(self, kind: Kind, chance: Chance) -> Iterator[tuple[int, tuple[str, str]]]:
        """Names in an order of the seed's own, each with its near-miss where that is free."""
        names, capacity = self._names, self._names.capacity(kind.name)
        step = 1 + below(chance, capacity - 1)
        while gcd(step, capacity) > 1:
            step = step % capacity + 1
        start = below(chance, capacity)
        for number in range(capacity):
            place = (start + step * number) % capacity
            name, near = names.name(kind.name, place), names.sibling(kind.name, place)
            yield number, (name, near)
        raise UsageError(
            f"there are only {capacity} names of kind {kind.name}", fix="fewer --turns"
        )

    def _thing(self, kind: Kind, name: str, holdout: bool, unit: str) -> Thing:
        slug = "-".join("".join(c if c.isalnum() else " " for c in name.lower()).split())
        entity_id = f"{kind.name}/{slug}"
        while entity_id in self._taken:
            entity_id += "-2"
        self._taken |= {entity_id, f"{kind.name}:{name}"}
        thing = Thing(Entity(entity_id, kind.name, name, holdout=holdout, unit=unit), kind)
        self._things.append(thing)
        return thing

    def _arc(self, thing: Thing, told: tuple[str, ...], left: int, chance: Chance) -> int:
        """Plans the beats of an entity, at most `left`; how many there are."""
        beats = list(_beats(thing.kind, told, self._horizon, chance))[: max(0, left)]
        for place, attributes in beats:
            self._add(place, Beat(thing.kind.block, thing, attributes))
        thing.told = tuple(dict.fromkeys(name for _, beat in beats for name in beat))
        return len(beats)

    def _add(self, place: int, beat: Beat) -> None:
        self._places.append(place)
        self._beats.append(beat)


def _unit(kind: Kind, chance: Chance) -> str:
    return METRIC_UNITS[below(chance, len(METRIC_UNITS))] if kind.name == "metric" else ""


def _pair(first: Thing, second: Thing) -> None:
    """Two entities become each other's sibling."""
    for thing, twin in ((first, second), (second, first)):
        thing.twin = twin
        thing.entity = replace(thing.entity, sibling=twin.entity.entity_id)


def _choose(kind: Kind, chance: Chance, first: tuple[str, ...] | None = None) -> tuple[str, ...]:
    """Which attributes are told of an entity, or of the sibling of one of whom `first` are.

    Some are left out, so that it can be asked what nobody said.
    """
    names = tuple(attribute.name for attribute in kind.attributes)
    if kind.at_once:
        return names
    always = _CASE_ALWAYS if kind.name == "case" else frozenset()
    if kind.name == "topic":
        always = frozenset({(first or names)[below(chance, len(first or names))]})
    chosen = []
    for name in names:
        percent = _TOLD if first is None else (_SHARED if name in first else _OWN)
        if chance() * 100 < percent or name in always:
            chosen.append(name)
    return tuple(chosen) or names[:1]


def _beats(
    kind: Kind, told: tuple[str, ...], horizon: int, chance: Chance
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The beats of an entity with their places; of each attribute in order of time."""
    if kind.at_once:
        yield below(chance, horizon), told
    elif kind.name == "case":
        groups = [tuple(name for name in group if name in told) for group in _CASE]
        groups = [group for group in groups if group]
        yield from zip(together(chance, horizon, len(groups)), groups, strict=True)
    elif kind.name == "topic":
        for name in told:
            for place in together(chance, horizon, 3):
                yield place, (name,)
    else:
        yield from _loose(kind, told, horizon, chance)


def _loose(
    kind: Kind, told: tuple[str, ...], horizon: int, chance: Chance
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """A chain for each attribute that changes; what stays is told along, or by itself."""
    steady: list[str] = []
    chains = []
    for name in told:
        if kind.attribute(name).changes and chance() * 100 < _CHANGES:
            drawn = below(chance, 100)
            length = 1 + sum(drawn >= limit for limit in _LENGTHS)
            chains.append((name, chain(chance, horizon, length)))
        else:
            steady.insert(below(chance, len(steady) + 1), name)
    for name, places in chains:
        size = min(len(steady), (0, 0, 0, 1, 1, 2)[below(chance, 6)])
        along, steady = steady[:size], steady[size:]
        yield places[0], (name, *along)
        for place in places[1:]:
            yield place, (name,)
    while steady:
        size = (1, 1, 1, 2, 2, 3)[below(chance, 6)]
        yield below(chance, horizon), tuple(steady[:size])
        steady = steady[size:]
