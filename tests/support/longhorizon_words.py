"""Names, values and noun phrases of the long-horizon world, read by the phrasings' files alone."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache
from importlib.resources import files

from memrig.suites.longhorizon.schema import KINDS, METRIC_UNITS

_FOLDER = files("memrig.suites.longhorizon") / "phrasings"
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
_PLACE = re.compile(r"\{(\w+)\}")
#: What stands for one of a kind, and for several, in questions.
ONE = {
    "person": "person", "project": "project", "component": "component", "rollout": "rollout",
    "metric": "metric", "topic": "topic", "log entry": "log", "incident": "incident",
    "host": "host", "case": "case", "entry": "log",
}  # fmt: skip
SEVERAL = {
    "people": "person", "projects": "project", "components": "component", "rollouts": "rollout",
    "metrics": "metric", "topics": "topic", "log entries": "log", "incidents": "incident",
    "hosts": "host", "cases": "case",
}  # fmt: skip


@dataclass(frozen=True)
class Amount:
    """A number with the unit it is said with."""

    number: Decimal
    unit: str


Told = Amount | date | str


@dataclass(frozen=True)
class Called:
    """A thing by its name."""

    kind: str
    name: str


@dataclass(frozen=True)
class Blank:
    """What is looked for: "which host", "this person", "it"."""


@dataclass(frozen=True)
class Its:
    """An attribute of a thing: "the budget of ..."."""

    predicate: str
    of: "Thing"


@dataclass(frozen=True)
class Cond:
    """An attribute of what is looked for, and what it is; another one's attribute: the same."""

    predicate: str
    value: Told | Its


@dataclass(frozen=True)
class Only:
    """The one of a kind that meets all conditions."""

    kind: str
    conds: tuple[Cond, ...]


Thing = Called | Blank | Its | Only


@cache
def said(name: str):
    """A file of phrasings."""
    return json.loads((_FOLDER / f"{name}.json").read_bytes())


def ways(template: str, text: str) -> Iterator[dict[str, str]]:
    """Every way in which the places of a template can be filled so that it reads like this."""
    pieces = _PLACE.split(template)
    if text.startswith(pieces[0]):
        yield from _ways(pieces[1:], text[len(pieces[0]) :])


def _ways(pieces: list[str], rest: str) -> Iterator[dict[str, str]]:
    if not pieces:
        if not rest:
            yield {}
        return
    place, literal, more = pieces[0], pieces[1], pieces[2:]
    if not more:
        if rest.endswith(literal) and len(rest) > len(literal):
            yield {place: rest[: len(rest) - len(literal)]}
        return
    start = rest.find(literal, 1)
    while start >= 0:
        for found in _ways(more, rest[start + len(literal) :]):
            yield {place: rest[:start], **found}
        start = rest.find(literal, start + 1)


def _any(words) -> str:
    return "(?:" + "|".join(sorted(map(re.escape, words), key=len, reverse=True)) + ")"


@cache
def _pool(name: str) -> re.Pattern[str]:
    return re.compile("".join(_any(part) for part in said("pools")[name]))


@cache
def _name(kind: str) -> re.Pattern[str]:
    names = said("names")[kind]
    if "code" in names:
        return re.compile(names["code"] + r"-\d{6}")
    *parts, last = names["parts"]
    return re.compile("".join(_any(part) for part in [*parts, [*last, *names["twins"]]]))


def is_name(kind: str, text: str) -> bool:
    """Whether a thing of the kind can be called so."""
    return _name(kind).fullmatch(text) is not None


def is_source(text: str) -> bool:
    """Whether somebody who claims things is called so."""
    return _pool("sources").fullmatch(text) is not None


@cache
def told(predicate: str, text: str) -> Told | None:
    """What a value means that is said of an attribute; none: it is no value of this attribute."""
    kind, _, name = predicate.partition(".")
    attribute = KINDS[kind].attribute(name)
    match attribute.value:
        case "number":
            units = METRIC_UNITS if attribute.unit == "*" else (attribute.unit,)
            return _amount(text, units)
        case "date":
            return day(text)
        case "reference":
            return text if is_name(attribute.of, text) else None
        case _:
            return text if _pool(attribute.pool).fullmatch(text) else None


def _amount(text: str, units: tuple[str, ...]) -> Amount | None:
    for unit in units:
        ending = unit if unit in {"", "%"} else f" {unit}"
        digits = text.removesuffix(ending)
        grouped = r"\d{1,3}(,\d{3})*(\.\d+)?" if unit else r"\d+"
        if text.endswith(ending) and re.fullmatch(grouped, digits):
            return Amount(Decimal(digits.replace(",", "")), unit)
    return None


def day(text: str) -> date | None:
    """A date as it is said: 14 March 2031."""
    found = re.fullmatch(r"(\d{1,2}) ([A-Z][a-z]+) (\d{4})", text)
    if found is None or found[2] not in _MONTHS:
        return None
    return date(int(found[3]), _MONTHS.index(found[2]) + 1, int(found[1]))


@cache
def _nouns() -> tuple[tuple[str, str], ...]:
    found = []
    for kind in KINDS:
        for attribute, phrases in said(kind).items():
            for noun in phrases["nouns"]:
                assert noun.endswith(" {entity}") and noun[0] == "t", noun
                found.append((noun.removesuffix("{entity}")[1:], f"{kind}.{attribute}"))
    return tuple(found)


@cache
def attributes_of(text: str) -> tuple[Its, ...]:
    """All readings of "the budget of Project X", with a small or a capital letter."""
    if text[:1] not in {"t", "T"}:
        return ()
    return tuple(
        Its(predicate, thing)
        for noun, predicate in _nouns()
        if text.startswith(noun, 1)
        for thing in things(text[1 + len(noun) :], predicate.partition(".")[0])
    )


@cache
def things(text: str, kind: str) -> tuple[Thing, ...]:
    """All readings of a name or a phrase in its place, for a thing of this kind."""
    found: list[Thing] = [Called(kind, text)] if is_name(kind, text) else []
    article, _, word = text.partition(" ")
    if text == "it" or (article in {"which", "this", "the"} and ONE.get(word) == kind):
        found.append(Blank())
    for way in ways("the {word} for which {cond}", text):
        if ONE.get(way["word"]) == kind:
            found += [Only(kind, (cond,)) for cond in conditions(way["cond"], kind)]
    if kind == "person":
        found += [its for its in attributes_of(text) if _refers(its) and not _asks(its)]
    return tuple(found)


def _refers(its: Its) -> bool:
    kind, _, name = its.predicate.partition(".")
    return KINDS[kind].attribute(name).of == "person"


def _asks(its: Its) -> bool:
    of = its.of
    while isinstance(of, Its):
        of = of.of
    return isinstance(of, Blank)


@cache
def conditions(text: str, kind: str) -> tuple[Cond, ...]:
    """All readings of "the budget of this project is 5 EUR"."""
    found = []
    for way in ways("{its} is {value}", text):
        for its in attributes_of(way["its"]):
            if its.of != Blank() or not its.predicate.startswith(f"{kind}."):
                continue
            value = told(its.predicate, way["value"])
            if value is not None:
                found.append(Cond(its.predicate, value))
            elif _refers(its):
                other = attributes_of(way["value"].removeprefix("also "))
                same = [o for o in other if _refers(o) and not _asks(o)]
                found += [Cond(its.predicate, o) for o in same]
    return tuple(found)
