"""Series of figures, read out of documents as a careful clerk would: label, value, unit, date.

Knows the usual ways to write a reading (`label: value unit`, tables, short sentences, several
pairs on a line), and nothing about where a document comes from or what it is for.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal

_NUMBER = r"-?\d[\d,]*(?:\.\d+)?"
_UNIT = r"[^\d|.;:()]{0,24}?"
_AMOUNT = rf"(?P<value>{_NUMBER}) ?(?P<unit>{_UNIT})"
_FORMS = tuple(
    re.compile(rf"^[-*\s]*{form}\s*\.?\s*$")
    for form in (
        rf"For (?P<label>[^|]{{2,60}}?) the entry is {_AMOUNT}",
        rf"The entry under (?P<label>[^|]{{2,60}}?) reads {_AMOUNT}",
        rf"(?P<label>[^|:=]{{2,60}}?) (?:was|stood at|came to) {_AMOUNT}",
        rf"(?P<label>[^|:=]{{2,60}}?)\s*[:=|]\s*{_AMOUNT}",
    )
)
_ROW = re.compile(rf"^\|\s*([^|]+?)\s*\|\s*({_NUMBER})\s*\|\s*([^|]*?)\s*\|\s*$")
#: Several on a line: ``/search: REQUESTS 176500 | p50: 48ms p95: 120ms``.
_HEAD = re.compile(r"^[-*\s]*([^:|]{1,40}): (.*)$")
_PAIR = re.compile(
    rf"([A-Za-z][A-Za-z0-9_/ -]{{0,24}}?)[: ]\s*({_NUMBER})\s?(ms|%|Gbps|Mbps|s)?(?![\w.])"
)
_TITLE = re.compile(r"^#+ (.*)$")
_DAY = re.compile(r"\b\d{4}-\d\d-\d\d\b")
_LIMIT = " limit"


@dataclass(frozen=True, slots=True)
class Memory:
    """A memory as a model was shown it."""

    handle: str
    date: str
    text: str

    @property
    def day(self) -> str:
        """What it is about: the day that it names at its head, or the one it is from."""
        head = _DAY.search(self.text[:200])
        return head[0] if head else self.date[:10]


@dataclass(frozen=True, slots=True)
class Point:
    """A value on a day, and the memory that says so."""

    day: str
    value: Decimal
    text: str
    handle: str


@dataclass(slots=True)
class Series:
    """All points under one label, one a day, in order of time."""

    label: str
    section: str = ""
    points: list[Point] = field(default_factory=list)
    limit: str = ""

    def add(self, point: Point) -> None:
        """Takes a point in, unless that day has one."""
        if all(known.day != point.day for known in self.points):
            self.points.append(point)
            self.points.sort(key=lambda known: known.day)


def series_of(memories: Iterable[Memory]) -> dict[str, Series]:
    """Every series in some memories by its label, in order of first sight."""
    found: dict[str, Series] = {}
    limits: dict[str, str] = {}
    for memory in memories:
        for section, label, value, unit in readings(memory.text):
            text = f"{value} {unit}".strip()
            if label.endswith(_LIMIT):
                limits[label.removesuffix(_LIMIT)] = text
                continue
            series = found.setdefault(label, Series(label))
            series.section = series.section or section
            number = Decimal(value.replace(",", ""))
            series.add(Point(memory.day, number, text, memory.handle))
    for label, limit in limits.items():
        if label in found:
            found[label].limit = limit
    return found


def readings(text: str) -> Iterator[tuple[str, str, str, str]]:
    """Section, label, value and unit of everything in a text that is written as a reading."""
    section = ""
    for line in text.splitlines():
        if title := _TITLE.match(line):
            section = title[1].strip()
        else:
            yield from ((section, *found) for found in _in_line(line))


def _in_line(line: str) -> Iterator[tuple[str, str, str]]:
    if row := _ROW.match(line):
        yield row[1], row[2], row[3].strip(" -")
        return
    for form in _FORMS:
        if found := form.match(line):
            yield found["label"].strip(), found["value"], found["unit"].strip()
            return
    if head := _HEAD.match(line):
        for name, value, unit in _PAIR.findall(head[2]):
            yield f"{head[1].strip()} {name.strip()}", value, unit
