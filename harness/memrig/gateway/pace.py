"""How fast one provider may be asked: calls in flight, calls a minute, and pauses it asked for."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

_MINUTE = 60.0


class Pace:
    """The pace of one provider.

    Args:
        concurrency: calls in flight.
        requests_per_minute: begun within any 60 seconds; None: no limit.
        clock: monotonic seconds.
        sleep: waits for seconds.
    """

    def __init__(
        self,
        concurrency: int,
        requests_per_minute: int | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._slots = asyncio.Semaphore(concurrency)
        self._limit = requests_per_minute
        self._begun: deque[float] = deque(maxlen=requests_per_minute or 1)
        self._not_before = 0.0
        self._clock = clock
        self._sleep = sleep

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Waits for a slot and for the time; holds the slot for as long as the call takes."""
        async with self._slots:
            while (wait := self._wait()) > 0:
                await self._sleep(wait)
            self._begun.append(self._clock())
            yield

    def hold(self, seconds: float) -> None:
        """Begins no call for so long: the provider asked one of them to wait, and means all."""
        self._not_before = max(self._not_before, self._clock() + seconds)

    def _wait(self) -> float:
        now = self._clock()
        full = self._limit is not None and len(self._begun) == self._limit
        free = self._begun[0] + _MINUTE if full else now
        return max(free, self._not_before) - now
