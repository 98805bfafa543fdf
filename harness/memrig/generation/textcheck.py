"""What can be seen of a document by its text alone: readings, forbidden words, figures, length.

Renderers that call a model and validators ask the same questions of a text.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from memrig.generation.model import Reading, Sheet
from memrig.grading.typed.words import fold, stem, words

#: A value belongs to a label where no more characters lie between them, on one line.
_NEAR = 120
#: A forbidden word of so many letters forbids every word that begins with it.
_TELLING = 4
_FIGURE = re.compile(r"\d+(?:[.,:/-]\d+)*")


def word_count(text: str) -> int:
    """Words as a length band counts them."""
    return len(text.split())


def holds(text: str, label: str, value: str) -> bool:
    """Whether a line gives a value, digit for digit, next to its label."""
    wanted = _number(value)
    return any(
        _apart(found.span(), place.span()) <= _NEAR
        for line in text.splitlines()
        for found in wanted.finditer(line)
        for place in _label(label).finditer(line)
    )


@lru_cache(maxsize=4096)
def _number(value: str) -> re.Pattern[str]:
    """The value, and not as a part of a longer number."""
    return re.compile(rf"(?<![\w.,-])(?<!\d ){re.escape(value)}(?!\w|[.,]\d)")


@lru_cache(maxsize=4096)
def _label(label: str) -> re.Pattern[str]:
    spaced = r"\s+".join(re.escape(part) for part in label.split())
    return re.compile(rf"(?<!\w){spaced}(?!\w)", re.IGNORECASE)


def _apart(one: tuple[int, int], other: tuple[int, int]) -> int:
    return max(one[0], other[0]) - min(one[1], other[1])


def missing(text: str, readings: Iterable[Reading]) -> list[Reading]:
    """The readings that a text does not give."""
    return [reading for reading in readings if not holds(text, reading.label, reading.value)]


def figures(text: str) -> set[str]:
    """Everything in a text that is written in digits: numbers, dates, times."""
    return set(_FIGURE.findall(text))


def foreign_figures(text: str, sheet: Sheet) -> list[str]:
    """Figures in a text that its sheet does not hold."""
    return sorted(figures(text) - figures(sheet.model_dump_json()))


def forbidden_in(text: str, forbidden: Sequence[str]) -> list[str]:
    """The forbidden words and phrases that a text uses in any form.

    A word is used where a word of the text has its stem, or begins with it where it has four
    letters or more (``correlat`` forbids every form); a phrase where its words follow each other.
    """
    said = words(fold(text))
    return [phrase for phrase in forbidden if _uses(said, words(fold(phrase)))]


def _uses(said: Sequence[str], phrase: Sequence[str]) -> bool:
    starts = range(len(said) - len(phrase) + 1) if phrase else range(0)
    return any(
        all(_is_form(said[start + n], word) for n, word in enumerate(phrase)) for start in starts
    )


@lru_cache(maxsize=65536)
def _is_form(word: str, of: str) -> bool:
    return stem(word) == stem(of) or (len(of) >= _TELLING and word.startswith(of))
