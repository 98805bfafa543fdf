"""Dense retrieval: the cosine of sentence embeddings, exact; the semantic baseline."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from memrig_adapters.adapter import Adapter
from memrig_adapters.embedding import MiniLm, SentenceEmbedder
from memrig_adapters.errors import NotFound, Rejected
from memrig_adapters.passages import Passage, passages_of
from memrig_adapters.ranking import best, meets, microseconds
from memrig_adapters.types import (
    Capabilities,
    Document,
    Duplicate,
    Episode,
    FilterField,
    FilterType,
    Hit,
    Query,
    SearchMode,
)
from memrig_adapters.vectors import VectorTable

#: Passages wait until so many are there, for together they are embedded faster.
TOGETHER: Final = 64
#: An episode of more is rejected: 1 MB of text. It takes a core a minute, and Flush has ten.
MAX_PASSAGES: Final = 1_000
#: Said by every memory that embeds with MiniLM and holds it all in its process.
LIMITATIONS: Final = (
    "It is held in memory: a restart of its process empties it.",
    "The model knows English, and reads no more than the first 256 tokens of a passage.",
    f"An episode of more than {MAX_PASSAGES:,} passages, some 1 MB, is rejected.",
)


class DenseAdapter(Adapter):
    """Every passage's vector against the query's, best first.

    Args:
        embedder: makes the vectors; None: the installed all-MiniLM-L6-v2, loaded by `start`.
    """

    capabilities = Capabilities(
        name="dense",
        version=MiniLm.name,
        search_modes=(SearchMode.SEMANTIC,),
        filter_fields=(
            FilterField("timestamp", FilterType.TIMESTAMP, description="when it happened"),
        ),
        max_results=1000,
        reports_source_turns=True,
        limitations=(
            *LIMITATIONS,
            "It always returns as many passages as asked for, however far their meaning.",
        ),
    )

    def __init__(self, embedder: SentenceEmbedder | None = None) -> None:
        self._given = embedder

    def start(self) -> None:
        """Loads the model.

        Raises:
            WeightsError: its weights are not installed, or are not the ones expected.
        """
        self._embedder = self._given or MiniLm.installed()
        self.reset()

    def reset(self) -> None:
        """Empties the memory."""
        self._passages: list[Passage] = []
        self._times: list[int] = []
        self._by_ref: dict[str, Passage] = {}
        self._episodes: set[str] = set()
        self._vectors = VectorTable(self._embedder.dimensions)

    def ingest(self, episode: Episode) -> int | Duplicate:
        """Cuts an episode into passages, which are embedded many at a time.

        Raises:
            Rejected: it has more than `MAX_PASSAGES`.
        """
        if episode.episode_id in self._episodes:
            return Duplicate()
        passages = passages_of(episode)
        if len(passages) > MAX_PASSAGES:
            raise Rejected(f"{len(passages):,} passages, at most {MAX_PASSAGES:,} are embedded")
        self._episodes.add(episode.episode_id)
        self._passages.extend(passages)
        self._times.extend(microseconds(p.timestamp) for p in passages)
        self._by_ref.update((p.ref_id, p) for p in passages)
        if len(self._passages) - len(self._vectors) >= TOGETHER:
            # No more than these: an acknowledgement has 30 seconds, what is left has Flush's time.
            self._embed_next()
        return len(passages)

    def flush(self) -> int:
        """Embeds what waits; counts the passages."""
        self._embed()
        return len(self._passages)

    def search(self, query: Query) -> list[Hit]:
        """Ranks passages by cosine; equal ones stand in the order of their arrival."""
        self._embed()
        scores = self._vectors.scores(self._embedder.embed([query.text])[0])
        allowed = np.ones(len(scores), dtype=np.bool_)
        if query.filters:
            times = np.array(self._times, dtype=np.int64)
            for item in query.filters:
                allowed &= meets(times, item)
        return [self._passages[i].hit(float(scores[i])) for i in best(scores, allowed, query.limit)]

    def retrieve(self, ref_id: str) -> Document:
        """Returns one passage."""
        passage = self._by_ref.get(ref_id)
        if passage is None:
            raise NotFound(f"no passage {ref_id!r}")
        return passage.document()

    def forget(self, episode_ids: Sequence[str]) -> int:
        """Removes the episodes with their vectors."""
        known = self._episodes.intersection(episode_ids)
        if known:
            self._embed()
            kept = np.array([p.episode_id not in known for p in self._passages], dtype=np.bool_)
            self._vectors.keep(kept)
            self._passages = [p for p in self._passages if p.episode_id not in known]
            self._times = [microseconds(p.timestamp) for p in self._passages]
            self._by_ref = {p.ref_id: p for p in self._passages}
            self._episodes -= known
        return len(known)

    def _embed(self) -> None:
        while len(self._vectors) < len(self._passages):
            self._embed_next()

    def _embed_next(self) -> None:
        start = len(self._vectors)
        texts = [p.text for p in self._passages[start : start + TOGETHER]]
        self._vectors.append(self._embedder.embed(texts))
