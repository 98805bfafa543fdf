"""Responses that are not messages at all."""

import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import pytest

from memrig.client import MemoryClient, Pseudonyms
from memrig.errors import ContractError
from memrig.model.scenario import Episode

#: A SearchResponse whose only hit has a text that is not UTF-8.
GARBLED = bytes([0x0A, 0x03, 0x12, 0x01, 0xFF])


async def _garbled(_request: bytes, _context: object) -> bytes:
    return GARBLED


async def _garbled_stream(requests: AsyncIterator[bytes], _context: object) -> AsyncIterator[bytes]:
    async for _ in requests:
        yield bytes([0xFF, 0xFF])


@pytest.fixture
async def client() -> AsyncIterator[MemoryClient]:
    """A client of a server that answers with bytes of its own."""
    with tempfile.TemporaryDirectory(prefix="mr") as folder:
        target = f"unix:{Path(folder)}/g.sock"
        server = grpc.aio.server()
        handlers = {
            "Search": grpc.unary_unary_rpc_method_handler(_garbled),
            "Ingest": grpc.stream_stream_rpc_method_handler(_garbled_stream),
        }
        service = grpc.method_handlers_generic_handler("memrig.v1.MemoryAdapter", handlers)
        server.add_generic_rpc_handlers((service,))
        server.add_insecure_port(target)
        await server.start()
        async with MemoryClient(target) as connected:
            yield connected
        await server.stop(0)


async def test_a_response_that_cannot_be_parsed_breaks_the_contract(client):
    """It is the adapter's fault, never a crash of the rig."""
    with pytest.raises(ContractError, match="not a valid message"):
        await client.search("anything", 3, Pseudonyms(1, "x"))


async def test_an_acknowledgement_that_cannot_be_parsed_breaks_the_contract(client):
    """Likewise in a stream."""
    with pytest.raises(ContractError, match="not a valid message"):
        async for _ in client.ingest([Episode(episode_id="e", text="t")], Pseudonyms(1, "x")):
            pass
