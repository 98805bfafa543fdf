"""From a gRPC status to an error of the rig (docs/protocol.md, Status codes)."""

import asyncio
import time
from collections.abc import Coroutine
from typing import Any, Protocol, TypeVar

import grpc

from memrig.errors import AdapterError, AdapterRpcError, AdapterTimeoutError, HarnessError

_MAX_DETAILS = 500
#: What grpc.aio says when a write of ours failed, whatever the adapter's status was.
_WRITE_FAILED = (grpc.StatusCode.INTERNAL, "Internal error from Core")
_STATUS_WAIT_S = 1.0

T = TypeVar("T")


def map_error(error: grpc.aio.AioRpcError, deadline_s: float, where: str) -> AdapterError:
    """The error for a status: a passed deadline is a time-out, everything else keeps its code.

    Whether UNAVAILABLE means a crash is for the trial to find out: it can see the pod.
    """
    return _error_for(error.code(), error.details() or "", deadline_s, where)


def _error_for(code: grpc.StatusCode, details: str, deadline_s: float, where: str) -> AdapterError:
    if code is grpc.StatusCode.DEADLINE_EXCEEDED:
        return AdapterTimeoutError(deadline_s, where=where)
    return AdapterRpcError(code.name, details[:_MAX_DETAILS], where=where)


class _Call(Protocol):
    """What is needed of a grpc.aio call."""

    def add_done_callback(self, callback: Any, /) -> None: ...
    def code(self) -> Coroutine[Any, Any, grpc.StatusCode]: ...
    def details(self) -> Coroutine[Any, Any, str | None]: ...


class StreamEnding:
    """How a stream ended, noted the moment it did.

    When a write of ours meets the end of the stream, grpc.aio sets the status INTERNAL, before or
    after the one that the adapter sent, and the later of the two stays (measured with grpcio 1.85,
    about half the time each). So the first is noted, and where it is ours, the second awaited.
    """

    def __init__(self, call: _Call) -> None:
        self._call = call
        self._status: tuple[grpc.StatusCode, str] | None = None
        call.add_done_callback(self._note)

    def _note(self, call: _Call) -> None:
        self._status = self._status or (_settled(call.code()), _settled(call.details()) or "")

    async def failure(self, deadline_s: float, where: str) -> AdapterError | None:
        """The error that the stream ended with; None for OK.

        Where the adapter's own status never comes, it is UNAVAILABLE: whether the adapter is gone
        is for the trial to find out.
        """
        give_up = time.monotonic() + _STATUS_WAIT_S
        while self._status == _WRITE_FAILED and time.monotonic() < give_up:
            await asyncio.sleep(0.005)
            self._status = (await self._call.code(), await self._call.details() or "")
        if self._status is None:
            return AdapterRpcError("UNAVAILABLE", "the stream ended without a status", where=where)
        if self._status[0] is grpc.StatusCode.OK:
            return None
        if self._status == _WRITE_FAILED:
            details = "the adapter ended the stream while episodes were being sent"
            return AdapterRpcError("UNAVAILABLE", details, where=where)
        return _error_for(*self._status, deadline_s, where)


def _settled(reading: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that has nothing left to wait for."""
    try:
        reading.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    finally:
        reading.close()
    raise HarnessError("a call that is over has no status yet", where="rpc=Ingest")
