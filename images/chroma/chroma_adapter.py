"""Chroma, embedded, with a persistent store; vectors are made here, by all-MiniLM-L6-v2."""

import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

import chromadb
from chromadb.api.models.Collection import Collection
from chromadb.config import Settings

from memrig_adapters import (
    Adapter,
    Capabilities,
    Document,
    Duplicate,
    Episode,
    Filter,
    FilterField,
    FilterType,
    Hit,
    NotFound,
    Operator,
    Query,
    Rejected,
    SearchMode,
)
from memrig_adapters.embedding import MiniLm, SentenceEmbedder, Vectors
from memrig_adapters.passages import Passage, passages_of

#: Where the store is kept: a lasting volume of the pod.
FOLDER: Final = os.environ.get("CHROMA_FOLDER", "/data")
COLLECTION: Final = "memory"
#: Chroma's own defaults but for two. Cosine is what the model was trained for. And the index is
#: written out every 100 entries instead of 1,000: each entry reads the log of those that are not
#: yet written out, and was measured to cost half as much. The index itself is the same.
CONFIGURATION: Final = {"hnsw": {"space": "cosine", "sync_threshold": 100}}

#: An episode of more is rejected: 250 kB of text, 15 seconds of a core. What is acknowledged is on
#: disk, and an acknowledgement has 30 seconds.
MAX_PASSAGES: Final = 250

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_OPERATORS = {
    Operator.EQUAL: "$eq",
    Operator.GREATER_OR_EQUAL: "$gte",
    Operator.LESS: "$lt",
}

Metadata = Mapping[str, object]
#: A filter in Chroma's language.
Where = dict[str, object]


class ChromaAdapter(Adapter):
    """A Chroma collection with an entry a passage.

    Args:
        embedder: makes the vectors; None: the installed all-MiniLM-L6-v2, loaded by `start`.
        folder: where the store is kept.
    """

    capabilities = Capabilities(
        name="chroma",
        version=f"{chromadb.__version__}, {MiniLm.name}",
        search_modes=(SearchMode.SEMANTIC,),
        filter_fields=(
            FilterField("timestamp", FilterType.TIMESTAMP, description="when it happened"),
        ),
        max_results=1000,
        reports_source_turns=True,
        limitations=(
            "Its index is approximate (HNSW, ef_search 100), and may miss near passages.",
            "The adapter brings the vectors, since the model that Chroma would use is downloaded.",
            "The model knows English, and reads no more than the first 256 tokens of a passage.",
            f"An episode of more than {MAX_PASSAGES} passages, some 250 kB, is rejected.",
            "Passages are added one at a time, since several at once are linked in a random order.",
        ),
    )

    def __init__(self, embedder: SentenceEmbedder | None = None, folder: str = FOLDER) -> None:
        self._given = embedder
        self._folder = folder

    def start(self) -> None:
        """Loads the model, and opens the store: an earlier one, after a restart.

        Raises:
            WeightsError: the model's weights are not installed, or not the ones expected.
        """
        self._embedder = self._given or MiniLm.installed()
        self._client = chromadb.PersistentClient(self._folder, Settings(anonymized_telemetry=False))
        self._open()

    def close(self) -> None:
        """Closes the store."""
        self._client.close()

    def reset(self) -> None:
        """Drops the collection, and begins a new one."""
        self._client.delete_collection(COLLECTION)
        self._open()

    def ingest(self, episode: Episode) -> int | Duplicate:
        """Stores an episode's passages; all of it is on disk when it returns.

        Raises:
            Rejected: it has more than `MAX_PASSAGES`.
        """
        if episode.episode_id in self._episodes:
            return Duplicate()
        passages = passages_of(episode)
        if len(passages) > MAX_PASSAGES:
            raise Rejected(f"{len(passages):,} passages, at most {MAX_PASSAGES} are stored in time")
        vectors = self._embedder.embed([p.text for p in passages])
        for number, passage in enumerate(passages):
            self._add(passage, vectors[number : number + 1], last=number == len(passages) - 1)
        self._episodes.add(episode.episode_id)
        return len(passages)

    def flush(self) -> int:
        """Counts the passages; what `ingest` stored can be found already."""
        count: int = self._collection.count()
        return count

    def search(self, query: Query) -> list[Hit]:
        """The nearest passages that meet the filters, which Chroma applies before the limit."""
        found = self._collection.query(
            query_embeddings=self._embedder.embed([query.text]),
            n_results=query.limit,
            where=_where(query.filters),
            include=["documents", "metadatas", "distances"],
        )
        columns = (found[key][0] for key in ("ids", "documents", "metadatas", "distances"))
        return [
            _passage(ref, text, metadata).hit(1.0 - distance)
            for ref, text, metadata, distance in zip(*columns, strict=True)
        ]

    def retrieve(self, ref_id: str) -> Document:
        """Returns one passage."""
        found = self._collection.get(ids=[ref_id], include=["documents", "metadatas"])
        if not found["ids"]:
            raise NotFound(f"no passage {ref_id!r}")
        return _passage(ref_id, found["documents"][0], found["metadatas"][0]).document()

    def forget(self, episode_ids: Sequence[str]) -> int:
        """Deletes the passages of the episodes."""
        known = self._episodes.intersection(episode_ids)
        if known:
            self._collection.delete(where={"episode": {"$in": sorted(known)}})
            self._episodes -= known
        return len(known)

    def _open(self) -> None:
        self._collection: Collection = self._client.get_or_create_collection(
            COLLECTION, configuration=CONFIGURATION, embedding_function=None
        )
        # An episode whose storing was cut short has no last passage, and may be told again.
        whole = self._collection.get(where={"last": True}, include=["metadatas"])
        self._episodes = {str(metadata["episode"]) for metadata in whole["metadatas"]}

    def _add(self, passage: Passage, vector: Vectors, *, last: bool) -> None:
        metadata: dict[str, str | int | bool] = {"episode": passage.episode_id, "last": last}
        if passage.turn_id is not None:
            metadata["turn"] = passage.turn_id
        if passage.timestamp is not None:
            metadata["time"] = _microseconds(passage.timestamp)
        self._collection.upsert(
            ids=[passage.ref_id],
            embeddings=vector,
            documents=[passage.text],
            metadatas=[metadata],
        )


def _where(filters: Sequence[Filter]) -> Where | None:
    conditions: list[Where] = [
        {"time": {_OPERATORS[item.operator]: _microseconds(item.value)}}
        for item in filters
        if isinstance(item.value, datetime)
    ]
    return {"$and": conditions} if len(conditions) > 1 else next(iter(conditions), None)


def _passage(ref: str, text: str, metadata: Metadata) -> Passage:
    turn, time = metadata.get("turn"), metadata.get("time")
    return Passage(
        ref,
        text,
        str(metadata["episode"]),
        None if turn is None else str(turn),
        _EPOCH + timedelta(microseconds=time) if isinstance(time, int) else None,
    )


def _microseconds(time: datetime) -> int:
    return (time - _EPOCH) // _MICROSECOND
