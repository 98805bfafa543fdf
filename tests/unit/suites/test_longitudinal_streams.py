"""Distractors in a story: order, ratio, checkpoints, and nothing that tells which is which."""

from collections import Counter
from dataclasses import replace
from math import floor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrig.errors import UsageError
from memrig.suites.longitudinal_format import read_dataset
from memrig.suites.longitudinal_model import Dataset, Scope
from memrig.suites.longitudinal_streams import distractors_for, interleave
from support.longitudinal import dataset, episode, question


def scope_of(pattern: str, checkpoints: list[int] | None = None) -> Scope:
    """A scope whose n-th episode is signal (s), distractor (d) or says neither (x)."""
    kinds = {"s": "signal", "d": "distractor", "x": ""}
    raw = dataset()
    raw["scopes"][0]["episodes"] = [
        episode("one", n % 28 + 1, kinds[letter], episode_id=f"e{n}",
                timestamp=f"2024-{n // 28 + 1:02}-{n % 28 + 1:02}T10:00:00")
        for n, letter in enumerate(pattern)
    ]  # fmt: skip
    raw["questions"] = [question("one", n, c) for n, c in enumerate(checkpoints or [len(pattern)])]
    for item in raw["questions"]:
        item["ground_truth"]["required_evidence_refs"] = []
    return read(raw).scopes[0]


def read(raw: object) -> Dataset:
    made = read_dataset(raw)[1]
    assert made
    return made


def ids(scope: Scope) -> list[str]:
    return [e.episode_id for e in scope.episodes]


def signals(scope: Scope) -> list[str]:
    return [e.episode_id for e in scope.episodes if e.kind != "distractor"]


@st.composite
def scopes(draw: st.DrawFn) -> Scope:
    """Any pattern with a signal in it, and questions with evidence before them."""
    pattern = draw(st.text("sdx", min_size=1, max_size=40).filter(lambda p: p.strip("d")))
    places = draw(st.lists(st.integers(1, len(pattern)), min_size=1, max_size=6))
    scope = scope_of(pattern, places)
    found = []
    for item in scope.questions:
        names = ids(scope)[: item.checkpoint]
        wanted = draw(st.lists(st.sampled_from(names), max_size=3, unique=True))
        found.append(replace(item, evidence=tuple(wanted)))
    return Scope(scope.scope_id, scope.episodes, tuple(found))


def needed(scope: Scope) -> set[str]:
    return {name for item in scope.questions for name in item.evidence}


def story(scope: Scope) -> list[str]:
    """What counts as signal, in order."""
    return [
        e.episode_id
        for e in scope.episodes
        if e.kind != "distractor" or e.episode_id in needed(scope)
    ]


def spare(scope: Scope) -> int:
    return len(scope.episodes) - len(story(scope))


@given(scopes(), st.floats(0, 1))
def test_the_ratio_is_respected_and_each_stream_keeps_its_order(scope, share):
    """Rounded to the next whole number of distractors."""
    ratio = floor(share * spare(scope)) / len(story(scope))
    mixed = interleave(scope, ratio).scope
    assert [name for name in ids(mixed) if name in story(scope)] == story(scope)
    others = [name for name in ids(mixed) if name not in story(scope)]
    assert others == sorted(others, key=ids(scope).index)
    assert len(others) == floor(ratio * len(story(scope)) + 0.5)


@given(scopes())
def test_every_question_comes_after_the_same_signals_as_before(scope):
    """And so after all the evidence that it had."""
    mixed = interleave(scope, None).scope
    for old, new in zip(scope.questions, mixed.questions, strict=True):
        before = [n for n in ids(scope)[: old.checkpoint] if n in story(scope)]
        after = [n for n in ids(mixed)[: new.checkpoint] if n in story(scope)]
        assert before == after
        assert set(new.evidence) <= set(after)


@given(scopes())
def test_questions_of_one_checkpoint_stay_together_and_keep_their_order(scope):
    """A later checkpoint never comes before an earlier one."""
    mixed = interleave(scope, None).scope
    pairs = sorted(
        (old.checkpoint, new.checkpoint)
        for old, new in zip(scope.questions, mixed.questions, strict=True)
    )
    assert [new for _, new in pairs] == sorted(new for _, new in pairs)
    assert all(a[1] == b[1] for a in pairs for b in pairs if a[0] == b[0])


@given(scopes())
def test_the_stream_is_in_time_order_and_every_time_is_a_signals(scope):
    """So that no time tells a distractor; the story's own times are left as they are."""
    mixed = interleave(scope, None).scope
    stamps = [e.timestamp for e in mixed.episodes]
    assert stamps == sorted(stamps)
    times = {e.episode_id: e.timestamp for e in scope.episodes if e.episode_id in story(scope)}
    assert {e.episode_id: e.timestamp for e in mixed.episodes if e.episode_id in times} == times
    assert set(stamps) == set(times.values())


