"""Answers that say everything there is, so that something of it must be right."""

import re

from memrig.grading.typed.reading import Reading
from memrig.grading.typed.words import content, fold, words
from memrig.model.gold import (
    GoldAnswer,
    MappingGold,
    NumberGold,
    OrderedListGold,
    SetGold,
    TextGold,
    shown,
)

#: A bare list of this many things is no answer to a question for one.
_LIST = 5
#: So many stretches that have nothing to do with question or gold are too many, if they are most.
_STRAY = 4
#: The stem of a word that answers are announced with; it is of no matter.
_FRAME = frozenset({"answer"})
#: The comma of a thousand parts nothing.
_ELEMENT = re.compile(r"(?<!\d),|,(?!\d{3}(?!\d))|[;\n/|]|\s+\b(?:and|or)\b\s+|(?<=[.!?])\s")


#: Words of prose, and how many times those of the gold, beyond which it is no answer.
_PROSE, _TIMES = 600, 10
#: So many numbers with hardly a word between them say nothing.
_FIGURES, _BARE = 20, 0.9


def runs_on(answer: str, gold: GoldAnswer) -> bool:
    """Whether an answer is so long that something of it must be right, or a mere row of numbers."""
    said = answer.split()
    figures = sum(word.strip("-•*,.;:|").isdigit() for word in said)
    if figures >= _FIGURES and figures >= _BARE * len(said):
        return True
    return len(said) > max(_PROSE, _TIMES * len(shown(gold).split()))


def names_everything(reading: Reading, gold: GoldAnswer) -> bool:
    """Whether an answer is a dump: a long bare list, or mostly things of other matters."""
    text = _counted(reading.text) if isinstance(gold, NumberGold) else reading.text
    elements = [e for e in _ELEMENT.split(text) if words(e)]
    single = not isinstance(gold, SetGold | OrderedListGold | MappingGold | TextGold)
    short = [element for element in elements if len(words(element)) <= 5]
    if single and len(elements) >= _LIST and len(short) >= 0.9 * len(elements):
        return True
    near = _matter(gold) | reading.asking.stems
    stray = [element for element in elements if _stray(element, near)]
    return len(stray) > _STRAY and len(stray) > 0.6 * len(elements)


def _counted(text: str) -> str:
    """A text without the list behind a colon, where it counts these very things: "3: a, b, c"."""
    head, colon, tail = text.partition(":")
    items = [item for item in _ELEMENT.split(tail) if words(item)]
    return head if colon and re.search(rf"\b{len(items)}\b", head) else text


def _matter(gold: GoldAnswer) -> frozenset[str]:
    parts = [shown(gold)]
    if isinstance(gold, TextGold):
        parts += gold.key_facts
    if isinstance(gold, SetGold | OrderedListGold):
        parts += [name for item in gold.items for name in item.aliases]
    return frozenset(word for part in parts for word in content(fold(part)))


def _stray(element: str, near: frozenset[str]) -> bool:
    said = set(content(element)) - _FRAME
    return bool(said) and len(said & near) < (2 if len(said) > 6 else 1)
