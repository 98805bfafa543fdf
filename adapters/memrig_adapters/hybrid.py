"""Words and meaning together: the ranks of bm25 and of dense retrieval, fused."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from memrig_adapters.adapter import Adapter
from memrig_adapters.bm25 import Bm25Adapter
from memrig_adapters.dense import LIMITATIONS, DenseAdapter
from memrig_adapters.embedding import SentenceEmbedder
from memrig_adapters.types import (
    Capabilities,
    Document,
    Duplicate,
    Episode,
    Hit,
    Query,
    SearchMode,
)

#: The constant of reciprocal rank fusion, as Cormack, Clarke and Büttcher (2009) set it.
K: Final = 60
#: How far down each ranking is read, whatever the limit: a smaller one gives a larger one's head.
DEPTH: Final = 1_000


class HybridAdapter(Adapter):
    """Reciprocal rank fusion: a passage scores the sum of 1 / (60 + rank) over both rankings.

    Each ranking alone can be asked for as well: keyword is bm25's, semantic is dense's.

    Args:
        embedder: makes the vectors; None: the installed all-MiniLM-L6-v2, loaded by `start`.
    """

    capabilities = Capabilities(
        name="hybrid",
        version=f"{Bm25Adapter.capabilities.version}, {DenseAdapter.capabilities.version}",
        search_modes=(SearchMode.HYBRID, SearchMode.KEYWORD, SearchMode.SEMANTIC),
        filter_fields=Bm25Adapter.capabilities.filter_fields,
        max_results=DEPTH,
        reports_source_turns=True,
        limitations=(
            *LIMITATIONS,
            "Scores are made of ranks: they say which is better, not how good.",
        ),
    )

    def __init__(self, embedder: SentenceEmbedder | None = None) -> None:
        self._words = Bm25Adapter()
        self._meaning = DenseAdapter(embedder)

    def start(self) -> None:
        """Loads the model.

        Raises:
            WeightsError: its weights are not installed, or are not the ones expected.
        """
        self._meaning.start()

    def reset(self) -> None:
        """Empties both memories."""
        self._words.reset()
        self._meaning.reset()

    def ingest(self, episode: Episode) -> int | Duplicate:
        """Tells both; they cut an episode into the same passages."""
        self._meaning.ingest(episode)
        return self._words.ingest(episode)

    def flush(self) -> int:
        """Builds what waits in both; counts the passages."""
        self._meaning.flush()
        return self._words.flush()

    def search(self, query: Query) -> list[Hit]:
        """Ranks passages by the mode asked for; equal ones stand as the words rank them."""
        if query.mode is SearchMode.KEYWORD:
            return self._words.search(query)
        if query.mode is SearchMode.SEMANTIC:
            return self._meaning.search(query)
        deep = replace(query, limit=DEPTH)
        return fused((self._words.search(deep), self._meaning.search(deep)))[: query.limit]

    def retrieve(self, ref_id: str) -> Document:
        """Returns one passage."""
        return self._words.retrieve(ref_id)

    def forget(self, episode_ids: Sequence[str]) -> int:
        """Removes the episodes from both."""
        self._meaning.forget(episode_ids)
        return self._words.forget(episode_ids)


def fused(rankings: Iterable[Sequence[Hit]]) -> list[Hit]:
    """One ranking of several, by reciprocal rank; of equal ones, the first seen comes first."""
    scores: dict[str, float] = {}
    hits: dict[str, Hit] = {}
    for ranking in rankings:
        for rank, hit in enumerate(ranking, start=1):
            scores[hit.ref_id] = scores.get(hit.ref_id, 0.0) + 1 / (K + rank)
            hits.setdefault(hit.ref_id, hit)
    order = sorted(scores, key=lambda ref: -scores[ref])
    return [replace(hits[ref], score=scores[ref]) for ref in order]
