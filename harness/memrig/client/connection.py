"""One adapter, called: every deadline, limit and status is handled here and nowhere else."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from typing import Protocol, Self, TypeVar

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from memrig.client.answers import document_record, native_record, tool_result_record
from memrig.client.convert import capabilities_record, hit_record, search_request, timestamp
from memrig.client.ids import Pseudonyms
from memrig.client.ingest import IngestResult, ingest_stream
from memrig.client.status import map_error
from memrig.errors import AdapterCrashedError, AdapterRpcError, ContractError
from memrig.model.scenario import Episode, Question
from memrig.model.transcript import (
    Ack,
    CapabilitiesRecord,
    DocumentRecord,
    FilterUse,
    FlushRecord,
    NativeRecord,
    ResetRecord,
    SearchRecord,
    ToolResultRecord,
)
from memrig.model.trial import Deadlines
from memrig_proto.v1 import memory_adapter_pb2 as pb
from memrig_proto.v1 import memory_adapter_pb2_grpc as rpc

SERVICE = "memrig.v1.MemoryAdapter"
MAX_MESSAGE_BYTES = 16 * 1024**2
#: More calls than this in flight on one channel get lost in grpc.aio (measured at 2,000).
MAX_IN_FLIGHT = 256

_OPTIONS = (
    ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
    ("grpc.enable_retries", 0),
    ("grpc.enable_http_proxy", 0),  # the user's proxy is not part of the system under test
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.initial_reconnect_backoff_ms", 20),
    ("grpc.min_reconnect_backoff_ms", 20),
    ("grpc.max_reconnect_backoff_ms", 200),
)


class _Stamped(Protocol):
    """A response that says which process sent it."""

    @property
    def boot_id(self) -> str: ...


T = TypeVar("T")
R = TypeVar("R", bound=_Stamped)
Acks = tuple[Ack, ...]


class MemoryClient:
    """A connected adapter. Use as an async context manager.

    Args:
        target: a gRPC target, `unix:/path` or `host:port`.
        deadlines: seconds for each kind of call.
    """

    def __init__(self, target: str, deadlines: Deadlines | None = None) -> None:
        self.deadlines = deadlines or Deadlines()
        self._channel = grpc.aio.insecure_channel(target, options=_OPTIONS)
        self._stub: rpc.MemoryAdapterAsyncStub = rpc.MemoryAdapterStub(self._channel)
        self._health = health_pb2_grpc.HealthStub(self._channel)
        self._slots = asyncio.Semaphore(MAX_IN_FLIGHT)
        self._boot_id = ""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._channel.close()

    @property
    def stub(self) -> "rpc.MemoryAdapterAsyncStub":
        """The bare typed stub, for conformance checks that send what the client never would."""
        return self._stub

    async def _call(
        self, call: Callable[..., Awaitable[T]], request: object, deadline_s: float, where: str
    ) -> tuple[T, int]:
        async with self._slots:
            started = time.monotonic_ns()
            try:
                response = await call(request, timeout=deadline_s)
            except grpc.aio.AioRpcError as error:
                raise map_error(error, deadline_s, where) from error
            if response is None:  # how grpc.aio says that it could not be parsed
                raise ContractError("the response is not a valid message", where=where)
            return response, time.monotonic_ns() - started

    async def _asked(
        self, call: Callable[..., Awaitable[R]], request: object, deadline_s: float, where: str
    ) -> tuple[R, int]:
        """A call of which the response must come from the process of the handshake."""
        response, ns = await self._call(call, request, deadline_s, where)
        self.check_boot(response.boot_id, where)
        return response, ns

    async def serving(self) -> bool:
        """Asks the health service once; False for any other answer than SERVING."""
        request = health_pb2.HealthCheckRequest(service=SERVICE)
        try:
            response = await self._health.Check(request, timeout=self.deadlines.capabilities)
        except grpc.aio.AioRpcError:
            return False
        return bool(response.status == health_pb2.HealthCheckResponse.SERVING)

    async def wait_ready(
        self, deadline_s: float, still_alive: Callable[[], Awaitable[None]]
    ) -> None:
        """Waits until the adapter serves.

        `still_alive` is awaited now and then; it raises when there is nothing left to wait for.

        Raises:
            AdapterCrashedError: of kind `hang`, when the deadline passes.
        """
        give_up = time.monotonic() + deadline_s
        pause, next_look = 0.01, time.monotonic() + 0.25
        while not await self.serving():
            now = time.monotonic()
            if now >= next_look:
                await still_alive()
                next_look = now + 0.25
            if now >= give_up:
                message = f"{SERVICE} was not SERVING within {deadline_s:g} s of the start"
                raise AdapterCrashedError("hang", message, where="health check")
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, 0.1)

    async def _declared(self) -> CapabilitiesRecord:
        response, _ = await self._call(
            self._stub.Capabilities,
            pb.CapabilitiesRequest(),
            self.deadlines.capabilities,
            "rpc=Capabilities",
        )
        return capabilities_record(response)

    async def capabilities(self) -> CapabilitiesRecord:
        """The handshake: from here on, every response must come from this process.

        Raises:
            ContractError: the adapter speaks another contract, or declares nonsense.
        """
        record = await self._declared()
        self._boot_id = record.boot_id
        return record

    async def check_same_process(self, where: str) -> None:
        """Asks who is there.

        Raises:
            AdapterCrashedError: another process than the one of the handshake.
        """
        self.check_boot((await self._declared()).boot_id, where)

    def check_boot(self, boot_id: str, where: str) -> None:
        """Compares a response's boot id with the handshake's.

        Raises:
            ContractError: the response carries none.
            AdapterCrashedError: another process answered: the memory is not the one we filled.
        """
        if not boot_id:
            raise ContractError("the response has no boot_id", where=where)
        if boot_id != self._boot_id:
            message = f"the adapter restarted by itself (boot_id {self._boot_id!r} → {boot_id!r})"
            raise AdapterCrashedError("exit", message, where=where)

    async def reset(self) -> ResetRecord:
        """Empties the memory."""
        _, ns = await self._asked(
            self._stub.Reset, pb.ResetRequest(), self.deadlines.reset, "rpc=Reset"
        )
        return ResetRecord(ns=ns)

    def ingest(self, episodes: Iterable[Episode], ids: Pseudonyms) -> AsyncIterator[Acks]:
        """Streams episodes in order; yields acknowledgements as they come.

        Raises:
            AdapterTimeoutError: no acknowledgement for longer than the idle limit.
            ContractError: an acknowledgement for an unknown episode, twice, or without a status;
                or the stream ended with episodes unacknowledged.
        """
        return self._checked(ingest_stream(self._stub, episodes, ids, self.deadlines))

    async def _checked(self, stream: AsyncIterator[IngestResult]) -> AsyncIterator[Acks]:
        async for result in stream:
            self.check_boot(result.boot_id, "rpc=Ingest")
            yield result.acks

    async def flush(self, scenario_id: str) -> FlushRecord:
        """Passes the barrier."""
        response, ns = await self._asked(
            self._stub.Flush, pb.FlushRequest(), self.deadlines.flush, "rpc=Flush"
        )
        total = response.total_items if response.HasField("total_items") else None
        return FlushRecord(scenario_id=scenario_id, ns=ns, total_items=total)

    async def search(
        self,
        query: str,
        limit: int,
        ids: Pseudonyms,
        *,
        mode: str = "",
        filters: Sequence[FilterUse] = (),
    ) -> SearchRecord:
        """Searches; hits beyond `limit` are cut and counted as surplus.

        Raises:
            ContractError: a hit has a score that is not finite.
        """
        request = search_request(query, limit, mode, filters)
        response, ns = await self._asked(
            self._stub.Search, request, self.deadlines.search, "rpc=Search"
        )
        return SearchRecord(
            query=query,
            limit=limit,
            ns=ns,
            payload_bytes=response.ByteSize(),
            hits=tuple(hit_record(hit, ids) for hit in response.hits[:limit]),
            surplus_hits=max(0, len(response.hits) - limit),
            mode=mode,
            filters=tuple(filters),
        )

    async def retrieve(self, ref_id: str, ids: Pseudonyms) -> DocumentRecord | None:
        """One item in full; None where the adapter does not know it.

        Raises:
            ContractError: the document is another one than was asked for (protocol §11.1).
        """
        request = pb.RetrieveRequest(ref_id=ref_id)
        try:
            response, ns = await self._asked(
                self._stub.Retrieve, request, self.deadlines.retrieve, "rpc=Retrieve"
            )
        except AdapterRpcError as error:
            if error.code == "NOT_FOUND":
                return None
            raise
        return document_record(response, ref_id, ids, ns)

    async def answer(self, question: Question, limit: int, ids: Pseudonyms) -> NativeRecord:
        """The memory system's own answer.

        Raises:
            ContractError: it is empty without abstaining, or its confidence is no number from 0
                to 1 (protocol §12).
        """
        request = pb.AnswerRequest(
            question=question.text, question_time=timestamp(question.asked_at), limit=limit
        )
        response, ns = await self._asked(
            self._stub.Answer, request, self.deadlines.answer, "rpc=Answer"
        )
        return native_record(response, ids, ns)

    async def call_tool(self, name: str, arguments_json: str, ids: Pseudonyms) -> ToolResultRecord:
        """Runs a declared extra tool.

        Raises:
            ContractError: the result is not JSON (protocol §14.2).
        """
        request = pb.CallToolRequest(name=name, arguments_json=arguments_json)
        response, ns = await self._asked(
            self._stub.CallTool, request, self.deadlines.call_tool, "rpc=CallTool"
        )
        return tool_result_record(response, name, ids, ns)
