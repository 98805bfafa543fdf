"""A memory that keeps the whole contract, served in this process, pod and all."""

import asyncio
import contextlib
import functools
import itertools
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from memrig.model.manifest import AdapterManifest, AdapterRef, Container, PodKind
from memrig.pod.base import Fate, PodRequest, Usage
from memrig_proto.v1 import memory_adapter_pb2 as pb
from memrig_proto.v1 import memory_adapter_pb2_grpc as rpc

_WORD = re.compile(r"\w+")
_boots = itertools.count(1)
_MODES = {pb.SEARCH_MODE_UNSPECIFIED, pb.SEARCH_MODE_KEYWORD}
_MAX_RESULTS = 20
_MESSAGE_LIMIT = 16 * 1024**2


class Memory(rpc.MemoryAdapterServicer):
    """Keeps the contract, every optional part of it included. Ranks by words in common."""

    healthy_names: tuple[str, ...] = ("", "memrig.v1.MemoryAdapter")

    def __init__(self) -> None:
        self.boot_id = f"boot-{next(_boots)}"
        self.episodes: dict[str, pb.Episode] = {}
        self.pod: InProcessPod | None = None

    def restarted(self) -> None:
        """Its process ended and began again: another boot, and nothing left."""
        self.boot_id = f"boot-{next(_boots)}"
        self.episodes.clear()

    async def Capabilities(self, request, context):  # noqa: N802
        tool = pb.Tool(name="count", description="Counts.", input_schema_json='{"type": "object"}')
        return pb.CapabilitiesResponse(
            name="reference",
            version="1",
            contract_version="1.0",
            boot_id=self.boot_id,
            search_modes=[pb.SEARCH_MODE_KEYWORD],
            filter_fields=[
                pb.FilterField(name="timestamp", type=pb.FILTER_TYPE_TIMESTAMP),
                pb.FilterField(name="place", type=pb.FILTER_TYPE_STRING),
                pb.FilterField(name="rating", type=pb.FILTER_TYPE_NUMBER),
                pb.FilterField(name="kind", type=pb.FILTER_TYPE_ENUM, enum_values=["a", "b"]),
            ],
            max_results=_MAX_RESULTS,
            supports_retrieve=True,
            supports_answer=True,
            supports_forget=True,
            supports_as_of=True,
            reports_source_turns=True,
            tools=[tool],
        )

    async def Reset(self, request, context):  # noqa: N802
        self.episodes.clear()
        return pb.ResetResponse(boot_id=self.boot_id)

    async def Ingest(self, requests, context):  # noqa: N802
        async for request in requests:
            if len(request.episodes) > 256 or not all(
                e.episode_id and e.text for e in request.episodes
            ):
                await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "episodes")
            acks = [self.take(episode) for episode in request.episodes]
            yield pb.IngestResponse(acks=acks, boot_id=self.boot_id)

    def take(self, episode: pb.Episode) -> pb.IngestAck:
        """Stores one episode."""
        if episode.episode_id in self.episodes:
            return pb.IngestAck(episode_id=episode.episode_id, status=pb.INGEST_STATUS_DUPLICATE)
        self.episodes[episode.episode_id] = episode
        return pb.IngestAck(
            episode_id=episode.episode_id, status=pb.INGEST_STATUS_STORED, stored_items=1
        )

    async def Flush(self, request, context):  # noqa: N802
        return pb.FlushResponse(total_items=len(self.episodes), boot_id=self.boot_id)

    async def Search(self, request, context):  # noqa: N802
        if problem := self.problem(request):
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, problem)
        return pb.SearchResponse(hits=self.hits(request), boot_id=self.boot_id)

    def problem(self, request: pb.SearchRequest) -> str:
        """What is wrong with a request; empty if nothing is."""
        checks = {
            "query": 0 < len(request.query.encode()) <= 64 * 1024,
            "limit": 1 <= request.limit <= _MAX_RESULTS,
            "mode": request.mode in _MODES,
            "filters": all(map(well_formed, request.filters)),
        }
        return ", ".join(name for name, good in checks.items() if not good)

    def hits(self, request: pb.SearchRequest) -> list[pb.Hit]:
        """The best passages, cut to the limit."""
        return self.ranked(request)[: request.limit]

    def ranked(self, request: pb.SearchRequest) -> list[pb.Hit]:
        """All passages that share a word with the query, best first."""
        wanted = words(request.query)
        found = [
            hit
            for episode in self.episodes.values()
            if self.allows(request, episode)
            for hit in self.passages(episode)
        ]
        for hit in found:
            hit.score = len(wanted & words(hit.text))
        found.sort(key=lambda hit: -hit.score)
        return [hit for hit in found if hit.score > 0]

    def allows(self, request: pb.SearchRequest, episode: pb.Episode) -> bool:
        """Tells whether as_of and the filters let an episode through."""
        return self.in_time(request, episode) and all(
            matches(condition, episode) for condition in request.filters
        )

    def in_time(self, request: pb.SearchRequest, episode: pb.Episode) -> bool:
        """Tells whether an episode had happened by the request's as_of."""
        return (
            not request.HasField("as_of")
            or episode.timestamp.ToDatetime() <= request.as_of.ToDatetime()
        )

    def passages(self, episode: pb.Episode) -> list[pb.Hit]:
        """An episode's turns, or its text, as hits without a score."""
        parts = [(turn.text, [turn.turn_id]) for turn in episode.turns if turn.text]
        return [
            pb.Hit(
                ref_id=f"{episode.episode_id}/{number}",
                text=text,
                source_episode_ids=[episode.episode_id],
                source_turn_ids=turn_ids,
            )
            for number, (text, turn_ids) in enumerate(parts or [(episode.text, [])])
        ]

    async def Retrieve(self, request, context):  # noqa: N802
        if not request.ref_id:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "ref_id")
        for episode in self.episodes.values():
            for hit in self.passages(episode):
                if hit.ref_id == request.ref_id:
                    document = pb.Document(
                        ref_id=hit.ref_id,
                        text=hit.text,
                        source_episode_ids=hit.source_episode_ids,
                    )
                    return pb.RetrieveResponse(document=document, boot_id=self.boot_id)
        return await context.abort(grpc.StatusCode.NOT_FOUND, "no such ref")

    async def Answer(self, request, context):  # noqa: N802
        if not request.question:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "question")
        return pb.AnswerResponse(abstained=True, confidence=0.5, boot_id=self.boot_id)

    async def Forget(self, request, context):  # noqa: N802
        if not request.episode_ids or not all(request.episode_ids):
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "episode_ids")
        known = [name for name in request.episode_ids if self.episodes.pop(name, None)]
        return pb.ForgetResponse(forgotten_episodes=len(known), boot_id=self.boot_id)

    async def CallTool(self, request, context):  # noqa: N802
        if request.name != "count":
            await context.abort(grpc.StatusCode.NOT_FOUND, "no such tool")
        if not request.arguments_json.startswith("{"):
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "arguments_json")
        result = json.dumps({"episodes": len(self.episodes)})
        return pb.CallToolResponse(result_json=result, boot_id=self.boot_id)


