"""What a check works with: a connected adapter, and the few steps that most checks share."""

import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol, TypeVar

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from memrig.client import MemoryClient
from memrig.client.status import map_error
from memrig.conformance.facts import Fact, facts, find, stamp
from memrig.conformance.verdict import NotApplicable, fail, require
from memrig.errors import PrerequisiteError
from memrig.model.trial import Deadlines
from memrig_proto.v1 import memory_adapter_pb2 as pb
from memrig_proto.v1 import memory_adapter_pb2_grpc as rpc

#: Patient enough for a system that asks a model about each episode, and still finite.
DEADLINES = Deadlines(capabilities=5, reset=30, ingest_idle=60, ingest=300, flush=120, search=10)
_USUAL_LIMIT = 10
_PER_MESSAGE = 64

T = TypeVar("T")


class Asking(Awaitable[object], Protocol):
    """A call under way that may be cancelled."""

    def cancel(self) -> bool:
        """Lets go of it."""


@dataclass(frozen=True, slots=True)
class Link:
    """A started adapter, as one process.

    Args:
        client: the client that the rig itself uses.
        wide: a stub whose end sends more than the contract allows.
        health: the standard health service.
        capabilities: what the adapter declared at the start.
        deadlines: seconds for each kind of call.
    """

    client: MemoryClient
    wide: "rpc.MemoryAdapterAsyncStub"
    health: health_pb2_grpc.HealthStub
    capabilities: pb.CapabilitiesResponse
    deadlines: Deadlines


