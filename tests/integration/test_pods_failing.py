"""Adapters that fail end right: the fate, the exit code and the last lines are known in time."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any, Literal

import grpc
import pytest

from memrig.errors import PrerequisiteError, UsageError
from memrig.pod.base import Fate, Pod, PodProvider
from memrig.pod.owner import process_token
from memrig.pod.select import provider_for
from support.pods import Caller, caller, ended, eventually, left_over, request, tricky

KINDS = [pytest.param("docker", marks=pytest.mark.docker), "process"]
Kind = Literal["docker", "process"]


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> Kind:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
def provider(kind: Kind) -> Iterator[PodProvider]:
    made = provider_for(kind)
    yield made
    if hasattr(made, "close"):
        made.close()


@asynccontextmanager
async def served(provider: PodProvider, **changes: Any) -> AsyncIterator[tuple[Pod, Caller]]:
    """A tricky adapter that serves."""
    adapter = await tricky(provider.kind, **changes)
    async with provider.start(request(adapter)) as pod, caller(pod.target) as client:
        await client.ready()
        yield pod, client


async def broken_off(client: Caller, order: str) -> grpc.StatusCode:
    """Gives an order that ends the call; the status that the caller sees."""
    with pytest.raises(grpc.aio.AioRpcError) as failure:
        await client.ask(order)
    return failure.value.code()


async def test_a_crash_at_start_is_seen_with_its_exit_code(provider: PodProvider) -> None:
    """An adapter that ends before it serves has the fate exited."""
    adapter = await tricky(provider.kind, environment={"TRICKY": "crash"})
    async with provider.start(request(adapter)) as pod:
        fate = await ended(pod)

    assert (fate.state, fate.exit_code, bool(fate.oom)) == ("exited", 9, False)


async def test_the_last_words_of_a_crash_are_kept_without_colours(provider: PodProvider) -> None:
    """The log of an ended adapter can still be read, and holds no control sequence."""
    adapter = await tricky(provider.kind, environment={"TRICKY": "crash"})
    async with provider.start(request(adapter)) as pod:
        await ended(pod)
        text = await eventually(pod.logs, bool, 5)

    assert text == "tricky: no database"


async def test_an_exit_in_mid_call_breaks_the_call_at_once(provider: PodProvider) -> None:
    """The caller sees UNAVAILABLE, and the fate tells the exit code."""
    async with served(provider) as (pod, client):
        started = time.monotonic()
        code = await broken_off(client, "exit 7")
        elapsed = time.monotonic() - started
        fate = await ended(pod)

    assert code is grpc.StatusCode.UNAVAILABLE
    assert elapsed < 5
    assert (fate.exit_code, bool(fate.oom), fate.service) == (7, False, "adapter")


async def test_a_hang_is_running(provider: PodProvider) -> None:
    """A call that never answers meets its deadline, and the fate says that the process lives."""
    async with served(provider) as (pod, client):
        with pytest.raises(grpc.aio.AioRpcError) as failure:
            await client.ask("hang", seconds=0.5)
        fate = await pod.fate()

    assert failure.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    assert fate.state == "running"


async def test_a_pod_with_a_hung_adapter_goes_away_in_time(provider: PodProvider) -> None:
    """Teardown does not wait for an adapter that ignores the world."""
    adapter = await tricky(provider.kind)
    async with provider.start(request(adapter)) as pod, caller(pod.target) as client:
        await client.ready()
        with pytest.raises(grpc.aio.AioRpcError):
            await client.ask("hang", seconds=0.3)
        leaving = time.monotonic()

    assert time.monotonic() - leaving < 5


async def test_an_adapter_that_never_serves_is_running(provider: PodProvider) -> None:
    """Never ready: the process lives, the port stays closed, the log tells why."""
    adapter = await tricky(provider.kind, environment={"TRICKY": "never"})
    async with provider.start(request(adapter)) as pod, caller(pod.target) as client:
        text = await eventually(pod.logs, bool, 10)
        with pytest.raises(grpc.aio.AioRpcError):
            await client.stub.Capabilities(b"", timeout=1)
        fate = await pod.fate()

    assert text == "tricky: will never serve"
    assert fate.state == "running"


async def test_a_flood_of_log_lines_leaves_the_last_ones(provider: PodProvider) -> None:
    """24 MiB of log: the adapter goes on serving, and the end of it can be read."""
    async with served(provider) as (pod, client):
        assert await client.ask("flood 24", seconds=60) == "done"
        text = await eventually(
            lambda: pod.logs(10), lambda log: "the last line of the flood" in log, 30
        )

    assert len(text.splitlines()) <= 10


async def test_what_left_the_process_group_goes_too(provider: PodProvider) -> None:
    """A child in a session of its own does not outlive the pod."""
    async with served(provider) as (_, client):
        child = await client.ask("escape")
        alive = await client.ask(f"read /proc/{child}/comm")

    assert alive.strip() == "sleep"
    if provider.kind == "process":
        assert process_token(int(child)) is None


async def test_a_restart_gives_another_boot_id(provider: PodProvider) -> None:
    """A restarted adapter serves again at the same target, and shows that it is another process."""
    async with served(provider) as (pod, client):
        before = (await client.capabilities()).boot_id
        await pod.restart("adapter")
        await client.ready()
        after = (await client.capabilities()).boot_id
        fate = await pod.fate()

    assert before
    assert after not in {"", before}
    assert fate.state == "running"


async def test_usage_counts_on_over_a_restart(provider: PodProvider) -> None:
    """CPU time from before a restart is not lost."""
    async with served(provider) as (pod, client):
        await client.ask("burn")
        before = await pod.usage()
        await pod.restart("adapter")
        await client.ready()
        after = await pod.usage()

    assert before.cpu_s is not None
    assert after.cpu_s is not None
    assert after.cpu_s > before.cpu_s


async def test_an_unknown_service_cannot_be_restarted(provider: PodProvider) -> None:
    """The error names what there is, or which pod has companions."""
    async with served(provider) as (pod, _):
        with pytest.raises((UsageError, PrerequisiteError), match="no service 'database'"):
            await pod.restart("database")


async def test_keys_in_the_rigs_environment_stay_outside(
    provider: PodProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No value of the rig's environment other than PATH and LANG reaches an adapter."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-of-the-rig")

    async with served(provider, environment={"DECLARED": "by the manifest"}) as (_, client):
        seen = await client.ask("environment")

    assert "DECLARED=by the manifest" in seen
    assert "MEMRIG_LISTEN=" in seen
    assert "sk-secret-of-the-rig" not in seen
    assert "MEMRIG_LLM_BASE_URL" not in seen


async def test_a_cancelled_start_leaves_nothing(provider: PodProvider) -> None:
    """However early a trial is cancelled, its pod is removed before the cancellation goes on."""
    adapter = await tricky(provider.kind)
    fates: list[Fate] = []

    async def trial() -> None:
        async with provider.start(request(adapter, run_id="cancelled-run")) as pod:
            fates.append(await pod.fate())
            await asyncio.sleep(60)

    for delay in (0.0, 0.01, 0.05, 0.15, 0.3, 0.5):
        task = asyncio.create_task(trial())
        await asyncio.sleep(delay)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await left_over("cancelled-run") == []


@pytest.mark.docker
async def test_a_memory_hog_is_killed_and_said_to_be() -> None:
    """Over its memory limit: the call breaks off, and the fate says oom."""
    provider = provider_for("docker")
    async with served(provider) as (pod, client):
        code = await broken_off(client, "oom")
        fate = await ended(pod)

    assert code is grpc.StatusCode.UNAVAILABLE
    assert (fate.state, fate.oom, fate.exit_code) == ("exited", True, 137)


@pytest.mark.docker
async def test_a_child_killed_for_memory_is_noticed() -> None:
    """Where only a child of the adapter is killed, the fate is running, with oom."""
    provider = provider_for("docker")
    async with served(provider) as (pod, client):
        assert not (await pod.fate()).oom
        assert await client.ask("oom-child") == "child ended with -9"
        fate = await pod.fate()

    assert (fate.state, fate.oom, fate.service) == ("running", True, "adapter")


@pytest.mark.docker
async def test_a_command_that_is_not_in_the_image_is_the_adapters_fault() -> None:
    """It ends at once with 127, as in a shell, and the log names the program."""
    adapter = await tricky("docker", command=("no-such-program",))
    async with provider_for("docker").start(request(adapter)) as pod:
        fate = await ended(pod)
        text = await pod.logs()

    assert fate.exit_code == 127
    assert "no-such-program" in text


async def test_a_command_that_is_nowhere_is_a_prerequisite() -> None:
    """A process pod says which program is missing and where it looked."""
    adapter = await tricky("process", command=("no-such-program",))
    with pytest.raises(PrerequisiteError, match="no-such-program"):
        async with provider_for("process").start(request(adapter)):
            pytest.fail("it started")
