"""What one socket may hold at a time: a pod's requests cannot fill the rig's memory."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.requests import Request

from memrig.gateway.call import CallError
from memrig.gateway.config import GatewayConfig


class Bounds:
    """One socket's requests in flight. Those beyond the bound wait, unread.

    Args:
        config: the gateway's.
    """

    def __init__(self, config: GatewayConfig) -> None:
        self._config = config
        self._turns = asyncio.Semaphore(config.max_in_flight)
        self._held = 0

    @asynccontextmanager
    async def body(self, request: Request) -> AsyncIterator[bytes]:
        """A request's body, held until its call is done.

        Raises:
            CallError: of kind `rejected`: it is too large, too slow, or too much beside the others.
        """
        async with self._turns:
            data = bytearray()
            try:
                async with asyncio.timeout(self._config.body_timeout_s):
                    await self._read(request, data)
            except TimeoutError as error:
                self._held -= len(data)
                message = f"the request took longer than {self._config.body_timeout_s:g} s to come"
                raise CallError(message, kind="rejected", status=408) from error
            except BaseException:
                self._held -= len(data)
                raise
            try:
                yield bytes(data)
            finally:
                self._held -= len(data)

    async def _read(self, request: Request, data: bytearray) -> None:
        largest, most = self._config.max_body_bytes, self._config.max_bytes_in_flight
        async for chunk in request.stream():
            data += chunk
            self._held += len(chunk)
            if len(data) > largest:
                message = f"the request has more than {largest:,} bytes"
                raise CallError(message, kind="rejected", status=413)
            if self._held > most:
                message = f"the requests in flight have more than {most:,} bytes together"
                raise CallError(message, kind="rejected", status=429)
