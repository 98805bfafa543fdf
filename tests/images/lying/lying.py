"""A memory that lies on the wire as LIE says; below the SDK, which would not let it.

LIE is one of:

- ``""``: nothing, the sound one;
- ``never-ingested``: every hit claims an episode that nobody sent, and no other one;
- ``half``: every hit claims one such beside its own;
- ``future``: every hit claims an episode that is yet to come; LIE_FILE remembers the ids of a run
  before (ids are the same for every run);
- ``other-scope``: every hit claims an episode of another scope, known in the same way;
- ``turns``: a turn's id, and an empty one, where an episode's should stand;
- ``no-sources``: no hit claims anything;
- ``duplicates``: the best hit again and again, under the same ref;
- ``empty-refs``, ``nan``, ``huge-refs``, ``no-text``: what a hit must not be;
- ``surplus``: fifty times as many hits as were asked for;
- ``everything``: for any query all there is, each episode under its own name;
- ``one-claims-all``: one hit that claims every episode.
"""

import asyncio
import math
import os
import re
import signal
import uuid
from collections.abc import Iterable
from pathlib import Path

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from memrig_proto.v1 import memory_adapter_pb2 as pb
from memrig_proto.v1 import memory_adapter_pb2_grpc as rpc

LIE = os.environ.get("LIE", "")
FILE = os.environ.get("LIE_FILE", "")
_WORD = re.compile(r"\w{4,}")
_MAX_RESULTS = 50
_MESSAGE_LIMIT = 16 * 1024**2
_NOBODY = "e_" + "0123456789abcdef" * 2


def words(text: str) -> set[str]:
    """The longer words of a text."""
    return set(_WORD.findall(text.lower()))


def note_ids(names: Iterable[str]) -> None:
    """Writes ids down, for a later run."""
    with Path(FILE).open("a") as file:
        file.write("".join(f"{name}\n" for name in names))


class Lying(rpc.MemoryAdapterServicer):
    """Ranks by words in common."""

    def __init__(self) -> None:
        self.boot_id = uuid.uuid4().hex
        self.episodes: dict[str, pb.Episode] = {}
        self.known = Path(FILE).read_text().split() if FILE and Path(FILE).exists() else []

    async def Capabilities(self, request, context):  # noqa: N802
        return pb.CapabilitiesResponse(
            name="lying",
            version="1",
            contract_version="1.0",
            boot_id=self.boot_id,
            search_modes=[pb.SEARCH_MODE_KEYWORD],
            max_results=_MAX_RESULTS,
        )

    async def Reset(self, request, context):  # noqa: N802
        self.episodes.clear()
        return pb.ResetResponse(boot_id=self.boot_id)

    async def Ingest(self, requests, context):  # noqa: N802
        async for request in requests:
            acks = []
            for episode in request.episodes:
                self.episodes[episode.episode_id] = episode
                stored = pb.INGEST_STATUS_STORED
                acks.append(
                    pb.IngestAck(episode_id=episode.episode_id, status=stored, stored_items=1)
                )
            yield pb.IngestResponse(acks=acks, boot_id=self.boot_id)

    async def Flush(self, request, context):  # noqa: N802
        if FILE:
            note_ids(self.episodes)
        return pb.FlushResponse(total_items=len(self.episodes), boot_id=self.boot_id)

    async def Search(self, request, context):  # noqa: N802
        wanted = words(request.query)
        ranked = sorted(
            self.episodes.values(), key=lambda episode: -len(wanted & words(episode.text))
        )
        most = len(ranked) if LIE == "everything" else request.limit
        hits = [self.hit(episode, wanted) for episode in ranked[:most]]
        return pb.SearchResponse(hits=self.bent(hits, request.limit), boot_id=self.boot_id)

    def hit(self, episode: pb.Episode, wanted: set[str]) -> pb.Hit:
        """An episode as a hit, with what it claims."""
        return pb.Hit(
            ref_id=f"r/{episode.episode_id}",
            text=episode.text,
            score=len(wanted & words(episode.text)),
            source_episode_ids=self.claims(episode.episode_id),
            timestamp=episode.timestamp,
        )

    def claims(self, name: str) -> list[str]:
        """The sources of a hit."""
        elsewhere = [known for known in self.known if known not in self.episodes]
        lies = {
            "never-ingested": [_NOBODY],
            "half": [name, _NOBODY],
            "future": elsewhere[:1] or [_NOBODY],
            "other-scope": elsewhere[-1:] or [_NOBODY],
            "turns": ["t_" + name[2:], ""],
            "no-sources": [],
        }
        return lies.get(LIE, [name])

    def bent(self, hits: list[pb.Hit], limit: int) -> list[pb.Hit]:
        """All hits of a search, made what LIE says."""
        if LIE == "duplicates":
            return hits[:1] * limit
        if LIE == "surplus":
            return hits * 50
        if LIE == "one-claims-all" and hits:
            del hits[0].source_episode_ids[:]
            hits[0].source_episode_ids.extend(self.episodes)
            return hits[:1]
        for hit in hits:
            if LIE == "empty-refs":
                hit.ref_id = ""
            elif LIE == "huge-refs":
                hit.ref_id = "x" * 100_000
            elif LIE == "nan":
                hit.score = math.nan
            elif LIE == "no-text":
                hit.text = ""
        return hits


async def serve() -> None:
    """Serves where MEMRIG_LISTEN says, until SIGTERM."""
    server = grpc.aio.server(
        options=[
            ("grpc.max_receive_message_length", _MESSAGE_LIMIT),
            ("grpc.max_send_message_length", _MESSAGE_LIMIT),
        ]
    )
    rpc.add_MemoryAdapterServicer_to_server(Lying(), server)
    checks = health.aio.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(checks, server)
    for name in ("", "memrig.v1.MemoryAdapter"):
        await checks.set(name, health_pb2.HealthCheckResponse.SERVING)
    server.add_insecure_port(os.environ["MEMRIG_LISTEN"])
    await server.start()
    asyncio.get_running_loop().add_signal_handler(
        signal.SIGTERM, lambda: asyncio.ensure_future(server.stop(0.5))
    )
    await server.wait_for_termination()


if __name__ == "__main__":
    asyncio.run(serve())
