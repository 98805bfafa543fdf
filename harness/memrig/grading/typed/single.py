"""Answers with one value: numbers, dates, periods, yes or no."""

import math
import re
from collections.abc import Sequence
from typing import TypeVar

from memrig.grading.typed.clauses import Clause, denies_all
from memrig.grading.typed.dates import Day, distinct, find_dates, iso
from memrig.grading.typed.numbers import Quantity, find_numbers, meanings
from memrig.grading.typed.reading import Reading, Status
from memrig.grading.typed.words import content, fold, stem, words
from memrig.model.gold import BooleanGold, DateGold, NumberGold, PeriodGold

Value = TypeVar("Value")

# ------------------------------------------------------------------------------------ numbers

_RESULT = re.compile(
    r"\b(?:so|therefore|thus|hence|total|altogether|together|in all|average|mean|difference|makes"
    r"|making|gives|giving"
    r"|comes to|leaves|leaving|which is|that is|answer|more|less|remain\w*|sum|equals)\b|="
)
#: Relative rounding of floats.
_TIE = 1e-9


def grade_number(reading: Reading, gold: NumberGold) -> float:
    """1 where the number is asserted, and no other of its kind beside it."""
    kind = NumberKind(gold, reading.asking.text)
    told = [
        quantity
        for quantity in find_numbers(reading.text)
        if kind.fits(quantity) and not _year(reading, quantity, kind)
    ]
    meant = [q for q in _meant(reading, told) if not _difference(reading, q)]
    asked = {quantity.value for quantity in find_numbers(reading.asking.text)}
    strong = [q for q in meant if not (q.weak or q.beside) and q.value not in asked]
    named = [q for q in strong if kind.named(q)]
    chosen = [q for q in strong if kind.named(q) or not named or _bare(reading, q, named)]
    chosen = chosen or [q for q in meant if kind.right(q)]
    if not any(kind.right(q) for q in chosen):
        return 0.0
    wrong = [q for q in chosen if not kind.right(q)]
    wrong += [q for q in meant if kind.sibling(q) and not q.weak and not q.beside]
    return float(not wrong or _worked_out(reading, chosen, meant, kind))


def _bare(reading: Reading, quantity: Quantity, named: Sequence[Quantity]) -> bool:
    """Whether a number without a unit stands in one sentence with one that has the gold's."""
    if quantity.unit:
        return False
    around = [span for span in reading.sentences if span[0] <= quantity.start < span[1]]
    return any(start <= other.start < end for start, end in around for other in named)


def _year(reading: Reading, quantity: Quantity, kind: "NumberKind") -> bool:
    """Whether it is a bare year, and none of the values that the question is about."""
    if quantity.unit or kind.right(quantity) or kind.sibling(quantity):
        return False
    return any(
        date.month is None and date.start <= quantity.start < date.end
        for date in find_dates(reading.text)
    )


_COMPARED = (
    r"(?:more|less|higher|lower|extra|cheaper|dearer|fewer|longer|shorter|above|below|up|down"
    r"|late|later|earl\w+|faster|slower|deeper|apart|between|save\w*|saving|difference|left)"
)
_COMPARES = re.compile(rf"\b{_COMPARED}\b|\bby how\b")
_MORE = re.compile(rf"\s*(?:a month\s|a year\s|per \w+\s)?\s*{_COMPARED}\b")


def _difference(reading: Reading, quantity: Quantity) -> bool:
    """Whether it is a difference from something, where the question is not for one."""
    if _COMPARES.search(reading.asking.text):
        return False
    return _MORE.match(reading.text, quantity.end) is not None


def _meant(reading: Reading, told: Sequence[Quantity]) -> list[Quantity]:
    """The asserted ones, or the former ones where the question is of the past."""
    by_status: dict[Status, list[Quantity]] = {status: [] for status in Status}
    for quantity in told:
        by_status[reading.status(quantity.start, quantity.end)].append(quantity)
    return choose(reading, by_status[Status.ASSERTED], by_status[Status.FORMER])


def choose(reading: Reading, asserted: list[Value], former: list[Value]) -> list[Value]:
    """Which values count: those that hold, but of a question about the past those that held."""
    if reading.asking.of_former and former:
        return former
    if reading.asking.past and not asserted:
        return former
    return asserted


