"""What bm25 and fts5 both promise: sources, filters, limits, forgetting, determinism."""

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from memrig_adapters import (
    Adapter,
    Duplicate,
    Episode,
    Filter,
    Hit,
    NotFound,
    Operator,
    Query,
    Turn,
)
from memrig_adapters.bm25 import Bm25Adapter
from memrig_adapters.fts5 import Fts5Adapter
from memrig_adapters.none import NoneAdapter

Searcher = Bm25Adapter | Fts5Adapter
DAY = datetime(2024, 3, 5, tzinfo=UTC)
WORDS = ["red", "blue", "bicycle", "lake", "dinner", "piano", "garden", "rain", "ticket", "window"]


@pytest.fixture(params=[Bm25Adapter, Fts5Adapter])
def memory(request: pytest.FixtureRequest) -> Searcher:
    """A started, empty memory of either kind."""
    adapter: Searcher = request.param()
    adapter.start()
    request.addfinalizer(adapter.close)
    return adapter


def remember(memory: Searcher, *episodes: Episode) -> None:
    for episode in episodes:
        memory.ingest(episode)
    memory.flush()


def texts(seed: int, count: int, words: int) -> list[str]:
    """Random texts, the same ones for the same seed."""
    rng = random.Random(seed)  # noqa: S311 - data, not a secret
    return [" ".join(rng.choices(WORDS, k=words)) for _ in range(count)]


def numbered(items: list[str]) -> list[Episode]:
    return [Episode(f"e{n}", text, DAY) for n, text in enumerate(items)]


def ids(hits: list[Hit]) -> list[str]:
    return [hit.source_episode_ids[0] for hit in hits]


def days(count: int) -> list[Episode]:
    return [Episode(f"e{n}", "lake", DAY + timedelta(days=n)) for n in range(count)]


def test_a_hit_names_its_episode_and_turn(memory: Searcher) -> None:
    """A hit on a turn claims this turn and its episode, and nothing else."""
    turns = (Turn("t1", "Ann", "I bought a bicycle."), Turn("t2", "Bob", "How is the piano?"))
    remember(memory, Episode("e1", "Ann: …\nBob: …", DAY, turns), Episode("e2", "the lake"))
    (hit,) = memory.search(Query("Who bought a bicycle?", 1))
    assert hit.text == "Ann: I bought a bicycle."
    assert (hit.source_episode_ids, hit.source_turn_ids) == (("e1",), ("t1",))
    assert hit.timestamp == DAY


def test_a_chunk_names_its_episode(memory: Searcher) -> None:
    """A hit in the middle of a long text claims the episode, has no turn, and can be retrieved."""
    filler = "Nothing of note happened on that day. " * 60
    remember(memory, Episode("long", f"{filler}The zeppelin landed. {filler}"), Episode("x", "y"))
    (hit,) = memory.search(Query("zeppelin", 5))
    assert "The zeppelin landed." in hit.text
    assert (hit.source_episode_ids, hit.source_turn_ids) == (("long",), ())
    assert memory.retrieve(hit.ref_id).text == hit.text


def test_the_stored_count_is_the_number_of_passages(memory: Searcher) -> None:
    """Ingest counts passages, and flush their sum."""
    long = Episode("long", "Some words stand here. " * 300)
    first, second = memory.ingest(long), memory.ingest(Episode("e", "short"))
    assert isinstance(first, int)
    assert first > 3
    assert second == 1
    assert memory.flush() == first + 1


def test_an_episode_twice_is_a_duplicate(memory: Searcher) -> None:
    """An id that is known is a duplicate, and the memory does not grow."""
    remember(memory, Episode("e", "lake"))
    assert memory.ingest(Episode("e", "another lake")) == Duplicate()
    assert memory.flush() == 1


def test_scores_fall_and_are_positive(memory: Searcher) -> None:
    """Hits come best first, with scores above zero."""
    remember(memory, *numbered(texts(seed=7, count=50, words=6)))
    scores = [hit.score for hit in memory.search(Query("blue lake piano", 50))]
    assert scores == sorted(scores, reverse=True)
    assert min(scores) > 0
    assert len(set(scores)) > 3


def test_no_word_in_common_is_no_hit(memory: Searcher) -> None:
    """What shares no word with the query is not a hit, however few there are."""
    remember(memory, Episode("e1", "lake"), Episode("e2", "piano"))
    assert ids(memory.search(Query("lake zebra", 10))) == ["e1"]
    assert memory.search(Query("zebra", 10)) == []


