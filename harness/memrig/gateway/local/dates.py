"""Days as prompts write them: a memory's date, and what a sentence says of time beside it."""

import calendar
import re
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

_MONTHS = {name.lower(): n for n, name in enumerate(calendar.month_name) if name}
_MONTHS |= {name.lower(): n for n, name in enumerate(calendar.month_abbr) if name}
_MONTHS["sept"] = 9
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_WEEKDAYS = {name.lower(): n for n, name in enumerate(calendar.day_name)}
#: Names that a question may use of a time, and no memory need spell.
TIME_NAMES = frozenset(_MONTHS) | frozenset(_WEEKDAYS)
NUMBER_WORDS = {
    word: n
    for n, word in enumerate(
        """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
        fifteen sixteen seventeen eighteen nineteen twenty""".split()  # noqa: SIM905 -- a table
    )
}
_FEW = "|".join(NUMBER_WORDS)
_ISO = re.compile(r"\b((?:19|20)\d\d)[-/.](\d{1,2})[-/.](\d{1,2})\b")
_MONTH_DAY = re.compile(
    rf"\b({_MONTH})\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s*((?:19|20)\d\d))?", re.IGNORECASE
)
_DAY_MONTH = re.compile(
    rf"\b(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?({_MONTH})\b\.?(?:,?\s*((?:19|20)\d\d))?",
    re.IGNORECASE,
)
_SLASH = re.compile(r"\b(1[0-2]|0?[1-9])/(3[01]|[12]\d|0?[1-9])\b(?!/)")
_NEAR = re.compile(r"\b(yesterday|today|tonight|this (?:morning|afternoon|evening)|tomorrow)\b")
_LOOSE = {"a": 1, "an": 1, "a couple of": 2, "a few": 3}
_AGO = re.compile(rf"\b(a couple of|a few|an?|\d+|{_FEW}) (day|week|month|year)s? ago\b")
_WEEKDAY = re.compile(rf"\b(last|this past|on|next) ({'|'.join(_WEEKDAYS)})\b")
_SPAN = re.compile(r"\b(last|next|this) (week|month|year|weekend)\b")
_OFFSET = {"yesterday": -1, "tomorrow": 1}
_DAYS = {"day": 1, "week": 7, "weekend": 7}

Grain = Literal["day", "week", "month", "year"]


@dataclass(frozen=True, slots=True)
class Moment:
    """A day, and how exactly it is known."""

    day: date
    grain: Grain = "day"

    def __str__(self) -> str:
        """As an answer says it: ``7 May 2023``, ``May 2023``, ``2023``."""
        if self.grain == "year":
            return str(self.day.year)
        month = f"{calendar.month_name[self.day.month]} {self.day.year}"
        if self.grain == "month":
            return month
        written = f"{self.day.day} {month}"
        return f"the week of {written}" if self.grain == "week" else written


def stamp_day(text: str) -> date | None:
    """The day of a memory's stamp, such as ``2024-03-05 17:00`` or ``8 May, 2023``."""
    moment = _explicit(text, None)
    return moment.day if moment else None


def mentioned(sentence: str, told: date | None) -> Moment | None:
    """The first time that a sentence names, seen from the day it was told."""
    if found := _explicit(sentence, told):
        return found
    return _relative(sentence.lower(), told) if told else None


def timeless(text: str) -> str:
    """A question without the words that say when."""
    for pattern in (_NEAR, _AGO, _WEEKDAY, _SPAN):
        text = pattern.sub(" ", text)
    return text


def _explicit(text: str, told: date | None) -> Moment | None:
    if found := _ISO.search(text):
        return _day(int(found[1]), int(found[2]), int(found[3]))
    year = told.year if told else 0
    if found := _DAY_MONTH.search(text):
        return _day(int(found[3] or year), _MONTHS[found[2].lower()], int(found[1]))
    if found := _MONTH_DAY.search(text):
        return _day(int(found[3] or year), _MONTHS[found[1].lower()], int(found[2]))
    if told and (found := _SLASH.search(text)):
        return _day(year, int(found[1]), int(found[2]))
    return None


def _day(year: int, month: int, day: int) -> Moment | None:
    try:
        return Moment(date(year, month, day))
    except ValueError:
        return None


def _relative(text: str, told: date) -> Moment | None:
    if found := _NEAR.search(text):
        return Moment(told + timedelta(_OFFSET.get(found[1], 0)))
    if found := _AGO.search(text):
        count = _LOOSE.get(found[1]) or NUMBER_WORDS.get(found[1]) or int(found[1])
        return _shifted(told, found[2], -count, exact=True)
    if found := _WEEKDAY.search(text):
        gap = (told.weekday() - _WEEKDAYS[found[2]]) % 7
        ahead = 7 - gap if gap else 7
        return Moment(told + timedelta(ahead if found[1] == "next" else -(gap or 7)))
    if found := _SPAN.search(text):
        step = {"last": -1, "this": 0, "next": 1}[found[1]]
        return _shifted(told, found[2], step, exact=False)
    return None


def _shifted(told: date, unit: str, count: int, *, exact: bool) -> Moment | None:
    try:
        if unit in _DAYS:
            grain: Grain = "week" if unit != "day" and not exact else "day"
            return Moment(told + timedelta(count * _DAYS[unit]), grain)
        if unit == "year":
            return Moment(date(told.year + count, told.month, 1), "year")
        months = told.year * 12 + told.month - 1 + count
        day = min(told.day, 28) if exact else 1
        return Moment(date(months // 12, months % 12 + 1, day), "month")
    except (ValueError, OverflowError):
        return None