class NumberKind:
    """What a number must be to be of the gold's kind."""

    def __init__(self, gold: NumberGold, asked: str) -> None:
        self._gold = gold
        self._meanings = dict(meanings(gold.unit)) if gold.unit else _counted(asked)

    def named(self, quantity: Quantity) -> bool:
        """Whether the gold's unit stands beside it, or the gold has none."""
        if quantity.unit == "?":
            return any(stem(word) in self._meanings for word in quantity.noun.split())
        return bool(self._meanings.keys() & meanings(quantity.unit).keys())

    def fits(self, quantity: Quantity) -> bool:
        """Whether no other unit stands beside it."""
        return quantity.unit in ("", "?") or self.named(quantity)

    def right(self, quantity: Quantity) -> bool:
        """Whether it is the gold value."""
        return self._equals(quantity, self._gold.value, self._gold.tolerance)

    def near(self, computed: float, said: float) -> bool:
        """Whether a sum comes to what is said, as exactly as the gold asks."""
        return math.isclose(computed, said, abs_tol=self._gold.tolerance)

    def sibling(self, quantity: Quantity) -> bool:
        """Whether it is a known wrong value."""
        return any(self._equals(quantity, value, 0) for value in self._gold.siblings)

    def _equals(self, quantity: Quantity, value: float, tolerance: float) -> bool:
        scales = [1.0]
        if quantity.unit not in ("", "?"):
            other = meanings(quantity.unit)
            shared = self._meanings.keys() & other.keys()
            scales = [other[name] / self._meanings[name] for name in shared]
        return any(
            abs(quantity.value * scale - value) <= tolerance + _TIE * max(1, abs(value))
            for scale in scales
        )


_HOW_MANY = re.compile(r"\bhow (?:many|much)\s+((?:[a-z'-]+\s+){1,3})")


def _counted(question: str) -> dict[str, float]:
    """The nouns that a question counts, as units."""
    found = _HOW_MANY.search(question)
    return dict.fromkeys(content(found[1])[:2], 1.0) if found else {}


def _worked_out(
    reading: Reading, chosen: Sequence[Quantity], meant: Sequence[Quantity], kind: NumberKind
) -> bool:
    """Whether the others are the workings of a sum that comes out, and the result is marked.

    The result stands last, or the workings behind it in brackets, so that a list of values in some
    order does not pass for one.
    """
    results = {q.value for q in chosen if kind.right(q)}
    others = list(dict.fromkeys(q.value for q in meant if not (kind.right(q) or q.weak)))
    plain = [q for q in chosen if not _bracketed(reading, q)]
    marked = [q for q in plain if _RESULT.search(_around(reading, q))]
    if not marked or not kind.right(marked[-1]) or not kind.right(plain[-1]):
        return False
    sums = {sum(others), *(abs(a - b) for a in others for b in others)}
    if others:
        sums |= {others[0] - sum(others[1:]), sum(others) / len(others)}
    return len(others) > 1 and any(kind.near(s, r) for s in sums for r in results)


def _bracketed(reading: Reading, quantity: Quantity) -> bool:
    ahead = reading.text[: quantity.start]
    return ahead.count("(") > ahead.count(")")


def _around(reading: Reading, quantity: Quantity) -> str:
    clause = reading.clause_at(quantity.start)
    return reading.text[clause.start : clause.end] if clause else ""


# -------------------------------------------------------------------------------------- dates

_ASIDE = re.compile(r"\b(?:before|after|since|than|from|following|preceding)\s+(?:the\s+)?\W*$")


def grade_date(reading: Reading, gold: DateGold) -> float:
    """1 where the date is asserted as precisely as the gold, and no other date beside it."""
    right = iso(gold.value)
    dates = [date for date in _dates(reading) if not _given(reading, date, right)]
    main = [date for date in dates if not _aside(reading, date)]
    different = distinct(main if any(d.is_date(right) for d in main) else dates)
    named = [date for date in different if date.is_date(right)]
    siblings = [iso(text) for text in gold.siblings]
    if any(date.is_date(s) and not date.is_date(right) for date in main for s in siblings):
        return 0.0
    return float(bool(named) and len(named) == len(different))


