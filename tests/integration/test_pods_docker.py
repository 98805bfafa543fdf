"""What a Docker pod does beyond the common specification: companions, volumes, floor, gateway."""

import asyncio
import dataclasses
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest

from memrig.errors import AdapterCrashedError, InfrastructureError, PrerequisiteError, UsageError
from memrig.model.manifest import AdapterRef
from memrig.pod.base import Pod
from memrig.pod.docker import DockerProvider, Engine, floor, socket_path
from memrig.pod.docker import provider as provider_module
from memrig.pod.docker.facts import EngineFacts
from memrig.pod.process import ProcessProvider
from memrig.pod.runtime import list_folders
from support.pods import (
    TEST_RUN,
    Caller,
    caller,
    ended,
    eventually,
    left_over,
    manifest,
    request,
    stored,
    tricky,
)

pytestmark = pytest.mark.docker


@pytest.fixture
def provider() -> Iterator[DockerProvider]:
    made = DockerProvider()
    yield made
    made.close()


@pytest.fixture
def engine() -> Iterator[Engine]:
    made = Engine(socket_path())
    yield made
    made.close()


@asynccontextmanager
async def served(
    provider: DockerProvider, adapter: AdapterRef
) -> AsyncIterator[tuple[Pod, Caller]]:
    async with provider.start(request(adapter)) as pod, caller(pod.target) as client:
        await client.ready()
        yield pod, client


def with_store(adapter: AdapterRef, **changes: Any) -> AdapterRef:
    """The stored adapter with another store section."""
    assert adapter.manifest is not None
    store = adapter.manifest.services["store"].model_copy(update=changes)
    changed = adapter.manifest.model_copy(update={"services": {"store": store}})
    return adapter.model_copy(update={"manifest": changed})


async def test_an_adapter_reaches_its_companion_on_loopback(provider: DockerProvider) -> None:
    """What the adapter keeps in its companion can be found again."""
    async with served(provider, await stored()) as (_, client):
        await client.tell("e1", "the boat is called Alma")

        assert await client.ask("Alma") == "the boat is called Alma"


async def test_a_restarted_companion_keeps_its_named_volume(provider: DockerProvider) -> None:
    """The companion is another process afterwards, the adapter is not, and the data is there."""
    async with served(provider, await stored()) as (pod, client):
        await client.tell("e1", "the boat is called Alma")
        before = (await client.capabilities()).boot_id
        await pod.restart("store")

        assert (await client.capabilities()).boot_id == before
        assert await client.ask("Alma") == "the boat is called Alma"
        assert (await pod.fate()).state == "running"


async def test_a_restarted_adapter_finds_its_companion(provider: DockerProvider) -> None:
    """The adapter is another process afterwards; the companion's data is there."""
    async with served(provider, await stored()) as (pod, client):
        await client.tell("e1", "the boat is called Alma")
        before = (await client.capabilities()).boot_id
        await pod.restart("adapter")
        await client.ready()

        assert (await client.capabilities()).boot_id != before
        assert await client.ask("Alma") == "the boat is called Alma"


@pytest.mark.parametrize("service", ["store", "adapter"])
async def test_a_killed_container_comes_back_with_its_volume(
    provider: DockerProvider, service: str
) -> None:
    """By SIGKILL: what was acknowledged is on the volume, and the pod counts on."""
    async with served(provider, await stored()) as (pod, client):
        await client.tell("e1", "the boat is called Alma")
        before = await pod.usage()
        await pod.restart(service, kill=True)
        await client.ready()

        assert await client.ask("Alma") == "the boat is called Alma"
        assert (await pod.fate()).state == "running"
        after = await pod.usage()
    assert before.cpu_s is not None
    assert after.cpu_s is not None
    assert after.cpu_s >= before.cpu_s


async def test_what_a_pod_can_restart_ends_with_its_adapter(provider: DockerProvider) -> None:
    """The doorman is the rig's own and is none of it."""
    async with served(provider, await stored()) as (pod, _):
        assert pod.services == ("store", "adapter")


