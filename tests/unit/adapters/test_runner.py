"""Turns and deadlines by the runner itself, where no client's own deadline can hide them."""

import asyncio
import threading
from collections.abc import Callable

import pytest

from memrig_adapters import Episode, Maybe
from memrig_adapters.errors import DeadlineExceeded
from memrig_adapters.runner import LocalCall, Runner
from support.toy_adapters import ListAdapter


class Left(LocalCall):
    """A call whose caller has left."""

    def is_active(self) -> bool:
        return False


def test_a_turn_that_does_not_come_is_deadline_exceeded() -> None:
    """A call that waits for its turn past its deadline never runs."""
    runner = Runner(ListAdapter())
    entered, go_on, ran = threading.Event(), threading.Event(), []

    def hold() -> bool:
        entered.set()
        return go_on.wait(10)

    holder = threading.Thread(target=runner.run, args=(LocalCall(), hold))
    holder.start()
    assert entered.wait(10)
    with pytest.raises(DeadlineExceeded, match="another call held the adapter"):
        runner.run(LocalCall(0.05), lambda: ran.append(1))
    go_on.set()
    holder.join(10)
    assert ran == []


def test_a_call_that_nobody_waits_for_never_runs() -> None:
    """A call whose caller left before its turn is skipped, and gives its turn on."""
    runner, ran = Runner(ListAdapter()), []
    with pytest.raises(DeadlineExceeded, match="left before its turn"):
        runner.run(Left(), lambda: ran.append(1))
    runner.run(LocalCall(), lambda: ran.append(2))
    assert ran == [2]


def test_a_batch_stops_between_episodes_when_its_caller_leaves() -> None:
    """Plain ingest is not interrupted, but the episodes after a caller left are not ingested."""

    class Leaving(LocalCall):
        checks = 0

        def is_active(self) -> bool:
            self.checks += 1
            return self.checks <= 3  # once for the turn, then before each episode

    adapter = ListAdapter()
    episodes = [Episode(f"e{n}", "x") for n in range(5)]
    results, fault = Runner(adapter).ingest(Leaving(), episodes)
    assert results == [1, 1]
    assert isinstance(fault, DeadlineExceeded)
    assert len(adapter.episodes) == 2


def test_the_turn_is_held_until_a_cancelled_coroutine_has_unwound() -> None:
    """A coroutine that cleans up after its cancellation does so before the next call's turn."""
    runner = Runner(ListAdapter())
    order: list[str] = []

    async def slow() -> int:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.05)
            order.append("unwound")
        return 0

    job: Callable[[], Maybe[int]] = slow
    with pytest.raises(DeadlineExceeded):
        runner.run(LocalCall(0.1), job)
    runner.run(LocalCall(), lambda: order.append("next"))
    runner.stop()
    assert order == ["unwound", "next"]


def test_a_coroutine_that_cancels_itself_is_an_error() -> None:
    """CancelledError of the adapter's own making does not pass for the caller's."""
    runner = Runner(ListAdapter())

    async def give_up() -> int:
        raise asyncio.CancelledError

    job: Callable[[], Maybe[int]] = give_up
    with pytest.raises(RuntimeError, match="cancelled its own task"):
        runner.run(LocalCall(), job)
    runner.stop()
