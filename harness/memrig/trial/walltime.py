"""A question's wall time, which stands still while the rig itself keeps the question waiting."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager


class WallTime:
    """The time of one question.

    Waiting for a slot is the rig's doing: it neither uses up the question's time nor counts in how
    long the question took.
    """

    def __init__(self) -> None:
        self._limit: asyncio.Timeout | None = None
        self._began = time.monotonic_ns()
        self._stood = 0

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
        began = time.monotonic_ns()
        limit = self._limit
        left = self._suspend(limit)
        try:
            yield
        finally:
            self._stood += time.monotonic_ns() - began
            if limit is not None and left is not None:
                limit.reschedule(asyncio.get_running_loop().time() + left)

    @staticmethod
    def _suspend(limit: asyncio.Timeout | None) -> float | None:
        """Stops a limit; returns the seconds that it had left."""
        when = limit.when() if limit else None
        if limit is None or when is None:
            return None
        limit.reschedule(None)
        return when - asyncio.get_running_loop().time()
