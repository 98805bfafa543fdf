"""The gRPC client: deadlines, payload limits, opaque ids, error mapping. One place each."""

from memrig.client.connection import MemoryClient
from memrig.client.ids import Pseudonyms

__all__ = ["MemoryClient", "Pseudonyms"]
