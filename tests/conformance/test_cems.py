"""The sidecar of images/cems conforms, as a process of its own before a stand-in for CEMS."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
import pytest

from memrig.conformance import ConformanceReport, run_conformance
from memrig.model.manifest import AdapterManifest, AdapterRef, ProcessCommand, load_manifest
from memrig.pod.base import PodRequest
from memrig.pod.process import ProcessProvider
from memrig_proto.v1 import memory_adapter_pb2 as pb
from memrig_proto.v1 import memory_adapter_pb2_grpc as stubs
from support.cems_standin import CemsStandIn, Fault

IMAGE = Path(__file__).parents[2] / "images" / "cems"


@pytest.fixture
def cems() -> Iterator[CemsStandIn]:
    with CemsStandIn(admin_key="memrig-admin") as standin:
        yield standin


def adapter_at(cems: CemsStandIn, variant: str = "") -> AdapterRef:
    """The image's manifest with a [process] section, which its README says it cannot have."""
    manifest = load_manifest(IMAGE / "adapter.toml")
    environment = {**manifest.image.environment, "PYTHONPATH": str(IMAGE)}
    command = ("memrig-adapter", "serve", "cems_adapter:CemsAdapter")
    served = manifest.model_copy(
        update={"process": ProcessCommand(command=command, environment=environment)}
    )
    chosen = served.as_variant(variant) if variant else served
    assert chosen.process is not None
    own = {**chosen.process.environment, "MEMRIG_CEMS_URL": cems.url}
    process = chosen.process.model_copy(update={"environment": own})
    return as_ref(chosen.model_copy(update={"process": process}))


def as_ref(manifest: AdapterManifest) -> AdapterRef:
    return AdapterRef(
        name=manifest.name, version=manifest.version, pod="process", manifest=manifest
    )


async def conformance(cems: CemsStandIn, variant: str = "") -> ConformanceReport:
    return await run_conformance(adapter_at(cems, variant), ProcessProvider(), slow=True)


def unmet(report: ConformanceReport) -> list[tuple[str, str]]:
    return [(r.id, r.message) for r in report.results if r.status in {"failed", "error"}]


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_the_sidecar_conforms(cems: CemsStandIn) -> None:
    """To every check, the slow ones too, and by every call that it makes of CEMS."""
    report = await conformance(cems)
    assert unmet(report) == []
    assert report.left_out == ()
    calls = {(method, path.rpartition("/")[0] or path) for method, path, _ in cems.seen}
    assert calls == {
        ("GET", "/health"),
        ("POST", "/admin"),
        ("DELETE", "/admin/users"),
        ("POST", "/api/memory"),
        ("GET", "/api/memory"),
    }
    assert {path for _, path, _ in cems.seen if path.startswith("/api")} == {
        f"/api/memory/{name}" for name in ("add_batch", "search", "get", "forget", "list")
    }


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_the_variant_conforms(cems: CemsStandIn) -> None:
    """With the threshold and the gap that CEMS ships, where the stand-in's scores are fair."""
    report = await conformance(cems, "production")
    assert unmet(report) == []


@asynccontextmanager
async def called(cems: CemsStandIn) -> AsyncIterator[stubs.MemoryAdapterStub]:
    request = PodRequest(adapter_at(cems), "run", "trial")
    async with (
        ProcessProvider().start(request) as pod,
        grpc.aio.insecure_channel(pod.target) as channel,
    ):
        stub = stubs.MemoryAdapterStub(channel)
        await stub.Reset(pb.ResetRequest(), wait_for_ready=True, timeout=20)
        yield stub


async def ingest(stub: stubs.MemoryAdapterStub, *texts: str) -> list[pb.IngestAck]:
    call = stub.Ingest(timeout=20)
    told = [pb.Episode(episode_id=f"e{n}", text=text) for n, text in enumerate(texts)]
    await call.write(pb.IngestRequest(episodes=told))
    await call.done_writing()
    return [ack async for response in call for ack in response.acks]


@pytest.mark.slow
async def test_faults_of_cems_have_the_contracts_statuses(cems: CemsStandIn) -> None:
    """Over real gRPC: an error in a 200, a 503, lost ids, a full store, and a slow server."""
    async with called(cems) as stub:
        for fault, code in (
            (Fault(error_event=True), grpc.StatusCode.INTERNAL),
            (Fault(status=503), grpc.StatusCode.INTERNAL),
            (Fault(lost=1), grpc.StatusCode.INTERNAL),
            (Fault(status=507), grpc.StatusCode.RESOURCE_EXHAUSTED),
        ):
            cems.fail("/api/memory/add_batch", fault)
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await ingest(stub, "Bergen.", "Oslo.")
            assert caught.value.code() is code
        acks = await ingest(stub, "Bergen.", "Oslo.")
        assert [ack.status for ack in acks] == [pb.INGEST_STATUS_STORED] * 2
        cems.fail("/api/memory/search", Fault(delay_s=2))
        asked = pb.SearchRequest(query="Bergen", limit=5)
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await stub.Search(asked, timeout=0.2)
        assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        assert len((await stub.Search(asked, timeout=1)).hits) == 1