class OnlyAnswers(Memory):
    """Keeps the contract of what cannot be searched: its answer is what it would have found."""

    async def Capabilities(self, request, context):  # noqa: N802
        return pb.CapabilitiesResponse(
            name="only-answers",
            version="1",
            contract_version="1.0",
            boot_id=self.boot_id,
            supports_answer=True,
        )

    async def Answer(self, request, context):  # noqa: N802
        if not request.question:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "question")
        text = self.say(request.question)
        return pb.AnswerResponse(answer=text, abstained=not text, boot_id=self.boot_id)

    def say(self, question: str) -> str:
        """The answer to a question; empty where nothing is known."""
        found = self.ranked(pb.SearchRequest(query=question))
        return found[0].text if found else ""

    async def Search(self, request, context):  # noqa: N802
        await context.abort(grpc.StatusCode.UNIMPLEMENTED, "it only answers")

    Retrieve = Forget = CallTool = Search


@functools.cache
def words(text: str) -> set[str]:
    """The words of a text in lower case."""
    return set(_WORD.findall(text.lower()))


_PARSERS = {
    "timestamp": datetime.fromisoformat,
    "place": str,
    "rating": float,
    "kind": ["a", "b"].index,
}


def well_formed(condition: pb.Filter) -> bool:
    """Tells whether a condition names a field, an operator that it has, and a value of its type."""
    if condition.field not in _PARSERS or not condition.operator:
        return False
    ordered = condition.field in {"timestamp", "rating"}
    try:
        _PARSERS[condition.field](condition.value)
    except ValueError:
        return False
    return ordered or condition.operator == pb.FILTER_OPERATOR_EQUAL


