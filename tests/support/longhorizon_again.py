"""The answers of the long-horizon suite worked out again from words alone.

Nothing here knows the suite's programs, its interpreter or its event log: a question's text, the
day it is asked and the texts of turns are all there is, and the public files that say how things
are phrased.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction

from support.longhorizon_asked import Query
from support.longhorizon_heard import TRUE, Memory
from support.longhorizon_words import Amount, Blank, Called, Cond, Its, Only, Thing, Told


@dataclass(frozen=True)
class Listed:
    """Values or names; in order where the question asks for the order."""

    values: tuple[Told, ...]
    ordered: bool = False


@dataclass(frozen=True)
class Share:
    """A percentage before it is rounded."""

    exact: Fraction


Result = Told | Listed | Share | dict[str, Told] | None


class UnknownError(Exception):
    """What was heard does not tell it."""


def answer(query: Query, memory: Memory) -> Result:
    """What the question asks for, from what was heard; none: that does not tell it."""
    try:
        return _WORK[query.wanted](query, memory)
    except UnknownError:
        return None


def _called(thing: Thing, memory: Memory) -> str:
    """The name of a thing that may be described."""
    match thing:
        case Called():
            return thing.name
        case Its():
            value = _now(thing, memory)
            assert isinstance(value, str)
            return value
        case Only():
            members = _members(thing.kind, thing.conds, memory)
            if len(members) != 1:
                raise UnknownError(f"{len(members)} match")
            return members[0]
        case Blank():
            raise AssertionError("a blank has no name")


def _key(its: Its, memory: Memory) -> tuple[str, str]:
    return its.predicate, _called(its.of, memory)


def _now(its: Its, memory: Memory, on: date | None = None) -> Told:
    held = memory.held(*_key(its, memory), on)
    if held is None:
        raise UnknownError("never told")
    return held.value


def _members(kind: str, conds: tuple[Cond, ...], memory: Memory) -> list[str]:
    """The names of all that meet the conditions now."""
    wanted = {
        cond.predicate: _now(cond.value, memory) if isinstance(cond.value, Its) else cond.value
        for cond in conds
    }
    assert all(predicate.startswith(f"{kind}.") for predicate in wanted)
    return [
        name
        for name in memory.entities(conds[0].predicate)
        if all(
            (held := memory.held(predicate, name)) is not None and held.value == value
            for predicate, value in wanted.items()
        )
    ]


def _course(query: Query, memory: Memory, least: int) -> list[Told]:
    values = [h.value for h in memory.course(*_key(query.its[0], memory))]
    if len(values) < least:
        raise UnknownError("too few values")
    return values


def _since(query: Query, memory: Memory) -> Result:
    course = memory.course(*_key(query.its[0], memory))
    days = [held.since for held in course if held.value == query.value]
    if len(days) != 1:
        raise UnknownError("never had this value, or more than once")
    return days[0]


def _said_so(query: Query, memory: Memory) -> Result:
    """Who said first that something is so; who says why something became so says that as well."""
    about = memory.about(*_key(query.its[0], memory))
    said = [fact for fact in about if fact.told in TRUE and fact.value == query.value]
    if not said:
        raise UnknownError("nobody said so")
    return said[0].speaker


def _claimed(query: Query, memory: Memory) -> dict[str, Told]:
    claims = memory.claims(*_key(query.its[0], memory))
    if not claims:
        raise UnknownError("no claims")
    return claims


def _claimant(query: Query, memory: Memory) -> Result:
    found = [by for by, value in _claimed(query, memory).items() if value == query.value]
    if len(found) != 1:
        raise UnknownError("nobody claims it, or several")
    return found[0]


def _which(query: Query, memory: Memory) -> Result:
    return _called(Only(query.kind, query.conds), memory)


def _count(query: Query, memory: Memory) -> Result:
    return Amount(Decimal(len(_members(query.kind, query.conds, memory))), "")


def _all(query: Query, memory: Memory) -> Result:
    members = _members(query.kind, query.conds, memory)
    if not members:
        raise UnknownError("none")
    return Listed(tuple(members))


def _spread(query: Query, memory: Memory) -> Result:
    predicate = f"{query.kind}.{query.show}"
    names = _members(query.kind, query.conds, memory)
    shown = [_now(Its(predicate, Called(query.kind, name)), memory) for name in names]
    if not shown:
        raise UnknownError("none")
    return Listed(tuple(dict.fromkeys(shown)))


def _explained(query: Query, memory: Memory) -> Result:
    of = Only(query.kind, query.conds)
    heads = query.wanted.split()
    return Listed(tuple(_now(Its(f"{query.kind}.{head}", of), memory) for head in heads))


def _amounts(query: Query, memory: Memory) -> tuple[list[Decimal], str]:
    values = [_now(its, memory) for its in query.its]
    amounts = [value for value in values if isinstance(value, Amount)]
    units = {amount.unit for amount in amounts}
    assert len(amounts) == len(values), "what is computed with must be numbers"
    assert len(units) == 1, "what is computed with must be of one unit"
    return [amount.number for amount in amounts], units.pop()


def _difference(query: Query, memory: Memory) -> Result:
    (one, other), unit = _amounts(query, memory)
    return Amount(abs(one - other), unit)


def _sum(query: Query, memory: Memory) -> Result:
    numbers, unit = _amounts(query, memory)
    return Amount(sum(numbers, Decimal()), unit)


def _mean(query: Query, memory: Memory) -> Result:
    numbers, unit = _amounts(query, memory)
    return Amount(sum(numbers, Decimal()) / len(numbers), unit)


def _share(query: Query, memory: Memory) -> Result:
    """How far the latest value is from the first; the question says in which direction."""
    values = _course(query, memory, least=2)
    first, latest = values[0], _now(query.its[0], memory)
    assert isinstance(first, Amount)
    assert isinstance(latest, Amount)
    change = Fraction(latest.number) / Fraction(first.number) - 1
    if not (change > 0 if query.wanted == "risen" else change < 0):
        raise UnknownError("it went the other way")
    return Share(abs(change) * 100)


def _days(query: Query, memory: Memory) -> Result:
    one, other = (_now(its, memory) for its in query.its)
    assert isinstance(one, date)
    assert isinstance(other, date)
    return Amount(Decimal(abs((one - other).days)), "days")


def _changes(query: Query, memory: Memory) -> Result:
    return Amount(Decimal(len(_course(query, memory, least=2)) - 1), "")


_WORK: Mapping[str, Callable[[Query, Memory], Result]] = {
    "now": lambda query, memory: _now(query.its[0], memory),
    "on": lambda query, memory: _now(query.its[0], memory, query.on),
    "which": _which,
    "before": lambda query, memory: _course(query, memory, least=2)[-2],
    "first": lambda query, memory: _course(query, memory, least=1)[0],
    "course": lambda query, memory: Listed(tuple(_course(query, memory, least=2)), ordered=True),
    "changes": _changes,
    "since": _since,
    "teller": _said_so,
    "why": _said_so,
    "claimant": _claimant,
    "claim": lambda query, memory: _claimed(query, memory).get(query.source),
    "claims": _claimed,
    "count": _count,
    "all": _all,
    "spread": _spread,
    "difference": _difference,
    "sum": _sum,
    "mean": _mean,
    "risen": _share,
    "fallen": _share,
    "days": _days,
    "approach reason": _explained,
    "constraint rejected": _explained,
    "approach outcome": _explained,
}
