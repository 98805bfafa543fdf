"""The ingest stream: batches out, acknowledgements in, one for each episode."""

import asyncio

import grpc
import pytest

from memrig.client import Pseudonyms
from memrig.errors import (
    AdapterCrashedError,
    AdapterRpcError,
    AdapterTimeoutError,
    ContractError,
    VerificationError,
)
from memrig.model.scenario import Episode, Turn
from memrig_proto.v1 import memory_adapter_pb2 as pb
from support.fake_memory import Behaviour, FakeMemory


class Recorder(FakeMemory):
    """Notes the size of every message it gets; `then` takes over after `reads` messages."""

    def __init__(self, then=None, reads: int = 10**9, **behaviour: object) -> None:
        super().__init__(Behaviour(**behaviour))
        self.messages: list[tuple[int, int]] = []
        self.then, self.reads = then, reads

    async def Ingest(self, requests, context):  # noqa: N802
        async def noted():
            async for request in requests:
                self.messages.append((len(request.episodes), request.ByteSize()))
                yield request
                if len(self.messages) >= self.reads:
                    return

        async for response in super().Ingest(noted(), context):
            yield response
        if self.then:
            await self.then(context)


def ids() -> Pseudonyms:
    return Pseudonyms(1, "sha256:" + "0" * 64)


def episodes(count: int, text: str = "hello") -> list[Episode]:
    return [Episode(episode_id=f"e{n}", text=f"{text} {n}") for n in range(count)]


async def drain(client, items, pseudonyms=None) -> list:
    stream = client.ingest(items, pseudonyms or ids())
    return [ack async for acks in stream for ack in acks]


async def test_every_episode_is_acknowledged_once_in_the_order_of_the_data(connect):
    """Real ids come back, with the status and the number of items."""
    memory = Recorder()
    acks = await drain(await connect(memory), episodes(300))
    assert [ack.episode_id for ack in acks] == [f"e{n}" for n in range(300)]
    assert {(ack.status, ack.stored_items) for ack in acks} == {("stored", 1)}
    assert [e.text for e in memory.episodes] == [f"hello {n}" for n in range(300)]
    assert all(ack.ns > 0 for ack in acks)


async def test_a_message_holds_at_most_64_episodes(connect):
    """Small episodes are batched, and the last message holds the rest."""
    memory = Recorder()
    await drain(await connect(memory), episodes(130))
    assert [count for count, _ in memory.messages] == [64, 64, 2]


async def test_a_message_of_several_episodes_stays_under_512_kib(connect):
    """Large episodes travel in smaller batches."""
    memory = Recorder()
    await drain(await connect(memory), episodes(40, "x" * 50_000))
    assert sum(count for count, _ in memory.messages) == 40
    assert max(size for _, size in memory.messages) <= 512 * 1024 + 1024
    assert len(memory.messages) < 10


async def test_an_episode_of_10_mb_passes(connect):
    """The limit of a message is 16 MiB at both ends."""
    memory = Recorder()
    big = Episode(episode_id="big", text="x" * 10_000_000)
    acks = await drain(await connect(memory), [*episodes(2), big, *episodes(3)[2:]])
    assert [ack.episode_id for ack in acks] == ["e0", "e1", "big", "e2"]
    assert [count for count, _ in memory.messages] == [2, 1, 1]


async def test_no_episode_at_all_is_a_stream_that_ends_well(connect):
    """Nothing sent, nothing acknowledged."""
    assert await drain(await connect(), []) == []


async def test_a_rejected_episode_cannot_be_a_source(connect):
    """Its acknowledgement says why, and a claim of it is void."""
    pseudonyms = ids()
    memory = FakeMemory(Behaviour(reject="1"))
    acks = await drain(await connect(memory), episodes(2), pseudonyms)
    assert [(a.status, a.message) for a in acks] == [("stored", ""), ("rejected", "no")]
    stored, rejected = (ids().episode(f"e{n}") for n in range(2))
    assert pseudonyms.source_episode(stored) == "e0"
    assert pseudonyms.source_episode(rejected) is None


async def test_turns_travel_under_ids_of_their_own(connect):
    """Turn ids are opaque, and valid as sources after the acknowledgement."""
    pseudonyms, memory = ids(), FakeMemory(Behaviour())
    turns = (Turn(turn_id="t1", speaker="Ada", text="hi"),)
    await drain(await connect(memory), [Episode(episode_id="e", text="x", turns=turns)], pseudonyms)
    (sent,) = memory.episodes[0].turns
    assert (sent.speaker, sent.text) == ("Ada", "hi")
    assert sent.turn_id != "t1"
    assert pseudonyms.source_turn(sent.turn_id) == "t1"


