"""Serves adapters on Unix sockets, with clients as a rig would hold them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2_grpc
from memrig_adapters import Adapter
from memrig_adapters.server import MAX_MESSAGE_BYTES, AdapterServer
from memrig_proto.v1 import memory_adapter_pb2_grpc as pb_grpc

OPTIONS = [
    ("grpc.max_receive_message_length", 2 * MAX_MESSAGE_BYTES),
    ("grpc.max_send_message_length", 2 * MAX_MESSAGE_BYTES),
]


@dataclass(frozen=True)
class Served:
    """A served adapter and a client of it. The client's own limits are wider than the contract's."""

    server: AdapterServer
    channel: grpc.Channel
    stub: pb_grpc.MemoryAdapterStub
    health: health_pb2_grpc.HealthStub

    @property
    def target(self) -> str:
        return self.server.address


@pytest.fixture
def socket(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A path for a Unix socket, short enough for Linux whatever the test's name."""
    return tmp_path_factory.mktemp("s") / "a.sock"


@pytest.fixture
def connect(socket: Path) -> Iterator[Callable[[Adapter], Served]]:
    """Binds a server that has not started, and a client."""
    made: list[Served] = []

    def make(adapter: Adapter) -> Served:
        address = f"unix:{socket.with_name(f'{len(made)}.sock')}"
        server = AdapterServer(adapter, address)
        channel = grpc.insecure_channel(address, options=OPTIONS)
        served = Served(
            server, channel, pb_grpc.MemoryAdapterStub(channel), health_pb2_grpc.HealthStub(channel)
        )
        made.append(served)
        return served

    yield make
    for served in made:
        served.channel.close()
        served.server.stop(within_s=1.0)


@pytest.fixture
def serve(connect: Callable[[Adapter], Served]) -> Callable[[Adapter], Served]:
    """Serves an adapter, started."""

    def start(adapter: Adapter) -> Served:
        served = connect(adapter)
        served.server.start()
        return served

    return start
