"""Dates in texts, in many spellings, and what it means that one is the other."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from memrig.grading.typed.words import listed

_MONTHS = listed(
    "jan(?:uary)? feb(?:ruary)? mar(?:ch)? apr(?:il)? may june? july? aug(?:ust)? sept?(?:ember)? "
    "oct(?:ober)? nov(?:ember)? dec(?:ember)?"
)
_MONTH = "|".join(_MONTHS)
_DAY = r"(?P<d>[0-3]?\d)(?:st|nd|rd|th)?"
_YEAR = r"(?P<y>(?:1[5-9]|20|21)\d\d)"
_OF_YEAR = rf"(?:,?\s*(?:of\s+|in\s+)?{_YEAR})?"
_NEXT_DAY = r"(?P<d2>[0-3]?\d)(?:st|nd|rd|th)?"
_JOIN = r"\s*(?:-|to|until|till|through|and|/)\s*(?:the\s+|[a-z]+day\s+)?"

#: Most telling first: a stretch that one of them has taken is left alone by those after it.
_FORMS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?<![\d.]){_YEAR}[-/.](?P<m>\d\d?)[-/.](?P<d>\d\d?)(?![\d])(?:t\d\d:\d\d\S*)?",
        rf"(?<![\d.]){_YEAR}-(?P<m>\d\d)(?![\d-])",
        rf"(?<![\d.,£$€]){_DAY}{_JOIN}{_NEXT_DAY}\s+(?:of\s+)?(?P<mon>{_MONTH})\b\.?{_OF_YEAR}",
        rf"\b(?P<mon>{_MONTH})\b\.?\s+{_DAY}{_JOIN}{_NEXT_DAY}(?!\s*(?:{_MONTH})|\d){_OF_YEAR}",
        rf"(?<![\d.,£$€]){_DAY}\s*(?:of\s+|day of\s+|-)?\s*(?P<mon>{_MONTH})\b\.?-?{_OF_YEAR}",
        rf"\b(?P<mon>{_MONTH})\b\.?\s*(?:the\s+)?{_DAY}(?![\d:]|\s*(?:%|am\b|pm\b)){_OF_YEAR}",
        (
            r"(?<![\d./-])(?<!version )(?<!release )(?P<a>\d{1,2})(?P<sep>[/.])(?P<b>\d{1,2})"
            r"(?P=sep)(?P<y>(?:19|20)\d\d|\d\d)(?![\d/]|\.\d)"
        ),
        r"(?<![\d./-])(?P<a>\d{1,2})/(?P<b>\d{1,2})(?![\d/])",
        rf"\b(?P<mon>{_MONTH})\b\.?,?\s*(?:of\s+|in\s+)?{_YEAR}(?!\d)",
        rf"(?<=\b(?:in|of|by)\s)(?P<mon>{_MONTH})\b",
        rf"(?<![\d.,:/£$€-])(?<!\d\s){_YEAR}(?![\d:%]|[.,]\d|-\d)",
    )
)


@dataclass(frozen=True, slots=True)
class Day:
    """A day, a month, a year, or a day of a year that was not said. `swapped`: or month for day.

    Ordered by year, month and day as far as they are known.
    """

    year: int | None
    month: int | None
    day: int | None
    start: int = 0
    end: int = 0
    swapped: bool = False

    @property
    def key(self) -> tuple[int | None, int | None, int | None]:
        """The date alone, without its place."""
        return self.year, self.month, self.day

    def readings(self) -> Iterator[tuple[int | None, int | None, int | None]]:
        """Every date that it may be."""
        yield self.key
        if self.swapped:
            yield self.year, self.day, self.month

    def is_date(self, gold: "Day") -> bool:
        """Whether it names the gold date: what both say is equal, and it is as precise.

        A day or month without its year will do; a more precise answer contains the gold.
        """
        return any(_names(reading, gold) for reading in self.readings())

    def may_be(self, other: "Day") -> bool:
        """Whether nothing that both say differs."""
        return any(_agree(reading, other.key) for reading in self.readings())


def _agree(one: tuple[int | None, ...], other: tuple[int | None, ...]) -> bool:
    pairs = zip(one, other, strict=True)
    return all(a is None or b is None or a == b for a, b in pairs)


def _names(reading: tuple[int | None, ...], gold: Day) -> bool:
    if not _agree(reading, gold.key):
        return False
    year, month, day = reading
    if gold.day is not None:
        return day is not None
    if gold.month is not None:
        return month is not None
    return year is not None


def iso(text: str) -> Day:
    """A gold date: `YYYY`, `YYYY-MM` or `YYYY-MM-DD`."""
    parts = [int(part) for part in text.split("-")]
    year, month, day = (*parts, None, None)[:3]
    return Day(year, month, day)


def find_dates(folded: str) -> list[Day]:
    """The dates of a folded text, in order. A range of days yields both ends."""
    found: list[Day] = []
    taken: list[tuple[int, int]] = []
    for form in _FORMS:
        for match in form.finditer(folded):
            start, end = match.span()
            if any(start < stop and begin < end for begin, stop in taken):
                continue
            dates = [date for date in _dates(match) if _possible(date)]
            if dates:
                found += dates
                taken.append((start, end))
    return _with_years(sorted(found, key=lambda date: (date.start, date.end)))


def _dates(match: re.Match[str]) -> Iterator[Day]:
    parts = match.groupdict()
    year = _year(parts.get("y"))
    start, end = match.span()
    if parts.get("a"):
        yield Day(year, int(parts["b"]), int(parts["a"]), start, end, swapped=True)
        return
    month = int(parts["m"]) if parts.get("m") else _month(parts.get("mon"))
    day = int(parts["d"]) if parts.get("d") else None
    yield Day(year, month, day, start, start + 1 if parts.get("d2") else end)
    if parts.get("d2"):
        yield Day(year, month, int(parts["d2"]), start + 1, end)


def _year(text: str | None) -> int | None:
    if not text:
        return None
    return int(text) if len(text) == 4 else 2000 + int(text)


def _month(name: str | None) -> int | None:
    for number, pattern in enumerate(_MONTHS, 1):
        if name and re.fullmatch(pattern, name):
            return number
    return None


def _possible(date: Day) -> bool:
    """No thirteenth month in either reading, no day 0."""
    return any(
        (month is None or 1 <= month <= 12) and (day is None or 1 <= day <= 31)
        for _, month, day in date.readings()
    )


def _with_years(dates: list[Day]) -> list[Day]:
    """ "from 13 July to 20 July 2024": the year said last holds for the ends before it.

    A lone year beside a date without one ("on 5 March, in 2024") belongs to it.
    """
    years = {date.year for date in dates if date.year is not None}
    if len(years) != 1:
        return dates
    (year,) = years
    dated = [
        Day(year, d.month, d.day, d.start, d.end, d.swapped) if d.year is None else d for d in dates
    ]
    months = any(date.month is not None for date in dated)
    return [date for date in dated if date.month is not None or not months] or dated


def distinct(dates: Iterable[Day]) -> list[Day]:
    """Those that are not the same as one before, and not merely a vaguer name of another one."""
    kept: list[Day] = []
    listed = list(dates)
    for date in listed:
        vaguer = any(
            other is not date and date.may_be(other) and _precision(other) > _precision(date)
            for other in listed
        )
        if not vaguer and not any(date.may_be(other) for other in kept):
            kept.append(date)
    return kept


def _precision(date: Day) -> int:
    return sum(part is not None for part in date.key)
