"""The images that embed sentences: what a killed container still knows, how alike two runs are."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from memrig.model.manifest import AdapterRef
from memrig.pod.base import Pod
from memrig.pod.docker import DockerProvider
from memrig.pod.images import resolve
from memrig_proto.v1 import memory_adapter_pb2 as pb
from support.command import ROOT
from support.pods import Caller, caller, request

pytestmark = [pytest.mark.docker, pytest.mark.slow, pytest.mark.timeout(600)]

DAY = datetime(2024, 3, 5, 10, 30, 0, 123_456, UTC)
NAMES = ("Alma", "Boris", "Clio", "Dagny", "Edda")
THINGS = ("a boat", "a piano", "a red bicycle", "two cats", "a house by the lake")


@pytest.fixture
def provider() -> Iterator[DockerProvider]:
    made = DockerProvider()
    yield made
    made.close()


@pytest.fixture(scope="module")
def chroma() -> AdapterRef:
    """The image, built once."""
    return asyncio.run(resolve(str(ROOT / "images" / "chroma"), "docker"))


@asynccontextmanager
async def served(
    provider: DockerProvider, adapter: AdapterRef
) -> AsyncIterator[tuple[Pod, Caller]]:
    async with provider.start(request(adapter)) as pod, caller(pod.target) as client:
        await client.ready(60)
        yield pod, client


def episodes() -> list[pb.Episode]:
    """Twenty-five, with times and turns."""
    time = Timestamp()
    time.FromDatetime(DAY)
    return [
        pb.Episode(
            episode_id=f"e{n}-{m}",
            text=f"{name}: I own {thing} now.",
            turns=[pb.Turn(turn_id=f"t{n}-{m}", speaker=name, text=f"I own {thing} now.")],
            media_type="text/plain",
            timestamp=time,
        )
        for n, name in enumerate(NAMES)
        for m, thing in enumerate(THINGS)
    ]


async def tell(client: Caller, told: Sequence[pb.Episode]) -> None:
    call = client.stub.Ingest(timeout=60)
    await call.write(pb.IngestRequest(episodes=told))
    await call.done_writing()
    acks = [ack.status async for answer in call for ack in answer.acks]
    assert acks == [pb.INGEST_STATUS_STORED] * len(told)


async def found(client: Caller) -> list[pb.SearchResponse]:
    """What is found, without what a process says of itself."""
    answers = []
    for thing in THINGS:
        query = pb.SearchRequest(query=f"Who has {thing}?", limit=25)
        answer = await client.stub.Search(query, timeout=30)
        answer.ClearField("boot_id")
        answers.append(answer)
    return answers


async def test_chroma_keeps_all_that_was_acknowledged_over_a_kill(
    provider: DockerProvider, chroma: AdapterRef
) -> None:
    """Without a flush: every hit is there again, with its score, sources and time to the µs."""
    async with served(provider, chroma) as (pod, client):
        await tell(client, episodes())
        before = await found(client)
        await pod.restart("adapter", kill=True)
        await client.ready(60)
        after = await found(client)
        (status,) = await ingest_again(client, episodes()[:1])
    assert [len(answer.hits) for answer in before] == [25] * len(THINGS)
    assert before[0].hits[0].timestamp.ToDatetime(UTC) == DAY
    assert after == before
    assert status == pb.INGEST_STATUS_DUPLICATE


async def ingest_again(client: Caller, told: Sequence[pb.Episode]) -> list[int]:
    call = client.stub.Ingest(timeout=60)
    await call.write(pb.IngestRequest(episodes=told))
    await call.done_writing()
    return [ack.status async for answer in call for ack in answer.acks]


async def test_chroma_ranks_alike_in_every_pod(
    provider: DockerProvider, chroma: AdapterRef
) -> None:
    """The same episodes in the same order give the same hits and scores."""
    answers = []
    for _ in range(2):
        async with served(provider, chroma) as (_, client):
            await tell(client, episodes())
            answers.append(await found(client))
    assert answers[0] == answers[1]