@dataclass(frozen=True, slots=True)
class Context:
    """One check's view of the adapter. `purpose` keeps its episodes apart from other checks'.

    `restart` ends the adapter's process and starts it again in the same pod.
    """

    link: Link
    purpose: str
    restart: Callable[[], Awaitable[Link]]

    @property
    def stub(self) -> "rpc.MemoryAdapterAsyncStub":
        """The bare stub."""
        return self.link.client.stub

    @property
    def capabilities(self) -> pb.CapabilitiesResponse:
        """What the adapter declared at the start."""
        return self.link.capabilities

    @property
    def boot_id(self) -> str:
        """The process that was met at the start."""
        return self.link.capabilities.boot_id

    @property
    def deadlines(self) -> Deadlines:
        """Seconds for each kind of call."""
        return self.link.deadlines

    async def restarted(self) -> "Context":
        """The same view of the adapter's next process, in the same pod.

        Raises:
            NotApplicable: this pod cannot restart what runs in it.
        """
        try:
            return replace(self, link=await self.restart())
        except PrerequisiteError as error:
            raise NotApplicable(f"this pod cannot restart the adapter: {error.message}") from error

    def facts(self, count: int, start: int = 0) -> list[Fact]:
        """Facts of this check's own."""
        return facts(self.purpose, count, start)

    def fact(self, number: int = 0) -> Fact:
        """One of them."""
        return self.facts(1, number)[0]

    async def declared(self) -> pb.CapabilitiesResponse:
        """Asks for the capabilities again."""
        limit = self.deadlines.capabilities
        call = self.stub.Capabilities(pb.CapabilitiesRequest(), timeout=limit)
        return await answer(call, "Capabilities", limit)

    async def reset(self) -> pb.ResetResponse:
        """Empties the memory."""
        limit = self.deadlines.reset
        return await answer(self.stub.Reset(pb.ResetRequest(), timeout=limit), "Reset", limit)

    async def ingest(
        self, episodes: Iterable[pb.Episode], per_message: int = _PER_MESSAGE
    ) -> list[pb.IngestAck]:
        """Streams episodes and returns every acknowledgement, in the order of arrival."""
        return [
            ack for response in await self.stream(episodes, per_message) for ack in response.acks
        ]

    async def stream(
        self, episodes: Iterable[pb.Episode], per_message: int = _PER_MESSAGE
    ) -> list[pb.IngestResponse]:
        """Streams episodes, half-closes, and returns every response up to the stream's end."""
        limit = self.deadlines.ingest
        call = self.stub.Ingest(_messages(list(episodes), per_message), timeout=limit)
        try:
            return [response async for response in call]
        except grpc.aio.AioRpcError as error:
            raise map_error(error, limit, "rpc=Ingest") from error

    async def ingest_messages(
        self, messages: Sequence[pb.IngestRequest]
    ) -> tuple[list[pb.IngestAck], str]:
        """Streams messages as they are; returns what was acknowledged, and the stream's status."""
        return await drain(self.stub.Ingest(_each(messages), timeout=self.deadlines.ingest))

    async def flush(self) -> pb.FlushResponse:
        """Passes the barrier."""
        limit = self.deadlines.flush
        return await answer(self.stub.Flush(pb.FlushRequest(), timeout=limit), "Flush", limit)

    async def remember(self, episodes: Iterable[pb.Episode]) -> frozenset[str]:
        """Ingests and flushes; returns the ids of the episodes that the memory says it keeps.

        Raises:
            NotApplicable: it says that it keeps none of them (docs/conformance.md, What a memory
                is not asked): then it cannot be asked to find them.
        """
        acks = await self.ingest(episodes)
        total = (await self.flush()).total_items
        kept = kept_ids(acks, total)
        if not kept:
            raise NotApplicable("the memory says that it kept none of the episodes")
        return kept

    async def remember_facts(self, told: Sequence[Fact]) -> list[Fact]:
        """Ingests and flushes facts; returns those that the memory says it keeps."""
        kept = await self.remember(fact.episode() for fact in told)
        return [fact for fact in told if fact.episode_id in kept]

    async def search(
        self,
        query: str,
        *,
        limit: int | None = None,
        mode: "pb.SearchMode.ValueType" = pb.SEARCH_MODE_UNSPECIFIED,
        filters: Sequence[pb.Filter] = (),
        as_of: datetime | None = None,
        deadline_s: float | None = None,
    ) -> pb.SearchResponse:
        """Searches; the limit is 10 unless told, or what the adapter can give.

        What cannot be searched is asked, and its answer stands for a hit (protocol §4.3).
        """
        if not self.capabilities.search_modes:
            return await self._answered(query)
        request = pb.SearchRequest(
            query=query,
            mode=mode,
            filters=filters,
            limit=self.usual_limit if limit is None else limit,
            as_of=None if as_of is None else stamp(as_of),
        )
        allowed = deadline_s or self.deadlines.search
        return await answer(self.stub.Search(request, timeout=allowed), "Search", allowed)

    async def _answered(self, question: str) -> pb.SearchResponse:
        allowed = self.deadlines.flush  # a system that thinks before it speaks
        call = self.stub.Answer(pb.AnswerRequest(question=question), timeout=allowed)
        given = await answer(call, "Answer", allowed)
        hit = pb.Hit(text=given.answer, source_episode_ids=given.source_episode_ids)
        return pb.SearchResponse(hits=[hit] if given.answer else [], boot_id=given.boot_id)

    def asking(self, query: str, deadline_s: float, unknown: bytes = b"") -> Asking:
        """A question under way: a search for one hit, or Answer of what cannot be searched.

        `unknown` is put behind the request as it goes over the wire.
        """
        if self.capabilities.search_modes:
            known = pb.SearchRequest(query=query, limit=1).SerializeToString()
            request = pb.SearchRequest.FromString(known + unknown)
            return self.stub.Search(request, timeout=deadline_s)
        asked = pb.AnswerRequest.FromString(
            pb.AnswerRequest(question=query).SerializeToString() + unknown
        )
        return self.stub.Answer(asked, timeout=deadline_s)

    async def status_of_search(self, request: pb.SearchRequest) -> str:
        """The status that a search ends with."""
        return await status(self.stub.Search(request, timeout=self.deadlines.search))

    async def retrieve(self, ref_id: str) -> pb.Document:
        """Fetches one item."""
        allowed = self.deadlines.search
        call = self.stub.Retrieve(pb.RetrieveRequest(ref_id=ref_id), timeout=allowed)
        return (await answer(call, "Retrieve", allowed)).document

    async def forget(self, episode_ids: Iterable[str]) -> pb.ForgetResponse:
        """Makes the memory forget episodes."""
        allowed = self.deadlines.reset
        call = self.stub.Forget(pb.ForgetRequest(episode_ids=episode_ids), timeout=allowed)
        return await answer(call, "Forget", allowed)

    @property
    def usual_limit(self) -> int:
        """How many hits a check asks for when it does not matter."""
        return min(_USUAL_LIMIT, max(1, self.capabilities.max_results))

    async def require_found(self, fact: Fact, when: str) -> pb.Hit:
        """Searches for a fact; fails if no hit tells it."""
        response = await self.search(fact.query)
        hit = find(fact, response.hits)
        if hit is None:
            fail(
                f"the search {fact.query!r} does not find an episode {when}",
                expected=f"a hit with source {fact.episode_id} or with {fact.marker} in its text",
                got=[seen.text for seen in response.hits],
            )
        return hit

    async def require_gone(self, fact: Fact, when: str) -> None:
        """Searches for a fact; fails if a hit tells it."""
        hit = find(fact, (await self.search(fact.query)).hits)
        require(
            hit is None,
            f"the search {fact.query!r} still finds an episode {when}",
            expected="no hit that tells it",
            got=hit,
        )

    async def require_usable(self, after: str) -> None:
        """Fails unless the same process can be emptied, remembers a new fact and finds it."""
        boot_id = (await self.declared()).boot_id
        require(
            boot_id == self.boot_id,
            f"the adapter restarted after {after}",
            expected=f"boot_id {self.boot_id}",
            got=boot_id,
        )
        await self.reset()
        fact = self.fact(900)
        acks = await self.ingest([fact.episode()])
        total = (await self.flush()).total_items
        response = await self.search(fact.query)
        if kept_ids(acks, total):
            require(
                find(fact, response.hits),
                f"after {after}, a new episode is not found",
                expected=f"a hit that tells {fact.text!r}",
                got=[hit.text for hit in response.hits],
            )