def matches(condition: pb.Filter, episode: pb.Episode) -> bool:
    """Tells whether an episode meets a condition; what lacks the field does not."""
    parse = _PARSERS[condition.field]
    if condition.field == "timestamp":
        value = episode.timestamp.ToDatetime(UTC) if episode.HasField("timestamp") else None
    else:
        written = episode.metadata.get(condition.field)
        value = None if written is None else parse(written)
    if value is None:
        return False
    bound = parse(condition.value)
    if condition.operator == pb.FILTER_OPERATOR_EQUAL:
        return value == bound
    return (value < bound) == (condition.operator == pb.FILTER_OPERATOR_LESS)


class InProcessPod:
    """Implements `Pod`: a server in this process."""

    def __init__(
        self, target: str, server: grpc.aio.Server, again: Callable[[], Awaitable[grpc.aio.Server]]
    ) -> None:
        self.target = target
        self.description = {"pod": "in-process"}
        self._server = server
        self._again = again
        self._fate = Fate("running")
        self._ending: asyncio.Task[None] | None = None

    def die(self) -> None:
        """Ends as a crashed process does: the state first, then the connection."""
        self._fate = Fate("exited", exit_code=139)
        self._ending = asyncio.ensure_future(self._server.stop(0))

    async def fate(self) -> Fate:
        return self._fate

    async def usage(self) -> Usage:
        return Usage()

    async def logs(self, lines: int = 200) -> str:
        return "last words\x1b[31m"

    async def restart(self, service: str, *, kill: bool = False) -> None:
        """Another process in this one's place, as `again` starts it."""
        assert service == "adapter"
        await self._server.stop(0)
        self._server = await self._again()

    async def stop(self) -> None:
        """Waits until the server is gone."""
        if self._ending is not None:
            with contextlib.suppress(asyncio.CancelledError):
                await self._ending
        await self._server.stop(0)


class InProcessProvider:
    """Implements `PodProvider`: a new memory a pod, on sockets below `folder` (a short path)."""

    kind: PodKind = "process"

    def __init__(self, folder: Path, memory: type[Memory]) -> None:
        self._folder = folder
        self._memory = memory
        self.started: list[Memory] = []

    @asynccontextmanager
    async def start(self, request: PodRequest) -> AsyncIterator[InProcessPod]:
        target = f"unix:{self._folder}/{len(self.started)}.sock"
        memory = self._memory()
        self.started.append(memory)

        async def again() -> grpc.aio.Server:
            memory.restarted()
            return await self._serve(memory, target)

        server = await self._serve(memory, target)
        memory.pod = pod = InProcessPod(target, server, again)
        try:
            yield pod
        finally:
            await pod.stop()

    async def _serve(self, memory: Memory, target: str) -> grpc.aio.Server:
        server = grpc.aio.server(options=[("grpc.max_receive_message_length", _MESSAGE_LIMIT)])
        rpc.add_MemoryAdapterServicer_to_server(memory, server)
        checks = health.aio.HealthServicer()
        health_pb2_grpc.add_HealthServicer_to_server(checks, server)
        for name in memory.healthy_names:
            await checks.set(name, health_pb2.HealthCheckResponse.SERVING)
        if "" not in memory.healthy_names:
            await checks.set("", health_pb2.HealthCheckResponse.NOT_SERVING)
        server.add_insecure_port(target)
        await server.start()
        return server


def in_process_adapter() -> AdapterRef:
    """A reference that an `InProcessProvider` accepts."""
    manifest = AdapterManifest(
        name="in-process", version="1", start_timeout_s=0.5, image=Container(build=".")
    )
    return AdapterRef(name="in-process", version="1", pod="process", manifest=manifest)
