"""`--limit` and `--isolation pooled`: fewer questions in the same shares, or one memory for all."""

import gc
import tracemalloc
import weakref
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrig.errors import DataError
from memrig.model.gold import Gold
from memrig.model.scenario import Episode, Event, Scenario, episodes_of, questions_of
from memrig.suites.sampling import catalog, keep, pool, stratified
from memrig.suites.spool import spool
from support.scenarios import small_scenario

KEYS = st.dictionaries(
    st.tuples(st.sampled_from(["a", "b", "c"]), st.integers(0, 200).map(str)),
    st.sampled_from([("facts",), ("temporal",), ("temporal", "abstention"), ("rare",)]),
    max_size=80,
)
LIMITS = st.integers(min_value=1, max_value=100)
SEEDS = st.integers(min_value=0, max_value=2**53 - 1)


@given(KEYS, LIMITS, SEEDS)
def test_as_many_questions_are_drawn_as_were_asked_for(keys, limit, seed):
    """Or all of them, where there are no more."""
    drawn = stratified(keys, limit, seed)
    assert len(drawn) == min(limit, len(keys))
    assert drawn <= keys.keys()


@given(KEYS, LIMITS, SEEDS)
def test_every_category_keeps_its_share_within_one(keys, limit, seed):
    """Largest remainders."""
    drawn = Counter(keys[key] for key in stratified(keys, limit, seed))
    share = min(1.0, limit / len(keys)) if keys else 0
    for category, count in Counter(keys.values()).items():
        assert abs(drawn[category] - count * share) < 1


@given(KEYS, LIMITS, SEEDS)
def test_the_draw_is_the_same_for_every_system_and_any_order(keys, limit, seed):
    """It depends on seed, limit and content alone."""
    backwards = dict(reversed(keys.items()))
    assert stratified(keys, limit, seed) == stratified(backwards, limit, seed)


def test_another_seed_draws_others():
    """Or the seed would do nothing."""
    keys = {("a", str(n)): ("facts",) for n in range(100)}
    assert stratified(keys, 10, 1) != stratified(keys, 10, 2)


def test_a_limited_scenario_keeps_every_episode():
    """Only questions are left out; the haystack stays as large."""
    scenario = small_scenario()
    kept = keep(scenario, frozenset({("small", "q2"), ("other", "q3")}))
    events = list(kept.timeline)
    assert len(list(episodes_of(events))) == 4
    assert [q.question_id for q in questions_of(events)] == ["q2"]


def test_a_catalog_names_every_question_by_scenario():
    """The same question id may occur in two scenarios."""
    found = catalog([small_scenario("a"), small_scenario("b")])
    assert len(found) == 8
    assert found["a", "q1"] == ("odd",)


def test_strata_are_categories_and_the_tags_that_cut_across_them():
    """In any order; what an audit found is no matter of which questions are drawn."""
    tags = [("b", "a"), ("a", "b"), ("audited-error",), ("a", "audited-clean")]
    gold = {
        str(n): Gold(question_id=str(n), category="c", tags=some) for n, some in enumerate(tags)
    }
    assert list(catalog([Scenario("s", [], gold)]).values()) == [
        ("c", "a", "b"), ("c", "a", "b"), ("c",), ("c", "a"),
    ]  # fmt: skip


class Timeline(list[Event]):
    """A list that a test can see go."""


def test_a_catalog_keeps_no_timeline():
    """Or --limit would hold a dataset in memory that is streamed otherwise."""
    alive: list[int] = []
    made: list[weakref.ref[Timeline]] = []

    def scenarios() -> Iterator[Scenario]:
        for number in range(5):
            timeline = Timeline()
            made.append(weakref.ref(timeline))
            yield Scenario(str(number), timeline, {"q": Gold(question_id="q", category="c")})
            del timeline
            gc.collect()
            alive.append(sum(ref() is not None for ref in made))

    assert len(catalog(scenarios())) == 5
    assert max(alive) <= 1


def renamed(name: str):
    """The small scenario with question ids of its own, as suites give them."""
    scenario = small_scenario(name)
    episodes = list(episodes_of(scenario.timeline))
    questions = [
        question.model_copy(update={"question_id": f"{name}#{question.question_id}"})
        for question in questions_of(scenario.timeline)
    ]
    gold = {
        f"{name}#{key}": g.model_copy(update={"question_id": f"{name}#{key}", "stale": ("e4",)})
        for key, g in scenario.gold.items()
    }
    return type(scenario)(name, [*episodes, *questions], gold, (f"{name}: a note",))


