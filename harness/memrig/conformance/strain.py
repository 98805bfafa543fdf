"""Checks under strain: deadlines, cancelled calls, many at once, messages over the limit."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import grpc

from memrig.client.connection import MAX_IN_FLIGHT, MAX_MESSAGE_BYTES
from memrig.conformance.check import Check, check
from memrig.conformance.context import Context, drain, kept_ids, status
from memrig.conformance.search import require_same_hits
from memrig.conformance.verdict import require
from memrig_proto.v1 import memory_adapter_pb2 as pb

_TINY_S = 0.001
_AT_ONCE = MAX_IN_FLIGHT
_FIRST_ACK_S = 2.0
_SLOWLY_READ = 40
_READ_PAUSE_S = 0.005


@check(
    "deadline.tiny",
    reason="A question's budget may be all but used up; the next question still has its own.",
    spec="protocol §17.1",
)
async def tiny_deadline(context: Context) -> None:
    """Calls with a deadline of 1 ms end with DEADLINE_EXCEEDED or OK; the adapter stays usable."""
    told = context.facts(8)
    await context.ingest(fact.episode() for fact in told)
    await context.flush()
    for fact in told:
        code = await status(context.asking(fact.query, _TINY_S))
        require(
            code in {"OK", "DEADLINE_EXCEEDED"},
            "a search with a deadline of 1 ms",
            expected="OK or DEADLINE_EXCEEDED",
            got=code,
        )
    await context.require_usable("searches with a deadline of 1 ms")


@check(
    "cancel.ingest",
    reason="Ctrl-C and budgets cut streams short; the next one must find a memory that works.",
    spec="protocol §6.9",
)
async def cancelled_ingest(context: Context) -> None:
    """After an Ingest that is cancelled, what was acknowledged is kept, and the adapter works."""
    first, *rest = context.facts(4)
    call = context.stub.Ingest(timeout=context.deadlines.ingest)
    await call.write(pb.IngestRequest(episodes=[first.episode()]))
    reading = asyncio.ensure_future(call.read())
    await asyncio.wait([reading], timeout=_FIRST_ACK_S)  # an adapter may wait for more
    with contextlib.suppress(grpc.aio.AioRpcError):
        for fact in rest:
            await call.write(pb.IngestRequest(episodes=[fact.episode()]))
    call.cancel()
    acks = await _acks_of(reading)
    if first.episode_id in kept_ids(acks, (await context.flush()).total_items):
        await context.require_found(first, "acknowledged before the stream was cancelled")
    await context.require_usable("a cancelled Ingest")


async def _acks_of(reading: asyncio.Future[object]) -> list[pb.IngestAck]:
    """What had come before the stream was cancelled."""
    await asyncio.wait([reading])
    if reading.cancelled() or reading.exception() is not None:
        return []
    response = reading.result()
    return list(response.acks) if isinstance(response, pb.IngestResponse) else []


@check(
    "cancel.search",
    reason="A question whose budget is used up is cancelled; its neighbours must not notice.",
    spec="protocol §17.1",
)
async def cancelled_search(context: Context) -> None:
    """After searches that the caller cancelled, the adapter is usable."""
    await context.ingest([context.fact().episode()])
    await context.flush()
    for _ in range(8):
        call = context.asking(context.fact().query, context.deadlines.search)
        await asyncio.sleep(0)  # let it leave
        call.cancel()
    await context.require_usable("cancelled searches")


@check(
    "concurrent.searches",
    reason="Up to 256 calls are in flight at once; each must get the answer to its own question.",
    spec="protocol §16.3",
)
async def concurrent_searches(context: Context) -> None:
    """Of 256 searches at once each is answered OK, with the hits that its query gets alone."""
    told = context.facts(16)
    await context.ingest(fact.episode() for fact in told)
    await context.flush()
    alone = [(await context.search(fact.query)).hits for fact in told]
    # They may be answered one at a time, so that each may take as long as all of them.
    calls = (
        context.search(told[n % len(told)].query, deadline_s=context.deadlines.flush)
        for n in range(_AT_ONCE)
    )
    # All end before one that failed is raised: a call left behind would trouble the next check.
    answers = await asyncio.gather(*calls, return_exceptions=True)
    for n, response in enumerate(answers):
        if isinstance(response, BaseException):
            raise response
        if not context.capabilities.questions_change_memory:
            query, expected = told[n % len(told)].query, alone[n % len(told)]
            require_same_hits(expected, response.hits, f"{query!r} among {_AT_ONCE} at once")


@check(
    "backpressure.open-stream",
    reason="The rig waits half a minute between two responses; one that saves them up is ended.",
    spec="protocol §6.8",
)
async def open_stream(context: Context) -> None:
    """On a stream that stays open and brings nothing more, what came is acknowledged."""
    call = context.stub.Ingest(timeout=context.deadlines.ingest)
    told = context.facts(6)
    for part in (told[:5], told[5:]):
        await call.write(pb.IngestRequest(episodes=[fact.episode() for fact in part]))
        settled = await _settled(call, len(part), context.deadlines.ingest_idle)
        require(
            settled == len(part),
            "episodes are open on a stream that is open, too",
            expected=f"{len(part)} acknowledgements within {context.deadlines.ingest_idle:g} s",
            got=settled,
        )
    await call.done_writing()
    late = await _settled(call, 1, context.deadlines.ingest_idle)
    code = (await call.code()).name
    require(code == "OK" and not late, "the stream's end", expected="OK", got=(code, late))


async def _settled(
    call: "grpc.aio.StreamStreamCall[pb.IngestRequest, pb.IngestResponse]",
    wanted: int,
    limit: float,
) -> int:
    """How many acknowledgements come within the idle limit from one response to the next."""
    settled = 0
    with contextlib.suppress(TimeoutError):
        while settled < wanted:
            async with asyncio.timeout(limit):
                response = await call.read()
            if not isinstance(response, pb.IngestResponse):
                break
            settled += len(response.acks)
    return settled


@check(
    "backpressure.slow-reader",
    reason="A busy rig reads late; what was acknowledged in the meantime must not be lost.",
    spec="protocol §6.2, §6.8",
)
async def slow_reader(context: Context) -> None:
    """A rig that reads its acknowledgements slowly gets each of them once."""
    told = [fact.episode() for fact in context.facts(_SLOWLY_READ)]
    call = context.stub.Ingest(_each_alone(told), timeout=context.deadlines.ingest)
    seen: list[str] = []
    async for response in call:
        seen.extend(ack.episode_id for ack in response.acks)
        await asyncio.sleep(_READ_PAUSE_S)
    expected = sorted(episode.episode_id for episode in told)
    require(
        sorted(seen) == expected,
        "acknowledgements that were read late are missing, or came twice",
        expected=f"{len(expected)}, each once",
        got=f"{len(seen)}, {len(set(seen))} of them different",
    )


async def _each_alone(episodes: list[pb.Episode]) -> AsyncIterator[pb.IngestRequest]:
    for episode in episodes:
        yield pb.IngestRequest(episodes=[episode])


@check(
    "limits.message-too-large",
    reason="A message over the limit is a caller's defect; it must not end the process.",
    spec="protocol §16.2",
)
async def message_too_large(context: Context) -> None:
    """A request over 16 MiB is refused, and the same process stays usable."""
    episode = context.fact().episode()
    episode.text += " too long" * (MAX_MESSAGE_BYTES // 9 + 100_000)
    call = context.link.wide.Ingest(_once(episode), timeout=context.deadlines.ingest)
    _, code = await drain(call)
    require(
        code != "OK",
        "a message of 17 MB was accepted",
        expected="RESOURCE_EXHAUSTED, as gRPC libraries say it",
        got=code,
    )
    await context.flush()
    await context.require_gone(context.fact(), "of a message that was refused")
    await context.require_usable("a message over 16 MiB")


async def _once(episode: pb.Episode) -> AsyncIterator[pb.IngestRequest]:
    yield pb.IngestRequest(episodes=[episode])


CHECKS: tuple[Check, ...] = (
    tiny_deadline,
    cancelled_ingest,
    cancelled_search,
    concurrent_searches,
    open_stream,
    slow_reader,
    message_too_large,
)
