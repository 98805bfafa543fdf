"""How calls are paced and repeated: bounded, and as patient as the provider asks."""

import asyncio
import random
import threading
import time

import pytest

from memrig.errors import GatewayError
from memrig.gateway.config import GatewayConfig, RetryPolicy
from memrig.gateway.pace import Pace
from memrig.gateway.retry import Backoff, persistently
from memrig.gateway.service import Gateway
from memrig.gateway.upstream.base import UpstreamError, failure_of_status, retry_after
from support.gateways import GPT, MODELS, Prices, ask, context, gateway_of, upstreams_of
from support.llm_standin import Fault, Say

STEADY = RetryPolicy(initial_s=1, max_s=5, jitter=0)


def chance(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311


class Time:
    """A clock that sleeping moves on."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def test_pauses_double_up_to_the_longest():
    """Without jitter: 1, 2, 4, then 5 for ever."""
    backoff = Backoff(STEADY, chance(0))
    assert [backoff(UpstreamError("x")) for _ in range(5)] == [1, 2, 4, 5, 5]


def test_jitter_is_drawn_from_the_runs_seed():
    """Between none and its share of the pause; the same seed, the same pauses."""
    policy = RetryPolicy(initial_s=1, max_s=5, jitter=0.5)

    def pauses(seed: int) -> list[float]:
        backoff = Backoff(policy, chance(seed))
        return [float(backoff(UpstreamError("x"))) for _ in range(3)]

    assert pauses(1) == pauses(1) != pauses(2)
    assert all(
        base <= pause <= 1.5 * base for base, pause in zip((1, 2, 4), pauses(1), strict=True)
    )


def test_a_provider_that_asks_for_a_longer_pause_gets_it():
    """A shorter one is not taken up; one too long ends the call."""
    backoff = Backoff(STEADY, chance(0))
    assert backoff(UpstreamError("x", retry_after_s=60)) == 60
    assert backoff(UpstreamError("x", retry_after_s=0.1)) == 2
    assert backoff(UpstreamError("x", retry_after_s=3600)) is False


@pytest.mark.parametrize("error", [UpstreamError("x", retryable=False), ValueError("a defect")])
def test_what_another_try_does_not_mend_is_not_tried_again(error):
    """Nor is what is not the provider's."""
    assert Backoff(STEADY, chance(0))(error) is False


async def test_tries_are_bounded():
    """The last one's error is the call's."""
    tried = []

    async def call(number: int) -> None:
        tried.append(number)
        raise UpstreamError(f"failure {number}")

    policy = RetryPolicy(attempts=3, initial_s=0)
    with pytest.raises(UpstreamError, match="failure 3"):
        await persistently(call, policy, chance(0))
    assert tried == [1, 2, 3]


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({}, None),
    ],
)
def test_what_a_provider_asks_for_is_read(headers, seconds):
    """Seconds or milliseconds; a date is left to the backoff."""
    assert retry_after(headers) == seconds


@pytest.mark.parametrize(
    ("status", "body", "kind", "again"),
    [
        (400, b"", "rejected", False),
        (401, b"", "auth", False),
        (403, b"", "auth", False),
        (402, b"", "provider", False),
        (408, b"", "provider", True),
        (409, b"", "provider", True),
        (413, b"", "rejected", False),
        (429, b"", "provider", True),
        (429, b'{"error":{"code":"insufficient_quota"}}', "provider", False),
        (500, b"", "provider", True),
        (529, b"", "provider", True),
    ],
)
def test_a_status_says_what_it_comes_to(status, body, kind, again):
    """And whether another try makes sense."""
    failure = failure_of_status(status, "x", {}, body)
    assert (failure.kind, failure.retryable) == (kind, again)


async def test_a_minute_has_so_many_calls_and_no_more():
    """The next one waits until the first of them is a minute old."""
    clock = Time()
    pace = Pace(8, 3, clock=clock, sleep=clock.sleep)
    begun = []
    for _ in range(5):
        async with pace.turn():
            begun.append(clock.now - 1000)
        clock.now += 1
    assert begun == [0, 1, 2, 60, 61]


async def test_one_call_that_is_asked_to_wait_holds_all_back():
    """What a provider says to one of them, it means for all."""
    clock = Time()
    pace = Pace(8, clock=clock, sleep=clock.sleep)
    pace.hold(5)
    pace.hold(2)
    async with pace.turn():
        assert clock.slept == [5]


async def test_no_more_calls_are_in_flight_than_the_provider_takes(standin):
    """Twenty at once, four at a time."""
    standin.script = lambda _: Say("x", delay_s=0.02)
    config = GatewayConfig(
        mode="live", models=MODELS, upstreams=upstreams_of(standin, concurrency=4)
    )
    async with Gateway(config, prices=Prices()) as gateway, asyncio.TaskGroup() as group:
        for number in range(20):
            group.create_task(gateway.chat(ask(str(number)), context()))
    assert standin.most_at_once == 4
    assert standin.answered == 20


async def test_retry_after_is_waited_for(standin):
    """Before the next try, however short our own pause."""
    standin.fail_next(Fault(status=429, retry_after="0.3"))
    async with gateway_of(standin) as gateway:
        began = time.monotonic()
        await gateway.chat(ask(model=GPT), context())
    assert time.monotonic() - began >= 0.3


async def test_who_gives_up_gets_what_was_reserved_back_and_is_written_down(standin, record):
    """A cancelled call is in the record, and a replay does not invent its reply."""
    standin.script = lambda _: Say("late", delay_s=30)
    async with gateway_of(standin, mode="record", record=record) as gateway:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await gateway.chat(ask(), context())
        assert all(account.reserved_tokens == 0 for account in gateway._calls.ledger)
    async with gateway_of(None, mode="replay", record=record) as gateway:
        (attempt,) = gateway.record.attempts()
        assert attempt.error == "cancelled"
        with pytest.raises(GatewayError, match="nobody waited") as caught:
            await gateway.chat(ask(), context())
    assert caught.value.kind == "cut_off"


async def test_who_gives_up_while_the_reply_is_written_down_is_not_given_it_again(
    standin, record, monkeypatch
):
    """The question timed out, and does so in a replay; what the reply cost stays counted."""
    reached, free = threading.Event(), threading.Event()
    async with gateway_of(standin, mode="record", record=record) as gateway:
        await gateway.chat(ask("first"), context())
        writer = gateway.record._writer
        commit = writer._commit

        def slow(database, jobs):
            reached.set()
            free.wait(5)
            commit(database, jobs)

        monkeypatch.setattr(writer, "_commit", slow)
        call = asyncio.create_task(gateway.chat(ask(), context()))
        await asyncio.to_thread(reached.wait, 5)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        free.set()
    async with gateway_of(None, mode="replay", record=record) as gateway:
        _, attempt = gateway.record.attempts()
        assert attempt.output_tokens > 0
        with pytest.raises(GatewayError, match="nobody waited"):
            await gateway.chat(ask(), context())
