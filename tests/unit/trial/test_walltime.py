"""A question's time: what counts, what does not, and that it still ends."""

import asyncio

import pytest

from memrig.trial.walltime import WallTime


async def test_time_runs_out():
    """As a bare limit's would."""
    clock = WallTime()
    with pytest.raises(TimeoutError):
        async with clock.limited(0.02):
            await asyncio.sleep(5)
    assert clock.ns > 0.02e9


async def test_it_stands_still_as_often_as_it_is_told_to():
    """What is left goes on from where it stopped, and ends."""
    clock = WallTime()
    with pytest.raises(TimeoutError):
        async with clock.limited(0.1):
            for _ in range(3):
                with clock.standing_still():
                    await asyncio.sleep(0.1)
            assert clock.ns < 0.1e9
            await asyncio.sleep(5)
    assert 0.1e9 < clock.ns < 0.3e9


async def test_what_fails_is_given_back_and_what_succeeds_counts():
    """An attempt cannot be known to fail before it has."""
    clock = WallTime()
    async with clock.limited(0.3):
        with clock.standing_still():
            for _ in range(3):
                with pytest.raises(ConnectionError), clock.running():
                    await asyncio.sleep(0.15)
                    raise ConnectionError
            with clock.running():
                await asyncio.sleep(0.1)
    assert 0.1e9 < clock.ns < 0.3e9


async def test_time_that_runs_out_within_an_attempt_ends_it():
    """A model that is merely slow uses up the question's time."""
    clock = WallTime()
    with pytest.raises(TimeoutError):
        async with clock.limited(0.05):
            with clock.standing_still(), clock.running():
                await asyncio.sleep(5)
    assert 0.05e9 < clock.ns < 0.5e9


async def test_without_a_limit_it_only_counts():
    """As during ingest."""
    clock = WallTime()
    with clock.standing_still():
        await asyncio.sleep(0.05)
    assert clock.ns < 0.05e9