async def test_files_on_a_tmpfs_are_told_apart(provider: DockerProvider) -> None:
    """They count as memory, and as files."""
    async with served(provider, await tricky("docker")) as (pod, client):
        before = await pod.usage()
        await client.ask("fill /tmp/note 4")
        after = await pod.usage()
    assert before.file_bytes is not None
    assert after.file_bytes is not None
    assert after.memory_bytes is not None
    assert 3 * 2**20 < after.file_bytes - before.file_bytes < 5 * 2**20
    assert after.file_bytes <= after.memory_bytes


async def test_volumes_outlive_a_restart_and_scratch_does_not(provider: DockerProvider) -> None:
    """An image's VOLUME is kept over a restart of its container; /tmp starts empty."""
    async with served(provider, await tricky("docker")) as (pod, client):
        await client.ask("write /data/note")
        await client.ask("write /tmp/note")
        await pod.restart("adapter")
        await client.ready()

        assert await client.ask("read /data/note") == "kept"
        with pytest.raises(grpc.aio.AioRpcError):
            await client.ask("read /tmp/note")


async def test_logs_of_several_containers_name_them(provider: DockerProvider) -> None:
    """With a companion, each line says which container wrote it."""
    async with served(provider, await stored()) as (pod, _):
        text = await eventually(pod.logs, lambda log: "serving stored" in log, 5)

    assert "store | store: serving" in text
    assert any(line.startswith("adapter | ") for line in text.splitlines())


async def test_usage_counts_the_companion(provider: DockerProvider) -> None:
    """Memory of adapter and companion together is more than each of them could be alone."""
    async with served(provider, await stored()) as (pod, _):
        both = await pod.usage()
    async with served(provider, await tricky("docker")) as (pod, _):
        alone = await pod.usage()

    assert both.memory_bytes is not None
    assert alone.memory_bytes is not None
    assert both.memory_bytes > alone.memory_bytes


async def test_the_fate_names_the_container_that_ended(provider: DockerProvider) -> None:
    """A companion that ends is named, with its own exit code."""
    adapter = with_store(
        await stored(),
        health=None,
        command=("python3", "-c", "import time; time.sleep(1); exit(4)"),
    )
    async with provider.start(request(adapter)) as pod:
        fate = await ended(pod)

    assert (fate.service, fate.exit_code) == ("store", 4)


async def test_a_companion_that_ends_before_it_is_healthy_fails_the_start(
    provider: DockerProvider,
) -> None:
    """AdapterCrashedError, with the companion's exit code and last words; nothing is left."""
    adapter = with_store(await stored(), command=("python3", "-c", "print('no disk'); exit(3)"))
    with pytest.raises(AdapterCrashedError, match=r"'store'.*exit code 3") as failure:
        async with provider.start(request(adapter, run_id="unhealthy")):
            pytest.fail("it started")

    assert (failure.value.kind, failure.value.log_tail) == ("exit", "no disk")
    assert await left_over("unhealthy") == []


async def test_a_companion_that_never_gets_healthy_is_a_hang(provider: DockerProvider) -> None:
    """The health command's time limit bounds the start."""
    store = manifest().services["store"]
    assert store.health is not None
    health = store.health.model_copy(update={"command": ("false",), "timeout_s": 1.0})
    with pytest.raises(AdapterCrashedError, match="healthy within 1 s") as failure:
        async with provider.start(request(with_store(await stored(), health=health))):
            pytest.fail("it started")

    assert failure.value.kind == "hang"


@pytest.fixture
async def gateway(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Path]:
    """A stand-in for the LLM gateway: an HTTP server on a Unix socket."""
    path = tmp_path_factory.mktemp("gw") / "llm.sock"

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")[0]
        body = b"gateway got " + line
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
        await writer.drain()
        writer.close()

    async with await asyncio.start_unix_server(serve, path):
        path.chmod(0o666)
        yield path


@pytest.mark.parametrize("kind", ["docker", "process"])
async def test_the_gateway_is_reached_by_its_variable(kind: Any, gateway: Path) -> None:
    """MEMRIG_LLM_BASE_URL leads to the gateway's socket on the host, and to nothing else."""
    made = DockerProvider() if kind == "docker" else ProcessProvider()
    wanted = request(await tricky(kind), gateway_socket=gateway)
    async with made.start(wanted) as pod, caller(pod.target) as client:
        await client.ready()
        answer = await client.ask("fetch")

    assert answer == "gateway got GET /hello HTTP/1.1"


