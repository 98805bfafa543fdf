"""mem0, the open-source library, behind memrig's contract.

Without `MEM0_INFER` every turn or chunk is stored as it is (mem0's ``infer=False``), and no model
but the sentence embedder is asked. With ``MEM0_INFER=yes`` mem0 has the model `MEM0_LLM_MODEL`
extract facts from each episode, and stores those.
"""

import logging
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from mem0 import Memory
from mem0_episodes import conditions, hit_of, metadata_of, parts_of, place_of
from mem0_ledger import Ledger
from mem0_library import OWNER, observed_at, open_memory, version

from memrig_adapters import (
    Adapter,
    Capabilities,
    Document,
    Duplicate,
    Episode,
    FilterField,
    FilterType,
    Hit,
    NotFound,
    Query,
    Rejected,
    SearchMode,
)
from memrig_adapters.embedding import MiniLm
from memrig_adapters.passages import passages_of

#: About what is embedded in half of the 30 seconds that the rig waits for an acknowledgement.
MAX_CHARACTERS: Final = 400_000
#: mem0 cuts equal scores in no fixed order: so many more are asked for, and put into one.
TIES: Final = 32

#: mem0 lists 20 memories unless told otherwise.
_ALL: Final = 10_000_000

_COMMON: Final = (
    f"Episodes of more than {MAX_CHARACTERS:,} characters are rejected.",
    "Hits below a cosine of 0.1 are dropped: mem0's own default threshold.",
    (
        "Ranking is by vectors alone: what mem0's keyword and entity scores need (fastembed, "
        "spaCy) downloads models when it is first used, and is not installed."
    ),
    "mem0 ranks equal scores in no fixed order; the adapter puts them into that of their arrival.",
    "A question of white space alone, which mem0 refuses, finds nothing.",
)
_RAW: Final = (
    (
        "Nothing is extracted (infer=False): each turn, or chunk of at most 200 words, is a "
        "memory. The chunks are the adapter's; of a long text mem0 would embed the beginning alone."
    ),
    *_COMMON,
)
_EXTRACTED: Final = (
    (
        "Memories are facts that a model extracted; what it left out is gone. Their source is the "
        "episode they were extracted from, not the turn."
    ),
    "A reply of the model that mem0 cannot read stores nothing, and mem0 reports no error.",
    (
        "A fact equal to one of the ten nearest memories is not stored again, and keeps the "
        "source it had first."
    ),
    (
        "mem0's open-source add() takes no time and tells the model today's date; the adapter "
        "hands the episode's time to mem0's prompt instead."
    ),
    "After Forget the messages that mem0 keeps as context for the next extraction are dropped.",
    *_COMMON,
)

#: mem0 says much at warning level on each reset and where an optional package is missing.
logging.getLogger("mem0").setLevel(logging.ERROR)
logging.getLogger("httpx").setLevel(logging.WARNING)  # a line for each call of a model


class Mem0Adapter(Adapter):
    """Episodes go in by add(), and memories come out by search(), under one user of mem0."""

    def start(self) -> None:
        """Opens the store in `MEM0_STORE`; what it holds from before a restart is still there."""
        self._infer = os.environ.get("MEM0_INFER", "").lower() in {"1", "true", "yes"}
        self.capabilities = Capabilities(
            name="mem0-extract" if self._infer else "mem0",
            version=f"mem0ai {version()}",
            search_modes=(SearchMode.SEMANTIC,),
            filter_fields=(
                FilterField("timestamp", FilterType.TIMESTAMP, description="when it happened"),
            ),
            max_results=100,
            reports_source_turns=not self._infer,
            limitations=_EXTRACTED if self._infer else _RAW,
        )
        store = Path(os.environ.get("MEM0_STORE", "/data"))
        self._memory: Memory = open_memory(store, MiniLm.installed(), infer=self._infer)
        self._ledger = Ledger(store / "episodes.db")

    def close(self) -> None:
        """Closes the store."""
        self._memory.vector_store.client.close()
        self._memory.close()
        self._ledger.close()

    def ingest(self, episode: Episode) -> int | Duplicate:
        """Adds an episode; an id that is known is a duplicate."""
        if len(episode.text) > MAX_CHARACTERS:
            raise Rejected(f"{len(episode.text):,} characters, of at most {MAX_CHARACTERS:,}")
        if self._ledger.holds(episode.episode_id):
            return Duplicate()
        number, begun = self._ledger.begin(episode.episode_id)
        if begun:  # the process ended amid this episode
            self._delete([episode.episode_id])
        added = self._extract(episode, number) if self._infer else self._store(episode, number)
        self._ledger.finish(episode.episode_id, added)
        return added

    def flush(self) -> int:
        """Nothing is left to do: add() returns when all is stored."""
        total: int = self._ledger.items()
        return total

    def search(self, query: Query) -> list[Hit]:
        """mem0's search with its own threshold."""
        if not query.text.strip():
            return []
        found = self._memory.search(
            query.text,
            top_k=query.limit + TIES,
            filters={"user_id": OWNER, **conditions(query.filters)},
        )["results"]
        found.sort(key=lambda item: (-item["score"], place_of(item)))
        return [hit_of(item) for item in found[: query.limit]]

    def retrieve(self, ref_id: str) -> Document:
        """One memory."""
        item = self._memory.get(ref_id) if _is_uuid(ref_id) else None
        if item is None:
            raise NotFound(f"no memory {ref_id!r}")
        hit = hit_of({**item, "score": 0.0})
        return Document(
            ref_id, hit.text, hit.source_episode_ids, hit.source_turn_ids, hit.timestamp
        )

    def forget(self, episode_ids: Sequence[str]) -> int:
        """Deletes the memories that were made from these episodes."""
        known = [i for i in dict.fromkeys(episode_ids) if self._ledger.holds(i)]
        if known:
            self._delete(known)
            self._ledger.remove(known)
        return len(known)

    def reset(self) -> None:
        """Empties the store."""
        self._memory.reset()
        self._ledger.clear()

    def _store(self, episode: Episode, number: int) -> int:
        passages = passages_of(episode)
        for place, passage in enumerate(passages):
            known = {**metadata_of(episode, number), "place": place}
            if passage.turn_id is not None:
                known["turn_id"] = passage.turn_id
            self._add([{"role": "user", "content": passage.text}], known)
        return len(passages)

    def _extract(self, episode: Episode, number: int) -> int:
        added = 0
        with observed_at(episode.timestamp):
            for part in parts_of(episode):
                known = {**metadata_of(episode, number), "place": added}
                added += self._add(part, known)
        return added

    def _add(self, messages: list[dict[str, str]], metadata: dict[str, Any]) -> int:
        done = self._memory.add(messages, user_id=OWNER, metadata=metadata, infer=self._infer)
        return len(done["results"])

    def _delete(self, episode_ids: list[str]) -> None:
        chosen = {"user_id": OWNER, "episode_id": {"in": episode_ids}}
        for item in self._memory.get_all(filters=chosen, top_k=_ALL)["results"]:
            self._memory.delete(item["id"])
        if self._infer:
            # Context for the next extraction, which does not say whose it was; mem0 cannot drop it.
            self._memory.db.connection.execute("DELETE FROM messages")
            self._memory.db.connection.commit()


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True
