"""LongMemEval's answers, which are all text, as typed ones where the whole answer is of a type.

A count ("four", "17 days", "$400,000"), a date with its year, or a plain yes or no becomes typed;
what says more than that stays text. Some counts name the next one as just as good: their
tolerance is 1.
"""

import re
from datetime import datetime

from memrig.model.gold import (
    AbstentionGold,
    BooleanGold,
    DateGold,
    GoldAnswer,
    NumberGold,
    TextGold,
)
from memrig.suites.longmemeval_data import Record

#: Its gold is a rubric: what a good answer would take into account.
PREFERENCE = "single-session-preference"

_WORDS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
    *("nineteen", "twenty"),
)
_VALUE = rf"\d+(?:,\d{{3}})*(?:\.\d+)?|(?:{'|'.join(_WORDS)})(?![a-z])"
_NUMBER = re.compile(
    rf"(?P<money>[$€£])?(?P<value>{_VALUE})(?:(?P<percent>%)|[ -]?(?P<unit>[a-z]+))?",
    re.IGNORECASE,
)
_FIRST = rf"(?P<first>{_VALUE}) (?P<unit>[a-z]+?)"
_OTHER = rf"(?P<other>{_VALUE}) (?P<unit2>[a-z]+)"
_ALSO = (
    re.compile(
        rf"{_FIRST}(?: ago)?\. {_OTHER} \(including the last day\) is also acceptable",
        re.IGNORECASE,
    ),
    re.compile(rf"{_FIRST} \(or {_OTHER}\b[^)]*\)", re.IGNORECASE),
)
#: A time of day is no quantity; an ordinal is a place or a day of a month.
_NO_UNIT = frozenset({"am", "pm", "st", "nd", "rd", "th"})
_YEAR = re.compile(r"(?:19|20)\d\d")
_ASKS_WHEN = re.compile(r"\b(?:when|(?:which|what) year)\b", re.IGNORECASE)
_DATES = (
    ("%Y-%m-%d", "%Y-%m-%d"),
    ("%Y/%m/%d", "%Y-%m-%d"),
    ("%B %d, %Y", "%Y-%m-%d"),
    ("%d %B %Y", "%Y-%m-%d"),
    ("%d %B, %Y", "%Y-%m-%d"),
    ("%B %Y", "%Y-%m"),
    ("%B, %Y", "%Y-%m"),
)
_DAY_SUFFIX = re.compile(r"(?<=\d)(?:st|nd|rd|th)\b")


def raw_answer(record: Record) -> GoldAnswer:
    """The answer as the data words it, for a judge."""
    if record.abstains:
        return AbstentionGold(type="abstention", reason=record.answer)
    return TextGold(type="text", value=record.answer)


def typed_answer(record: Record) -> GoldAnswer:
    """The answer by its type, for graders that need no judge."""
    if record.abstains or record.question_type == PREFERENCE:
        return raw_answer(record)
    text = record.answer.strip().removesuffix(".").strip()
    return (
        _boolean(text)
        or _date(text, record.question)
        or _number(text)
        or _tolerant_number(text)
        or raw_answer(record)
    )


def _boolean(text: str) -> BooleanGold | None:
    value = {"yes": True, "no": False}.get(text.lower())
    return None if value is None else BooleanGold(type="boolean", value=value)


def _date(text: str, question: str) -> DateGold | None:
    """A day, a month, or, where the question asks for one, a year; never one without its year."""
    if _YEAR.fullmatch(text):
        return DateGold(type="date", value=text) if _ASKS_WHEN.search(question) else None
    plain = _DAY_SUFFIX.sub("", text)
    for pattern, form in _DATES:
        try:
            moment = datetime.strptime(plain, pattern)  # noqa: DTZ007  only its day is used
        except ValueError:
            continue
        return DateGold(type="date", value=moment.strftime(form))
    return None


def _number(text: str) -> NumberGold | None:
    found = _NUMBER.fullmatch(text)
    if found is None:
        return None
    unit = found["unit"] or ""
    a_name = unit.istitle() and not found["value"][0].isdigit()  # Seven Samurai
    if unit.lower() in _NO_UNIT or (unit and found["money"]) or a_name:
        return None
    shown = found["money"] or found["percent"] or unit
    return NumberGold(type="number", value=_value(found["value"]), unit=shown)


def _tolerant_number(text: str) -> NumberGold | None:
    found = next((found for pattern in _ALSO if (found := pattern.fullmatch(text))), None)
    if found is None or found["unit"].rstrip("s") != found["unit2"].rstrip("s"):
        return None
    value, other = _value(found["first"]), _value(found["other"])
    if abs(value - other) > 1:  # as a tolerance, it would accept everything between, too
        return None
    return NumberGold(type="number", value=value, unit=found["unit"], tolerance=1)


def _value(text: str) -> float:
    word = text.lower()
    return float(_WORDS.index(word) if word in _WORDS else text.replace(",", ""))
