"""pgvector behind the contract: passages in PostgreSQL, found by words, by meaning, or by both."""

import os
from collections.abc import Sequence
from typing import Final

from pgvector_store import Store

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
    SearchMode,
)
from memrig_adapters.embedding import MiniLm, SentenceEmbedder
from memrig_adapters.passages import Passage, passages_of

#: How deep each ranking is read before the two are fused.
DEPTH: Final = 100
#: PostgreSQL's text cannot hold this character.
_NUL: Final = "\x00"

_LIMITATIONS: Final = (
    "A passage is embedded by its first 256 tokens; what follows is found by its words alone.",
    "Full text is in PostgreSQL's english configuration: stemmed, without stop words.",
    "Its rank, ts_rank, does not know how rare a word is.",
    "NUL characters are stored as U+FFFD.",
    (
        "With an HNSW index (from 10,000 passages on, or in the variant hnsw), semantic hits are "
        "approximate and may differ between two fillings; searches with a filter stay exact."
    ),
)


class PgvectorAdapter(Adapter):
    """Passages with their embeddings in a companion PostgreSQL.

    Environment:
        DATABASE_URL: the database, as libpq takes it.
        PGVECTOR_INDEX_FROM: from how many passages on there is an HNSW index; 0: from the start.
        PGVECTOR_EF_SEARCH: how many candidates a search by that index keeps.
    """

    def __init__(self, embedder: SentenceEmbedder | None = None) -> None:
        self._embedder = embedder or MiniLm.installed()
        self._store = Store(
            os.environ["DATABASE_URL"],
            self._embedder.dimensions,
            index_from=int(os.environ.get("PGVECTOR_INDEX_FROM", "10000")),
            ef_search=int(os.environ.get("PGVECTOR_EF_SEARCH", "200")),
        )

    def start(self) -> None:
        """Connects; a database that holds something already is that of this trial."""
        version = self._store.open()
        self.capabilities = Capabilities(
            name="pgvector",
            version=version,
            search_modes=(SearchMode.HYBRID, SearchMode.SEMANTIC, SearchMode.KEYWORD),
            filter_fields=(
                FilterField("timestamp", FilterType.TIMESTAMP, description="when it happened"),
            ),
            max_results=1000,
            reports_source_turns=True,
            limitations=_LIMITATIONS,
        )

    def close(self) -> None:
        """Lets go of the database."""
        self._store.close()

    def ingest(self, episode: Episode) -> int | Duplicate:
        """Embeds the passages of an episode, and stores them in one transaction."""
        if self._store.knows(episode.episode_id):
            return Duplicate()
        passages = [_storable(passage) for passage in passages_of(episode)]
        vectors = self._embedder.embed([passage.text for passage in passages]).tolist()
        stored = self._store.add(episode.episode_id, passages, vectors)
        return Duplicate() if stored is None else stored

    def flush(self) -> int:
        """Has nothing to wait for but, once, the building of the HNSW index."""
        return self._store.settle()

    def search(self, query: Query) -> list[Hit]:
        """Ranks passages; equal scores stand in the order of their arrival."""
        text = query.text.replace(_NUL, "\ufffd")
        if query.mode is SearchMode.KEYWORD:
            rows = self._store.by_words(text, query.limit, query.filters)
        else:
            vector = self._embedder.embed([text])[0].tolist()
            if query.mode is SearchMode.SEMANTIC:
                rows = self._store.by_meaning(vector, query.limit, query.filters)
            else:
                depth = max(query.limit, DEPTH)
                rows = self._store.by_both(text, vector, query.limit, depth, query.filters)
        return [row.passage().hit(row.score) for row in rows]

    def retrieve(self, ref_id: str) -> Document:
        """Returns one passage."""
        row = None if _NUL in ref_id else self._store.fetch(ref_id)
        if row is None:
            raise NotFound(f"no passage {ref_id!r}")
        return row.passage().document()

    def forget(self, episode_ids: Sequence[str]) -> int:
        """Removes episodes with all their passages."""
        return self._store.forget([i for i in episode_ids if _NUL not in i])

    def reset(self) -> None:
        """Empties the tables."""
        self._store.empty()


def _storable(passage: Passage) -> Passage:
    return Passage(
        passage.ref_id,
        passage.text.replace(_NUL, "\ufffd"),
        passage.episode_id,
        passage.turn_id,
        passage.timestamp,
    )
