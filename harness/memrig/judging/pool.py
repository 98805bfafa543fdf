"""Several things at once that may meet a model which cannot be had."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Generic, TypeVar

from memrig.errors import MemrigError

#: How many verdicts are in the making at once; the gateway has limits of its own.
AT_ONCE = 16

T = TypeVar("T")
Job = Callable[[], Awaitable[T]]


async def run_all(jobs: Iterable[Job[T]], limit: int = AT_ONCE) -> list[T]:
    """Runs all jobs, at most `limit` at once, and returns what they return, in their order.

    Once one fails, nothing new is begun; what is under way is brought to its end, so that no vote
    that was paid for is lost. Then the first error is raised.

    Raises:
        MemrigError: what a job raised.
    """
    pool = _Pool[T](asyncio.Semaphore(limit))
    async with asyncio.TaskGroup() as group:
        for number, job in enumerate(jobs):
            group.create_task(pool.run(number, job))
    if pool.failure is not None:
        raise pool.failure
    return [pool.results[number] for number in sorted(pool.results)]


class _Pool(Generic[T]):
    def __init__(self, slots: asyncio.Semaphore) -> None:
        self.slots = slots
        self.results: dict[int, T] = {}
        self.failure: MemrigError | None = None

    async def run(self, number: int, job: Job[T]) -> None:
        async with self.slots:
            if self.failure is not None:
                return
            try:
                self.results[number] = await job()
            except MemrigError as error:
                self.failure = self.failure or error
