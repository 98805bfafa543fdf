"""What the adapter itself keeps: which episodes a document of CEMS came from, and where turns are.

CEMS keeps one `source_ref` for a document, and gives a text that it knows the id of the first one.
So the way back from a document to its episodes is kept here.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from memrig_adapters import Episode

#: PostgreSQL has no text with this character in it.
_NUL: Final = "\x00"
#: What a cut text may end with.
_ELLIPSES: Final = ("…", "...")
#: How much of a chunk's ends may be broken by a cut inside a character.
_RAGGED: Final = 8


@dataclass(frozen=True, slots=True)
class Told:
    """An episode as CEMS gets it: its text, and where each turn stands in it."""

    content: str
    spans: tuple[tuple[int, int, str], ...]


@dataclass(slots=True)
class Source:
    """One episode of a document."""

    episode_id: str
    timestamp: datetime | None
    spans: tuple[tuple[int, int, str], ...]


@dataclass(slots=True)
class Known:
    """One document of CEMS: its text, and the episodes it came from, the first one first."""

    content: str
    sources: list[Source] = field(default_factory=list)

    @property
    def episode_ids(self) -> tuple[str, ...]:
        """The episodes whose text this is."""
        return tuple(source.episode_id for source in self.sources)

    def turns(self, part: str | None = None) -> tuple[str, ...]:
        """The turns that a part of the text touches, in order; all of them without a part.

        None of them where the part cannot be found in the text: nothing is guessed.
        """
        start, end = (0, len(self.content)) if part is None else _place(self.content, part)
        return tuple(
            turn_id
            for source in self.sources
            for begins, ends, turn_id in source.spans
            if begins < end and start < ends
        )


class Record:
    """All documents, by their id in CEMS, and the episodes, by theirs."""

    def __init__(self) -> None:
        self._documents: dict[str, Known] = {}
        self._homes: dict[str, str] = {}

    def __len__(self) -> int:
        """How many documents there are."""
        return len(self._documents)

    def __contains__(self, episode_id: str) -> bool:
        """Whether an episode is known."""
        return episode_id in self._homes

    def get(self, memory_id: str) -> Known | None:
        """A document; None where CEMS has it from nobody that is known here."""
        return self._documents.get(memory_id)

    def add(self, memory_id: str, episode: Episode, told: Told) -> bool:
        """Notes where an episode went; False where CEMS had its text already."""
        is_new = memory_id not in self._documents
        known = self._documents.setdefault(memory_id, Known(told.content))
        known.sources.append(Source(episode.episode_id, episode.timestamp, told.spans))
        self._homes[episode.episode_id] = memory_id
        return is_new

    def home(self, episode_id: str) -> str | None:
        """The document of an episode."""
        return self._homes.get(episode_id)

    def lonely(self, episode_id: str) -> bool:
        """Whether a document came from this episode alone."""
        return len(self._documents[self._homes[episode_id]].sources) == 1

    def drop(self, episode_id: str) -> None:
        """Forgets an episode, and its document if that has no other."""
        memory_id = self._homes.pop(episode_id)
        known = self._documents[memory_id]
        known.sources = [s for s in known.sources if s.episode_id != episode_id]
        if not known.sources:
            del self._documents[memory_id]


def told(episode: Episode) -> Told:
    """An episode as a text that CEMS can hold: its date in front, a line a turn.

    CEMS takes a `timestamp` and drops it, so the date is put where it is kept.
    """
    head = f"[{_stamp(episode.timestamp)}]\n" if episode.timestamp else ""
    if not episode.turns:
        return Told(clean(head + episode.text), ())
    content, spans = head, []
    for line, turn_id in _lines(episode):
        spans.append((len(content), len(content) + len(line), turn_id))
        content += line + "\n"
    if not spans:  # turns without a word
        return Told(clean(head + episode.text), ())
    return Told(clean(content.removesuffix("\n")), tuple(spans))


def clean(text: str) -> str:
    """A text without the one character that PostgreSQL cannot hold; as long as before."""
    return text.replace(_NUL, "�")


def _lines(episode: Episode) -> Iterator[tuple[str, str]]:
    for turn in episode.turns:
        if turn.text:
            yield f"{turn.speaker}: {turn.text}", turn.turn_id


def _stamp(moment: datetime) -> str:
    # Not strftime, which writes years before 1000 with fewer digits on some platforms.
    return moment.isoformat(sep=" ", timespec="minutes").removesuffix("+00:00")


def _place(content: str, part: str) -> tuple[int, int]:
    """Where a chunk or a snippet lies in a text; an empty place where it is not in it."""
    part = part.strip()
    for ending in _ELLIPSES:
        part = part.removesuffix(ending).rstrip()
    for cut in (0, _RAGGED):
        core = part[cut : len(part) - cut]
        if core and (start := content.find(core)) >= 0:
            return start, start + len(core)
    return 0, 0
