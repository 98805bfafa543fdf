"""Clean-up after an owner that died: nothing of its pods is left."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from memrig.pod.owner import process_token
from memrig.pod.process import ProcessProvider
from memrig.pod.proctable import marked
from memrig.pod.reaper import CleanReport, clean, reap, sweep
from memrig.pod.runtime import list_folders
from support.pods import caller, eventually, left_over, request, tricky

TESTS = Path(__file__).parents[1]

_OWNER = """
import asyncio, sys
sys.path.insert(0, {tests!r})
from support.pods import caller, request, stored, tricky
from memrig.pod.select import provider_for

async def main():
    adapter = await ({maker})
    wanted = request(adapter, run_id={run!r}, keep={keep!r})
    async with provider_for({kind!r}).start(wanted) as pod, caller(pod.target) as client:
        await client.ready()
        {order}
        print("ready", flush=True)
        if not {keep!r}:
            await asyncio.sleep(600)

asyncio.run(main())
"""


@contextmanager
def owner(
    run: str, kind: str, *, keep: bool = False, order: str = ""
) -> Iterator[subprocess.Popen[str]]:
    """Another process that owns a pod of a run; at the end it is gone."""
    maker = "stored()" if kind == "docker" else "tricky('process')"
    source = _OWNER.format(
        tests=str(TESTS), maker=maker, run=run, kind=kind, keep=keep, order=order
    )
    process = subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def of_run(report: CleanReport, run: str) -> list[str]:
    """The kinds of what was removed of a run."""
    return sorted(o.kind for o in report.removed if o.run == run)


@pytest.mark.docker
async def test_after_kill_9_clean_leaves_nothing_of_a_docker_pod() -> None:
    """Containers, volumes and folder of a killed owner are found, named, and removed."""
    with owner("killed-docker", "docker") as process:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        report = await clean()

    found = [o for o in report.removed if o.run == "killed-docker"]
    assert {o.reason for o in found} == {"its owner is gone"}
    kinds = ["container"] * 3 + ["folder"] + ["volume"] * 2
    assert of_run(report, "killed-docker") == kinds
    assert report.docker == ""
    assert await left_over("killed-docker") == []


@pytest.mark.docker
async def test_a_living_owners_pod_is_not_touched() -> None:
    """Neither the reaper nor clean removes what another process uses; `all` does."""
    with owner("living-docker", "docker"):
        assert of_run(await reap(), "living-docker") == []
        assert of_run(await clean(), "living-docker") == []
        assert of_run(await sweep("living-docker"), "living-docker") == []


async def test_after_kill_9_a_process_pod_dies_by_itself() -> None:
    """The kernel ends the adapter with its rig; clean removes the folder."""
    with owner("killed-process", "process") as process:
        [folder] = [f for f in list_folders() if (o := f.owner()) and o.run == "killed-process"]
        assert marked(folder.id)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()

        async def running() -> tuple[int, ...]:
            return marked(folder.id)

        await eventually(running, lambda pids: not pids, 5)
        report = await clean()

    assert of_run(report, "killed-process") == ["folder"]
    assert await left_over("killed-process") == []


async def test_clean_kills_what_a_process_pod_left_running() -> None:
    """A child that left the adapter's session is found by its mark."""
    with owner("escaped", "process", order="await client.ask('escape')") as process:
        [folder] = [f for f in list_folders() if (o := f.owner()) and o.run == "escaped"]
        os.kill(process.pid, signal.SIGKILL)
        process.wait()

        async def running() -> tuple[int, ...]:
            return marked(folder.id)

        [child] = await eventually(running, lambda pids: len(pids) == 1, 5)
        report = await clean()

    assert of_run(report, "escaped") == ["folder", "process"]

    async def gone() -> bool:
        return process_token(child) is None

    assert await eventually(gone, bool, 5)


async def test_a_living_owner_keeps_its_pod_however_long_the_trial_takes() -> None:
    """The lease bounds pods whose owner cannot be seen; here it can."""
    wanted = request(await tricky("process"), run_id="slow", lease_s=-1)
    async with ProcessProvider().start(wanted) as pod, caller(pod.target) as client:
        await client.ready()
        report = await reap()
        fate = await pod.fate()

    assert of_run(report, "slow") == []
    assert fate.state == "running"


async def test_an_expired_lease_ends_a_pod_whose_owner_cannot_be_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The lease bounds how long a pod can stay that nobody here can vouch for."""
    wanted = request(await tricky("process"), run_id="expired", lease_s=-1)
    async with ProcessProvider().start(wanted) as pod, caller(pod.target) as client:
        await client.ready()
        monkeypatch.setattr("memrig.pod.owner.host_name", lambda: "another host")
        report = await reap()

    assert of_run(report, "expired") == ["folder", "process"]
    assert {o.reason for o in report.removed if o.run == "expired"} == {"its lease has run out"}


async def test_a_kept_pod_survives_the_reaper_but_not_clean() -> None:
    """--keep-pod: still there at the next start, gone after `memrig clean`."""
    with owner("kept-process", "process", keep=True) as process:
        process.wait()
        [folder] = [f for f in list_folders() if (o := f.owner()) and o.run == "kept-process"]
        assert of_run(await reap(), "kept-process") == []
        async with caller(f"unix:{folder.adapter_socket}") as client:
            assert (await client.capabilities()).name == "tricky"
        report = await clean()

    assert of_run(report, "kept-process") == ["folder", "process"]
    assert await left_over("kept-process") == []


async def test_the_sweep_removes_this_process_s_own_pods_of_the_run() -> None:
    """At a run's end, what a trial could not remove goes; another run's pods stay."""
    mine = request(await tricky("process"), run_id="swept")
    other = request(await tricky("process"), run_id="not-swept")
    async with ProcessProvider().start(mine), ProcessProvider().start(other) as stays:
        report = await sweep("swept")
        fate = await stays.fate()

    assert set(of_run(report, "swept")) == {"folder", "process"}
    assert of_run(report, "not-swept") == []
    assert fate.state == "running"


async def test_without_docker_the_rest_is_cleaned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clean says that it could not look for containers, and removes what it can."""
    monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent/docker.sock")
    wanted = request(await tricky("process"), run_id="no-docker", lease_s=-1)
    async with ProcessProvider().start(wanted):
        monkeypatch.setattr("memrig.pod.owner.host_name", lambda: "another host")
        report = await reap()

    assert "no Docker daemon" in report.docker
    assert set(of_run(report, "no-docker")) == {"folder", "process"}
