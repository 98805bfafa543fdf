"""Answers that follow from two dates: how long ago, how long between, which came first."""

import re
from dataclasses import dataclass, replace
from datetime import date

from memrig.gateway.local.conversation import Asked
from memrig.gateway.local.dates import mentioned, stamp_day
from memrig.gateway.local.kinds import Kind, asked
from memrig.gateway.local.scoring import Support, rank

_ENOUGH = 0.3
_UNIT = re.compile(r"\bhow many (days|weeks|months|years)\b")
_DAYS = {"days": 1.0, "weeks": 7.0, "months": 30.44, "years": 365.25}
_AGO = re.compile(r"\bago\b")
_BETWEEN = re.compile(r"\bbetween (.+?) and (.+?)\?*$")
_SIDES = re.compile(
    r"\bhow (?:many \w+|long) (?:had passed |have passed |passed |elapsed )?"
    r"(?:since (?P<since>.+?) (?:when|until|by the time) (?P<when>.+)"
    r"|ago (?:did|have|had) (?P<then>.+?) when (?P<at>.+)"
    r"|(?P<order>before|after) (?P<first>.+?) (?=did|was|were|do)(?P<second>.+))"
)
_SINCE = re.compile(r"\b(?:passed|elapsed|been) since (.+?)\?*$")
_CHOICE = re.compile(r"[,:-]\s*(?:was it |is it )?(.+?),? or (.+?)\?*$")
_LAST = re.compile(r"\b(?:last|later|most recently)\b")


@dataclass(frozen=True, slots=True)
class Derived:
    """An answer that no sentence gives by itself, and the sentences it follows from."""

    text: str
    supports: tuple[Support, ...]


def elapsed(query: Asked) -> Derived | None:
    """How many days, weeks, months or years lie between two events, or an event and now."""
    text = asked(query.question)
    unit = _UNIT.search(text)
    events = _events(text)
    if not unit or not events:
        return None
    found = [_placed(query, event) for event in events]
    known = [item for item in found if item]
    if len(known) < len(events):
        return None
    days = [day for _, day in known]
    if len(days) == 1:
        now = stamp_day(query.date)
        if not now:
            return None
        days.append(now)
    if len(known) == 2 and known[0][0].line is known[1][0].line:
        return None
    count = round(abs((days[0] - days[1]).days) / _DAYS[unit[1]])
    if not count:
        return None
    ending = " ago" if _AGO.search(text) else ""
    name = unit[1].removesuffix("s") if count == 1 else unit[1]
    return Derived(f"{count} {name}{ending}", tuple(support for support, _ in known))


def first_of(query: Asked) -> Derived | None:
    """Which of two events came first, or last."""
    text = asked(query.question)
    choice = _CHOICE.search(text)
    if not choice:
        return None
    names = [_spelled(query.question, part) for part in choice.groups()]
    found = [_placed(query, name) for name in names]
    first, second = found
    if not first or not second or first[1] == second[1]:
        return None
    later = bool(_LAST.search(text))
    winner = (first[1] < second[1]) == later
    return Derived(names[winner], (first[0], second[0]))


def _spelled(question: str, part: str) -> str:
    """A part of the lowered question as the question itself spells it."""
    at = " ".join(question.split()).lower().find(part)
    spelled = " ".join(question.split())[at : at + len(part)] if at >= 0 else part
    return spelled.strip(" ?.,'\"")


def _events(text: str) -> tuple[str, ...]:
    if found := _BETWEEN.search(text):
        return found[1], found[2]
    if found := _SIDES.search(text):
        return tuple(part for name, part in found.groupdict().items() if part and name != "order")
    if found := _SINCE.search(text):
        return (found[1],)
    return (text,) if _AGO.search(text) else ()


def _placed(query: Asked, event: str) -> tuple[Support, date] | None:
    """The sentence that tells of an event, and the day it happened."""
    narrowed = replace(query, question=event)
    ranked = rank(narrowed.question, Kind.THING, narrowed.passages)
    if not ranked or ranked[0].coverage < _ENOUGH or not ranked[0].day:
        return None
    best = ranked[0]
    moment = mentioned(best.line.text, best.day)
    day = moment.day if moment else best.day
    return (best, day) if day else None
