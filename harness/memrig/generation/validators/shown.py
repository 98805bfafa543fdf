"""Whether documents show a fact: its values beside their labels, its dates, and its numbers.

A fact's text is not looked for as such: documents say "label: value", never "rose" or "stayed".
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import permutations

from memrig.generation.model import KeyFact, PlannedEpisode, Reading
from memrig.generation.textcheck import holds
from memrig.generation.validators.base import View

_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w]|\.\d)")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value of a fact stands: the episode, and the reading in its sheet."""

    episode: PlannedEpisode
    reading: Reading


def places(view: View, fact: KeyFact, value: str) -> list[Place]:
    """The readings of the fact's evidence that have this value and a label that the fact names."""
    signals, told = view.signals(), f"{fact.text} {fact.answer}".casefold()
    return [
        Place(signals[number], reading)
        for number in fact.evidence
        if number in signals
        for reading in readings(signals[number])
        if reading.value == value and reading.label.casefold() in told
    ]


def readings(episode: PlannedEpisode) -> Iterator[Reading]:
    """All readings of an episode's sheet."""
    for section in episode.sheet.sections:
        yield from section.readings


def shown(view: View, place: Place) -> bool:
    """Whether the episode's document gives the reading."""
    return holds(view.text(place.episode), place.reading.label, place.reading.value)


def all_in(text: str, labels: Iterable[str], values: Iterable[str]) -> bool:
    """Whether one text gives every value next to one of these labels."""
    known = list(labels)
    return all(any(holds(text, label, value) for label in known) for value in values)


def dates_in(text: str) -> list[str]:
    """The dates of a fact, as documents write them."""
    return _DATE.findall(text)


def underived(view: View, fact: KeyFact) -> list[str]:
    """The numbers of a fact that its evidence neither gives nor lets one work out.

    Of alternatives, the one with the fewest. A number is worked out from two values as their
    difference, quotient, or percentage, or from two days as the days between them. So a number
    that only a later episode holds cannot get in.
    """
    evidence = [e for number, e in view.signals().items() if number in fact.evidence]
    given = {reading.value for episode in evidence for reading in readings(episode)}
    results = set(_results([Decimal(value) for value in fact.values if _is_number(value)]))
    days = [episode.sheet.day for episode in evidence]
    results |= {Decimal(abs((a - b).days)) for a, b in permutations(days, 2)}
    told = (_DATE.sub(" ", _without_labels(part, evidence)) for part in fact.text.split("|"))
    left = [
        [n for n in _NUMBER.findall(part) if n not in given and not _follows(Decimal(n), results)]
        for part in told
    ]
    return min(left, key=len)


def _without_labels(text: str, evidence: Sequence[PlannedEpisode]) -> str:
    """The text without the labels and units, which may hold numbers of their own."""
    found = [reading for episode in evidence for reading in readings(episode)]
    names = {name for reading in found for name in (reading.label, reading.unit) if name}
    for name in sorted(names, key=len, reverse=True):
        if any(character.isdigit() for character in name):
            text = text.replace(name, " ")
    return text


def _is_number(value: str) -> bool:
    return _NUMBER.fullmatch(value) is not None


def _results(values: Sequence[Decimal]) -> Iterator[Decimal]:
    for a, b in permutations(values, 2):
        yield abs(a - b)
        if b:
            yield abs(a / b)
            yield abs((a - b) / b) * 100


def _follows(number: Decimal, results: Iterable[Decimal]) -> bool:
    """Whether a result, rounded as the number is, is the number."""
    unit = number.as_tuple().exponent
    step = Decimal(1).scaleb(unit) if isinstance(unit, int) else Decimal(1)
    return any(abs(result - abs(number)) <= step / 2 for result in results)
