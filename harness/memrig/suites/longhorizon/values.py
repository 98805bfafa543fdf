"""Values for the attributes of entities: drawn, and never said of the same key before."""

from collections.abc import Sequence
from datetime import date
from functools import lru_cache

from memrig.model.canonical import derive
from memrig.suites.longhorizon.arcs import Names, Thing
from memrig.suites.longhorizon.schedule import Chance, below
from memrig.suites.longhorizon.schema import Attribute

#: Draws before a value that was said of the key, or of its sibling's, is taken after all.
_TRIES = 24
#: Pools whose values follow one another as they stand: a change moves on to a later one.
_ORDERED = frozenset({"statuses", "stages"})
#: Predicates whose values belong to one entity each as long as the pool has more, so that an
#: entity can be asked for by them.
_OWN = frozenset({"person.desk", "project.client", "component.port", "host.address", "host.rack"})
#: Values of log lines are drawn from a part of their pool, one for so many lines, so that an
#: account comes back and can be counted.
_CROWD = {"account": 4, "address": 3, "machine": 5}
#: What entities may have in common is parted between those that are held out and the others, so
#: that a question about all with a value is about one set: one value in so many is the holdout's.
#: Smaller pools, and those whose order counts, stay whole.
_HELD_OUT_ONE_IN, _PARTED_FROM = 5, 40
#: Units of which values have tenths, and the greatest value in tenths.
_TENTHS = {"%": 989, "kWh": 9_900, "hours": 9_900}


#: The value of a key that holds, all that were said of it, and of its sibling's.
_Said = tuple[str, tuple[str, ...], tuple[str, ...]]


@lru_cache(maxsize=2_048)
def iso(ordinal: int) -> str:
    """The ISO day of a proleptic ordinal."""
    return date.fromordinal(ordinal).isoformat()


def parted(pool: tuple[str, ...], holdout: bool) -> tuple[str, ...]:
    """The part of a pool that the held-out entities have their values from, or the others."""
    if len(pool) < _PARTED_FROM:
        return pool
    drawn = sorted(pool, key=lambda value: (derive(0, "holdout", value), value))
    held = frozenset(drawn[: len(pool) // _HELD_OUT_ONE_IN])
    return tuple(value for value in pool if (value in held) is holdout)


class Values:
    """Draws values.

    Args:
        names: where pools come from.
        chance: decides.
        things: all entities of the world, to refer to.
        base: the ordinal of the world's first day.
        logs: how many log lines there are.
    """

    def __init__(
        self, names: Names, chance: Chance, things: Sequence[Thing], base: int, logs: int
    ) -> None:
        self._names, self._chance, self._base = names, chance, base
        self._crowds = {name: max(6, logs // size) for name, size in _CROWD.items()}
        self._offset = below(chance, 1 << 20)
        self._owned: set[tuple[str, str]] = set()
        self._pools: dict[tuple[str, bool], tuple[str, ...]] = {}
        self._people: dict[tuple[str, bool], list[str]] = {}
        for thing in things:
            whose = (thing.entity.kind, thing.entity.holdout)
            if thing.entity.kind == "person":
                self._people.setdefault(whose, []).append(thing.entity.entity_id)

    def draw(self, thing: Thing, attribute: Attribute, today: int, turn: int | None) -> str:
        """A value for a key, remembered as said.

        It is none that was said of the key before, nor of the sibling's, as far as there are
        enough; and not the one that holds now in any case.

        Args:
            thing: the entity.
            attribute: of its kind.
            today: the ordinal of the day it is told.
            turn: that tells it, which decides how much room later changes need among values that
                follow one another; none: this value is no truth.
        """
        name = attribute.name
        used = thing.used.get(name, ())
        held = thing.last[name].value if name in thing.last else ""
        twin = thing.twin.used.get(name, ()) if thing.twin is not None else ()
        value = ""
        if turn is not None and attribute.pool in _ORDERED:
            ahead = sum(later > turn for later in thing.turns[name])
            value = self._later(attribute.pool, held, used + twin, ahead)
            value = value or self._later(attribute.pool, held, used, ahead)
        value = value or self._fresh(thing, attribute, today, (held, used, twin))
        thing.used[name] = (*used, value)
        return value

    def line(self, thing: Thing, attribute: Attribute) -> str:
        """A value of a log line, which others of its question set may have too."""
        pool = self._names.pool(attribute.pool)
        part = min(len(pool), self._crowds.get(attribute.name, len(pool)))
        number = below(self._chance, part)
        if attribute.name in _CROWD:
            held = max(1, part // _HELD_OUT_ONE_IN)
            number = number % held if thing.entity.holdout else held + number % (part - held)
        # A seed's own part: pools are products, so that neighbours look alike.
        return pool[(self._offset + number * 997) % len(pool)]

    def _fresh(self, thing: Thing, attribute: Attribute, today: int, said: _Said) -> str:
        """A value that is none of those said before, if that can be had within a few tries."""
        held, used, others = said
        own = f"{thing.kind.name}.{attribute.name}"
        for attempt in range(_TRIES):
            value = self._any(thing, attribute, today)
            free = value not in others and (own, value) not in self._owned
            if value not in used and (free or attempt >= _TRIES // 2):
                break
        while value == held:
            value = self._any(thing, attribute, today)
        if own in _OWN:
            self._owned.add((own, value))
        return value

    def _any(self, thing: Thing, attribute: Attribute, today: int) -> str:
        """A value of an attribute's kind."""
        if attribute.pool:
            pool = self._pool(attribute, thing.entity.holdout)
            return pool[below(self._chance, len(pool))]
        match attribute.value:
            case "number":
                return self._number(attribute, thing.entity.unit)
            case "reference":
                people = self._people["person", thing.entity.holdout]
                value = people[below(self._chance, len(people))]
                while value == thing.entity.entity_id:
                    value = people[below(self._chance, len(people))]
                return value
            case _:
                return self._day(attribute.name, thing.born or today, today)

    def _pool(self, attribute: Attribute, holdout: bool) -> tuple[str, ...]:
        """The values that an entity of a question set may have; worked out once."""
        key = attribute.pool, holdout
        if key not in self._pools:
            pool = self._names.pool(attribute.pool)
            self._pools[key] = parted(pool, holdout) if attribute.value == "name" else pool
        return self._pools[key]

    def _number(self, attribute: Attribute, unit: str) -> str:
        least, most, step = attribute.span
        if attribute.unit == "*" and unit in _TENTHS:
            tenths = least + below(self._chance, _TENTHS[unit] - least + 1)
            return f"{tenths // 10}.{tenths % 10}" if tenths % 10 else str(tenths // 10)
        return str(least + step * below(self._chance, (most - least) // step + 1))

    def _day(self, name: str, born: int, today: int) -> str:
        match name:
            case "birthday":  # 20 to 60 years before
                return iso(self._base - 7_305 - below(self._chance, 14_610))
            case "opened":  # within the week before anything is told of it
                return iso(born - below(self._chance, 8))
            case _:  # to come
                return iso(today + 20 + below(self._chance, 400))

    def _later(self, pool_name: str, held: str, used: Sequence[str], ahead: int) -> str:
        """A value after the one that holds, leaving room for those ahead; empty: none is left."""
        pool = self._names.pool(pool_name)
        rest = pool[pool.index(held) + 1 :] if held else pool
        rest = tuple(value for value in rest if value not in used)
        room = len(rest) - ahead
        return rest[below(self._chance, 1 + room // (ahead + 2))] if room > 0 else ""
