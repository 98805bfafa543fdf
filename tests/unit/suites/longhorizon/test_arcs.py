"""The plan of a world: who is told about, and about when."""

from collections import Counter, defaultdict
from itertools import pairwise

import pytest

from memrig.suites.longhorizon.arcs import Planner
from memrig.suites.longhorizon.schedule import quotas
from memrig.suites.longhorizon.schema import KINDS, METRIC_UNITS
from support.plain_words import PlainWords

TURNS = 2_000


@pytest.fixture(scope="module")
def planned():
    plan = Planner(PlainWords(), 11, TURNS).plan()
    return list(plan.beats), plan.things


def test_every_turn_has_one_beat_of_its_block_s_quota(planned):
    """Nothing is told twice, and no turn is empty-handed."""
    beats, _ = planned
    assert len(beats) == TURNS
    assert Counter(beat.block for beat in beats) == quotas(TURNS)


def test_an_entity_is_an_arc_over_the_horizon(planned):
    """Its beats do not follow one another: half of the entities span half of it."""
    beats, _ = planned
    turns = defaultdict(list)
    for turn, beat in enumerate(beats):
        if beat.thing is not None and beat.block in {"people", "projects", "infrastructure"}:
            turns[beat.thing.entity.entity_id].append(turn)
    spans = sorted(found[-1] - found[0] for found in turns.values())
    assert spans[len(spans) // 2] > TURNS / 2


def test_neighbouring_turns_are_of_different_blocks(planned):
    """Blocks run side by side, not one after another."""
    beats, _ = planned
    same = sum(a.block == b.block for a, b in pairwise(beats))
    # Drawn independently of each other, about nine in a hundred would be alike.
    assert same < 0.15 * TURNS


def test_an_entity_knows_the_turns_that_tell_it(planned):
    """In order, so that what is told next can be looked up."""
    beats, things = planned
    told = defaultdict(list)
    for turn, beat in enumerate(beats):
        if beat.thing is not None and not beat.thing.kind.at_once:
            for name in beat.attributes:
                told[id(beat.thing), name].append(turn)
    for thing in things:
        for name, turns in thing.turns.items():
            assert list(turns) == told.pop((id(thing), name))
            assert name in thing.told
    assert not told


def test_only_what_changes_is_told_more_than_once(planned):
    """But for the sources of a topic, which are three."""
    _, things = planned
    seen = Counter()
    for thing in things:
        for name, turns in thing.turns.items():
            if thing.kind.name == "topic":
                assert len(turns) == 3
            elif not thing.kind.attribute(name).changes:
                assert len(turns) == 1
            seen[len(turns)] += 1
    assert all(seen[length] > 5 for length in range(1, 6))
    assert max(seen) == 5


def test_log_lines_tell_all_and_other_beats_up_to_three_attributes(planned):
    """One, two and three all occur."""
    beats, _ = planned
    sizes = Counter(
        len(beat.attributes)
        for beat in beats
        if beat.thing is not None and not beat.thing.kind.at_once
    )
    assert set(sizes) == {1, 2, 3}
    lines = [b for b in beats if b.thing is not None and b.thing.kind.at_once]
    assert {beat.attributes for beat in lines} == {tuple(a.name for a in KINDS["log"].attributes)}


def test_an_aside_says_what_it_will_be(planned):
    """Old news, a supposition, a rumour, or small talk; one distractor in four is talk."""
    beats, _ = planned
    asides = Counter(beat.attributes for beat in beats if beat.thing is None)
    assert set(asides) == {("recalled",), ("supposed",), ("rumoured",), ()}
    assert asides[()] == quotas(TURNS)["distractors"] // 4


def test_only_metrics_have_a_unit_of_their_own(planned):
    """The same as their sibling's."""
    _, things = planned
    for thing in things:
        assert (thing.entity.unit in METRIC_UNITS) == (thing.kind.name == "metric")
        assert thing.twin is None or thing.twin.entity.unit == thing.entity.unit


def test_there_are_people_enough_in_both_sets_to_refer_to():
    """Even where the turns are too few to tell of them."""
    plan = Planner(PlainWords(), 3, 100).plan()
    people = Counter(t.entity.holdout for t in plan.things if t.kind.name == "person")
    assert min(people[True], people[False]) >= 10


def test_names_are_drawn_from_all_over_the_lexicon():
    """Two seeds hardly share one."""
    names = [
        {thing.entity.entity_id for thing in Planner(PlainWords(), seed, TURNS).plan().things}
        for seed in (1, 2)
    ]
    assert len(names[0] & names[1]) < 0.05 * len(names[0])
