"""Runs an adapter's methods: one at a time, in time, and whether they are plain or async."""

import asyncio
import concurrent.futures
import contextlib
import inspect
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Protocol, TypeVar, cast

from memrig_adapters.adapter import Adapter, IngestResult, Maybe, overrides
from memrig_adapters.errors import DeadlineExceeded, Rejected
from memrig_adapters.results import check_results
from memrig_adapters.types import Episode

T = TypeVar("T")

#: A wait without a deadline; `threading.TIMEOUT_MAX` is less than some clients' "no deadline".
FOREVER_S = 1_000_000.0
#: How soon a coroutine learns that its caller left before the deadline.
POLL_S = 0.25
#: How long episodes are taken before those that were are acknowledged (protocol §6.8).
SLICE_S = 0.5


class Call(Protocol):
    """What the runner needs to know about a call; a `grpc.ServicerContext` is one."""

    def time_remaining(self) -> float | None:
        """Seconds until the deadline; None where there is none."""

    def is_active(self) -> bool:
        """Whether the caller still waits."""


class LocalCall:
    """The call behind `start` and `close`: the server makes it itself, and waits to the end."""

    def __init__(self, within_s: float = FOREVER_S) -> None:
        self._until = time.monotonic() + within_s

    def time_remaining(self) -> float:
        """Seconds until the server gives up."""
        return max(self._until - time.monotonic(), 0.0)

    def is_active(self) -> bool:
        """The server does not leave."""
        return True


class Runner:
    """Runs methods of one adapter.

    Plain methods run in the calling thread: a hop to another one costs more than most searches.
    Coroutines run on one event loop in a thread of its own, started with the first of them.
    """

    def __init__(self, adapter: Adapter) -> None:
        self._adapter = adapter
        self._turn = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._loop_lock = threading.Lock()

    def run(self, call: Call, function: Callable[[], Maybe[T]]) -> T:
        """Runs one method in its turn.

        Raises:
            DeadlineExceeded: the turn did not come, or a coroutine did not end, in time.
            Exception: whatever the method raised.
        """
        with self._in_turn(call):
            return self.settle(function(), call)

    def ingest(
        self, call: Call, episodes: Sequence[Episode]
    ) -> tuple[list[IngestResult], BaseException | None]:
        """Ingests a batch in its turn; returns the results so far and what stopped it, if anything.

        Where episodes take their time, there are results for the first of them only, one at least:
        the caller acknowledges these, and comes again with the rest.

        Raises:
            DeadlineExceeded: the turn did not come in time.
        """
        results: list[IngestResult] = []
        with self._in_turn(call):
            try:
                self._ingest(call, episodes, results)
            except (Exception, SystemExit) as error:  # noqa: BLE001 - reported by the caller
                return results, error
        return results, None

    def _ingest(self, call: Call, episodes: Sequence[Episode], results: list[IngestResult]) -> None:
        if overrides(self._adapter, "ingest_batch"):
            batch = self.settle(self._adapter.ingest_batch(episodes), call)
            results.extend(check_results(batch, len(episodes)))
        elif inspect.iscoroutinefunction(self._adapter.ingest):
            # One hop for the batch, not one for each episode.
            self._await(self._ingest_each_async(episodes, results), call)
        else:
            self._ingest_each(call, episodes, results)

    def _ingest_each(
        self, call: Call, episodes: Sequence[Episode], results: list[IngestResult]
    ) -> None:
        until = time.monotonic() + SLICE_S
        for episode in episodes:
            if results and time.monotonic() >= until:
                return
            if not call.is_active():
                raise DeadlineExceeded("the caller left between two episodes")
            try:
                outcome = self._adapter.ingest(episode)
                result = self._await(outcome, call) if inspect.isawaitable(outcome) else outcome
            except Rejected as rejected:
                results.append(rejected)
            else:
                results.append(result)

    async def _ingest_each_async(
        self, episodes: Sequence[Episode], results: list[IngestResult]
    ) -> None:
        until = time.monotonic() + SLICE_S
        for episode in episodes:
            if results and time.monotonic() >= until:
                return
            try:
                results.append(await cast("Awaitable[IngestResult]", self._adapter.ingest(episode)))
            except Rejected as rejected:
                results.append(rejected)

    def settle(self, result: Maybe[T], call: Call) -> T:
        """Returns a value, awaiting it on the event loop if it is one to await.

        Raises:
            DeadlineExceeded: it did not come in time, or the caller left; it is cancelled.
        """
        if not inspect.isawaitable(result):
            return result
        value: T = self._await(result, call)
        return value

    def _await(self, awaitable: Awaitable[T], call: Call) -> T:
        loop = self._running_loop()
        scope = asyncio.Timeout(loop.time() + _remaining(call))
        future = asyncio.run_coroutine_threadsafe(_within(scope, awaitable), loop)
        while True:
            done, _ = concurrent.futures.wait([future], timeout=POLL_S)
            if done:
                break
            if not call.is_active():
                loop.call_soon_threadsafe(_expire, scope)
        try:
            return future.result()
        except concurrent.futures.CancelledError:
            raise RuntimeError("the adapter cancelled its own task") from None

    def stop(self) -> None:
        """Ends the event loop. Its thread is a daemon: a task that hangs keeps nothing alive."""
        loop, self._loop = self._loop, None
        if loop is not None:
            loop.call_soon_threadsafe(loop.stop)

    @contextlib.contextmanager
    def _in_turn(self, call: Call) -> Iterator[None]:
        if self._adapter.concurrent:
            yield
            return
        remaining = _remaining(call)
        if not self._turn.acquire(timeout=remaining):
            raise DeadlineExceeded(f"another call held the adapter for {remaining:.3f} s")
        try:
            if not call.is_active():
                raise DeadlineExceeded("the caller left before its turn came")
            yield
        finally:
            self._turn.release()

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._loop_lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(
                    target=_run_loop, args=(self._loop,), name="adapter-loop", daemon=True
                ).start()
            return self._loop


def _remaining(call: Call) -> float:
    remaining = call.time_remaining()
    return FOREVER_S if remaining is None else min(max(remaining, 0.0), FOREVER_S)


def _run_loop(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        loop.close()


async def _within(scope: asyncio.Timeout, awaitable: Awaitable[T]) -> T:
    # The deadline is kept on the loop, so that the turn ends only when the coroutine has unwound.
    try:
        async with scope:
            return await awaitable
    except TimeoutError:
        if scope.expired():
            raise DeadlineExceeded("the deadline passed, or the caller left") from None
        raise  # the adapter's own


def _expire(scope: asyncio.Timeout) -> None:
    # RuntimeError: not entered yet, or left already. Asked again, or needless.
    with contextlib.suppress(RuntimeError):
        scope.reschedule(0.0)
