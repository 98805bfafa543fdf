"""A question's wall time, which stands still while rig or provider keep the question waiting."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager


class WallTime:
    """The time of one question. Implements `memrig.model.chat.Clock`.

    Waiting for a slot is the rig's doing, and a model's failed attempts with the pauses after them
    are the provider's: neither uses up the question's time nor counts in how long it took.
    """

    def __init__(self) -> None:
        self._limit: asyncio.Timeout | None = None
        self._began = time.monotonic_ns()
        self._stood = 0
        self._stopped: int | None = None
        self._left: float | None = None

    @property
    def ns(self) -> int:
        """How long it has been running."""
        return time.monotonic_ns() - self._began - self._stood

    @asynccontextmanager
    async def limited(self, seconds: float) -> AsyncIterator[None]:
        """Gives what is done within so many seconds.

        Raises:
            TimeoutError: it took longer.
        """
        async with asyncio.timeout(seconds) as limit:
            self._limit = limit
            try:
                yield
            finally:
                self._limit = None

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """Takes what is done out of the question's time."""
        self._stop()
        try:
            yield
        finally:
            self._go()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Within `standing_still`: counts what is done after all, unless it fails."""
        self._go()
        began = time.monotonic_ns()
        try:
            yield
        except Exception:
            lost = time.monotonic_ns() - began
            self._stop()
            self._give_back(lost)
            raise
        else:
            self._stop()

    def _stop(self) -> None:
        self._stopped = time.monotonic_ns()
        limit = self._limit
        when = limit.when() if limit and not limit.expired() else None
        if limit is None or when is None:
            return
        self._left = when - asyncio.get_running_loop().time()
        limit.reschedule(None)

    def _go(self) -> None:
        if self._stopped is None:  # cancelled while it ran
            return
        self._stood += time.monotonic_ns() - self._stopped
        self._stopped = None
        left, self._left = self._left, None
        if self._limit is not None and left is not None:
            self._limit.reschedule(asyncio.get_running_loop().time() + left)

    def _give_back(self, ns: int) -> None:
        self._stood += ns
        if self._left is not None:
            self._left += ns / 1e9