@pytest.mark.parametrize("query", ["?!", "   ", "_ _", '"', "AND OR", "lake*", "text:lake", "-"])
def test_any_query_is_a_query(memory: Searcher, query: str) -> None:
    """Query syntax, punctuation and stop words are words or nothing, never an error."""
    remember(memory, Episode("e1", "a lake"), Episode("e2", "b"))
    assert ids(memory.search(Query(query, 10))) == (["e1"] if "lake" in query else [])


def test_the_limit_holds(memory: Searcher) -> None:
    """At most `limit` hits come back, and a smaller limit gives the head of a larger one."""
    remember(memory, *numbered(texts(seed=3, count=80, words=4)))
    whole = memory.search(Query("lake rain", 80))
    assert len(whole) > 20
    assert [memory.search(Query("lake rain", k)) for k in (1, 5, 20)] == [
        whole[:k] for k in (1, 5, 20)
    ]


def test_equal_scores_stand_in_the_order_of_arrival(memory: Searcher) -> None:
    """Ties are broken by the order of ingestion, so that results do not vary."""
    remember(memory, *(Episode(f"e{n}", "same words") for n in range(30)))
    assert ids(memory.search(Query("words", 7))) == [f"e{n}" for n in range(7)]


@pytest.mark.parametrize(
    ("operator", "expected"),
    [
        (Operator.EQUAL, ["e2"]),
        (Operator.GREATER_OR_EQUAL, ["e2", "e3", "e4"]),
        (Operator.LESS, ["e0", "e1"]),
    ],
)
def test_a_date_filter_holds(memory: Searcher, operator: Operator, expected: list[str]) -> None:
    """A timestamp filter includes its bound for >= and leaves it out for <; no time is no match."""
    remember(memory, Episode("timeless", "lake"), *days(5))
    bound = Filter("timestamp", operator, DAY + timedelta(days=2))
    assert ids(memory.search(Query("lake", 10, filters=(bound,)))) == expected


def test_filters_hold_together_and_before_ranking(memory: Searcher) -> None:
    """All filters must hold, and the limit counts what is left."""
    remember(memory, *days(30))
    window = (
        Filter("timestamp", Operator.GREATER_OR_EQUAL, DAY + timedelta(days=20)),
        Filter("timestamp", Operator.LESS, DAY + timedelta(days=25)),
    )
    hits = memory.search(Query("lake", 3, filters=window))
    assert ids(hits) == ["e20", "e21", "e22"]


def test_times_before_1970_are_times(memory: Searcher) -> None:
    """An early date is a date like any other."""
    early = datetime(1888, 1, 2, 3, 4, 5, 678_901, UTC)
    remember(memory, Episode("old", "lake", early), Episode("new", "lake", DAY))
    before = Filter("timestamp", Operator.LESS, datetime(1900, 1, 1, tzinfo=UTC))
    (hit,) = memory.search(Query("lake", 5, filters=(before,)))
    assert hit.timestamp == early


def test_forgotten_is_gone(memory: Searcher) -> None:
    """Forget counts what it knew; hits, refs and totals of it are gone, the rest stays."""
    remember(memory, *days(4))
    (ref, *_) = [hit.ref_id for hit in memory.search(Query("lake", 1))]
    assert memory.forget(["e0", "e2", "unknown", "e0"]) == 2
    assert ids(memory.search(Query("lake", 10))) == ["e1", "e3"]
    assert memory.flush() == 2
    with pytest.raises(NotFound):
        memory.retrieve(ref)


def test_forgetting_leaves_no_trace_in_scores(memory: Searcher) -> None:
    """After forgetting, scores are those of a memory that never knew."""
    episodes = numbered(texts(seed=5, count=40, words=5))
    remember(memory, *episodes)
    memory.search(Query("lake", 5))
    memory.forget([f"e{n}" for n in range(0, 40, 2)])
    fresh = type(memory)()
    fresh.start()
    remember(fresh, *episodes[1::2])
    query = Query("lake red ticket", 40)
    assert memory.search(query) == fresh.search(query)
    fresh.close()


def test_a_forgotten_episode_can_come_back(memory: Searcher) -> None:
    """What was forgotten may be ingested anew."""
    remember(memory, Episode("e", "lake"))
    memory.forget(["e"])
    assert memory.ingest(Episode("e", "garden")) == 1
    memory.flush()
    assert ids(memory.search(Query("garden", 5))) == ["e"]


