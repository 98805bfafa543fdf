"""Synapse (synapse-ai-memory) behind memrig's contract, nearly as its published benchmark uses it.

A turn is a memory, as ``speaker: text``; an episode without turns is one. Semantic search is off,
as in the published benchmark: it would ask an Ollama server. So is the "sleep" after every memory
beyond a hundred, which `MEMRIG_SYNAPSE_SLEEP=on` brings back, and the demotion of what a newer
memory resembles (`MEMRIG_SYNAPSE_SUPERSEDE=on`). README.md says what each does, and why.
"""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import version
from typing import Any, Final

from memrig_adapters import Adapter, Capabilities, Document, Duplicate, Episode, Hit, Query
from memrig_adapters.errors import NotFound, Rejected

#: More memories than any run has: the consolidation that starts by itself never does.
NEVER: Final = 10**9
#: Synapse takes 8 s of CPU to remember as much; the rig waits 30 s for an acknowledgement.
MAX_CHARACTERS: Final = 100_000

LIMITATIONS: Final = (
    "Dates are dropped, as in the published benchmark; Synapse's own times are those of the clock.",
    "Searching strengthens what it finds, so that later answers depend on earlier questions.",
    f"Episodes of more than {MAX_CHARACTERS:,} characters are rejected: they take too long.",
    "Synapse names no scores: a hit's score is 1 / its rank, given by the adapter.",
    "A query without a word that Synapse looks for is answered with the strongest memories.",
)
_DATED: Final = (
    "The adapter writes the date in front of each text, as Synapse's bench `practical` does."
)
_SUPERSEDES: Final = (
    "A memory that shares enough words with an older one demotes that one, whatever the two say."
)
_KEEPS: Final = "Synapse's demotion of memories that a newer one resembles is switched off."
_AWAKE: Final = (
    "The consolidation that Synapse starts by itself beyond 100 memories is switched off."
)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a memory comes from."""

    episode_id: str
    turn_id: str | None
    timestamp: datetime | None


def texts_of(episode: Episode) -> Iterator[tuple[str, str | None]]:
    """What becomes a memory each, with its turn's id: a turn that says something, else the text."""
    said = [turn for turn in episode.turns if turn.text.strip()]
    for turn in said:
        yield f"{turn.speaker}: {turn.text}" if turn.speaker else turn.text, turn.turn_id
    if not said and episode.text.strip():
        yield episode.text, None


def new_store(*, sleeps: bool) -> Any:
    """A fresh store in memory, set up as the published benchmark does."""
    from synapse import Synapse  # noqa: PLC0415

    store = Synapse(":memory:")
    store._use_embeddings = False  # noqa: SLF001
    if not sleeps:
        store.sleep_runner.memory_threshold = NEVER
    return store


class SynapseAdapter(Adapter):
    """One Synapse store.

    Args:
        make_store: makes an empty store.
        dated: whether a memory's text begins with its date.
    """

    def __init__(
        self, make_store: Callable[[], Any] | None = None, *, dated: bool | None = None
    ) -> None:
        sleeps = os.environ.get("MEMRIG_SYNAPSE_SLEEP") == "on"
        self._make_store = make_store or (lambda: new_store(sleeps=sleeps))
        self._supersedes = os.environ.get("MEMRIG_SYNAPSE_SUPERSEDE") == "on"
        self._dated = os.environ.get("MEMRIG_SYNAPSE_DATES") == "on" if dated is None else dated
        limitations: tuple[str, ...] = (_DATED, *LIMITATIONS[1:]) if self._dated else LIMITATIONS
        limitations += (_SUPERSEDES if self._supersedes else _KEEPS,)
        self.capabilities = Capabilities(
            name="synapse",
            version=_version(),
            max_results=100,
            questions_change_memory=True,
            reports_source_turns=True,
            limitations=limitations if sleeps else (*limitations, _AWAKE),
        )

    def start(self) -> None:
        """Makes the store, and imports all that this takes."""
        self.reset()

    def reset(self) -> None:
        """Begins a new store."""
        self._store = self._make_store()
        self._origins: dict[int, Origin] = {}
        self._memories: dict[str, list[int]] = {}

    def ingest(self, episode: Episode) -> int | Duplicate:
        """Stores the turns of an episode, or its text, a memory each.

        Raises:
            Rejected: Synapse would take longer over so long a text than the rig waits.
        """
        if episode.episode_id in self._memories:
            return Duplicate()
        if len(episode.text) > MAX_CHARACTERS:
            raise Rejected(
                f"{len(episode.text):,} characters; at most {MAX_CHARACTERS:,} are taken"
            )
        made = self._memories[episode.episode_id] = []
        for text, turn_id in texts_of(episode):
            written = self._written(text, episode.timestamp)
            memory = self._store.remember(written, deduplicate=self._supersedes)
            self._origins[memory.id] = Origin(episode.episode_id, turn_id, episode.timestamp)
            made.append(memory.id)
        return len(made)

    def flush(self) -> int:
        """Waits for nothing: a memory can be recalled once it is stored."""
        return len(self._store.store.memories)

    def search(self, query: Query) -> list[Hit]:
        """Recalls in Synapse's own order."""
        found = self._store.recall(query.text, limit=query.limit)
        return [self._hit(memory, rank) for rank, memory in enumerate(found, 1)]

    def retrieve(self, ref_id: str) -> Document:
        """Returns one memory."""
        data = self._store.store.memories.get(int(ref_id)) if ref_id.isdigit() else None
        if data is None:
            raise NotFound(f"no memory {ref_id!r}")
        origins = self._origins_of(int(ref_id), json.loads(data.get("summary_of", "[]")))
        return Document(ref_id, data["content"], *_sources(origins))

    def forget(self, episode_ids: Sequence[str]) -> int:
        """Has Synapse forget every memory of the episodes."""
        known = [made for id_ in episode_ids if (made := self._memories.pop(id_, None)) is not None]
        for number in (number for made in known for number in made):
            self._store.forget(number)
            self._origins.pop(number, None)
        return len(known)

    def _written(self, text: str, time: datetime | None) -> str:
        return f"[{time:%Y-%m-%d}] {text}" if self._dated and time is not None else text

    def _hit(self, memory: Any, rank: int) -> Hit:
        origins = self._origins_of(memory.id, memory.summary_of)
        return Hit(str(memory.id), memory.content, 1 / rank, *_sources(origins))

    def _origins_of(self, number: int, made_of: Sequence[int]) -> list[Origin]:
        """A memory's origin; of one that consolidation made, those of what it was made of."""
        numbers = [number] if number in self._origins else made_of
        return [self._origins[one] for one in numbers if one in self._origins]


def _sources(
    origins: Sequence[Origin],
) -> tuple[tuple[str, ...], tuple[str, ...], datetime | None]:
    """Episodes, turns and the one time of what a memory is made of."""
    episodes = tuple(dict.fromkeys(origin.episode_id for origin in origins))
    turns = tuple(origin.turn_id for origin in origins if origin.turn_id is not None)
    return episodes, turns, origins[0].timestamp if len(origins) == 1 else None


def _version() -> str:
    return version("synapse-ai-memory")
