"""Serves adapters on Unix sockets, with clients as a rig would hold them."""

from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2_grpc

from memrig_adapters import Adapter
from memrig_adapters.server import AdapterServer
from memrig_proto.v1 import memory_adapter_pb2_grpc as pb_grpc
from support.served import OPTIONS, Serve, Served


@pytest.fixture
def socket(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A path for a Unix socket, short enough for Linux whatever the test's name."""
    return tmp_path_factory.mktemp("s") / "a.sock"


@pytest.fixture
def connect(socket: Path) -> Iterator[Serve]:
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
def serve(connect: Serve) -> Serve:
    """Serves an adapter, started."""

    def start(adapter: Adapter) -> Served:
        served = connect(adapter)
        served.server.start()
        return served

    return start
