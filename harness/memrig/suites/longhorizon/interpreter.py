"""The reference interpreter: it answers a program from the event log alone.

It never sees a question's words or a turn's text. Beside the values it gives the events that they
rest on, how many candidates it looked at, and which other values could be mistaken for them.
"""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import ROUND_HALF_EVEN, Decimal

from memrig.suites.longhorizon.log import EventLog
from memrig.suites.longhorizon.model import TRUTH, WorldEvent
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

#: Wrong operands that a computation is repeated with, at most.
_WRONG_RESULTS = 8


@dataclass(frozen=True, slots=True)
class Step:
    """A step of the proof: how many candidates were looked at, and how many fitted."""

    what: str
    scanned: int
    matched: int


@dataclass(frozen=True, slots=True)
class Hop:
    """A value that the answer rests on, and the event that holds it."""

    entity: str
    attribute: str
    value: str
    event: int
    turn: int


@dataclass(slots=True)
class Answer:
    """What a program gives at a moment.

    Args:
        values: as the log writes them; numbers that were counted or computed as decimals.
        pairs: of `Claims`: source and value.
        hops: what it rests on, in the order of reasoning; the last one holds the answer.
        steps: the proof that there is no other answer.
        stale: turns that tell a superseded value of what it rests on.
        wrong: other values that were told of the same, or of its sibling.
        unknown: why there is no answer; empty: there is one.
    """

    values: tuple[str, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    hops: list[Hop] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    stale: set[int] = field(default_factory=set)
    wrong: list[str] = field(default_factory=list)
    unknown: str = ""

    @property
    def turns(self) -> tuple[int, ...]:
        """The turns of the evidence, in the order told."""
        return tuple(sorted({hop.turn for hop in self.hops}))


class UnknownError(Exception):
    """There is no answer, or more than one. Never leaves the interpreter."""


class Interpreter:
    """Answers programs as of a moment.

    Args:
        log: of the world.
        told: how many turns were told; later ones are not looked at.
    """

    def __init__(self, log: EventLog, told: int) -> None:
        self.log = log
        self.told = told
        self.day = log.told_at(told - 1)[:10] if told else ""

    def answer(self, program: Program) -> Answer:
        """The program's answer; `unknown` says why where there is none."""
        found = Answer()
        try:
            self._run(program, found)
        except UnknownError as error:
            found.unknown, found.values, found.pairs = str(error), (), ()
            if isinstance(program, Value | Since) and isinstance(program.of, Named):
                found.wrong = self._others(program.of.entity, program.attribute, "")
        return found

    def told_of(self, entity: str, attribute: str = "") -> list[WorldEvent]:
        """All that was told of an entity up to the moment, true or not."""
        return [event for event in self.log.events(entity, attribute) if event.turn < self.told]

    def chain(self, entity: str, attribute: str) -> list[WorldEvent]:
        """The events that make the truth of an attribute, up to the moment."""
        return [event for event in self.told_of(entity, attribute) if event.kind in TRUTH]

    def standing(self, entity: str, attribute: str, day: str = "") -> tuple[WorldEvent, str] | None:
        """The event that an attribute's value rests on now or on a day, and that value."""
        chain = self.chain(entity, attribute)
        held = [event for event in chain if event.valid_from <= (day or self.day)]
        return (held[-1], value_of(held[-1], chain)) if held else None

    def _run(self, program: Program, found: Answer) -> None:
        match program:
            case Value():
                found.values = (self._value(program, found),)
            case Identity():
                entity = self._entity(program.of, found)
                sibling = self.log.entity(entity).sibling
                found.values, found.wrong = (entity,), [sibling] if sibling else []
            case Changes() | History():
                self._history(program, found)
            case Since():
                self._since(program, found)
            case Claimant() | Claim() | Claims():
                self._claims(program, found)
            case Count() | Which():
                self._members(program, found)
            case Computed():
                self._computed(program, found)
            case Explained():
                entity = self._entity(program.of, found)
                found.values = tuple(
                    self._held(entity, attribute, found) for attribute in program.attributes
                )

    def _entity(self, subject: Subject, found: Answer) -> str:
        match subject:
            case Named():
                return subject.entity
            case Referred():
                return self._held(self._entity(subject.of, found), subject.attribute, found)
            case Having():
                return self._only(subject, found)
            case Sharing():
                same = self._value(subject.same_as, found)
                condition = Condition(attribute=subject.attribute, value=same)
                return self._only(Having(kind=subject.kind, conditions=(condition,)), found)

    def _only(self, subject: Having, found: Answer) -> str:
        members, scanned = self.holders(subject.kind, subject.conditions, most=1)
        what = _described(subject.kind, subject.conditions)
        found.steps.append(Step(what, scanned, len(members)))
        if len(members) != 1:
            many = "more than one matches" if members else "none matches"
            raise UnknownError(f"{many}: {what}")
        found.hops += members[0][1]
        return members[0][0]

    def holders(
        self, kind: str, conditions: Sequence[Condition], most: int | None = None
    ) -> tuple[list[tuple[str, list[Hop]]], int]:
        """The entities that meet all conditions now with what shows it, and how many were tried.

        With `most`, the search ends as soon as there are more.
        """
        first = conditions[0]
        tried: set[str] = set()
        members = []
        for event in self.log.holding(kind, first.attribute, first.value):
            if event.turn >= self.told:
                break
            if event.kind not in TRUTH or event.entity in tried:
                continue
            tried.add(event.entity)
            hops = [self._meets(event.entity, condition) for condition in conditions]
            if all(hops):
                members.append((event.entity, [hop for hop in hops if hop]))
            if most is not None and len(members) > most:
                break
        return members, len(tried)

    def _meets(self, entity: str, condition: Condition) -> Hop | None:
        standing = self.standing(entity, condition.attribute)
        if standing is None or standing[1] != condition.value:
            return None
        event, value = standing
        return Hop(entity, condition.attribute, value, event.event_id, event.turn)

    def _held(self, entity: str, attribute: str, found: Answer, day: str = "") -> str:
        """The value now or on a day; it becomes the last hop."""
        chain = self.chain(entity, attribute)
        standing = self.standing(entity, attribute, day)
        found.steps.append(Step(f"{entity} {attribute}", len(chain), 1 if standing else 0))
        if standing is None:
            raise UnknownError(f"{attribute} of {entity} was never told")
        event, value = standing
        self._rest_on(found, event, value, chain)
        return value

    def _value(self, program: Value, found: Answer) -> str:
        entity = self._entity(program.of, found)
        if program.which in {"now", "on"}:
            day = program.day if program.which == "on" else ""
            value = self._held(entity, program.attribute, found, day)
        else:
            chain = self._past(entity, program.attribute, found)
            event = chain[0] if program.which == "first" else chain[-2]
            if program.which == "before":
                # Nobody can tell that a value is the one before, without the one that came after.
                self._rest_on(found, chain[-1], chain[-1].value, chain)
            value = event.value
            self._rest_on(found, event, value, chain)
        found.wrong = self._others(entity, program.attribute, value)
        return value

    def _past(self, entity: str, attribute: str, found: Answer) -> list[WorldEvent]:
        """A chain of plain changes, all in effect: what else is in it has no one history."""
        chain = self.chain(entity, attribute)
        plain = all(event.kind in {"stated", "updated"} for event in chain)
        fits = len(chain) > 1 and plain and chain[-1].valid_from <= self.day
        found.steps.append(Step(f"{entity} {attribute}: all values", len(chain), int(fits)))
        if not fits:
            raise UnknownError(f"{attribute} of {entity} has no plain history of changes")
        return chain

    def _rest_on(
        self, found: Answer, event: WorldEvent, value: str, chain: Iterable[WorldEvent]
    ) -> None:
        hop = Hop(event.entity, event.attribute, value, event.event_id, event.turn)
        found.hops.append(hop)
        found.stale |= {
            other.turn
            for other in chain
            if other.event_id != event.event_id and value_of(other, list(chain)) != value
        }

    def _others(self, entity: str, attribute: str, value: str) -> list[str]:
        """All values that could be mistaken for the right one, in the order told."""
        told = self.told_of(entity, attribute)
        sibling = self.log.entity(entity).sibling
        if sibling:
            told += self.told_of(sibling, attribute)
        return list(dict.fromkeys(event.value for event in told if event.value != value))

    def _history(self, program: Changes | History, found: Answer) -> None:
        entity = self._entity(program.of, found)
        chain = self._past(entity, program.attribute, found)
        found.hops += [
            Hop(entity, program.attribute, event.value, event.event_id, event.turn)
            for event in chain
        ]
        values = tuple(event.value for event in chain)
        found.values = (str(len(chain) - 1),) if isinstance(program, Changes) else values
        if isinstance(program, History):
            others = self._others(entity, program.attribute, values[-1])
            found.wrong = [other for other in others if other not in values]

    def _since(self, program: Since, found: Answer) -> None:
        entity = self._entity(program.of, found)
        chain = self.chain(entity, program.attribute)
        fits = [e for e in chain if e.value == program.value and e.kind in {"stated", "updated"}]
        found.steps.append(Step(f"{entity} {program.attribute}", len(chain), len(fits)))
        if len(fits) != 1:
            raise UnknownError(f"{program.attribute} of {entity} was never {program.value}")
        event = fits[0]
        found.hops.append(Hop(entity, program.attribute, event.value, event.event_id, event.turn))
        found.values = (event.valid_from,)
        days = (other.valid_from for other in chain if other.valid_from != event.valid_from)
        found.wrong = list(dict.fromkeys(days))

    def _claims(self, program: Claimant | Claim | Claims, found: Answer) -> None:
        told = self.told_of(program.entity, program.attribute)
        claims = [event for event in told if event.kind == "claimed"]
        match program:
            case Claimant():
                fits = [event for event in claims if event.value == program.value]
            case Claim():
                fits = [event for event in claims if event.source == program.source]
            case Claims():
                fits = claims
        found.steps.append(Step(f"{program.entity} claims", len(claims), len(fits)))
        if not fits or (len(fits) != 1 and not isinstance(program, Claims)):
            raise UnknownError(f"{len(fits)} claims about {program.entity} fit")
        found.hops += [
            Hop(event.entity, event.attribute, event.value, event.event_id, event.turn)
            for event in fits
        ]
        rest = [event for event in claims if event not in fits]
        if isinstance(program, Claims):
            found.pairs = tuple((event.source, event.value) for event in fits)
            found.values = tuple(event.value for event in fits)
        elif isinstance(program, Claimant):
            found.values = (fits[0].source,)
            found.wrong = [event.source for event in rest]
        else:
            found.values = (fits[0].value,)
            found.wrong = [event.value for event in rest]

    def _members(self, program: Count | Which, found: Answer) -> None:
        members, scanned = self.holders(program.kind, program.conditions)
        what = _described(program.kind, program.conditions)
        found.steps.append(Step(what, scanned, len(members)))
        if not members:
            raise UnknownError(f"none matches: {what}")
        hops = [hop for _, held in members for hop in held]
        if isinstance(program, Which) and program.show:
            shown = [self._shown(entity, program.show) for entity, _ in members]
            hops += shown
            found.values = tuple(dict.fromkeys(hop.value for hop in shown))
        elif isinstance(program, Which):
            found.values = tuple(entity for entity, _ in members)
        else:
            found.values = (str(len(members)),)
        found.hops += sorted(hops, key=lambda hop: hop.event)
        found.stale |= self._left(program, {entity for entity, _ in members})

    def _shown(self, entity: str, attribute: str) -> Hop:
        standing = self.standing(entity, attribute)
        if standing is None:
            raise UnknownError(f"{attribute} of {entity} was never told")
        event, value = standing
        return Hop(entity, attribute, value, event.event_id, event.turn)

    def _left(self, program: Count | Which, members: set[str]) -> set[int]:
        """Turns that put an entity among the members which is none of them any more."""
        first = program.conditions[0]
        return {
            event.turn
            for event in self.log.holding(program.kind, first.attribute, first.value)
            if event.turn < self.told and event.kind in TRUTH and event.entity not in members
        }

    def _computed(self, program: Computed, found: Answer) -> None:
        values, wrong = [], []
        for operand in program.operands:
            part = Answer()
            values.append(self._value(operand, part))
            wrong.append(part.wrong)
            found.hops += part.hops
            found.steps += part.steps
            found.stale |= part.stale
        found.values = (computed(program.operator, values),)
        results: dict[str, None] = {}
        for place, others in enumerate(wrong):
            for other in itertools.islice(others, _WRONG_RESULTS // len(values)):
                swapped = [*values[:place], other, *values[place + 1 :]]
                results.setdefault(computed(program.operator, swapped))
        found.wrong = [result for result in results if result != found.values[0]]


def value_of(event: WorldEvent, chain: Sequence[WorldEvent]) -> str:
    """The value that an event leaves in force; a retraction brings back an earlier one."""
    if event.kind != "retracted":
        return event.value
    by_id = {other.event_id: other for other in chain}
    taken_back = by_id.get(event.supersedes) if event.supersedes is not None else None
    before = taken_back.supersedes if taken_back else None
    return value_of(by_id[before], chain) if before in by_id else event.value


def computed(operator: str, values: Sequence[str]) -> str:
    """A computation on values as the log writes them.

    Exact, but for `percent`, which is rounded to one decimal, and `mean`, to two; half to even.
    """
    if operator == "days":
        first, second = (date.fromisoformat(value) for value in values)
        return str(abs((second - first).days))
    numbers = [Decimal(value) for value in values]
    match operator:
        case "difference":
            result = abs(numbers[0] - numbers[1])
        case "sum":
            result = sum(numbers, Decimal(0))
        case "mean":
            mean = sum(numbers, Decimal(0)) / len(numbers)
            result = mean.quantize(Decimal("0.01"), ROUND_HALF_EVEN)
        case "percent":
            change = abs(numbers[1] - numbers[0]) * 100 / numbers[0]
            result = change.quantize(Decimal("0.1"), ROUND_HALF_EVEN)
        case _:
            raise ValueError(operator)
    return plain(result)


def plain(number: Decimal) -> str:
    """A decimal without an exponent or trailing zeros."""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _described(kind: str, conditions: Sequence[Condition]) -> str:
    return f"{kind} with " + ", ".join(f"{c.attribute}={c.value}" for c in conditions)
