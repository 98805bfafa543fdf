"""Opaque ids outward, real ids inward."""

import re

from hypothesis import given
from hypothesis import strategies as st

from memrig.client import Pseudonyms

NAMES = st.text(min_size=1, max_size=20)
SOME_NAMES = st.lists(NAMES, min_size=1, max_size=30, unique=True)
SEEDS = st.integers(min_value=0, max_value=2**53 - 1)
DIGEST = "sha256:" + "ab" * 32


@given(SEEDS, SOME_NAMES)
def test_every_acknowledged_episode_comes_back_as_itself(seed, names):
    """The map is one to one."""
    ids = Pseudonyms(seed, DIGEST)
    opaque = [ids.episode(name) for name in names]
    assert len(set(opaque)) == len(names)
    assert [ids.acknowledge(o) for o in opaque] == names
    assert [ids.source_episode(o) for o in opaque] == names


@given(SEEDS, SOME_NAMES)
def test_equal_keys_give_equal_ids(seed, names):
    """They are the same for every memory system and every rebuild."""
    one, two = Pseudonyms(seed, DIGEST), Pseudonyms(seed, DIGEST)
    assert [one.episode(n) for n in names] == [two.episode(n) for n in reversed(names)][::-1]


@given(SEEDS, NAMES)
def test_another_seed_or_scenario_gives_other_ids(seed, name):
    """Nothing learnt in one run is worth anything in another."""
    keys = [(seed, DIGEST), (seed + 1, DIGEST), (seed, DIGEST.replace("ab", "cd"))]
    assert len({Pseudonyms(*key).episode(name) for key in keys}) == 3


@given(NAMES)
def test_an_episode_and_a_turn_of_one_name_have_different_ids(name):
    """Kinds do not mix."""
    ids = Pseudonyms(1, DIGEST)
    assert ids.episode(name)[2:] != ids.turn(name)[2:]


@given(NAMES)
def test_an_id_is_within_the_limits_of_the_contract(name):
    """At most 64 bytes of [A-Za-z0-9_-], whatever the data calls it."""
    ids = Pseudonyms(1, DIGEST)
    for opaque in (ids.episode(name), ids.turn(name)):
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", opaque)


def test_ids_are_pinned():
    """A change of the rule would make old transcripts unreadable."""
    assert Pseudonyms(2026, DIGEST).episode("D1:1") == "e_7c3dc15161a83203486c0939"
    assert Pseudonyms(2026, DIGEST).turn("D1:1") == "t_cd10f4a5971921e2f7c71bc5"


@given(SOME_NAMES)
def test_an_id_that_was_not_sent_reveals_nothing(names):
    """An adapter cannot name what it has not been given."""
    sender, stranger = Pseudonyms(1, DIGEST), Pseudonyms(1, DIGEST)
    for name in names:
        opaque = stranger.episode(name)
        assert sender.acknowledge(opaque) is None
        assert sender.source_episode(opaque) is None


def test_a_source_that_was_not_acknowledged_is_void():
    """Sent is not enough."""
    ids = Pseudonyms(1, DIGEST)
    opaque = ids.episode("e1")
    assert ids.source_episode(opaque) is None
    assert ids.real(opaque) == "e1"


def test_turns_become_valid_with_their_own_episode_only():
    """An acknowledgement covers the turns that the episode was sent with."""
    ids = Pseudonyms(1, DIGEST)
    first, second = ids.turn("t1"), ids.turn("t2")
    one = ids.episode("e1", (first,))
    ids.episode("e2", (second,))
    assert ids.source_turn(first) is None
    ids.acknowledge(one)
    assert (ids.source_turn(first), ids.source_turn(second)) == ("t1", None)


def test_a_turn_cannot_be_acknowledged():
    """Acknowledgements are for episodes."""
    ids = Pseudonyms(1, DIGEST)
    turn = ids.turn("t1")
    assert ids.acknowledge(turn) is None
    assert ids.source_turn(turn) is None


def test_a_turn_is_not_a_source_episode_nor_the_other_way_round():
    """A claim counts only in the place that it belongs to."""
    ids = Pseudonyms(1, DIGEST)
    turn = ids.turn("x")
    episode = ids.episode("x", (turn,))
    ids.acknowledge(episode)
    assert ids.source_episode(turn) is None
    assert ids.source_turn(episode) is None