@given(st.integers(1, 12), st.integers(1, 4))
def test_at_a_whole_ratio_every_time_has_as_many_distractors(signals, ratio):
    """How many episodes share a time does not tell which of them is the story's."""
    scope = interleave(scope_of("s" * signals + "d" * signals * ratio), ratio).scope
    counts = Counter(episode.timestamp for episode in scope.episodes)
    assert set(counts.values()) == {ratio + 1}
    assert len(counts) == signals


def test_a_signal_stands_anywhere_among_the_episodes_of_its_time():
    """First, last and between, about as often."""
    places: Counter[int] = Counter()
    for count in range(40, 100):
        scope = interleave(scope_of("s" * count + "d" * 2 * count), 2).scope
        places.update(n % 3 for n, e in enumerate(scope.episodes) if e.kind == "signal")
    assert min(places.values()) > 0.9 * max(places.values())


@given(scopes())
def test_the_same_input_gives_the_same_result(scope):
    """On every machine: nothing but the content is drawn from."""
    assert interleave(scope, None) == interleave(scope, None)


@given(scopes(), st.floats(0, 1), st.floats(0, 1))
def test_what_a_low_ratio_draws_a_higher_one_draws_too(scope, one, other):
    """Two ratios differ by what is added."""
    low, high = sorted(floor(share * spare(scope)) / len(story(scope)) for share in (one, other))
    assert set(ids(interleave(scope, low).scope)) <= set(ids(interleave(scope, high).scope))


def test_distractors_are_spread_evenly():
    """Not in one lump: each tenth of the story has its share, give or take two."""
    mixed = interleave(scope_of("s" * 50 + "d" * 50), 1).scope
    for start in range(0, 100, 20):
        part = mixed.episodes[start : start + 20]
        assert 8 <= sum(e.kind == "distractor" for e in part) <= 12


def test_neither_the_first_nor_the_newest_episode_gives_the_story_away():
    """A stream may begin with a distractor, and a checkpoint come right after one."""
    mixed = [
        interleave(scope_of("s" * n + "d" * n, list(range(1, n + 1))), 1).scope
        for n in range(5, 30)
    ]
    first = {scope.episodes[0].kind for scope in mixed}
    newest = {scope.episodes[q.checkpoint - 1].kind for scope in mixed for q in scope.questions
              if q.checkpoint}  # fmt: skip
    assert first == newest == {"signal", "distractor"}


def test_more_distractors_than_there_are_is_refused_with_their_number():
    """And with the highest ratio that can be."""
    with pytest.raises(
        UsageError, match="has 4 signal episodes and 3 distractors, 4 were"
    ) as found:
        interleave(scope_of("sdsdsds"), 1)
    assert (found.value.where, found.value.fix) == (
        "--distractors 1", "give at most 0.75, or give more with --distractor-file",
    )  # fmt: skip
    with pytest.raises(UsageError, match="and no distractors") as none:
        interleave(scope_of("ss"), 0.5)
    assert none.value.fix == "leave it out, or give more with --distractor-file"


@pytest.mark.parametrize("ratio", [1e300, 1.7e308])
def test_a_ratio_beyond_all_numbers_is_refused_like_any_that_is_too_large(ratio):
    """Its message stays readable."""
    with pytest.raises(UsageError, match="were asked for") as caught:
        interleave(scope_of("s" * 12 + "d"), ratio)
    assert len(caught.value.message) < 120


def test_a_scope_of_distractors_alone_is_refused():
    """There is no story to put them into."""
    with pytest.raises(UsageError, match="all are marked as distractors"):
        interleave(scope_of("ddd"), 0)


def test_another_files_scope_of_the_same_name_comes_first_and_marked_ones_before_all():
    """Else all its scopes serve, one behind the other."""
    raw = dataset("one", "two")
    other = read(raw)
    scope = scope_of("ss")
    assert {e.episode_id[:3] for e in distractors_for(scope, other)} == {"one"}
    raw["scopes"][0]["episodes"][2]["meta"]["episode_type"] = "distractor"
    assert [e.episode_id for e in distractors_for(scope, read(raw))] == ["one_ep_003"]
    strange = Dataset("", "1", other.scopes[1:])
    assert len(distractors_for(scope, strange)) == 4


def test_an_episode_of_the_story_is_not_its_own_distractor():
    """As when the data is given as its own stream."""
    scope = scope_of("ss")
    with pytest.raises(UsageError, match="'e0' of scope 'one' would be its own distractor"):
        interleave(scope, 1, scope.episodes)