def test_a_pool_holds_every_episode_before_every_question():
    """All scenarios in one memory."""
    pooled = pool([renamed("a"), renamed("b")])
    kinds = [event.type for event in pooled.timeline]
    assert kinds == ["episode"] * 8 + ["question"] * 8
    assert pooled.notes == ("a: a note", "b: a note")


def test_ids_in_a_pool_are_unique_and_evidence_follows_them(tmp_path):
    """Each question still finds the episodes of its own scenario."""
    pooled = pool([renamed("a"), renamed("b")])
    known = {e.episode_id for e in episodes_of(pooled.timeline)}
    assert len(known) == 8
    for name, gold in pooled.gold.items():
        scenario = name.split("#", maxsplit=1)[0]
        assert gold.evidence == (f"{scenario}/e{name[-1]}",)
        assert gold.stale == (f"{scenario}/e4",)
        assert known.issuperset(gold.evidence)
    assert spool(pooled, tmp_path).questions == 8


def at(*days: int | None, zone: timezone | None = UTC) -> list[Event]:
    """Episodes of these days, named by their place."""
    return [
        Episode(
            episode_id=str(place),
            text="x",
            timestamp=None if day is None else datetime(2025, 1, day, tzinfo=zone),
        )
        for place, day in enumerate(days)
    ]


@pytest.mark.parametrize(
    ("left", "right", "order"),
    [
        (at(1, 3, 5), at(2, 4), ["a/0", "b/0", "a/1", "b/1", "a/2"]),
        (at(1, 1), at(1, 1), ["a/0", "a/1", "b/0", "b/1"]),
        (at(1, None, 3), at(2), ["a/0", "a/1", "b/0", "a/2"]),
        (at(3, None), at(2, None, 4), ["b/0", "b/1", "a/0", "a/1", "b/2"]),
        (at(None, None), at(None), ["a/0", "a/1", "b/0"]),
        (at(2), at(None, 1), ["b/0", "b/1", "a/0"]),
        (at(2), at(1, 3, zone=None), ["b/0", "a/0", "b/1"]),
        (at(2), at(2, zone=timezone(timedelta(hours=2))), ["b/0", "a/0"]),
    ],
)
def test_a_pool_is_in_time_order(left, right, order):
    """Equal times keep the scenarios' order; an episode without one stays behind its neighbour."""
    pooled = pool([Scenario("a", left, {}), Scenario("b", right, {})])
    assert [episode.episode_id for episode in episodes_of(pooled.timeline)] == order


@given(st.lists(st.lists(st.integers(1, 28) | st.none(), max_size=8), max_size=4))
def test_a_pool_loses_no_episode_and_no_order(days):
    """Whatever the scenarios are: timestamps never fall."""
    scenarios = [Scenario(str(n), at(*some), {}) for n, some in enumerate(days)]
    pooled = list(episodes_of(pool(iter(scenarios)).timeline))
    stamps = [episode.timestamp for episode in pooled if episode.timestamp]
    assert stamps == sorted(stamps)
    assert len({episode.episode_id for episode in pooled}) == sum(map(len, days))


def test_a_pool_may_be_read_more_than_once():
    """By two readers at a time, even."""
    pooled = pool([renamed("a"), renamed("b")]).timeline
    assert list(pooled) == list(pooled)
    assert all(first == second for first, second in zip(pooled, pooled, strict=True))


def test_a_large_pool_is_not_held_in_memory():
    """Only the places of its episodes are."""

    def scenarios() -> Iterator[Scenario]:
        for number in range(60):
            text = chr(97 + number % 26) * 1_000_000
            yield Scenario(str(number), [Episode(episode_id="e", text=text)], {})

    tracemalloc.start()
    pooled = pool(scenarios())
    assert sum(len(episode.text) for episode in episodes_of(pooled.timeline)) == 60_000_000
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 45_000_000


def test_a_pool_refuses_what_cannot_be_sent():
    """With the scenario that it came from."""
    episode = Episode.model_construct(episode_id="e", text="half \ud83d", turns=(), metadata={})
    broken = Scenario("odd", [episode], {})
    with pytest.raises(DataError) as caught:
        pool([broken])
    assert "scenario 'odd': episode 'e'" in caught.value.where
