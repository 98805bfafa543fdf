"""Pods of the test image `tests/images/testbed`, and a bare client to talk to them."""

import asyncio
import json
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from memrig.model.manifest import AdapterManifest, AdapterRef, PodKind, load_manifest
from memrig.pod.base import Fate, Pod, PodRequest
from memrig.pod.docker import Engine, socket_path
from memrig.pod.images import resolve
from memrig.pod.runtime import list_folders
from memrig_proto.v1 import memory_adapter_pb2 as pb
from memrig_proto.v1 import memory_adapter_pb2_grpc as rpc
from support.docker_required import why_no_docker

TESTBED = Path(__file__).parents[1] / "images" / "testbed"
SERVICE = "memrig.v1.MemoryAdapter"
#: One process's own: what it leaves behind is not another worker's.
TEST_RUN = f"test-run-{os.getpid()}"

#: The testbed's images by service, built once a session.
_BUILT: dict[str, str] = {}

T = TypeVar("T")

_CHANNEL = (
    ("grpc.enable_retries", 0),
    ("grpc.initial_reconnect_backoff_ms", 20),
    ("grpc.min_reconnect_backoff_ms", 20),
    ("grpc.max_reconnect_backoff_ms", 100),
)


@cache
def manifest() -> AdapterManifest:
    """The testbed's own manifest."""
    return load_manifest(TESTBED / "adapter.toml")


async def tricky(kind: PodKind, **changes: Any) -> AdapterRef:
    """The testbed without its companion. `changes`: `command`, `environment`, `resources`…"""
    return await _adapter(kind, companion=False, changes=changes)


async def stored(**changes: Any) -> AdapterRef:
    """The adapter that keeps its episodes in a companion container."""
    command = ("memrig-adapter", "serve", "stored:Stored")
    return await _adapter("docker", companion=True, changes={"command": command, **changes})


async def _adapter(kind: PodKind, *, companion: bool, changes: Mapping[str, Any]) -> AdapterRef:
    images: Mapping[str, str] = {}
    if kind == "docker":
        if not _BUILT:
            _BUILT.update((await resolve(str(TESTBED), "docker")).images)
        images = _BUILT
    base = manifest()
    image = base.image.model_copy(update=dict(changes))
    assert base.process is not None
    process = base.process.model_copy(
        update={
            "command": image.command or base.process.command,
            "environment": {
                **image.environment,
                "PYTHONPATH": str(TESTBED),
                "PYTHONDONTWRITEBYTECODE": "1",
            },
        }
    )
    services = base.services if companion else {}
    return AdapterRef(
        name=base.name,
        version=base.version,
        pod=kind,
        manifest=base.model_copy(update={"image": image, "process": process, "services": services}),
        images={k: v for k, v in images.items() if k in {"adapter", *services}},
    )


def request(adapter: AdapterRef, **changes: Any) -> PodRequest:
    """A request with test labels."""
    return PodRequest(adapter, **{"run_id": TEST_RUN, "trial_id": "test-trial", **changes})


@dataclass(frozen=True)
class Caller:
    """A bare client of one pod."""

    stub: Any
    health: Any

    async def ready(self, seconds: float = 20.0) -> None:
        """Waits until the adapter serves."""

        async def serving() -> bool:
            try:
                answer = await self.health.Check(
                    health_pb2.HealthCheckRequest(service=SERVICE), timeout=2
                )
            except grpc.aio.AioRpcError:
                return False
            return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)

        await eventually(serving, bool, seconds)

    async def capabilities(self) -> Any:
        """The handshake."""
        return await self.stub.Capabilities(pb.CapabilitiesRequest(), timeout=10)

    async def ask(self, text: str, seconds: float = 30.0) -> str:
        """A search; the text of its first hit, or nothing."""
        answer = await self.stub.Search(pb.SearchRequest(query=text, limit=10), timeout=seconds)
        return str(answer.hits[0].text) if answer.hits else ""

    async def tell(self, episode_id: str, text: str) -> None:
        """Ingests one episode."""
        call = self.stub.Ingest(timeout=10)
        episode = pb.Episode(episode_id=episode_id, text=text, media_type="text/plain")
        await call.write(pb.IngestRequest(episodes=[episode]))
        await call.done_writing()
        acks = [ack.status async for answer in call for ack in answer.acks]
        assert acks == [pb.INGEST_STATUS_STORED], acks


@asynccontextmanager
async def caller(target: str) -> AsyncIterator[Caller]:
    """Connects to a pod."""
    async with grpc.aio.insecure_channel(target, options=_CHANNEL) as channel:
        yield Caller(rpc.MemoryAdapterStub(channel), health_pb2_grpc.HealthStub(channel))


async def eventually(
    look: Callable[[], Awaitable[T]], enough: Callable[[T], bool], seconds: float = 20.0
) -> T:
    """Looks until it is enough; fails with what it saw last."""
    seen: list[T] = []
    try:
        async with asyncio.timeout(seconds):
            while True:
                seen.append(await look())
                if enough(seen[-1]):
                    return seen[-1]
                await asyncio.sleep(0.02)
    except TimeoutError:
        raise AssertionError(f"not within {seconds:g} s; last seen: {seen[-1:]}") from None


async def ended(pod: Pod, seconds: float = 30.0) -> Fate:
    """Waits until the pod's first container has ended."""
    return await eventually(pod.fate, lambda fate: fate.state == "exited", seconds)


def probe_command(*arguments: str) -> tuple[str, ...]:
    """Runs one subcommand of probe.py as the adapter's container."""
    return ("python3", "-I", "/opt/testbed/probe.py", *arguments)


def probe_here(*arguments: str) -> list[dict[str, Any]]:
    """The same on this host: the control that shows that the probe would see a way out."""
    done = subprocess.run(
        [sys.executable, "-I", str(TESTBED / "probe.py"), *arguments],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return findings(done.stdout)


def findings(log: str) -> list[dict[str, Any]]:
    """What a probe told, from its output."""
    return [json.loads(line) for line in log.splitlines() if line.startswith("{")]


@contextmanager
def host_listener() -> Iterator[int]:
    """A service of the host on every address; yields its port."""
    with socket.create_server(("0.0.0.0", 0), backlog=16) as server:
        yield int(server.getsockname()[1])


def free_port() -> int:
    """A TCP port that nobody listens on now."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


async def left_over(run: str) -> list[str]:
    """Names of everything of a run that is still there."""
    names = [str(f.path) for f in list_folders() if (o := f.owner()) and o.run == run]
    if not why_no_docker():
        engine = Engine(socket_path())
        label = (f"io.memrig.run={run}",)
        names += [c.name for c in await engine.containers(label)]
        names += [v.name for v in await engine.volumes(label)]
        engine.close()
    return names