async def test_a_dead_doorman_is_the_rigs_fault(provider: DockerProvider, engine: Engine) -> None:
    """If the doorman ends, it is an infrastructure fault, never the adapter's."""
    async with served(provider, await tricky("docker")) as (pod, _):
        label = f"io.memrig.pod={Path(pod.target).parents[1].name}"
        [doorman] = [c for c in await engine.containers((label,)) if c.name.endswith("-doorman")]
        await engine._call(lambda: engine._client.kill(doorman.id))

        async def fate_fails() -> bool:
            try:
                await pod.fate()
            except InfrastructureError as error:
                return "doorman ended" in error.message
            return False

        assert await eventually(fate_fails, bool, 5)


async def test_everything_carries_the_owners_labels(
    provider: DockerProvider, engine: Engine
) -> None:
    """Containers and volumes name run, trial, pid, host, start and lease."""
    async with served(provider, await stored()):
        label = (f"io.memrig.run={TEST_RUN}",)
        things = [*await engine.containers(label), *await engine.volumes(label)]

    assert len(things) == 5  # doorman, store, adapter; the store's volume, the image's VOLUME
    for thing in things:
        keys = {"run", "trial", "pid", "host", "started", "lease"}
        assert {f"io.memrig.{key}" for key in keys} <= thing.labels.keys()


async def test_an_engine_without_the_floor_is_refused(
    provider: DockerProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A daemon that cannot limit memory starts no pod, and the message says what is missing."""
    real = Engine.facts

    async def without_memory(self: Engine) -> EngineFacts:
        return (await real(self)).model_copy(update={"memory_limit": False})

    monkeypatch.setattr(Engine, "facts", without_memory)
    with pytest.raises(PrerequisiteError, match="memory limit: not enforced"):
        async with provider.start(request(await tricky("docker"))):
            pytest.fail("it started")


async def test_a_container_below_the_floor_never_runs(
    provider: DockerProvider, monkeypatch: pytest.MonkeyPatch, engine: Engine
) -> None:
    """If the engine created something else than was asked for, nothing of the adapter starts."""
    real = floor.create_config

    def with_capability(plan: Any) -> dict[str, Any]:
        config: Any = real(plan)
        if plan.service == "adapter":
            config["HostConfig"]["CapAdd"] = ["NET_RAW"]
        return dict(config)

    monkeypatch.setattr(provider_module, "create_config", with_capability)
    with pytest.raises(PrerequisiteError, match=r"CapAdd is .*NET_RAW"):
        async with provider.start(request(await tricky("docker"), run_id="below-the-floor")):
            pytest.fail("it started")
    assert await left_over("below-the-floor") == []


async def test_an_image_that_is_not_there_is_a_prerequisite(provider: DockerProvider) -> None:
    """The message names the digest and how to get an image."""
    digest = "sha256:" + "0" * 64
    adapter = (await tricky("docker")).model_copy(update={"images": {"adapter": digest}})
    with pytest.raises(PrerequisiteError, match="No such image") as failure:
        async with provider.start(request(adapter)):
            pytest.fail("it started")

    assert "memrig image build" in failure.value.fix


async def test_an_image_by_tag_is_refused(provider: DockerProvider) -> None:
    """Only a digest says what ran."""
    adapter = (await tricky("docker")).model_copy(update={"images": {"adapter": "x:latest"}})
    with pytest.raises(UsageError, match="not a digest"):
        async with provider.start(request(adapter)):
            pytest.fail("it started")


async def test_a_kept_pod_stays_until_it_is_cleaned(engine: Engine) -> None:
    """--keep-pod: after the context its containers still run, and can be looked at."""
    provider = DockerProvider()
    wanted = dataclasses.replace(request(await tricky("docker"), run_id="kept-run"), keep=True)
    async with provider.start(wanted) as pod:
        container = pod.description["container.adapter"]
    provider.close()

    assert (await engine.inspect(container)).running
    for thing in await engine.containers(("io.memrig.run=kept-run",)):
        await engine.remove(thing.id)
    for thing in await engine.volumes(("io.memrig.run=kept-run",)):
        await engine.remove_volume(thing.name)
    next(f for f in list_folders() if str(f.adapter_socket) in pod.target).remove()
