"""dense and hybrid: exact cosines, filters before the limit, and ranks fused as they are told."""

import math
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from memrig_adapters import (
    Duplicate,
    Episode,
    Filter,
    Hit,
    NotFound,
    Operator,
    Query,
    Rejected,
    SearchMode,
    Turn,
)
from memrig_adapters.bm25 import Bm25Adapter
from memrig_adapters.dense import MAX_PASSAGES, TOGETHER, DenseAdapter
from memrig_adapters.hybrid import HybridAdapter, fused
from memrig_adapters.vectors import BLOCK, VectorTable
from support.embedders import WordEmbedder

DAY = datetime(2024, 3, 5, tzinfo=UTC)
TEXTS = ["red lake", "blue lake", "a piano in the rain", "dinner", "the garden and the lake"]


@pytest.fixture
def embedder() -> WordEmbedder:
    """Vectors without a model."""
    return WordEmbedder()


@pytest.fixture(params=[DenseAdapter, HybridAdapter])
def memory(request: pytest.FixtureRequest, embedder: WordEmbedder) -> DenseAdapter | HybridAdapter:
    """A started, empty memory of either kind."""
    adapter: DenseAdapter | HybridAdapter = request.param(embedder)
    adapter.start()
    return adapter


@pytest.fixture
def dense(embedder: WordEmbedder) -> DenseAdapter:
    """A started, empty dense memory."""
    adapter = DenseAdapter(embedder)
    adapter.start()
    return adapter


def remember(memory: DenseAdapter | HybridAdapter | Bm25Adapter, *texts: str) -> None:
    for number, text in enumerate(texts):
        memory.ingest(Episode(f"e{number}", text, DAY + timedelta(days=number)))
    memory.flush()


def ids(hits: list[Hit]) -> list[str]:
    return [hit.source_episode_ids[0] for hit in hits]


def test_scores_are_cosines_best_first(dense: DenseAdapter, embedder: WordEmbedder) -> None:
    """Of the query's vector with each passage's, to six digits."""
    remember(dense, *TEXTS)
    hits = dense.search(Query("lake", 5))
    (query,) = embedder.embed(["lake"])
    expected = sorted((float(v @ query) for v in embedder.embed(TEXTS)), reverse=True)
    assert [hit.score for hit in hits] == pytest.approx(expected, abs=1e-6)
    assert set(ids(hits[:2])) == {"e0", "e1"}


def test_equal_texts_stand_in_the_order_of_arrival(dense: DenseAdapter) -> None:
    """Wherever their rows stand in a block."""
    remember(dense, *["the same words"] * 41)
    assert ids(dense.search(Query("words", 7))) == [f"e{n}" for n in range(7)]


def test_a_hit_names_its_episode_turn_and_time(memory: DenseAdapter | HybridAdapter) -> None:
    """And the passage can be read again by its ref."""
    turns = (Turn("t1", "Ann", "I bought a bicycle."), Turn("t2", "Bob", "How is the piano?"))
    memory.ingest(Episode("e1", "…", DAY, turns))
    hit = memory.search(Query("I bought a bicycle", 1))[0]
    assert (hit.text, hit.source_episode_ids) == ("Ann: I bought a bicycle.", ("e1",))
    assert (hit.source_turn_ids, hit.timestamp) == (("t1",), DAY)
    assert memory.retrieve(hit.ref_id).text == hit.text


def test_a_filter_holds_before_the_limit(memory: DenseAdapter | HybridAdapter) -> None:
    """The limit counts what is left; an episode without a time is left out."""
    memory.ingest(Episode("timeless", "lake"))
    remember(memory, *["lake"] * 30)
    window = (
        Filter("timestamp", Operator.GREATER_OR_EQUAL, DAY + timedelta(days=20)),
        Filter("timestamp", Operator.LESS, DAY + timedelta(days=22)),
    )
    assert ids(memory.search(Query("lake", 5, filters=window))) == ["e20", "e21"]


def test_what_was_told_is_found_without_a_flush(memory: DenseAdapter | HybridAdapter) -> None:
    """What waits to be embedded is embedded by the search."""
    memory.ingest(Episode("e", "the lake"))
    assert ids(memory.search(Query("lake", 5))) == ["e"]
    assert memory.ingest(Episode("e", "another lake")) == Duplicate()


def test_passages_are_embedded_many_at_a_time(dense: DenseAdapter, embedder: WordEmbedder) -> None:
    """Each once, and the rest at the flush."""
    remember(dense, *[f"text {n}" for n in range(TOGETHER + 10)])
    dense.flush()
    assert embedder.batches == [TOGETHER, 10]