def test_reset_empties(memory: Searcher) -> None:
    """After Reset nothing is found, retrieved or counted, and the memory can be used again."""
    remember(memory, *days(3))
    (ref, *_) = [hit.ref_id for hit in memory.search(Query("lake", 1))]
    memory.reset()
    assert memory.search(Query("lake", 5)) == []
    assert memory.flush() == 0
    with pytest.raises(NotFound):
        memory.retrieve(ref)
    remember(memory, Episode("e0", "lake"))
    assert ids(memory.search(Query("lake", 5))) == ["e0"]


def test_an_empty_memory_answers(memory: Searcher) -> None:
    """Flush, search and forget work before anything is ingested."""
    assert memory.flush() == 0
    assert memory.search(Query("lake", 5)) == []
    assert memory.forget(["e"]) == 0


def test_a_memory_of_one_finds_it(memory: Searcher) -> None:
    """The only episode is found, though its words stand in every text there is."""
    remember(memory, Episode("e", "the lake"))
    assert ids(memory.search(Query("lake", 5))) == ["e"]


def test_a_text_without_words_is_kept(memory: Searcher) -> None:
    """An episode of punctuation alone is stored, and found by nothing."""
    remember(memory, Episode("e", "… !!"))
    assert memory.flush() == 1
    assert memory.search(Query("!!", 5)) == []


@pytest.mark.parametrize("word", ["Köln", "ÜBER", "Привет", "日本", "naïve"])
def test_words_of_any_script_are_found(memory: Searcher, word: str) -> None:
    """Unicode words match whatever their case."""
    remember(memory, Episode("e1", f"x {word} y"), Episode("e2", "other"))
    assert ids(memory.search(Query(word.lower(), 5))) == ["e1"]


def test_a_text_with_a_zero_character_is_whole(memory: Searcher) -> None:
    """U+0000 is a character like any other: what stands after it is found and shown."""
    remember(memory, Episode("e", "before\0 lake"), Episode("x", "y"))
    assert [hit.text for hit in memory.search(Query("la\0 lake", 5))] == ["before\0 lake"]


def test_a_query_of_64_kib_is_answered(memory: Searcher) -> None:
    """The longest query that the contract allows, of distinct words, has its answer."""
    remember(memory, *days(3))
    words = " ".join(f"w{n}" for n in range(9_000)) + " lake"
    assert len(words) < 65_536
    assert ids(memory.search(Query(words, 5))) == ["e0", "e1", "e2"]


def test_a_search_before_flush_finds_what_is_acknowledged(memory: Searcher) -> None:
    """Both index without waiting for the barrier."""
    memory.ingest(Episode("e1", "lake"))
    assert ids(memory.search(Query("lake", 5))) == ["e1"]
    memory.ingest(Episode("e2", "lake"))
    assert ids(memory.search(Query("lake", 5))) == ["e1", "e2"]


def test_the_same_history_gives_the_same_hits(memory: Searcher) -> None:
    """Two memories with one history agree to the last bit, however flushes fell."""
    episodes = numbered(texts(seed=11, count=60, words=6))
    other = type(memory)()
    other.start()
    remember(memory, *episodes)
    for episode in episodes:
        remember(other, episode)
        other.search(Query("lake", 3))
    queries = [Query(text, 10) for text in texts(seed=12, count=20, words=3)]
    assert [memory.search(q) for q in queries] == [other.search(q) for q in queries]
    other.close()


@pytest.mark.parametrize("make", [Bm25Adapter, Fts5Adapter, NoneAdapter])
def test_max_results_leaves_room_for_every_suite(make: Callable[[], Adapter]) -> None:
    """The largest k of the suites, 50, is well within max_results."""
    assert make().capabilities.max_results >= 50


def test_none_remembers_nothing() -> None:
    """The floor acknowledges every episode with 0 items and finds none."""
    memory = NoneAdapter()
    assert memory.ingest(Episode("e", "lake")) == 0
    assert memory.flush() == 0
    assert memory.search(Query("lake", 5)) == []


def test_fts5_stems() -> None:
    """fts5 finds inflected forms; bm25 does not, by design."""
    found = []
    for make in (Fts5Adapter, Bm25Adapter):
        memory = make()
        memory.start()
        remember(memory, Episode("e", "she was painting lakes"), Episode("x", "y"))
        found.append(ids(memory.search(Query("paint", 5))))
        memory.close()
    assert found == [["e"], []]
