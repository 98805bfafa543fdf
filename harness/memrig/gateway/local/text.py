"""Words, stems, sentences and speakers of plain text, by rules that need no vocabulary."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import import_module
from typing import Protocol

_WORD = re.compile(r"[^\W_]+(?:[.,:/][0-9]+)*(?:['’][a-z]+)?", re.IGNORECASE)
#: A sentence ends at a mark that is followed by space, or at the end of a line. Not after a single
#: letter, a list number, or a title: "Dr. Lee", "1. Milk".
_END = re.compile(r"(?<=[.!?])[\"”')\]]*\s+(?=[\"“'(\[*]*[A-Z0-9])|\n+")
_NO_END = re.compile(r"(?:^|\s)(?:[A-Za-z]|[0-9]{1,3}|Mr|Mrs|Ms|Dr|St|vs|e\.g|i\.e|a\.m|p\.m)\.$")
_LONGEST_ABBREVIATION = 8
_SPEAKER = re.compile(r"^\s*(?:\[[^\]\n]{4,40}\]\s*)?(\w[\w .'-]{0,30}):\s+(?=\S)")
#: What stands before a colon without speaking.
_NO_SPEAKER = frozenset(
    ("answer", "example", "http", "https", "note", "option", "question", "step", "tip", "warning")
)

STOP = frozenset(
    """a about above after again all also am an and any are as at be because been before being below
    between both but by can could did do does doing don during each few for from further had
    has have having he her here hers him his how i if in into is it its just let me might more
    most my myself no nor not now of ok on once only or other our own please remember remind
    same shall she should so some such tell than that the their them then there these they this
    those through to too under until us very was we were what when where which while who whom
    whose why will with would yes you your yours 'd 'll 'm 're 's 've t s m re ve ll d much
    many long often""".split()  # noqa: SIM905 -- a table
)


class _Stemmer(Protocol):
    def stem(self, word: str) -> str: ...


@cache
def _stemmer() -> _Stemmer:
    # Loaded at the first question: the package takes a second, and most runs never ask here.
    stemmer: _Stemmer = import_module("nltk.stem.porter").PorterStemmer()
    return stemmer


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """A word's Porter stem, lower case."""
    return _stemmer().stem(word)


def words(text: str) -> list[str]:
    """Lower-case words and numbers, in order; a possessive's end is cut."""
    found = _WORD.findall(text.lower().replace("’", "'"))
    return [word.split("'", maxsplit=1)[0] for word in found]


def content_stems(text: str) -> list[str]:
    """Stems of the words that say something, in order, each once."""
    return list(dict.fromkeys(stem(word) for word in words(text) if word not in STOP))


@dataclass(frozen=True, slots=True)
class Line:
    """One sentence. `turn` counts changes of speaker; `speaker` is empty where none is named."""

    text: str
    speaker: str
    turn: int


@lru_cache(maxsize=1024)  # the questions of one scenario meet the same memories again
def lines(text: str) -> tuple[Line, ...]:
    """The sentences of a text, with who says them where lines start with a name and a colon."""
    return tuple(_lines(text))


def _lines(text: str) -> Iterator[Line]:
    speaker, turn = "", 0
    for paragraph in text.split("\n"):
        found = _SPEAKER.match(paragraph)
        if found and _is_speaker(found[1]):
            speaker, turn = found[1].strip().lower(), turn + 1
            paragraph = paragraph[found.end() :]  # noqa: PLW2901 -- the name is read
        for sentence in sentences(paragraph):
            yield Line(sentence, speaker, turn)


def _is_speaker(name: str) -> bool:
    first = name.split(maxsplit=1)[0].lower()
    return len(name.split()) <= 3 and first not in _NO_SPEAKER | STOP


def sentences(text: str) -> Iterator[str]:
    """A text's sentences; a list's number stays with its item."""
    start = 0
    for mark in _END.finditer(text):
        before = text[max(start, mark.start() - _LONGEST_ABBREVIATION) : mark.start()]
        if "\n" not in mark[0] and _NO_END.search(before):
            continue
        if piece := text[start : mark.start()].strip():
            yield piece
        start = mark.end()
    if rest := text[start:].strip():
        yield rest
