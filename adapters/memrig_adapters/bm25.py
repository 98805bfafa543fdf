"""BM25 over turns or chunks, by the library bm25s: the lexical baseline of every table."""

import logging
import re
from collections.abc import Sequence
from typing import Final

import bm25s
import numpy as np
from numpy.typing import NDArray

from memrig_adapters.adapter import Adapter, tool
from memrig_adapters.errors import NotFound, ToolError
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
    Json,
    JsonObject,
    Query,
    ToolResult,
)

K1: Final = 1.5
B: Final = 0.75
#: bm25s bakes statistics of the whole corpus into each entry, so that an index is built anew, not
#: extended. A flush builds once the memory has grown by a sixteenth and leaves less to the next
#: search: flushing after each of n episodes then builds over 17 n passages in all, not n²/2.
GROWTH: Final = 16
#: The most passages that one call of the batch tool returns.
BATCH: Final = 50

_TOKEN = re.compile(r"\w+")

# bm25s sets its own logger to DEBUG.
logging.getLogger("bm25s").setLevel(logging.WARNING)


def tokens_of(text: str) -> list[str]:
    """The words of a text in lower case; no stop words, no stemming."""
    return _TOKEN.findall(text.lower())


class Bm25Adapter(Adapter):
    """Okapi BM25 (k1 1.5, b 0.75, the idf that stays positive) over all that is remembered.

    Attributes:
        indexed_passages: how many passages went into an index so far, rebuilt ones counted again.
        tokenised_passages: how many passages were cut into words so far.
    """

    capabilities = Capabilities(
        name="bm25",
        version=f"bm25s {bm25s.__version__}",
        filter_fields=(
            FilterField("timestamp", FilterType.TIMESTAMP, description="when it happened"),
        ),
        max_results=1000,
        reports_source_turns=True,
        limitations=("It is held in memory: a restart of its process empties it.",),
    )

    def __init__(self) -> None:
        self.indexed_passages = 0
        self.tokenised_passages = 0
        self._index: bm25s.BM25 | None = None
        self._indexed = 0
        self.reset()

    def reset(self) -> None:
        """Empties the memory."""
        self._passages: list[Passage] = []
        self._token_ids: list[list[int]] = []
        self._times: list[int] = []
        self._by_ref: dict[str, Passage] = {}
        self._episodes: set[str] = set()
        self._vocabulary: dict[str, int] = {}
        self._drop_index()

    def ingest(self, episode: Episode) -> int | Duplicate:
        """Cuts an episode into passages and passages into words; the index is built later."""
        if episode.episode_id in self._episodes:
            return Duplicate()
        self._episodes.add(episode.episode_id)
        passages = passages_of(episode)
        vocabulary = self._vocabulary
        for passage in passages:
            self._token_ids.append(
                [vocabulary.setdefault(t, len(vocabulary)) for t in tokens_of(passage.text)]
            )
            self._times.append(microseconds(passage.timestamp))
            self._by_ref[passage.ref_id] = passage
        self._passages.extend(passages)
        self.tokenised_passages += len(passages)
        return len(passages)

    def flush(self) -> int:
        """Builds the index, unless the memory grew by less than a sixteenth since the last one."""
        if (len(self._passages) - self._indexed) * GROWTH >= len(self._passages):
            self._build()
        return len(self._passages)

    def search(self, query: Query) -> list[Hit]:
        """Ranks passages by BM25; equal scores stand in the order of their arrival."""
        self._build()
        known = (self._vocabulary.get(token) for token in tokens_of(query.text))
        ids = [i for i in known if i is not None]
        if self._index is None or not ids:
            return []
        scores: NDArray[np.float64] = self._index.get_scores_from_ids(ids)
        allowed = scores > 0
        for item in query.filters:
            allowed &= meets(self._index_times, item)
        return [self._passages[i].hit(float(scores[i])) for i in best(scores, allowed, query.limit)]

    def retrieve(self, ref_id: str) -> Document:
        """Returns one passage."""
        passage = self._by_ref.get(ref_id)
        if passage is None:
            raise NotFound(f"no passage {ref_id!r}")
        return passage.document()

    @tool(
        {
            "type": "object",
            "properties": {
                "ref_ids": {
                    "type": "array",
                    "items": {"type": "string", "minLength": 1},
                    "minItems": 1,
                    "maxItems": BATCH,
                    "description": "The memories wanted, by the names that results give them.",
                }
            },
            "required": ["ref_ids"],
            "additionalProperties": False,
        },
        description="Returns several memories in full at once, in the order they are asked for.",
    )
    def batch_retrieve(self, arguments: JsonObject) -> ToolResult:
        """Returns passages as hits, and names those that there are none of.

        Raises:
            ToolError: `ref_ids` is not a list of at most `BATCH` texts.
        """
        given = arguments.get("ref_ids")
        if not isinstance(given, list) or not 1 <= len(given) <= BATCH:
            raise ToolError(f"ref_ids must be a list of 1 to {BATCH} refs")
        refs = [ref for ref in given if isinstance(ref, str)]
        if len(refs) < len(given):
            raise ToolError("ref_ids holds something that is no text")
        wanted = list(dict.fromkeys(refs))
        found = [self._by_ref[ref] for ref in wanted if ref in self._by_ref]
        missing: list[Json] = [ref for ref in wanted if ref not in self._by_ref]
        value: dict[str, Json] = {"found": len(found), "missing": missing}
        return ToolResult(value, tuple(passage.hit(0.0) for passage in found))

    def forget(self, episode_ids: Sequence[str]) -> int:
        """Removes the episodes, and what they did to the statistics."""
        known = self._episodes.intersection(episode_ids)
        if known:
            kept = [i for i, p in enumerate(self._passages) if p.episode_id not in known]
            self._passages = [self._passages[i] for i in kept]
            self._token_ids = [self._token_ids[i] for i in kept]
            self._times = [self._times[i] for i in kept]
            self._by_ref = {p.ref_id: p for p in self._passages}
            self._episodes -= known
            self._drop_index()
        return len(known)

    def _build(self) -> None:
        if self._indexed == len(self._passages):
            return
        self._index = None
        if self._vocabulary:  # bm25s cannot hold texts without a single word
            # 64 bits: equal texts get equal scores, and ties do not hang on rounding.
            index = bm25s.BM25(k1=K1, b=B, method="lucene", dtype="float64", backend="numpy")
            index.index(
                (self._token_ids, self._vocabulary), create_empty_token=False, show_progress=False
            )
            self._index = index
        self._index_times = np.array(self._times, dtype=np.int64)
        self._indexed = len(self._passages)
        self.indexed_passages += self._indexed

    def _drop_index(self) -> None:
        self._index = None
        self._index_times = np.empty(0, dtype=np.int64)
        self._indexed = 0
