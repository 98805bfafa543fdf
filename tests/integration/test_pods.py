"""What every kind of pod guarantees: one specification over docker, process and endpoint."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from memrig.errors import PrerequisiteError
from memrig.model.manifest import AdapterRef, PodKind
from memrig.pod.base import Pod, PodProvider
from memrig.pod.select import provider_for
from support.pods import TESTBED, Caller, caller, free_port, request, tricky

KINDS = [pytest.param("docker", marks=pytest.mark.docker), "process", "endpoint"]


@pytest.fixture
def served() -> Iterator[str]:
    """Somebody else's adapter, already running."""
    port = free_port()
    program = Path(sys.executable).parent / "memrig-adapter"
    process = subprocess.Popen(
        [program, "serve", "tricky:Tricky", "--listen", f"127.0.0.1:{port}"],
        cwd=TESTBED,
        stderr=subprocess.DEVNULL,
    )
    yield f"grpc://127.0.0.1:{port}"
    process.kill()
    process.wait()


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> PodKind:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
def provider(kind: PodKind) -> Iterator[PodProvider]:
    made = provider_for(kind)
    yield made
    if hasattr(made, "close"):
        made.close()


@pytest.fixture
async def adapter(kind: PodKind, served: str) -> AdapterRef:
    if kind == "endpoint":
        return AdapterRef(name="served", version="", pod="endpoint", endpoint=served)
    return await tricky(kind)


@pytest.fixture
async def pod(provider: PodProvider, adapter: AdapterRef) -> AsyncIterator[Pod]:
    async with provider.start(request(adapter)) as started:
        yield started


@pytest.fixture
async def client(pod: Pod) -> AsyncIterator[Caller]:
    async with caller(pod.target) as connected:
        await connected.ready()
        yield connected


async def test_a_pod_serves_the_contract_at_its_target(client: Caller) -> None:
    """A started pod's target answers the handshake."""
    assert (await client.capabilities()).name == "tricky"


async def test_a_pod_that_serves_is_never_said_to_have_ended(pod: Pod, client: Caller) -> None:
    """While it serves, the fate is running; an endpoint's is unknown."""
    fate = await pod.fate()

    assert fate.state == ("unknown" if pod.description["pod"] == "endpoint" else "running")
    assert not fate.oom


async def test_a_pod_tells_what_it_is(pod: Pod, kind: PodKind) -> None:
    """The description names the kind, for the transcript."""
    assert pod.description["pod"] == kind


async def test_logs_show_what_the_adapter_wrote(pod: Pod, client: Caller, kind: PodKind) -> None:
    """The adapter's own lines are in its log, where the pod can read one."""
    text = await pod.logs(20)

    assert ("serving" in text) == (kind != "endpoint")


async def test_usage_is_measured_or_none(pod: Pod, client: Caller, kind: PodKind) -> None:
    """CPU seconds and bytes of a pod that worked are plausible; an endpoint has none."""
    await client.ask("burn")

    usage = await pod.usage()

    if kind == "endpoint":
        assert (usage.cpu_s, usage.memory_bytes, usage.peak_memory_bytes) == (None, None, None)
        return
    assert usage.cpu_s is not None
    assert 0.25 < usage.cpu_s < 20
    assert usage.memory_bytes is not None
    assert 4 << 20 < usage.memory_bytes < 1 << 30
    assert usage.peak_memory_bytes is None or usage.peak_memory_bytes >= usage.memory_bytes


async def test_nothing_of_the_pod_is_left_afterwards(
    provider: PodProvider, adapter: AdapterRef, kind: PodKind
) -> None:
    """Leaving the context takes the socket and its folder away; an endpoint goes on serving."""
    async with provider.start(request(adapter)) as pod, caller(pod.target) as client:
        await client.ready()
        target = pod.target

    if kind == "endpoint":
        async with caller(target) as client:
            await client.ready()
    else:
        assert not Path(target.removeprefix("unix:")).parents[1].exists()


async def test_pods_of_one_provider_do_not_collide(
    provider: PodProvider, adapter: AdapterRef, kind: PodKind
) -> None:
    """Three pods at a time are three processes, each answering for itself."""

    async def boot_id(stack: AsyncExitStack) -> str:
        pod = await stack.enter_async_context(provider.start(request(adapter)))
        client = await stack.enter_async_context(caller(pod.target))
        await client.ready()
        return str((await client.capabilities()).boot_id)

    async with AsyncExitStack() as first, AsyncExitStack() as second, AsyncExitStack() as third:
        found = await asyncio.gather(*(boot_id(stack) for stack in (first, second, third)))

    assert len(set(found)) == (1 if kind == "endpoint" else 3)


async def test_an_endpoint_refuses_a_restart(served: str) -> None:
    """What is not ours is not ours to restart."""
    adapter = AdapterRef(name="served", version="", pod="endpoint", endpoint=served)
    async with provider_for("endpoint").start(request(adapter)) as pod:
        with pytest.raises(PrerequisiteError, match="not ours to restart"):
            await pod.restart("adapter")
