"""The simulator: from a seed to the events of a world, turn by turn.

`arcs` decides who is told about when; here every beat gets its day, its speaker and its values,
and the truth is kept up to date: what replaces what, from which day on. Besides the truth there
are tellings that change nothing: old news, suppositions, rumours.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import Generic, TypeVar

from memrig.errors import UsageError
from memrig.suites.longhorizon.arcs import Beat, Last, Names, Planner, Thing
from memrig.suites.longhorizon.log import EventLog, EventRow, TurnRow
from memrig.suites.longhorizon.model import EventKind, Reliability
from memrig.suites.longhorizon.schedule import Calendar, Chance, below, quotas
from memrig.suites.longhorizon.schema import Attribute
from memrig.suites.longhorizon.values import Values, iso

#: A world of fewer turns has too few arcs, one of more too few names.
LEAST_TURNS, MOST_TURNS = 100, 100_000
#: Chances in percent: of a change to be a correction or a retraction, of an update to hold only
#: from a later day on, of old news to be outdated, of a distractor to be about a sibling.
_CORRECTED, _RETRACTED, _LATER, _OUTDATED, _TWINS = 12, 10, 18, 75, 90
#: Chances in percent of a rumour to be about what was never told, and what is told only later.
_UNTOLD, _UNTOLD_YET = 25, 40
#: Days from the telling to the day that an update holds from, at most.
_AHEAD = 45
#: Kinds that nobody comes back to: log lines, topics without a truth, prose.
_ASIDE = frozenset({"log", "topic", "case"})
#: Draws for old news that can be told, before there is silence.
_TRIES = 8
#: Turns that are written at once.
_BATCH = 1_000

T = TypeVar("T")


def simulate(log: EventLog, lexicon: Names, seed: int, turns: int) -> None:
    """Makes a world and writes it into an empty log.

    The same seed, turns and lexicon give the same rows, on every platform and Python.

    Raises:
        UsageError: there are too few turns, or too many.
    """
    if not LEAST_TURNS <= turns <= MOST_TURNS:
        raise UsageError(
            f"a world has {LEAST_TURNS} to {MOST_TURNS} turns, not {turns}",
            where="--turns",
            fix="choose a number between",
        )
    with _uncollected():
        _simulate(log, lexicon, seed, turns)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Switches the search for circular garbage off.

    There is hardly any, and going through all that is planned, again and again, takes a third of
    the time.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _simulate(log: EventLog, lexicon: Names, seed: int, turns: int) -> None:
    planner = Planner(lexicon, seed, turns)
    plan = planner.plan()
    log.seed = seed
    log.add_entities(thing.entity for thing in plan.things)
    calendar = Calendar.drawn(planner.chance("calendar"), turns)
    values = Values(
        lexicon,
        planner.chance("values"),
        plan.things,
        calendar.base,
        quotas(turns)["security_logs"],
    )
    teller = _Teller(lexicon, planner.chance("tell"), calendar, values)
    beats = enumerate(plan.beats)
    while some := list(islice(beats, _BATCH)):
        told = [teller.tell(turn, beat) for turn, beat in some]
        log.add_turns(told)
        log.add_event_rows(teller.events)
        teller.events.clear()


@dataclass(slots=True)
class _Memory(Generic[T]):
    """A uniform sample of all that was ever put in, of bounded size."""

    chance: Chance
    size: int = 2_048
    seen: int = 0
    items: list[T] = field(default_factory=list)

    def put(self, item: T) -> None:
        self.seen += 1
        if len(self.items) < self.size:
            self.items.append(item)
        elif (place := below(self.chance, self.seen)) < self.size:
            self.items[place] = item

    def any(self) -> T | None:
        return self.items[below(self.chance, len(self.items))] if self.items else None


@dataclass(slots=True)
class _Now:
    """The turn that is told."""

    turn: int
    today: int
    speaker: str


#: An entity, one of its attributes, and a truth event about it.
_News = tuple[Thing, Attribute, Last]


class _Teller:
    """Tells beats one after another; `events` collects what they tell."""

    def __init__(self, names: Names, chance: Chance, calendar: Calendar, values: Values) -> None:
        self.events: list[EventRow] = []
        self._count = 0
        self._chance, self._calendar, self._values = chance, calendar, values
        self._speakers, self._sources, self._gossips = (
            names.pool(name) for name in ("speakers", "sources", "gossips")
        )
        self._told: _Memory[_News] = _Memory(chance)
        self._outdated: _Memory[_News] = _Memory(chance)
        self._things: _Memory[Thing] = _Memory(chance)
        self._twins: _Memory[Thing] = _Memory(chance)

    def tell(self, turn: int, beat: Beat) -> TurnRow:
        """Tells a beat: its events are collected, its turn is returned."""
        chance = self._chance
        minute = self._calendar.minute(turn, chance())
        today = self._calendar.ordinal(minute)
        speaker = self._speakers[below(chance, len(self._speakers))]
        now = _Now(turn, today, speaker)
        if beat.thing is not None:
            self._facts(now, beat.thing, beat.attributes)
        elif beat.attributes == ("recalled",):
            self._recall(now)
        elif beat.attributes:
            self._distract(now, rumour=beat.attributes == ("rumoured",))
        clock = f"{minute % 1440 // 60:02d}:{minute % 60:02d}:00"
        return turn, beat.block, speaker, f"{iso(today)}T{clock}Z", below(chance, 1 << 32)

    def _facts(self, now: _Now, thing: Thing, attributes: tuple[str, ...]) -> None:
        """The truth, or the claims of one of the sources about a topic."""
        if thing.kind.at_once:
            self._line(now, thing)
            return
        if not thing.born and thing.kind.name not in _ASIDE:
            (self._things if thing.twin is None else self._twins).put(thing)
        thing.born = thing.born or now.today
        for name in attributes:
            attribute = thing.kind.attribute(name)
            if thing.kind.name == "topic":
                self._claim(now, thing, attribute)
            elif (last := thing.last.get(name)) is None:
                value = self._values.draw(thing, attribute, now.today, now.turn)
                self._hold(now, thing, attribute, ("stated", value, now.today), None)
            else:
                self._change(now, thing, attribute, last)

    def _line(self, now: _Now, thing: Thing) -> None:
        """A line of a log, with all its attributes."""
        for attribute in thing.kind.attributes:
            value = self._values.line(thing, attribute)
            source: tuple[str, Reliability] = (now.speaker, "firsthand")
            self._add(now, thing, attribute, ("stated", value, now.today), source)

    def _claim(self, now: _Now, thing: Thing, attribute: Attribute) -> None:
        """One more source contradicts those before."""
        said = thing.used.get(by := f"{attribute.name} by", ())
        source = self._sources[below(self._chance, len(self._sources))]
        while source in said:
            source = self._sources[below(self._chance, len(self._sources))]
        thing.used[by] = (*said, source)
        value = self._values.draw(thing, attribute, now.today, None)
        self._add(now, thing, attribute, ("claimed", value, now.today), (source, "reported"))

    def _change(self, now: _Now, thing: Thing, attribute: Attribute, last: Last) -> None:
        """A value is replaced, corrected or taken back."""
        drawn = self._chance() * 100
        if drawn < _RETRACTED and last.kind == "updated" and last.before is not None:
            self._hold(now, thing, attribute, ("retracted", last.before, now.today), last)
            return
        kind: EventKind = "updated"
        day = now.today
        if 100 - drawn <= _CORRECTED and last.kind in {"stated", "updated"}:
            kind, day = "corrected", last.valid_from
        elif 100 - drawn <= _CORRECTED + _LATER:
            day = self._later(now, thing, attribute.name)
        value = self._values.draw(thing, attribute, now.today, now.turn)
        self._hold(now, thing, attribute, (kind, value, day), last)

    def _later(self, now: _Now, thing: Thing, name: str) -> int:
        """A day to come, before the next change of the key is told; today, if there is none."""
        turns = thing.turns[name]
        after = turns[turns.index(now.turn) + 1 :]
        until = _AHEAD
        if after:
            next_day = self._calendar.ordinal(self._calendar.minute(after[0], 0.0))
            until = min(until, next_day - now.today - 2)
        return now.today + 2 + below(self._chance, until) if until > 0 else now.today

    def _hold(
        self,
        now: _Now,
        thing: Thing,
        attribute: Attribute,
        what: tuple[EventKind, str, int],
        last: Last | None,
    ) -> None:
        """Adds a truth event, and remembers it for what comes back to it."""
        source: tuple[str, Reliability] = (now.speaker, "firsthand")
        supersedes = last.event_id if last else None
        event_id = self._add(now, thing, attribute, what, source, supersedes=supersedes)
        if thing.kind.name in _ASIDE:
            return
        kind, value, day = what
        before = last.value if last else None
        if last is not None and kind == "corrected":
            before = last.before
        thing.last[attribute.name] = held = Last(event_id, kind, value, day, before)
        if kind == "retracted":
            return
        self._told.put((thing, attribute, held))
        if last is not None and kind == "updated" and last.kind != "retracted":
            self._outdated.put((thing, attribute, last))

    def _recall(self, now: _Now) -> None:
        """Old news, as of its own time; silence, where there is none yet."""
        for _ in range(_TRIES):
            outdated = self._chance() * 100 < _OUTDATED
            news = (self._outdated.any() if outdated else None) or self._told.any()
            if news is None:
                return
            thing, attribute, told = news
            held = thing.last[attribute.name]
            wrong = held.kind == "corrected" and held is not told
            if not wrong and told.valid_from <= now.today:
                break
        else:
            return
        what: tuple[EventKind, str, int] = ("recalled", told.value, told.valid_from)
        source: tuple[str, Reliability] = (now.speaker, "firsthand")
        self._add(now, thing, attribute, what, source, refers_to=told.event_id)

    def _distract(self, now: _Now, *, rumour: bool) -> None:
        """A supposition about what is known, or a rumour; small talk, if nobody is known yet."""
        twins = self._chance() * 100 < _TWINS
        thing = (self._twins if twins else self._things).any()
        thing = thing or self._twins.any() or self._things.any()
        if thing is None:
            return
        name = self._about(thing, rumour=rumour)
        attribute = thing.kind.attribute(name)
        value = self._values.draw(thing, attribute, now.today, None)
        gossip = self._gossips[below(self._chance, len(self._gossips))]
        last = thing.last.get(name)
        self._add(
            now,
            thing,
            attribute,
            ("rumoured" if rumour else "supposed", value, 0),
            (gossip, "hearsay") if rumour else (now.speaker, "firsthand"),
            refers_to=last.event_id if last else None,
        )

    def _about(self, thing: Thing, *, rumour: bool) -> str:
        """Which attribute a distractor is about."""
        drawn = self._chance() * 100 if rumour else 100
        known = list(thing.last)
        if thing.twin is not None:
            # What is told of both can be mixed up best.
            known = [name for name in known if name in thing.twin.told] or known
        untold = [a.name for a in thing.kind.attributes if a.name not in thing.told]
        to_come = [name for name in thing.told if name not in thing.last]
        if drawn < _UNTOLD and untold:
            known = untold
        elif drawn < _UNTOLD_YET and to_come:
            known = to_come
        return known[below(self._chance, len(known))]

    def _add(
        self,
        now: _Now,
        thing: Thing,
        attribute: Attribute,
        what: tuple[EventKind, str, int],
        source: tuple[str, Reliability],
        *,
        supersedes: int | None = None,
        refers_to: int | None = None,
    ) -> int:
        kind, value, day = what
        event_id = self._count
        unit = thing.entity.unit if attribute.unit == "*" else attribute.unit
        of, name = thing.entity.entity_id, attribute.name
        since = iso(day) if day else ""
        row = (
            event_id,
            now.turn,
            of,
            name,
            kind,
            value,
            unit,
            since,
            *source,
            supersedes,
            refers_to,
        )
        self.events.append(row)
        self._count += 1
        return event_id
