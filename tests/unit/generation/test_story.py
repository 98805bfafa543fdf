"""A story's figures: phases in proportion, references to episodes, series by formula."""

from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrig.generation.spec import Phase, Signal
from memrig.generation.story import StoryError, series, shared, stretches, tell
from support.stories import pump_spec

SHARES = st.lists(st.floats(0.01, 10), min_size=1, max_size=6)


def signal(noise: float = 0, **formulas: str) -> Signal:
    fields = {"name": "s", "label": "S", "section": "A", "decimals": 1}
    return Signal(**fields, noise=noise, formulas=formulas)


def phases(*counts: int):
    named = [Phase(name=f"p{n}", share=count) for n, count in enumerate(counts, start=1)]
    return stretches(named, sum(counts))


@given(shares=SHARES, more=st.integers(0, 100))
def test_phases_share_out_all_episodes_and_each_gets_one(shares, more):
    """They follow each other without a gap."""
    found = stretches(
        [Phase(name=f"p{n}", share=s) for n, s in enumerate(shares)], len(shares) + more
    )
    assert found[0].first == 1
    assert found[-1].last == len(shares) + more
    assert all(len(phase) >= 1 for phase in found)
    assert all(a.last + 1 == b.first for a, b in pairwise(found))


@given(shares=SHARES, total=st.integers(0, 200))
def test_shares_sum_up_and_are_off_by_less_than_one(shares, total):
    """By largest remainder."""
    counts = shared(shares, total)
    assert sum(counts) == total
    for share, count in zip(shares, counts, strict=True):
        assert abs(count - total * share / sum(shares)) < 1 + 1e-9


def test_more_phases_than_episodes_are_refused():
    """A phase without an episode could not be referred to."""
    with pytest.raises(StoryError, match="3 phases do not go into 2"):
        stretches([Phase(name=n, share=1) for n in "abc"], 2)


@pytest.mark.parametrize(
    ("reference", "number"),
    [("calm:first", 1), ("calm:last", 8), ("wear:1", 9), ("wear:99", 20), ("wear:50%", 15),
     ("wear:0%", 9), ("wear:100%", 20), ("story:50%", 11), ("story:last", 20), ("now", 12)],
)  # fmt: skip
def test_a_reference_names_an_episode_at_any_length_of_the_story(reference, number):
    """By place, by share of the way, or by the question's own; beyond the end is the end."""
    assert tell(pump_spec()).episode(reference, now=12) == number


@pytest.mark.parametrize("reference", ["nowhere:first", "now"])
def test_a_reference_to_nothing_is_refused(reference):
    """A phase that is not there, or now where nobody asks."""
    with pytest.raises(StoryError):
        tell(pump_spec()).episode(reference)


def test_formulas_know_the_way_through_their_phase_and_what_was_before():
    """`t` runs from 0 to 1, `n` counts episodes, `last` is the phase before at its end."""
    found = series(signal(p1="10*n", p2="last + 5*t"), phases(2, 3), seed=1)
    assert [str(v) for v in found] == ["10.0", "20.0", "20.0", "22.5", "25.0"]


def test_noise_does_not_run_on_into_the_next_phase():
    """`last` is the formula's value, so that a story's course does not hang on a draw."""
    found = series(signal(noise=5, p1="10", p2="last - last"), phases(2, 1), seed=1)
    assert abs(found[0] - 10) <= 5
    assert found[0] != 10
    exact = series(signal(noise=0, p1="10", p2="last"), phases(2, 1), seed=1)
    assert exact[-1] == Decimal(10)


def test_a_formula_for_all_phases_stands_in_for_those_without_one():
    """A steady series needs one line."""
    assert series(signal(all="3", p2="4"), phases(1, 1), seed=1) == (Decimal(3), Decimal(4))


def test_a_series_differs_by_seed_and_by_nothing_else():
    """The same seed gives the same figures."""
    once, again, other = (series(signal(9, all="50"), phases(9, 9), s) for s in (1, 1, 2))
    assert once == again != other


@pytest.mark.parametrize(
    ("formulas", "problem"),
    [({"p1": "last", "p2": "1"}, "no 'last' in the first phase"),
     ({"p1": "1"}, "no formula for the phase 'p2'"),
     ({"p1": "1/(n - 1)", "p2": "1"}, "has no value"),
     ({"p1": "os", "p2": "1"}, "not allowed")],
)  # fmt: skip
def test_a_formula_that_does_not_work_out_is_named(formulas, problem):
    """With its signal and phase."""
    with pytest.raises(StoryError, match=problem):
        series(signal(**formulas), phases(2, 2), seed=1)


@pytest.mark.parametrize("reference", ["calm:0", "calm:-3", "calm:x", "calm", "calm:1:2"])
def test_what_is_no_reference_names_no_episode(reference):
    """A prompt's placeholders included."""
    with pytest.raises(StoryError, match="no phase and place"):
        tell(pump_spec()).episode(reference, 5)


def test_a_story_ends_before_the_calendar_does():
    """The year 9999."""
    late = {"start": "9999-12-20", "interval_days": 1, "episodes": 20}
    with pytest.raises(StoryError, match="after the year 9999"):
        tell(pump_spec(timeline=late)).day(20)
