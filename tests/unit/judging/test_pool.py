"""Several things at once, and an error that does not waste what is under way."""

import asyncio
from functools import partial

import pytest

from memrig.errors import GatewayError, InfrastructureError
from memrig.judging.pool import run_all


async def test_results_keep_the_order_of_the_jobs():
    """Whichever ends first."""

    async def job(number: int) -> int:
        for _ in range(10 - number):
            await asyncio.sleep(0)
        return number

    assert await run_all(partial(job, number) for number in range(10)) == list(range(10))


async def test_after_an_error_nothing_new_is_begun_and_nothing_under_way_is_lost():
    """The first error is what is raised."""
    begun: list[int] = []
    ended: list[int] = []

    async def job(number: int) -> None:
        begun.append(number)
        await asyncio.sleep(0)
        if number in {1, 2}:
            raise (GatewayError if number == 1 else InfrastructureError)(f"job {number}")
        await asyncio.sleep(0.01)
        ended.append(number)

    with pytest.raises(GatewayError, match="job 1"):
        await run_all((partial(job, number) for number in range(20)), limit=4)
    assert begun == [0, 1, 2, 3]
    assert ended == [0, 3]
