"""Episodes as graphiti takes them: the part that needs no graphiti."""

from collections.abc import Iterator
from typing import Final

from memrig_adapters import Episode

#: What one extraction is given at most; longer episodes are told in parts.
PART_CHARACTERS: Final = 16_000


def parts_of(episode: Episode) -> Iterator[str]:
    """An episode's text in as few parts as the length of a prompt allows, cut between turns."""
    part = ""
    for line in _lines(episode):
        if part and len(part) + len(line) >= PART_CHARACTERS:
            yield part
            part = ""
        part = f"{part}\n{line}" if part else line
    yield part or episode.text[:PART_CHARACTERS]


def _lines(episode: Episode) -> Iterator[str]:
    if not episode.turns:
        for start in range(0, len(episode.text), PART_CHARACTERS):
            yield episode.text[start : start + PART_CHARACTERS]
    for turn in episode.turns:
        if turn.text.strip():
            yield f"{turn.speaker}: {turn.text}" if turn.speaker else turn.text
