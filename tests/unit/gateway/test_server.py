"""One trial's socket: private, quick to come and to go, and gone at the end."""

import asyncio
import os
import socket
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from memrig.errors import PrerequisiteError
from memrig.gateway.server import SOCKET, serving, sweep_sockets
from support.gateways import GPT, gateway_of, identity, pod_of
from support.llm_standin import Say


async def ready(scope, receive, send):
    """The smallest app."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"ok"})


async def test_the_socket_is_open_to_all_in_a_folder_open_to_nobody_else():
    """The doorman that connects to it is another user."""
    async with serving(ready, None) as path:
        assert stat.S_IMODE(path.stat().st_mode) == 0o666
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert len(bytes(path)) < 100
    assert not path.parent.exists()


@pytest.fixture
def short() -> Iterator[Path]:
    """A folder whose path is short."""
    with tempfile.TemporaryDirectory(prefix="mr", dir="/tmp") as folder:
        yield Path(folder)


async def test_a_given_folder_stays(short):
    """Its owner removes it; the socket goes."""
    async with serving(ready, short) as path:
        assert path.parent == short
    assert list(short.iterdir()) == []


async def test_a_folder_that_others_can_enter_is_refused(short):
    """Whoever reaches the socket spends the run's money."""
    short.chmod(0o755)
    with pytest.raises(PrerequisiteError, match="0700"):
        async with serving(ready, short):
            pass


async def test_a_path_that_is_too_long_for_a_socket_is_refused(tmp_path):
    """Before the kernel cuts it."""
    deep = tmp_path / ("x" * 100)
    deep.mkdir(mode=0o700)
    with pytest.raises(PrerequisiteError, match="under 100"):
        async with serving(ready, deep):
            pass


async def test_coming_and_going_waits_for_no_clock():
    """Ten sockets take less than one of uvicorn's ticks of 0.1 s each way would."""
    began = time.monotonic()
    for _ in range(10):
        async with serving(ready, None):
            pass
    assert time.monotonic() - began < 1


async def test_a_call_under_way_at_the_end_is_cut_off_and_paid_back(standin):
    """The trial's end is bounded, and what was reserved for it is free again."""
    asked = asyncio.Event()
    standin.script = lambda _: asked.set() or Say("late", delay_s=30)
    async with gateway_of(standin) as gateway:
        began = time.monotonic()
        async with pod_of(gateway, identity()) as pod:
            client = await pod.http()
            body = {"model": GPT, "messages": [{"role": "user", "content": "x"}]}
            call = asyncio.create_task(client.post("http://pod/v1/chat/completions", json=body))
            await asked.wait()
        assert time.monotonic() - began < 5
        with pytest.raises(httpx2.TransportError):
            await call
        assert all(a.reserved_tokens == 0 for a in gateway._calls.ledger)


def test_sockets_of_killed_processes_are_swept(short):
    """Not those that somebody listens on, not young ones, and nothing else."""
    names = ("mrg-dead", "mrg-empty", "mrg-young", "mrg-alive", "other")
    dead, empty, young, alive, other = (short / name for name in names)
    with socket.socket(socket.AF_UNIX) as killed, socket.socket(socket.AF_UNIX) as listening:
        for folder in (dead, empty, young, alive, other):
            folder.mkdir(mode=0o700)
        killed.bind(str(dead / SOCKET))
        listening.bind(str(alive / SOCKET))
        listening.listen()
        for folder in (dead, empty, alive, other):
            os.utime(folder, (0, 0))
        assert sweep_sockets(short) == 2
    assert sorted(path.name for path in short.iterdir()) == ["mrg-alive", "mrg-young", "other"]


async def test_a_pod_that_hangs_up_is_no_error(standin, caplog):
    """Within its request or while it waits: the next one is served."""
    async with gateway_of(standin) as gateway, pod_of(gateway) as pod:
        for sent in (
            b"POST /v1/embeddings HTTP/1.1\r\nhost: x\r\ncontent-length: 99\r\n\r\n{",
            b"POST /v1/embed",
            b"nonsense\r\n\r\n",
        ):
            _, writer = await asyncio.open_unix_connection(pod.socket)
            writer.write(sent)
            await writer.drain()
            writer.close()
        listed = await (await pod.http()).get("http://pod/v1/models")
    assert listed.status_code == 200
    assert [r.message for r in caplog.records if r.levelname == "ERROR"] == []
