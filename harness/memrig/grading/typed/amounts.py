"""Whether the numbers of a fact stand in an answer, are merely left out, or are other ones."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from memrig.grading.typed.numbers import Quantity, meanings

_TIE = 1e-9
_ABOUT = re.compile(
    r"(?:~|\b(?:about|around|approximately|approx|roughly|nearly|almost|circa|some))\s*$"
)


@dataclass(frozen=True, slots=True)
class Amount:
    """A number with its unit, and whether it was given as about so much."""

    value: float
    unit: str
    about: bool = False

    @property
    def plain(self) -> bool:
        """Whether no known unit stands beside it."""
        return self.unit in ("", "?")

    def comparable(self, other: "Amount") -> bool:
        """Whether the two could be values of the same thing: no units, or those of one kind."""
        if self.plain and other.plain:
            return True
        if self.plain or other.plain:
            return "" in (self.unit, other.unit)
        return bool(meanings(self.unit).keys() & meanings(other.unit).keys())

    def is_amount(self, other: "Amount") -> bool:
        """Whether another number is this one: the same value, in units that agree.

        A share may be written as a percentage ("0.3", "30 %"). Where this is said to be about so
        much, a finer number that rounds to it will do.
        """
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


def amounts(piece: str, found: Iterable[Quantity]) -> tuple[Amount, ...]:
    """The numbers of a folded piece."""
    return tuple(
        Amount(q.value, q.unit, _ABOUT.search(piece[max(0, q.start - 16) : q.start]) is not None)
        for q in found
        if not q.weak
    )
