"""Small worlds by hand, and a second way to answer programs: by replaying plain lists."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal

from memrig.suites.longhorizon.log import EventLog
from memrig.suites.longhorizon.model import Entity, EventKind, WorldEvent
from memrig.suites.longhorizon.query import (
    Changes,
    Claim,
    Claimant,
    Claims,
    Computed,
    Condition,
    Count,
    Explained,
    Having,
    History,
    Identity,
    Named,
    Program,
    Referred,
    Sharing,
    Since,
    Subject,
    Value,
    Which,
)


def told(
    turn: int,
    entity: str,
    attribute: str,
    value: str,
    kind: EventKind = "stated",
    **more: str | int | None,
) -> WorldEvent:
    """An event without an id; it holds from the day of its turn unless `valid_from` says so."""
    event = WorldEvent(0, turn, entity, attribute, kind, value, valid_from=day_of(turn))
    return replace(event, **more)


def day_of(turn: int) -> str:
    """A turn a day, from 1 January 2031 on."""
    return date.fromordinal(date(2031, 1, 1).toordinal() + turn).isoformat()


@contextmanager
def world(*events: WorldEvent, turns: int = 30, siblings: dict[str, str] | None = None):
    """A log with these events, ids by their order, and entities named like their ids."""
    pairs = {**(siblings or {}), **{b: a for a, b in (siblings or {}).items()}}
    found = {e.entity for e in events} | {e.value for e in events if "/" in e.value} | set(pairs)
    with EventLog.create() as log:
        log.add_entities(
            Entity(name, name.split("/")[0], name.split("/")[1].title(), pairs.get(name, ""))
            for name in sorted(found)
        )
        log.add_turns(
            (n, "people", "Ada", f"{day_of(n)}T09:00:00Z", n * 7919) for n in range(turns)
        )
        log.add_events(replace(event, event_id=n) for n, event in enumerate(events))
        yield log


@dataclass(frozen=True)
class Replay:
    """Answers by replaying all events up to a moment into plain lists."""

    entities: dict[str, Entity]
    events: list[WorldEvent]
    told: int
    day: str

    @classmethod
    def of(cls, log: EventLog, number: int) -> "Replay":
        events = [event for turn in log.planned() for event in turn.events]
        entities = {entity.entity_id: entity for entity in log.entities()}
        heard = [event for event in events if event.turn < number]
        return cls(entities, heard, number, log.told_at(number - 1)[:10])

    def states(self) -> dict[tuple[str, str], list[tuple[str, str]]]:
        """Every attribute's (valid from, value) in order, corrections and retractions applied."""
        states: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for event in self.events:
            state = states.setdefault((event.entity, event.attribute), [])
            if event.kind in {"stated", "updated"}:
                state.append((event.valid_from, event.value))
            elif event.kind == "corrected":
                state[-1] = (event.valid_from, event.value)
            elif event.kind == "retracted":
                state.pop()
        return states

    def at(self, key: tuple[str, str], day: str) -> str | None:
        held = [value for start, value in self.states().get(key, []) if start <= day]
        return held[-1] if held else None

    def members(self, kind: str, conditions: Iterable[Condition]) -> list[str]:
        states, wanted = self.states(), list(conditions)
        return [
            name
            for name, entity in self.entities.items()
            if entity.kind == kind
            and all(self._now(states, (name, c.attribute)) == c.value for c in wanted)
        ]

    def _now(self, states, key) -> str | None:
        held = [value for start, value in states.get(key, []) if start <= self.day]
        return held[-1] if held else None

    def subject(self, subject: Subject) -> str:
        match subject:
            case Named():
                return subject.entity
            case Referred():
                return self.value(Value(of=subject.of, attribute=subject.attribute))
            case Having():
                (only,) = self.members(subject.kind, subject.conditions)
                return only
            case Sharing():
                same = self.value(subject.same_as)
                condition = Condition(attribute=subject.attribute, value=same)
                (only,) = self.members(subject.kind, [condition])
                return only

    def value(self, program: Value) -> str:
        key = (self.subject(program.of), program.attribute)
        values = [value for _, value in self.states().get(key, [])]
        if program.which == "first":
            return values[0]
        if program.which == "before":
            return values[-2]
        found = self.at(key, program.day or self.day)
        assert found is not None
        return found

    def claims(self, program: Claimant | Claim | Claims) -> list[tuple[str, str]]:
        return [
            (e.source, e.value)
            for e in self.events
            if (e.entity, e.attribute, e.kind) == (program.entity, program.attribute, "claimed")
        ]

    def answer(self, program: Program) -> set[str] | list[str]:
        """The values; a set where their order says nothing."""
        match program:
            case Value():
                found: set[str] | list[str] = [self.value(program)]
            case Identity():
                found = [self.subject(program.of)]
            case Explained():
                of = Named(entity=self.subject(program.of))
                found = [self.value(Value(of=of, attribute=a)) for a in program.attributes]
            case Computed():
                found = [_figure(program.operator, [self.value(v) for v in program.operands])]
            case Count() | Which():
                found = self._set(program)
            case Claimant() | Claim() | Claims():
                found = self._claimed(program)
            case Changes() | History() | Since():
                found = self._past(program)
        return found

    def _claimed(self, program: Claimant | Claim | Claims) -> set[str] | list[str]:
        match program:
            case Claimant():
                return [s for s, value in self.claims(program) if value == program.value]
            case Claim():
                return [value for s, value in self.claims(program) if s == program.source]
            case Claims():
                return {value for _, value in self.claims(program)}

    def _set(self, program: Count | Which) -> set[str] | list[str]:
        names = self.members(program.kind, program.conditions)
        return (
            [str(len(names))]
            if isinstance(program, Count)
            else set(self._shown(names, program.show))
        )

    def _past(self, program: Changes | History | Since) -> list[str]:
        chain = self.states()[self.subject(program.of), program.attribute]
        match program:
            case Changes():
                return [str(len(chain) - 1)]
            case History():
                return [value for _, value in chain]
            case Since():
                return [start for start, value in chain if value == program.value]

    def _shown(self, names: list[str], show: str) -> Iterator[str]:
        for name in names:
            value = self.at((name, show), self.day) if show else name
            assert value is not None
            yield value


def _figure(operator: str, values: list[str]) -> str:
    """In other arithmetic than the interpreter's: fractions of whole numbers."""
    if operator == "days":
        first, second = map(date.fromisoformat, values)
        return str(abs(first.toordinal() - second.toordinal()))
    numbers = [Decimal(value) for value in values]
    match operator:
        case "difference":
            found = max(numbers) - min(numbers)
        case "sum":
            found = sum(numbers, Decimal(0))
        case "mean":
            found = round(sum(numbers, Decimal(0)) / len(numbers), 2)
        case _:
            found = round(100 * max(numbers[1] / numbers[0] - 1, 1 - numbers[1] / numbers[0]), 1)
    text = str(found.normalize())
    return str(int(found)) if "E" in text else text
