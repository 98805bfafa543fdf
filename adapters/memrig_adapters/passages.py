"""Cuts an episode into the passages that a reference adapter indexes, source ids kept."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from memrig_adapters.types import Document, Episode, Hit

#: Long enough to hold a thought, short enough for ten of them to fit a reader's context.
MAX_WORDS = 200
#: For text without spaces between words.
MAX_CHARACTERS = 2_000
#: A chunk begins with the sentence before it, if that is short: who "she" is often stands there.
MAX_OVERLAP_WORDS = 40

_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+|\n+|(?<=[。！？])")
_WORD = re.compile(rf"\S{{1,{MAX_CHARACTERS}}}")

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Passage:
    """A searchable piece of an episode: one of its turns, or a chunk of its text."""

    ref_id: str
    text: str
    episode_id: str
    turn_id: str | None
    timestamp: datetime | None

    def hit(self, score: float) -> Hit:
        """This passage as a hit."""
        return Hit(
            self.ref_id, self.text, score, (self.episode_id,), self._turn_ids(), self.timestamp
        )

    def document(self) -> Document:
        """This passage in full."""
        return Document(
            self.ref_id, self.text, (self.episode_id,), self._turn_ids(), self.timestamp
        )

    def _turn_ids(self) -> tuple[str, ...]:
        return () if self.turn_id is None else (self.turn_id,)


def passages_of(episode: Episode) -> list[Passage]:
    """Cuts an episode: a passage for each turn that says something, else chunks of the text."""
    passages = [
        Passage(
            f"{episode.episode_id}#{number}",
            f"{turn.speaker}: {turn.text}" if turn.speaker else turn.text,
            episode.episode_id,
            turn.turn_id,
            episode.timestamp,
        )
        for number, turn in enumerate(episode.turns)
        if turn.text.strip()
    ]
    return passages or [
        Passage(f"{episode.episode_id}#{number}", text, episode.episode_id, None, episode.timestamp)
        for number, text in enumerate(chunks_of(episode.text))
    ]


def chunks_of(text: str) -> Iterator[str]:
    """Cuts a text at sentence ends into chunks of at most 200 words and 2,000 characters.

    Every chunk is a verbatim slice of the text. One chunk is the whole text; of several, only white
    space is left out.
    """
    if _fits(text, (0, len(text))):
        yield text
        return
    pieces = list(_pieces(text))
    first = 0
    while first < len(pieces):
        last = first + 1
        words = _count(text, pieces[first])
        while last < len(pieces):
            words += _count(text, pieces[last])
            if words > MAX_WORDS or pieces[last][1] - pieces[first][0] > MAX_CHARACTERS:
                break
            last += 1
        yield text[pieces[first][0] : pieces[last - 1][1]]
        if last == len(pieces):
            return
        repeats = last - first > 1 and _count(text, pieces[last - 1]) <= MAX_OVERLAP_WORDS
        first = last - 1 if repeats else last


def _pieces(text: str) -> Iterator[Span]:
    """The spans of the sentences; of one that is too long, spans of as many words as fit."""
    start = 0
    for end, following in [*(m.span() for m in _SENTENCE_END.finditer(text)), (len(text),) * 2]:
        if text[start:end].strip():
            yield from _fit(text, (start, end))
        start = following


def _fit(text: str, span: Span) -> Iterator[Span]:
    if _fits(text, span):
        yield span
        return
    start = end = words = 0
    for word in _WORD.finditer(text, *span):
        if words and (words == MAX_WORDS or word.end() - start > MAX_CHARACTERS):
            yield start, end
            words = 0
        if not words:
            start = word.start()
        end = word.end()
        words += 1
    if words:
        yield start, end


def _fits(text: str, span: Span) -> bool:
    return span[1] - span[0] <= MAX_CHARACTERS and _count(text, span) <= MAX_WORDS


def _count(text: str, span: Span) -> int:
    return len(text[span[0] : span[1]].split())
