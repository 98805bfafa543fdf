"""bm25 against the formula itself, and the work that it does."""

import math
import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memrig_adapters import Episode, Json, Query, ToolError
from memrig_adapters.bm25 import BATCH, GROWTH, Bm25Adapter

WORD = st.sampled_from(["ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen"])
TEXT = st.lists(WORD, min_size=1, max_size=12).map(" ".join)


def okapi(texts: list[str], query: str) -> list[float]:
    """BM25 from its definition: no index, no arrays, nothing shared with the adapter."""
    documents = [re.findall(r"\w+", text.lower()) for text in texts]
    mean = sum(map(len, documents)) / len(documents)
    scores = []
    for document in documents:
        counts, score = Counter(document), 0.0
        for word in re.findall(r"\w+", query.lower()):
            holders = sum(word in other for other in documents)
            idf = math.log(1 + (len(documents) - holders + 0.5) / (holders + 0.5))
            norm = 1.5 * (1 - 0.75 + 0.75 * len(document) / mean)
            score += idf * counts[word] / (counts[word] + norm)
        scores.append(score)
    return scores


@settings(deadline=None)
@given(st.lists(TEXT, min_size=1, max_size=25), TEXT, st.integers(1, 30))
def test_scores_are_those_of_the_formula(texts: list[str], query: str, limit: int) -> None:
    """Scores equal plain Okapi BM25, and hits are the best of it."""
    memory = Bm25Adapter()
    for number, text in enumerate(texts):
        memory.ingest(Episode(str(number), text))
    memory.flush()
    hits = memory.search(Query(query, limit))
    expected = okapi(texts, query)
    positive = sum(score > 0 for score in expected)
    assert len(hits) == min(limit, positive)
    for hit in hits:
        assert hit.score == pytest.approx(expected[int(hit.ref_id.partition("#")[0])], abs=1e-12)
    best = sorted(expected, reverse=True)[: len(hits)]
    assert [hit.score for hit in hits] == pytest.approx(best, abs=1e-12)


@settings(deadline=None)
@given(st.lists(TEXT, min_size=1, max_size=25), st.lists(st.booleans(), min_size=25, max_size=25))
def test_flushes_and_searches_between_do_not_change_scores(
    texts: list[str], pauses: list[bool]
) -> None:
    """Whenever the index was built, a search sees the statistics of all that is remembered."""
    memory = Bm25Adapter()
    for number, (text, pause) in enumerate(zip(texts, pauses, strict=False)):
        memory.ingest(Episode(str(number), text))
        if pause:
            memory.flush()
            memory.search(Query("fox", 3))
    found = {hit.ref_id: hit.score for hit in memory.search(Query("ant fox", 30))}
    expected = {f"{n}#0": s for n, s in enumerate(okapi(texts, "ant fox")) if s > 0}
    assert found == pytest.approx(expected, abs=1e-12)


def fill(memory: Bm25Adapter, count: int, flush_every: int) -> None:
    for number in range(count):
        memory.ingest(Episode(f"e{number}", f"word{number % 50} and more"))
        if number % flush_every == flush_every - 1:
            memory.flush()


def test_searches_build_nothing() -> None:
    """After ingest and flush, an index of n passages was built once, whatever is searched then."""
    memory = Bm25Adapter()
    fill(memory, 1_000, flush_every=1_000)
    for number in range(100):
        memory.search(Query(f"word{number % 50}", 5))
    assert (memory.tokenised_passages, memory.indexed_passages) == (1_000, 1_000)


@pytest.mark.parametrize("count", [500, 2_000])
def test_flushing_after_each_episode_is_linear(count: int) -> None:
    """n flushes build over at most (GROWTH + 1)·n passages, and tokenise each passage once."""
    memory = Bm25Adapter()
    fill(memory, count, flush_every=1)
    assert memory.tokenised_passages == count
    assert memory.indexed_passages <= (GROWTH + 1) * count + GROWTH * GROWTH


def test_a_flush_of_a_small_rest_leaves_it_to_the_next_search() -> None:
    """What a flush did not build, the next search does: all that was flushed is found."""
    memory = Bm25Adapter()
    fill(memory, 500, flush_every=500)
    memory.ingest(Episode("last", "zeppelin"))
    memory.flush()
    before = memory.indexed_passages
    found = [hit.source_episode_ids for hit in memory.search(Query("zeppelin", 5))]
    assert (before, memory.indexed_passages) == (500, 1_001)
    assert found == [("last",)]


def test_no_progress_bar_and_no_chatter(capfd: pytest.CaptureFixture[str]) -> None:
    """Building an index writes nothing to standard output or error."""
    memory = Bm25Adapter()
    fill(memory, 200, flush_every=50)
    memory.search(Query("word1", 5))
    assert capfd.readouterr() == ("", "")


def told(memory: Bm25Adapter, *texts: str) -> list[str]:
    """The refs of an episode for each text."""
    for number, text in enumerate(texts):
        memory.ingest(Episode(f"e{number}", text))
    memory.flush()
    return [hit.ref_id for hit in memory.search(Query(" ".join(texts), 99))]


def test_a_batch_returns_passages_with_their_sources_in_the_order_asked_for() -> None:
    """Each once, in full, and what there is not by its name."""
    memory = Bm25Adapter()
    refs = sorted(told(memory, "the blue kettle", "the red train"))
    result = memory.batch_retrieve({"ref_ids": [refs[1], "gone", refs[0], refs[1]]})
    assert [(hit.ref_id, hit.text, hit.source_episode_ids) for hit in result.hits] == [
        (refs[1], "the red train", ("e1",)),
        (refs[0], "the blue kettle", ("e0",)),
    ]
    assert result.value == {"found": 2, "missing": ["gone"]}


def test_a_batch_knows_nothing_of_what_was_forgotten() -> None:
    """As Retrieve does not."""
    memory = Bm25Adapter()
    refs = told(memory, "the blue kettle")
    memory.forget(["e0"])
    assert memory.batch_retrieve({"ref_ids": list(refs)}).hits == ()


@pytest.mark.parametrize("refs", [None, "r", [], [1], ["r", None], ["r"] * (BATCH + 1)])
def test_a_batch_that_is_none_is_told_so(refs: Json) -> None:
    """An agent reads the reason; it is no fault of the adapter."""
    with pytest.raises(ToolError, match="ref_ids"):
        Bm25Adapter().batch_retrieve({"ref_ids": refs})
