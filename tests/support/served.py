"""A served adapter with a client of it, as the fixtures of the SDK's tests hand them out."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import grpc
from grpc_health.v1 import health_pb2_grpc

from memrig_adapters import Adapter
from memrig_adapters.server import MAX_MESSAGE_BYTES, AdapterServer
from memrig_proto.v1 import memory_adapter_pb2 as pb
from memrig_proto.v1 import memory_adapter_pb2_grpc as pb_grpc

#: Wider than the contract's, so that what is refused is refused by the adapter's end.
OPTIONS = [
    ("grpc.max_receive_message_length", 2 * MAX_MESSAGE_BYTES),
    ("grpc.max_send_message_length", 2 * MAX_MESSAGE_BYTES),
]


@dataclass(frozen=True)
class Served:
    """A bound server and a client's stubs."""

    server: AdapterServer
    channel: grpc.Channel
    stub: pb_grpc.MemoryAdapterStub
    health: health_pb2_grpc.HealthStub

    def ingest(self, episodes: Iterable[pb.Episode]) -> list[pb.IngestAck]:
        """Ingests episodes in one message and returns the acknowledgements."""
        message = pb.IngestRequest(episodes=episodes)
        return [ack for r in self.stub.Ingest(iter([message]), timeout=30) for ack in r.acks]

    def search(self, query: str, limit: int = 5) -> list[str]:
        """Searches and returns the texts of the hits."""
        request = pb.SearchRequest(query=query, limit=limit)
        return [hit.text for hit in self.stub.Search(request, timeout=30).hits]


Serve = Callable[[Adapter], Served]
