"""Ways to wait: to the end despite a cancellation, for all of several, until something holds."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import TypeVar

_log = logging.getLogger("memrig.pod")
T = TypeVar("T")


async def finish(work: Coroutine[object, object, None], seconds: float, what: str) -> None:
    """Runs `work` to its end, for at most `seconds`, and swallows its errors into a log line.

    A cancellation that arrives meanwhile is delivered afterwards. What is left behind is found by
    the reaper, so a failed clean-up never hides the error that a trial ended with.
    """
    loop = asyncio.get_running_loop()
    task = loop.create_task(work)
    deadline = loop.time() + seconds
    cancelled = False
    while not task.done() and (left := deadline - loop.time()) > 0:
        try:
            await asyncio.wait({task}, timeout=left)
        except asyncio.CancelledError:
            cancelled = True
    if not task.done():
        task.cancel()
        _log.warning("%s: not removed within %g s (memrig clean removes it)", what, seconds)
    elif not task.cancelled() and (error := task.exception()) is not None:
        _log.warning("%s: %s (memrig clean removes it)", what, error)
    if cancelled:
        raise asyncio.CancelledError


async def together(*calls: Awaitable[T]) -> list[T]:
    """Like gather, but on a failure waits for the others before it raises the first error.

    A call that goes on alone would create what the clean-up has just looked for.
    """
    results = await asyncio.gather(*calls, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return [r for r in results if not isinstance(r, BaseException)]


async def until(check: Callable[[], Awaitable[bool]], every_s: float) -> None:
    """Waits until `check` holds. Bound it with `asyncio.timeout`."""
    while not await check():  # noqa: ASYNC110 - another process changes it; nobody could set an Event
        await asyncio.sleep(every_s)
