"""The ingest stream: batches out, acknowledgements in, one for each episode."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass

import grpc

from memrig.client.convert import episode_message
from memrig.client.ids import Pseudonyms
from memrig.client.status import StreamEnding
from memrig.errors import AdapterTimeoutError, ContractError
from memrig.model.scenario import Episode
from memrig.model.transcript import Ack
from memrig.model.trial import Deadlines
from memrig_proto.v1 import memory_adapter_pb2 as pb
from memrig_proto.v1 import memory_adapter_pb2_grpc as rpc

_BATCH_EPISODES = 64
_BATCH_BYTES = 512 * 1024
_WHERE = "rpc=Ingest"
_STATUS = {
    pb.INGEST_STATUS_STORED: "stored",
    pb.INGEST_STATUS_DUPLICATE: "duplicate",
    pb.INGEST_STATUS_REJECTED: "rejected",
}


@dataclass(frozen=True, slots=True)
class IngestResult:
    """The acknowledgements of one response, and the process that sent it."""

    acks: tuple[Ack, ...]
    boot_id: str


class _Ledger:
    """What was sent and not yet acknowledged: opaque id → monotonic ns of sending."""

    def __init__(self, ids: Pseudonyms) -> None:
        self._ids = ids
        self._open: dict[str, int] = {}
        self.all_sent = False

    def sent(self, opaque: str) -> None:
        self._open[opaque] = time.monotonic_ns()

    def settle(self, ack: pb.IngestAck, now: int) -> Ack:
        sent = self._open.pop(ack.episode_id, None)
        status = _STATUS.get(ack.status)
        if sent is None or status is None:
            what = "an unknown or already settled episode" if sent is None else "no status"
            message = f"an acknowledgement names {what} (episode_id {ack.episode_id!r})"
            raise ContractError(message, where=_WHERE)
        real = self._ids.acknowledge(ack.episode_id) if status != "rejected" else None
        return Ack(
            episode_id=real or self._ids.real(ack.episode_id),
            status=status,
            stored_items=ack.stored_items,
            ns=now - sent,
            message=ack.message[:500],
        )

    def check_settled(self) -> None:
        if self._open:
            message = f"the stream ended with {len(self._open)} episodes unacknowledged"
            raise ContractError(message, where=_WHERE)
        if not self.all_sent:
            message = "the adapter ended the stream before every episode was sent"
            raise ContractError(message, where=_WHERE)


def _batches(episodes: Iterable[Episode], ids: Pseudonyms) -> Iterator[list[pb.Episode]]:
    batch: list[pb.Episode] = []
    size = 0
    for episode in episodes:
        message = episode_message(episode, ids)
        length = message.ByteSize()
        if batch and (len(batch) == _BATCH_EPISODES or size + length > _BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(message)
        size += length
    if batch:
        yield batch


async def _send(
    call: "grpc.aio.StreamStreamCall[pb.IngestRequest, pb.IngestResponse]",
    episodes: Iterable[Episode],
    ids: Pseudonyms,
    ledger: _Ledger,
) -> None:
    try:
        for batch in _batches(episodes, ids):
            for message in batch:
                ledger.sent(message.episode_id)
            await call.write(pb.IngestRequest(episodes=batch))
        ledger.all_sent = True
        await call.done_writing()
    except (grpc.aio.AioRpcError, asyncio.InvalidStateError):
        return  # the call is over; its status, read at the other end, tells why
    except Exception:
        call.cancel()  # the episodes could not be read: no acknowledgement is worth waiting for
        raise


async def _receive(
    call: "grpc.aio.StreamStreamCall[pb.IngestRequest, pb.IngestResponse]",
    ledger: _Ledger,
    idle_s: float,
) -> AsyncIterator[IngestResult]:
    """Yields until the stream is over, well or not: `StreamEnding` knows."""
    while True:
        try:
            async with asyncio.timeout(idle_s):
                response = await call.read()
        except grpc.aio.AioRpcError:
            return
        except TimeoutError as error:
            raise AdapterTimeoutError(
                idle_s, where=f"{_WHERE} (between acknowledgements)"
            ) from error
        if response is None:  # how grpc.aio says that it could not be parsed
            raise ContractError("a response is not a valid message", where=_WHERE)
        if isinstance(response, pb.IngestResponse):
            now = time.monotonic_ns()
            acks = tuple(ledger.settle(ack, now) for ack in response.acks)
            yield IngestResult(acks, response.boot_id)
        else:  # end of the stream
            return


async def ingest_stream(
    stub: "rpc.MemoryAdapterAsyncStub",
    episodes: Iterable[Episode],
    ids: Pseudonyms,
    deadlines: Deadlines,
) -> AsyncIterator[IngestResult]:
    """Streams episodes; see `MemoryClient.ingest`."""
    call = stub.Ingest(timeout=deadlines.ingest)
    ending = StreamEnding(call)
    ledger = _Ledger(ids)
    sender = asyncio.create_task(_send(call, episodes, ids, ledger))
    try:
        async for result in _receive(call, ledger, deadlines.ingest_idle):
            yield result
        if failure := await ending.failure(deadlines.ingest, _WHERE):
            raise failure
        await sender
        ledger.check_settled()
    except asyncio.CancelledError:
        _raise_failure(sender)
        raise
    finally:
        sender.cancel()
        call.cancel()
        with contextlib.suppress(asyncio.CancelledError, Exception):
            await sender


def _raise_failure(sender: "asyncio.Task[None]") -> None:
    """Raises what kept the rig from sending: its own fault must not look like the adapter's."""
    if sender.done() and not sender.cancelled() and (failure := sender.exception()):
        raise failure