def kept_ids(acks: Iterable[pb.IngestAck], total_items: int) -> frozenset[str]:
    """The episodes that a memory says it keeps.

    DUPLICATE says so; STORED does with a count of items. Counts that are all 0 say nothing where
    items are made later, in the background: then the memory's total after Flush decides.
    """
    stored = {ack.episode_id: ack for ack in acks if ack.status == pb.INGEST_STATUS_STORED}
    known = {ack.episode_id for ack in acks if ack.status == pb.INGEST_STATUS_DUPLICATE}
    counted = {name for name, ack in stored.items() if ack.stored_items}
    if not counted and not known and total_items:
        return frozenset(stored)
    return frozenset(counted | known)


async def answer(call: Awaitable[T], name: str, deadline_s: float) -> T:
    """A call's response.

    Raises:
        AdapterError: it ended with another status than OK.
    """
    try:
        return await call
    except grpc.aio.AioRpcError as error:
        raise map_error(error, deadline_s, f"rpc={name}") from error


async def status(call: Awaitable[object]) -> str:
    """The name of the status that a call ends with."""
    try:
        await call
    except grpc.aio.AioRpcError as error:
        return error.code().name
    return "OK"


async def drain(
    call: "grpc.aio.StreamStreamCall[pb.IngestRequest, pb.IngestResponse]",
) -> tuple[list[pb.IngestAck], str]:
    """Reads a stream to its end; returns what was acknowledged, and the stream's status."""
    acks: list[pb.IngestAck] = []
    try:
        async for response in call:
            acks.extend(response.acks)
    except grpc.aio.AioRpcError as error:
        return acks, error.code().name
    return acks, "OK"


async def health_status(link: Link, service: str) -> str:
    """What the health service says about a name: a serving status, or the call's own status."""
    request = health_pb2.HealthCheckRequest(service=service)
    try:
        response = await link.health.Check(request, timeout=link.deadlines.capabilities)
    except grpc.aio.AioRpcError as error:
        return error.code().name
    return str(health_pb2.HealthCheckResponse.ServingStatus.Name(response.status))


def callable_tool(declared: pb.CapabilitiesResponse) -> str:
    """The name of a declared tool that can be called without arguments; empty if there is none."""
    for tool in declared.tools:
        with contextlib.suppress(ValueError, AttributeError):
            if not json.loads(tool.input_schema_json).get("required"):
                return tool.name
    return ""


async def _messages(
    episodes: Sequence[pb.Episode], per_message: int
) -> AsyncIterator[pb.IngestRequest]:
    for start in range(0, len(episodes), per_message):
        yield pb.IngestRequest(episodes=episodes[start : start + per_message])


async def _each(messages: Sequence[pb.IngestRequest]) -> AsyncIterator[pb.IngestRequest]:
    for message in messages:
        yield message