async def test_silence_between_acknowledgements_is_a_timeout(connect):
    """The stream has an idle limit as well as a deadline."""
    released = asyncio.Event()
    memory = Recorder(then=lambda _context: released.wait(), reads=1)
    with pytest.raises(AdapterTimeoutError) as caught:
        await drain(await connect(memory, ingest_idle=0.2), episodes(100))
    released.set()
    assert caught.value.seconds == 0.2
    assert "between acknowledgements" in caught.value.where


async def test_acknowledgements_at_a_steady_pace_never_run_into_the_idle_limit(connect):
    """The limit is between two of them, not over the whole."""

    class Steady(FakeMemory):
        async def Ingest(self, requests, context):  # noqa: N802
            async for request in requests:
                for episode in request.episodes:
                    await asyncio.sleep(0.1)
                    yield pb.IngestResponse(acks=[self._take(episode)], boot_id=self.boot_id)

    client = await connect(Steady(Behaviour()), ingest_idle=0.4)
    assert len(await drain(client, episodes(6))) == 6


async def test_the_deadline_of_the_whole_stream_is_a_timeout(connect):
    """DEADLINE_EXCEEDED keeps the seconds that were allowed."""
    released = asyncio.Event()
    memory = Recorder(then=lambda _context: released.wait(), reads=1)
    with pytest.raises(AdapterTimeoutError) as caught:
        await drain(await connect(memory, ingest=0.2), episodes(100))
    released.set()
    assert (caught.value.seconds, caught.value.where) == (0.2, "rpc=Ingest")


async def test_an_error_status_keeps_its_code(connect):
    """The adapter's fault, under its own name."""

    async def refuse(context):
        await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "disk full")

    with pytest.raises(AdapterRpcError) as caught:
        await drain(await connect(Recorder(then=refuse, reads=1)), episodes(1000))
    assert (caught.value.code, caught.value.details) == ("RESOURCE_EXHAUSTED", "disk full")


async def test_a_stream_that_ends_before_all_was_sent_breaks_the_contract(connect):
    """An adapter cannot skip what it has not read."""
    with pytest.raises(ContractError, match="ended"):
        await drain(await connect(Recorder(reads=1)), episodes(20_000))


@pytest.mark.parametrize(
    ("behaviour", "message"),
    [
        ({"lose_acks_after": 1}, "ended with 3 episodes unacknowledged"),
        ({"ack_twice": True}, "unknown or already settled"),
    ],
)
async def test_every_episode_gets_exactly_one_acknowledgement(behaviour, message, connect):
    """None is missing, none comes twice."""
    with pytest.raises(ContractError, match=message):
        await drain(await connect(FakeMemory(Behaviour(**behaviour))), episodes(4))


@pytest.mark.parametrize(
    ("ack", "message"),
    [
        (pb.IngestAck(episode_id="e_stranger", status=pb.INGEST_STATUS_STORED), "an unknown"),
        (None, "no status"),
    ],
)
async def test_an_acknowledgement_names_a_sent_episode_and_a_status(ack, message, connect):
    """Anything else breaks the contract, and the message says what it named."""

    class Odd(FakeMemory):
        def _take(self, episode):
            return ack or pb.IngestAck(episode_id=episode.episode_id)

    with pytest.raises(ContractError, match=message):
        await drain(await connect(Odd(Behaviour())), episodes(1))


async def test_acknowledgements_of_another_process_are_a_crash(connect):
    """The memory is not the one that was filled so far."""
    memory = FakeMemory(Behaviour())
    client = await connect(memory)
    memory.boot_id = "boot-other"
    with pytest.raises(AdapterCrashedError, match="restarted by itself") as caught:
        await drain(client, episodes(1))
    assert caught.value.kind == "exit"


async def test_a_fault_of_the_data_is_not_blamed_on_the_adapter(connect):
    """It ends the stream at once, under its own name, not as a time-out."""

    def broken():
        yield from episodes(70)
        raise VerificationError("the spool was changed")

    with pytest.raises(VerificationError, match="spool was changed"):
        await drain(await connect(ingest_idle=3), broken())