def test_a_long_episode_is_embedded_over_time(dense: DenseAdapter, embedder: WordEmbedder) -> None:
    """An acknowledgement waits for one batch at most; the flush does the rest."""
    turns = tuple(Turn(f"t{n}", "", f"text {n}") for n in range(3 * TOGETHER + 1))
    assert dense.ingest(Episode("long", "…", DAY, turns)) == len(turns)
    before = list(embedder.batches)
    assert dense.flush() == len(turns)
    assert before == [TOGETHER]
    assert embedder.batches == [TOGETHER] * 3 + [1]


def test_an_episode_that_cannot_be_embedded_in_time_is_rejected(
    memory: DenseAdapter | HybridAdapter,
) -> None:
    """Whole: nothing of it is found, and it may be told again in parts."""
    turns = tuple(Turn(f"t{n}", "", "lake") for n in range(MAX_PASSAGES + 1))
    with pytest.raises(Rejected, match="1,001 passages, at most 1,000"):
        memory.ingest(Episode("vast", "…", DAY, turns))
    assert memory.search(Query("lake", 5)) == []
    assert memory.ingest(Episode("vast", "…", DAY, turns[:2])) == 2


def test_forgetting_leaves_no_trace_in_scores(memory: DenseAdapter | HybridAdapter) -> None:
    """After forgetting, results are those of a memory that never knew."""
    remember(memory, *TEXTS)
    assert memory.forget(["e1", "e3", "unknown", "e1"]) == 2
    fresh = type(memory)(WordEmbedder())
    fresh.start()
    for number in (0, 2, 4):
        fresh.ingest(Episode(f"e{number}", TEXTS[number], DAY + timedelta(days=number)))
    assert memory.search(Query("lake", 5)) == fresh.search(Query("lake", 5))
    with pytest.raises(NotFound):
        memory.retrieve("e1#0")


def test_reset_empties(memory: DenseAdapter | HybridAdapter) -> None:
    """Nothing is found or counted, and the memory can be used again."""
    remember(memory, *TEXTS)
    memory.reset()
    assert (memory.flush(), memory.search(Query("lake", 5))) == (0, [])
    remember(memory, "lake")
    assert ids(memory.search(Query("lake", 5))) == ["e0"]


def test_each_mode_of_hybrid_is_what_it_says(embedder: WordEmbedder) -> None:
    """Keyword is bm25's ranking, semantic is dense's, and neither is the fusion."""
    hybrid, words, meaning = HybridAdapter(embedder), Bm25Adapter(), DenseAdapter(embedder)
    for memory in (hybrid, words, meaning):
        memory.start()
        remember(memory, *TEXTS)
    query = Query("the lake", 5)
    assert hybrid.search(Query("the lake", 5, SearchMode.KEYWORD)) == words.search(query)
    assert hybrid.search(Query("the lake", 5, SearchMode.SEMANTIC)) == meaning.search(query)
    assert hybrid.search(Query("the lake", 5, SearchMode.HYBRID)) == hybrid.search(query)
    assert len(hybrid.search(query)) == 5


def test_ranks_are_fused_by_their_reciprocals() -> None:
    """A passage scores 1 / (60 + rank) of each ranking; ties stand as first seen."""
    a, b, c = (Hit(name, name, 9.0, (name,)) for name in "abc")
    hits = fused([[a, b], [b, a, c]])
    assert [hit.ref_id for hit in hits] == ["a", "b", "c"]
    both = 1 / 61 + 1 / 62
    assert [hit.score for hit in hits] == pytest.approx([both, both, 1 / 63])


def test_a_smaller_limit_gives_the_head_of_a_larger_one(embedder: WordEmbedder) -> None:
    """Rankings are fused to the same depth whatever the limit."""
    memory = HybridAdapter(embedder)
    memory.start()
    remember(memory, *[f"{text} {n}" for n in range(12) for text in TEXTS])
    whole = memory.search(Query("a lake in the rain", 60))
    assert [memory.search(Query("a lake in the rain", k)) for k in (1, 7)] == [whole[:1], whole[:7]]


def test_a_table_grows_and_shrinks_over_blocks() -> None:
    """Rows keep their order over block ends, and what is removed is gone."""
    rows = np.random.default_rng(1).normal(size=(2 * BLOCK + 5, 3)).astype(np.float32)
    table = VectorTable(3)
    for part in np.array_split(rows, 7):
        table.append(part)
    query = np.array([1, 0, 0], dtype=np.float32)
    assert table.scores(query) == pytest.approx(rows[:, 0], abs=1e-6)
    kept = np.arange(len(rows)) % 3 == 0
    table.keep(kept)
    assert len(table) == math.ceil(len(rows) / 3)
    assert table.scores(query) == pytest.approx(rows[kept, 0], abs=1e-6)
