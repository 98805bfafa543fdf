"""A small memory that speaks the real contract over a real socket, with faults on demand."""

import asyncio
import itertools
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from memrig.model.manifest import AdapterManifest, AdapterRef, Container, PodKind
from memrig.pod.base import Fate, PodRequest, Usage
from memrig_proto.v1 import memory_adapter_pb2 as pb
from memrig_proto.v1 import memory_adapter_pb2_grpc as rpc

_WORD = re.compile(r"\w+")
_boots = itertools.count(1)


@dataclass(slots=True)
class Behaviour:
    """What goes wrong, and when. `on_search` is awaited with the number of the search (from 1)."""

    on_search: Callable[["FakeMemory", int], "asyncio.Future[None] | None"] | None = None
    search_delay_s: dict[int, float] = field(default_factory=dict)
    search_status: dict[int, grpc.StatusCode] = field(default_factory=dict)
    restart_before_search: set[int] = field(default_factory=set)
    claim_everything: bool = False
    lose_acks_after: int | None = None
    ack_twice: bool = False
    reject: str = ""
    keep_on_reset: bool = False
    forgetful: bool = False
    surplus: int = 0
    questions_change_memory: bool = False
    ready: bool = True
    contract: str = "1.0"
    reset_dies: bool = False
    found_after_flush: bool = False
    forgets_on_restart: bool = False
    on_ingest: Callable[["FakeMemory", str], None] | None = None
    score: float | None = None


class FakeMemory(rpc.MemoryAdapterServicer):
    """Word-overlap search over everything ingested; first come, first ranked on ties."""

    def __init__(self, behaviour: Behaviour) -> None:
        self.behaviour = behaviour
        self.boot_id = f"boot-{next(_boots)}"
        self.episodes: list[pb.Episode] = []
        self.unflushed: list[pb.Episode] = []
        self.queries: list[str] = []

    async def Capabilities(self, request, context):  # noqa: N802
        return pb.CapabilitiesResponse(
            name="fake",
            version="1",
            contract_version=self.behaviour.contract,
            boot_id=self.boot_id,
            search_modes=[pb.SEARCH_MODE_KEYWORD],
            max_results=50,
            questions_change_memory=self.behaviour.questions_change_memory,
        )

    async def Reset(self, request, context):  # noqa: N802
        if self.behaviour.reset_dies and self.behaviour.on_search:
            await self.behaviour.on_search(self, -1)
        if not self.behaviour.keep_on_reset:
            self.episodes.clear()
        return pb.ResetResponse(boot_id=self.boot_id)

    async def Ingest(self, requests, context):  # noqa: N802
        async for request in requests:
            for episode in request.episodes:
                if self.behaviour.on_ingest:
                    self.behaviour.on_ingest(self, episode.text)
            acks = [self._take(episode) for episode in request.episodes]
            if self.behaviour.ack_twice:
                acks += acks
            if self.behaviour.lose_acks_after is not None:
                acks = acks[: self.behaviour.lose_acks_after]
            yield pb.IngestResponse(acks=acks, boot_id=self.boot_id)

    def _take(self, episode: pb.Episode) -> pb.IngestAck:
        if self.behaviour.reject and self.behaviour.reject in episode.text:
            return pb.IngestAck(
                episode_id=episode.episode_id, status=pb.INGEST_STATUS_REJECTED, message="no"
            )
        if self.behaviour.found_after_flush:
            self.unflushed.append(episode)
        elif not self.behaviour.forgetful:
            self.episodes.append(episode)
        return pb.IngestAck(
            episode_id=episode.episode_id, status=pb.INGEST_STATUS_STORED, stored_items=1
        )

    async def Flush(self, request, context):  # noqa: N802
        self.episodes += self.unflushed
        self.unflushed.clear()
        return pb.FlushResponse(total_items=len(self.episodes), boot_id=self.boot_id)

    async def Search(self, request, context):  # noqa: N802
        self.queries.append(request.query)
        number = len(self.queries)
        if number in self.behaviour.restart_before_search:
            self.boot_id = f"boot-{next(_boots)}"
            self.episodes.clear()
        if status := self.behaviour.search_status.get(number):
            await context.abort(status, "as told")
        await asyncio.sleep(self.behaviour.search_delay_s.get(number, 0))
        if self.behaviour.on_search:
            await self.behaviour.on_search(self, number)
        limit = request.limit + self.behaviour.surplus
        return pb.SearchResponse(hits=self._hits(request.query)[:limit], boot_id=self.boot_id)

    def _hits(self, query: str) -> list[pb.Hit]:
        wanted = set(_WORD.findall(query.lower()))
        everything = [episode.episode_id for episode in self.episodes]
        scored = [
            (len(wanted & set(_WORD.findall(episode.text.lower()))), -n, episode)
            for n, episode in enumerate(self.episodes)
        ]
        scored.sort(key=lambda item: item[:2], reverse=True)
        return [
            pb.Hit(
                ref_id=f"ref-{-n}",
                text=episode.text,
                score=overlap if self.behaviour.score is None else self.behaviour.score,
                source_episode_ids=everything
                if self.behaviour.claim_everything
                else [episode.episode_id],
            )
            for overlap, n, episode in scored
            if overlap
        ]


