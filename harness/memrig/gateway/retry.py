"""Repeats what may come right: bounded, with backoff, as patient as the provider asks."""

import logging
import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

import stamina

from memrig.errors import HarnessError
from memrig.gateway.config import RetryPolicy
from memrig.gateway.upstream.base import UpstreamError

T = TypeVar("T")

# stamina warns of every retry; the record holds them all, and nothing below the CLI prints.
logging.getLogger("stamina").addHandler(logging.NullHandler())


class Backoff:
    """Whether a failed call is made again, and after how many seconds. One for each call.

    Args:
        policy: the bounds.
        chance: where jitter is drawn from.
    """

    def __init__(self, policy: RetryPolicy, chance: random.Random) -> None:
        self._policy = policy
        self._chance = chance
        self._pause = policy.initial_s

    def __call__(self, error: Exception) -> bool | float:
        """Seconds to wait, or False: give up."""
        if not isinstance(error, UpstreamError) or not error.retryable:
            return False
        asked = error.retry_after_s
        if asked is not None and asked > self._policy.retry_after_max_s:
            return False
        pause = min(self._pause, self._policy.max_s)
        self._pause *= 2
        pause += pause * self._policy.jitter * self._chance.random()
        return max(pause, asked or 0.0)


async def persistently(
    call: Callable[[int], Awaitable[T]], policy: RetryPolicy, chance: random.Random
) -> T:
    """Awaits `call(n)` for attempts n = 1, 2, … until one succeeds.

    Raises:
        UpstreamError: the last attempt's.
    """
    number = 0
    async for attempt in stamina.retry_context(
        on=Backoff(policy, chance), attempts=policy.attempts, timeout=None
    ):
        with attempt:
            number += 1
            return await call(number)
    raise HarnessError("the last attempt neither returned nor raised")  # pragma: no cover
