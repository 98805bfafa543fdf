"""Clean-up is neither cut short by a cancellation nor dragged out by a hang."""

import asyncio
import logging

import pytest

from memrig.pod.waiting import finish, together


async def test_a_cancellation_waits_for_the_clean_up() -> None:
    """The work runs to its end, and the cancellation is delivered then."""
    entered, leave, done = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def work() -> None:
        entered.set()
        await leave.wait()
        done.set()

    task = asyncio.create_task(finish(work(), 10, "x"))
    await entered.wait()
    task.cancel()
    await asyncio.sleep(0)
    task.cancel()  # a second Ctrl-C
    await asyncio.sleep(0)
    assert not task.done()
    leave.set()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert done.is_set()


async def test_a_clean_up_that_hangs_is_left_behind(caplog: pytest.LogCaptureFixture) -> None:
    """After its time the rig goes on, and says what to do about it."""
    await finish(asyncio.Event().wait(), 0.05, "pod abcd")  # type: ignore[arg-type]

    assert "pod abcd: not removed within 0.05 s (memrig clean removes it)" in caplog.text


async def test_an_error_of_the_clean_up_hides_no_other(caplog: pytest.LogCaptureFixture) -> None:
    """It becomes a warning."""

    async def work() -> None:
        raise OSError("disk gone")

    with caplog.at_level(logging.WARNING, "memrig.pod"):
        await finish(work(), 1, "pod abcd")

    assert "disk gone" in caplog.text


async def test_together_waits_for_all_before_it_fails() -> None:
    """No call goes on behind the back of the clean-up."""
    ended = []

    async def slow() -> None:
        await asyncio.sleep(0.02)
        ended.append("slow")

    async def fails() -> None:
        raise ValueError("first")

    with pytest.raises(ValueError, match="first"):
        await together(fails(), slow())
    assert ended == ["slow"]


async def test_together_keeps_the_order() -> None:
    """Results come in the order of the calls, not of their ends."""
    assert await together(asyncio.sleep(0.02, "a"), asyncio.sleep(0, "b")) == ["a", "b"]
