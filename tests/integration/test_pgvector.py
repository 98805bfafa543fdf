"""images/pgvector: two containers, either of which may be killed; and its variant."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from memrig.model.manifest import AdapterRef
from memrig.pod.base import Pod
from memrig.pod.docker import DockerProvider
from memrig.pod.images import resolve
from memrig_proto.v1 import memory_adapter_pb2 as pb
from support.command import ROOT, memrig
from support.pods import Caller, caller, request

FOLDER = ROOT / "images" / "pgvector"
TOLD = {
    "e1": "The boat is called Alma.",
    "e2": "Nadia is allergic to peanuts.",
    "e3": "The ferry to Bergen leaves at noon.",
}

pytestmark = [pytest.mark.docker, pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def adapter() -> AdapterRef:
    """The image, built once."""
    return asyncio.run(resolve(str(FOLDER), "docker"))


@pytest.fixture
async def pod(adapter: AdapterRef) -> AsyncIterator[tuple[Pod, Caller]]:
    """A pod that holds what was told, after a Flush."""
    provider = DockerProvider()
    async with provider.start(request(adapter)) as started, caller(started.target) as client:
        await client.ready(60)
        for episode_id, text in TOLD.items():
            await client.tell(episode_id, text)
        await client.stub.Flush(pb.FlushRequest(), timeout=60)
        yield started, client
    provider.close()


async def found(client: Caller, question: str) -> list[tuple[str, str]]:
    """Refs and sources, best first."""
    answer = await client.stub.Search(pb.SearchRequest(query=question, limit=3), timeout=10)
    return [(hit.ref_id, *hit.source_episode_ids) for hit in answer.hits]


@pytest.mark.parametrize("service", ["postgres", "adapter"])
async def test_nothing_is_lost_when_a_container_is_killed(pod, service):
    """By SIGKILL: the same refs, sources and order; the memory goes on, and knows its episodes."""
    started, client = pod
    before = await found(client, "Which food is bad for Nadia?")
    assert before[0] == ("e2#0", "e2")
    await started.restart(service, kill=True)
    await client.ready(60)

    assert await found(client, "Which food is bad for Nadia?") == before
    await client.tell("e4", "Nadia moved to Oslo.")
    total = await client.stub.Flush(pb.FlushRequest(), timeout=60)
    assert total.total_items == 4


async def test_a_search_waits_for_a_database_that_is_away(pod):
    """The adapter's own process is the same; it has connected again."""
    started, client = pod
    boot = (await client.capabilities()).boot_id
    await started.restart("postgres", kill=True)
    assert await client.ask("What is the boat called?") == TOLD["e1"]
    assert (await client.capabilities()).boot_id == boot


@pytest.mark.parametrize("mode", ["KEYWORD", "SEMANTIC", "HYBRID"])
async def test_each_mode_finds_what_shares_words(pod, mode):
    """Words that are syntax to a full-text query are words."""
    _, client = pod
    wanted = pb.SearchRequest(
        query="the boat's & name | ! :* \\ 'called' (",
        limit=1,
        mode=pb.SearchMode.Value(f"SEARCH_MODE_{mode}"),
    )
    answer = await client.stub.Search(wanted, timeout=10)
    assert [hit.ref_id for hit in answer.hits] == ["e1#0"]


def test_the_variant_with_an_index_runs_and_is_named(tmp_path: Path):
    """The HNSW index from the first passage on finds about what exact search finds."""
    arguments = ("--suite", "practical", "--sample", "--pod", "docker", "--out", tmp_path / "run")
    done = memrig("run", "--adapter", f"{FOLDER}+hnsw", *arguments, cwd=tmp_path, timeout=500)
    assert done.code == 0, done.err
    report = json.loads((tmp_path / "run" / "report.json").read_text())
    assert report["questions"]["outcomes"] == {"answered": 24}
    scores = {m["metric"]: m["value"] for m in report["metrics"] if m["group"] == "overall"}
    assert scores["recall_any@10"] > 0.5
