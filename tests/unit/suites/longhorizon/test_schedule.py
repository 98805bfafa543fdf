"""When things are told."""

import random
from collections import Counter
from datetime import date
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrig.suites.longhorizon.schedule import (
    TICKS,
    Calendar,
    below,
    chain,
    even,
    gap,
    quotas,
    together,
)
from memrig.suites.longhorizon.schema import SHARES

HORIZON = 5_000 * TICKS


def chance(seed=1):
    return random.Random(seed).random  # noqa: S311


@given(st.integers(100, 100_000))
def test_every_turn_belongs_to_a_block(turns):
    """Shares are kept to the turn, but for topics, which take three each."""
    found = quotas(turns)
    assert sum(found.values()) == turns
    assert found["contradictory"] % 3 == 0
    for block, share in SHARES.items():
        assert abs(found[block] - turns * share / 100) < 4
        assert found[block] >= 3


def test_the_shares_are_of_a_hundred():
    """Nothing is left over."""
    assert sum(SHARES.values()) == 100


def test_a_draw_lies_below_its_limit():
    """And reaches both ends."""
    draw = iter((0.0, 0.5, 1 - 2**-53)).__next__
    assert [below(draw, 7) for _ in range(3)] == [0, 3, 6]


def test_gaps_are_as_often_long_as_short():
    """Every octave from a turn to the whole horizon has the same share."""
    draw = chance()
    octaves = Counter(HORIZON.bit_length() - gap(draw, HORIZON).bit_length() for _ in range(60_000))
    gaps = [gap(draw, HORIZON) for _ in range(60_000)]
    assert TICKS <= min(gaps) < 2 * TICKS
    assert 0.99 * HORIZON < max(gaps) < HORIZON
    expected = 60_000 / 12
    # Octaves counted from a power of two cut the drawn ones in two parts each.
    assert all(abs(octaves[n] - expected) < 0.1 * expected for n in range(2, 12))


def test_lengths_within_an_octave_are_equally_likely():
    """Uniform, not piled up at its lower end."""
    draw = chance()
    top = [g for g in (gap(draw, HORIZON) for _ in range(60_000)) if g >= HORIZON // 2]
    low = sum(g < HORIZON * 3 // 4 for g in top) / len(top)
    assert 0.47 < low < 0.53


@given(st.integers(0, 2**32), st.integers(0, 4), st.integers(100, 100_000))
def test_a_chain_lies_within_the_horizon_in_order(seed, changes, turns):
    """With no more changes than asked for."""
    places = chain(chance(seed), turns * TICKS, changes)
    assert 1 <= len(places) <= changes + 1
    assert all(a < b for a, b in pairwise(places))
    assert places[0] >= 0
    assert places[-1] < turns * TICKS


def test_chains_leave_out_few_changes_and_lie_everywhere():
    """What does not fit is left out; beginnings and ends mirror each other."""
    draw = chance()
    chains = [chain(draw, HORIZON, 2) for _ in range(5_000)]
    assert sum(len(places) == 3 for places in chains) / 5_000 > 0.9
    middle = sum((places[0] + places[-1]) / 2 for places in chains) / 5_000
    assert abs(middle / HORIZON - 0.5) < 0.02


@given(st.integers(0, 2**32), st.integers(1, 4))
def test_what_belongs_together_is_all_there(seed, count):
    """Three claims are three."""
    places = together(chance(seed), 100 * TICKS, count)
    assert len(places) == count
    assert places == sorted(set(places))


def test_even_places_leave_no_hole():
    """One in each part, in order."""
    places = even(chance(), 100, 1_100, 10)
    assert [place // 100 for place in places] == list(range(1, 11))
    assert even(chance(), 0, 100, 0) == []


@pytest.mark.parametrize("seed", range(20))
def test_a_world_begins_on_a_monday_of_2030_to_2035(seed):
    """So that its dates are nobody's past."""
    first = date.fromordinal(Calendar.drawn(chance(seed), 100).base)
    assert first.weekday() == 0
    assert 2030 <= first.year <= 2035


def test_worlds_begin_on_different_days():
    """The calendar is the seed's own."""
    assert len({Calendar.drawn(chance(seed), 100).base for seed in range(20)}) > 15


@pytest.mark.parametrize(
    ("turns", "days"), [(100, 10), (1_000, 104), (5_000, 520), (20_000, 656), (100_000, 1_378)]
)
def test_a_longer_world_is_packed_more_tightly(turns, days):
    """Two and a half hours between turns up to 5,000, 13 minutes for those beyond."""
    calendar = Calendar(date(2031, 5, 5).toordinal(), turns)
    last = calendar.ordinal(calendar.minute(turns - 1, 0.0))
    assert abs(last - calendar.base - days) <= 1


@given(st.integers(100, 100_000), st.integers(0, 98), st.floats(0, 1, exclude_max=True))
def test_time_never_goes_back(turns, index, jitter):
    """However late a turn is in its slot, the next one is not before it."""
    calendar = Calendar(700_000, turns)
    assert calendar.minute(index, jitter) <= calendar.minute(index + 1, 0.0)