def _dates(reading: Reading) -> list[Day]:
    by_status: dict[Status, list[Day]] = {status: [] for status in Status}
    for date in find_dates(reading.text):
        by_status[reading.status(date.start, date.end)].append(date)
    return choose(reading, by_status[Status.ASSERTED], by_status[Status.FORMER])


def _given(reading: Reading, date: Day, gold: Day) -> bool:
    """Whether the question gave this date away, so that it is no answer."""
    said = find_dates(reading.asking.text)
    return not date.is_date(gold) and any(date.key == other.key for other in said)


def _aside(reading: Reading, date: Day) -> bool:
    return _ASIDE.search(reading.text[max(0, date.start - 20) : date.start]) is not None


def grade_period(reading: Reading, gold: PeriodGold) -> float:
    """1 where both ends are asserted, in order, and no third date."""
    ends = iso(gold.start), iso(gold.end)
    asked = find_dates(reading.asking.text)
    dates = [
        date
        for date in _dates(reading)
        if any(date.is_date(end) for end in ends) or not any(date.key == o.key for o in asked)
    ]
    different = distinct(dates)
    wanted = 1 if gold.start == gold.end else 2
    if len(different) != wanted:
        return 0.0
    return float(different[0].is_date(ends[0]) and different[-1].is_date(ends[1]))


# ----------------------------------------------------------------------------------- booleans

_YES = re.compile(
    r"\W*(?:yes|yeah|yep|yup|true|correct|indeed|affirmative|right|certainly|absolutely|definitely"
    r"|of course)\b(?!\s+(?:and|or)\s+no\b)"
)
_NO = re.compile(
    r"\W*(?:no|nope|nah|false|incorrect|negative|untrue|wrong"
    r"|not (?:any ?more|now|really|true|at all|the case))\b(?!\s+(?:one|longer|mention))"
)
_SHORT = (
    r"\W*(?:he|she|they|it|i|you|we|that|this)\W+(?:does|do|did|is|are|was|were|has|have|will|can)"
)
_SO = re.compile(_SHORT + r"(?: (?:true|correct|right|so))?\W*$")
_NOT_SO = re.compile(
    _SHORT + r" (?:not|never|no longer)(?: (?:true|correct|right|so|any ?more))?\W*$"
    r"|\W*(?:that|this|it) is (?:false|wrong|untrue|incorrect)\W*$"
)
_ANSWER = re.compile(
    r"\W*(?:(?:the )?(?:correct )?answer(?: to \w+ question)?(?: is|:)|it is(?! so\b))\s*"
)
_ENDED = re.compile(
    r"\b(?:sold|quit|left|lost|stopped|ended|gave up|given up|gave away|given away|cancelled|closed"
    r"|died|moved out|retired|dropped|broke up|divorced|scrapped)\b"
)


def grade_boolean(reading: Reading, gold: BooleanGold) -> float:
    """1 where every statement on the matter says yes, or every one no, as the gold does."""
    about = fold(gold.about) or reading.asking.text
    said = {
        verdict for clause in _topical(reading) for verdict in _verdicts(reading, clause, about)
    }
    return float(said == {gold.value})


def _topical(reading: Reading) -> list[Clause]:
    return [clause for clause in reading.clauses if not clause.open]


def _verdicts(reading: Reading, clause: Clause, about: str) -> list[bool]:
    """What one clause says: by yes or no at its head, else by restating the matter."""
    text = reading.text[clause.start : clause.end]
    head = _ANSWER.match(text)
    rest = text[head.end() :] if head else text
    for pattern, said in ((_YES, True), (_NO, False), (_SO, True), (_NOT_SO, False)):
        if clause.outer == 0 and pattern.match(rest):
            return [said]
    if denies_all(text):
        return [False]
    matter, told = set(content(about)) - {"still"}, set(content(text))
    if matter and len(matter & told) / len(matter) >= 0.6:
        negative = bool(re.search(r"\b(?:not|no|never|no longer)\b", about))
        return [clause.denied == negative and not _ended(text, about)]
    return [False] if _ended(text, about) and not clause.denied else []


def _ended(text: str, about: str) -> bool:
    """Whether it tells of an end, of something that is asked to go on still."""
    return "still" in words(about) and _ENDED.search(text) is not None
