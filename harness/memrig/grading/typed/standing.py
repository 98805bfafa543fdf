"""What held on the day that a question names, of an answer that tells of changes and their days."""

import re
from collections.abc import Iterator
from dataclasses import replace

from memrig.grading.typed.clauses import Clause
from memrig.grading.typed.dates import Day, find_dates
from memrig.grading.typed.reading import Reading

_UNTIL = re.compile(r"\b(?:until|till|up to|before)\s+(?:the\s+)?$")
_THEN = re.compile(
    r"\W*(?:and\s+)?(?:then|later|afterwards|after that|since then|from then|from that day|when"
    r"|thereafter|now)\b"
)


def on_the_day(reading: Reading) -> Reading:
    """The same answer, with what held after the asked day as nothing that it asserts.

    "It was x until 1 August, then y" asserts x, and nothing of y, of a day in July. Only where the
    question names one day, and is of the past.
    """
    days = [day for day in find_dates(reading.asking.text) if day.day is not None]
    if len({day.key for day in days}) != 1 or not reading.asking.past:
        return reading
    return replace(reading, clauses=tuple(_clauses(reading, days[0])))


def _clauses(reading: Reading, asked: Day) -> Iterator[Clause]:
    over = False  # an end after the asked day was told just before
    for clause in reading.clauses:
        dates = [day for day in find_dates(reading.text[clause.start : clause.end]) if day.day]
        later = [day for day in dates if _after(day, asked)]
        if later and len(later) == len(dates):
            end = clause.start + later[0].end
            if _UNTIL.search(reading.text[clause.start : clause.start + later[0].start]):
                yield replace(clause, end=end, former=False)
                if end < clause.end:
                    yield replace(clause, start=end, open=True)
                over = True
            else:
                yield replace(clause, open=True)
            continue
        over = over and not dates and bool(_THEN.match(reading.text, clause.start))
        yield replace(clause, open=True) if over else clause


def _after(day: Day, asked: Day) -> bool:
    """Whether a day lies after another; a year that is not said is the same."""
    year = asked.year if day.year is None or asked.year is None else day.year
    return (year or 0, day.month or 0, day.day or 0) > (
        asked.year or 0,
        asked.month or 0,
        asked.day or 0,
    )