@dataclass(slots=True)
class FakePod:
    """A pod whose process is an in-process server."""

    target: str
    memory: FakeMemory
    server: grpc.aio.Server
    state: Fate = field(default_factory=lambda: Fate("running"))
    description: dict[str, str] = field(default_factory=lambda: {"pod": "fake"})
    services: tuple[str, ...] = ("adapter",)
    kills: list[str] = field(default_factory=list)

    async def fate(self) -> Fate:
        return self.state

    async def usage(self) -> Usage:
        return Usage(cpu_s=0.5, peak_memory_bytes=1000, memory_bytes=900, file_bytes=100)

    async def logs(self, lines: int = 200) -> str:
        return "last words"

    async def restart(self, service: str, *, kill: bool = False) -> None:
        if kill:
            self.kills.append(service)
        if service == "adapter":
            self.memory.boot_id = f"boot-{next(_boots)}"
        if self.memory.behaviour.forgets_on_restart:
            self.memory.episodes.clear()

    async def die(self, fate: Fate) -> None:
        """Ends as a crashed process does: the state first, then the connection."""
        self.state = fate
        await self.server.stop(0)


class FakeProvider:
    """Starts a fresh memory per pod on a socket below `folder` (keep its path short)."""

    def __init__(self, folder: Path, behaviour: Behaviour | None = None) -> None:
        self._folder = folder
        self.behaviour = behaviour or Behaviour()
        self.pods: list[FakePod] = []
        self.requests: list[PodRequest] = []
        self.start_errors: list[Exception] = []
        self.kind_: PodKind = "process"
        self.stop_hangs = False
        self.services: tuple[str, ...] = ("adapter",)
        self.stopping = asyncio.Event()
        self._numbers = itertools.count()  # pods may be started at the same time

    @property
    def kind(self) -> PodKind:
        return self.kind_

    def close(self) -> None:
        """Nothing is shared."""

    @asynccontextmanager
    async def start(self, request: PodRequest) -> AsyncIterator[FakePod]:
        self.requests.append(request)
        if self.start_errors:
            raise self.start_errors.pop(0)
        target = f"unix:{self._folder}/{next(self._numbers)}.sock"
        server = grpc.aio.server()
        memory = FakeMemory(self.behaviour)
        rpc.add_MemoryAdapterServicer_to_server(memory, server)
        checks = health.aio.HealthServicer()
        health_pb2_grpc.add_HealthServicer_to_server(checks, server)
        if self.behaviour.ready:
            serving = health_pb2.HealthCheckResponse.SERVING
            await checks.set("memrig.v1.MemoryAdapter", serving)
        server.add_insecure_port(target)
        await server.start()
        pod = FakePod(target, memory, server, services=self.services)
        self.pods.append(pod)
        try:
            yield pod
        finally:
            self.stopping.set()
            if self.stop_hangs:
                self.stop_hangs = False
                await asyncio.sleep(30)
            await server.stop(0)


def fake_adapter(*, start_timeout_s: float = 5) -> AdapterRef:
    """A reference that a fake provider accepts."""
    manifest = AdapterManifest(
        name="fake", version="1", start_timeout_s=start_timeout_s, image=Container(build=".")
    )
    return AdapterRef(name="fake", version="1", pod="process", manifest=manifest)
