"""Whether the numbers of a fact stand in an answer, are merely left out, or are other ones."""

import re
from dataclasses import dataclass, replace

from memrig.grading.typed.dates import find_dates
from memrig.grading.typed.numbers import Quantity, find_numbers, meanings
from memrig.grading.typed.words import content

_TIE = 1e-9
_THAN = re.compile(r"\bthan\b")
_ORDINAL = re.compile(r"(?<![\w.,])(?P<number>\d+)(?:st|nd|rd|th)\b")
_ABOUT = re.compile(
    r"(?:~|\b(?:about|around|approximately|approx|roughly|nearly|almost|circa|some))\s*$"
)


@dataclass(frozen=True, slots=True)
class Amount:
    """A number with its unit; whether it was given as about so much, and whether it was denied.

    `nouns`: the stems of what is counted, where that is no unit.
    """

    value: float
    unit: str
    about: bool = False
    denied: bool = False
    nouns: frozenset[str] = frozenset()

    @property
    def plain(self) -> bool:
        """Whether no known unit stands beside it."""
        return self.unit in ("", "?")

    def comparable(self, other: "Amount") -> bool:
        """Whether the two could be values of the same thing: no units, or those of one kind."""
        if self.plain and other.plain:
            return not (self.nouns and other.nouns) or bool(self.nouns & other.nouns)
        if self.plain or other.plain:
            return "" in (self.unit, other.unit)
        return bool(meanings(self.unit).keys() & meanings(other.unit).keys())

    def is_amount(self, other: "Amount") -> bool:
        """Whether another number is this one: the same value, in units that agree.

        A share may be written as a percentage ("0.3", "30 %"). Where this is said to be about so
        much, a finer number that rounds to it will do.
        """
        if self.denied != other.denied:
            return False
        if {self.unit, other.unit} == {"", "%"}:
            return self._equals(other.value, 1) or _share(self, other)
        if self.plain or other.plain:
            return self._equals(other.value, 1)
        one, two = meanings(self.unit), meanings(other.unit)
        return any(
            self._equals(other.value, two[name] / one[name]) for name in one.keys() & two.keys()
        )

    def _equals(self, other: float, scale: float) -> bool:
        value = other * scale
        if self.about and self.value == int(self.value) and value != int(value):
            return self.value == round(value)
        return abs(self.value - value) <= _TIE * max(1.0, abs(self.value))


def _share(one: Amount, other: Amount) -> bool:
    bare, percent = (one, other) if other.unit == "%" else (other, one)
    return 0 < bare.value < 1 and abs(bare.value * 100 - percent.value) < _TIE


_RANGE = re.compile(r"\s*(?:to|-|and|or)\s*(?:(?:about|around|approximately|nearly)\s*)?[~$]?")


def _units(text: str, found: list[Quantity]) -> list[Quantity]:
    """The quantities, those that share the unit of the next one with it: "6-7 hours"."""
    shared = found[-1:]
    for quantity in reversed(found[:-1]):
        following = shared[0]
        if quantity.unit == "" and _RANGE.fullmatch(text[quantity.end : following.start]):
            shared.insert(0, replace(quantity, unit=following.unit, noun=following.noun))
        else:
            shared.insert(0, quantity)
    return shared


def amounts(piece: str, *, denied: bool) -> tuple[Amount, ...]:
    """The numbers of a folded piece, those after "than" and ordinals among them."""
    plain = _THAN.sub("thus", piece)
    found = [
        Amount(
            q.value,
            q.unit,
            _ABOUT.search(plain[max(0, q.start - 16) : q.start]) is not None,
            denied,
            frozenset(content(q.noun)),
        )
        for q in _units(plain, find_numbers(plain))
        if not q.weak
    ]
    dated = [date for date in find_dates(piece) if date.month is not None]
    found += [
        Amount(float(match["number"]), "th", denied=denied)
        for match in _ORDINAL.finditer(piece)
        if not any(date.start < match.end() and match.start() < date.end for date in dated)
    ]
    return tuple(found)
