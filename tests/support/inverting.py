"""What a rendered sentence says, read back by patterns made from the phrasings' files alone."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from memrig.suites.longhorizon.schema import KINDS, METRIC_UNITS

_FOLDER = files("memrig.suites.longhorizon") / "phrasings"
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
_DATE = rf"\d{{1,2}} (?:{'|'.join(_MONTHS)}) \d{{4}}"
_PLACE = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Said:
    """A reading of a sentence. What its template does not name is empty."""

    told: str
    predicate: str
    entity: str
    value: str
    old: str = ""
    day: str = ""
    source: str = ""


@cache
def _file(name: str):
    return json.loads((_FOLDER / f"{name}.json").read_bytes())


def _any(words) -> str:
    return "(?:" + "|".join(sorted(map(re.escape, words), key=len, reverse=True)) + ")"


@cache
def _pool(name: str) -> str:
    return "".join(_any(part) for part in _file("pools")[name])


@cache
def _name(kind: str) -> str:
    names = _file("names")[kind]
    if "code" in names:
        return rf"{names['code']}-\d{{6}}"
    *parts, last = names["parts"]
    return "".join(_any(part) for part in [*parts, [*last, *names["twins"]]])


@cache
def _value(predicate: str) -> str:
    kind, _, name = predicate.partition(".")
    attribute = KINDS[kind].attribute(name)
    match attribute.value:
        case "number" if not attribute.unit:
            return r"\d+"
        case "number":
            units = METRIC_UNITS if attribute.unit == "*" else (attribute.unit,)
            ends = _any("%" if unit == "%" else f" {unit}" for unit in units)
            return rf"\d{{1,3}}(?:,\d{{3}})*(?:\.\d+)?{ends}"
        case "date":
            return _DATE
        case "reference":
            return _name(attribute.of)
        case _:
            return _pool(attribute.pool)


def _pattern(template: str, places: dict[str, str]) -> re.Pattern[str]:
    pieces = _PLACE.split(template)
    return re.compile(
        "".join(
            f"(?P<{piece.lower()}>{places[piece]})" if n % 2 else re.escape(piece)
            for n, piece in enumerate(pieces)
        )
    )


def _literals(template: str) -> list[str]:
    return [piece for piece in _PLACE.split(template)[::2] if piece]


@cache
def _stated() -> list[tuple[list[str], str, str]]:
    return [
        (_literals(template), template, f"{kind}.{attribute}")
        for kind in KINDS
        for attribute, phrases in _file(kind).items()
        for template in phrases["stated"]
    ]


@cache
def _nouns() -> list[tuple[str, str, str]]:
    return [
        (noun.replace("{entity}", ""), noun, f"{kind}.{attribute}")
        for kind in KINDS
        for attribute, phrases in _file(kind).items()
        for noun in phrases["nouns"]
    ]


@cache
def _sources() -> str:
    return f"(?:{_pool('sources')}|{_pool('gossips')}|{_pool('speakers')})"


@cache
def _statement(template: str, predicate: str) -> re.Pattern[str]:
    kind = predicate.partition(".")[0]
    return _pattern(template, {"entity": _name(kind), "value": _value(predicate)})


@cache
def _loose(template: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """A template with anything in its places: as little as will do, and as much."""
    names = _PLACE.findall(template)
    return tuple(_pattern(template, dict.fromkeys(names, some)) for some in (".+?", ".+"))


@cache
def _noun(noun: str, predicate: str) -> re.Pattern[str]:
    kind = predicate.partition(".")[0]
    # The first letter is a capital where the phrase begins a sentence.
    return re.compile("[tT]" + _pattern(noun, {"entity": _name(kind)}).pattern[1:])


@cache
def _whole(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def _event(told: str, template: str, sentence: str) -> Iterator[Said]:
    splits = {
        tuple(m.groupdict().items()) for p in _loose(template) if (m := p.fullmatch(sentence))
    }
    for split in splits:
        places = dict(split)
        phrase = places.pop("noun")
        for words, noun, predicate in _nouns():
            if words[1:] in phrase and (found := _noun(noun, predicate).fullmatch(phrase)):
                value = _value(predicate)
                wanted = {"value": value, "old": value, "day": _DATE, "source": _sources()}
                if all(_whole(wanted[name]).fullmatch(text) for name, text in places.items()):
                    yield Said(told, predicate, found["entity"], **places)


def readings(sentence: str) -> Iterator[Said]:
    """Every way to read a sentence that states or tells one event."""
    for literals, template, predicate in _stated():
        if all(piece in sentence for piece in literals):
            found = _statement(template, predicate).fullmatch(sentence)
            if found:
                yield Said("stated", predicate, **found.groupdict())
    for told, templates in _file("events").items():
        for template in templates:
            if all(piece in sentence for piece in _literals(template)):
                yield from _event(told, template, sentence)


def line_readings(sentence: str) -> Iterator[dict[str, str]]:
    """Every way to read a log line: the entity's name and all values."""
    places = {a.name: _value(f"log.{a.name}") for a in KINDS["log"].attributes}
    for template in _file("lines"):
        if found := _pattern(template, places | {"entity": _name("log")}).fullmatch(sentence):
            yield found.groupdict()
