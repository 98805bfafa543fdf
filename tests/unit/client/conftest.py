"""A memory served on a Unix socket, and a client of it."""

import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import grpc
import pytest

from memrig.client import MemoryClient
from memrig.model.trial import Deadlines
from memrig_proto.v1 import memory_adapter_pb2_grpc as rpc
from support.fake_memory import Behaviour, FakeMemory

Connect = Callable[..., Awaitable[MemoryClient]]
LIMITS = [(f"grpc.max_{way}_message_length", 16 * 1024**2) for way in ("receive", "send")]


@pytest.fixture
async def connect() -> AsyncIterator[Connect]:
    """Serves a memory (by default a new FakeMemory) and shakes hands with it."""
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="mr"))

        async def connected(
            memory: rpc.MemoryAdapterServicer | None = None,
            *,
            handshake: bool = True,
            **deadlines: float,
        ) -> MemoryClient:
            server = grpc.aio.server(options=LIMITS)
            rpc.add_MemoryAdapterServicer_to_server(memory or FakeMemory(Behaviour()), server)
            target = f"unix:{Path(folder)}/a.sock"
            server.add_insecure_port(target)
            await server.start()
            stack.push_async_callback(server.stop, 0)
            client = await stack.enter_async_context(MemoryClient(target, Deadlines(**deadlines)))
            if handshake:
                await client.capabilities()
            return client

        yield connected
