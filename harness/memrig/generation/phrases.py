"""The house style of generated documents: sentences about the paperwork, and about nothing else.

The sentences (``filler.txt``) fit any workplace, hold no figure, and neither judge nor compare:
nothing in them depends on what a document reports. ``{a|b}`` stands for one of the wordings, which
makes dozens of sentences of each. No wording may hold a digit or a number word: the figures of a
document are its readings alone.
"""

import re
from collections.abc import Sequence
from importlib import resources
from random import Random
from typing import TypeVar

T = TypeVar("T")

#: How the day of a document is written; always ISO 8601, as key facts write it.
DATE_LINES = (
    "Date: {day}",
    "Day of record: {day}",
    "Date of entry: {day}",
    "Record for {day}",
    "Covers: {day}",
)

#: What stands above the day's events.
EVENT_TITLES = ("Events", "Log", "Of the day", "Diary", "Entries", "Happenings")

#: What stands above the closing sentences.
CLOSING_TITLES = ("About this record", "Remarks on form", "Filing", "Record keeping", "Paperwork")

#: How a reading is put in prose. Label, then value and unit.
READING_SENTENCES = (
    "{label} was {value}.",
    "{label} stood at {value}.",
    "{label} came to {value}.",
    "For {label} the entry is {value}.",
    "{label}: {value}.",
    "The entry under {label} reads {value}.",
)

#: Column titles of a table of readings.
COLUMNS = (
    ("Item", "Value", "Unit"),
    ("Reading", "Figure", "Unit"),
    ("Entry", "Figure", "Unit"),
    ("Line", "Value", "Unit"),
)

#: Sentences about how a document came to be, where it is kept, and who may read it.
FILLER = tuple(
    resources.files("memrig.generation").joinpath("filler.txt").read_text("utf-8").splitlines()
)
_CHOICE = re.compile(r"\{([^{}]*)\}")


def worded(template: str, chance: Random) -> str:
    """A template with one wording for each choice."""
    return _CHOICE.sub(lambda found: one_of(found[1].split("|"), chance), template)


def one_of(choices: Sequence[T], chance: Random) -> T:
    """One of several, by whole numbers alone, which every version of Python draws alike."""
    return choices[chance.randrange(len(choices))]
