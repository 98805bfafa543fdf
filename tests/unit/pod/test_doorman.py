"""The doorman, run as a plain process: bytes in, bytes out, in both directions."""

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from memrig.pod.images.sources import own_image

SOURCE = own_image("doorman") / "doorman.py"


@pytest.fixture(scope="module")
def doorman() -> ModuleType:
    module = ModuleType("doorman")
    # Not imported: that would leave a __pycache__ in the image's folder.
    exec(compile(SOURCE.read_text("utf-8"), SOURCE, "exec"), module.__dict__)  # noqa: S102
    return module


@pytest.fixture
def adapter() -> Iterator[socket.socket]:
    """Where the adapter would listen."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(10)
        yield server


def start(path: Path, port: int) -> subprocess.Popen[str]:
    """A doorman that has said that it is ready. Its network check is for a pod, so it is off."""
    source = (
        f"import sys; sys.path.insert(0, {str(SOURCE.parent)!r}); import doorman;"
        "doorman.check_network = lambda: None; doorman.main()"
    )
    command = [sys.executable, "-B", "-c", source, "--port", str(port), "--adapter", str(path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == f"doorman: ready, {path} -> 127.0.0.1:{port}\n"
    return process


@pytest.fixture
def door(tmp_path_factory: pytest.TempPathFactory, adapter: socket.socket) -> Iterator[Path]:
    path = tmp_path_factory.mktemp("d") / "a.sock"
    process = start(path, adapter.getsockname()[1])
    yield path
    process.kill()
    process.communicate()


def dial(path: Path) -> socket.socket:
    caller = socket.socket(socket.AF_UNIX)
    caller.settimeout(10)
    caller.connect(str(path))
    return caller


def test_bytes_go_both_ways_unchanged(door: Path, adapter: socket.socket) -> None:
    """A megabyte and a single byte."""
    with dial(door) as caller:
        server, _ = adapter.accept()
        with server:
            caller.sendall(b"x" * 100_000 + b"!")
            caller.shutdown(socket.SHUT_WR)
            got = b"".join(iter(lambda: server.recv(1 << 16), b""))
            server.sendall(b"answer")
            server.shutdown(socket.SHUT_WR)
            assert caller.recv(100) == b"answer"

    assert got == b"x" * 100_000 + b"!"


def test_the_end_of_one_direction_leaves_the_other_open(door: Path, adapter: socket.socket) -> None:
    """A half-closed connection still carries the answer."""
    with dial(door) as caller:
        server, _ = adapter.accept()
        with server:
            caller.shutdown(socket.SHUT_WR)
            assert server.recv(1) == b""
            server.sendall(b"late")
            assert caller.recv(10) == b"late"


def test_an_adapter_that_goes_away_ends_the_call(door: Path, adapter: socket.socket) -> None:
    """The caller sees the end at once, not a time-out."""
    with dial(door) as caller:
        server, _ = adapter.accept()
        server.close()

        assert caller.recv(1) == b""


def test_a_caller_is_held_until_the_adapter_listens(tmp_path: Path) -> None:
    """Before the adapter's first connection, nobody is refused."""
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        process = start(tmp_path / "a.sock", reserved.getsockname()[1])
        try:
            with dial(tmp_path / "a.sock") as caller:
                caller.sendall(b"early")
                reserved.listen()
                reserved.settimeout(10)
                server, _ = reserved.accept()
                with server:
                    assert server.recv(10) == b"early"
        finally:
            process.kill()
            process.communicate()


def test_one_that_left_is_noticed_behind_its_bytes(doorman: ModuleType) -> None:
    """A caller that gave up holds no place, even if nobody read what it sent."""
    near, far = socket.socketpair()
    with near:
        far.sendall(b"unread")
        assert not doorman.has_left(near)
        far.close()
        assert doorman.has_left(near)


def test_sigterm_ends_it_with_0(tmp_path: Path) -> None:
    """Clearly and at once."""
    process = start(tmp_path / "a.sock", 1)
    started = time.monotonic()
    process.send_signal(signal.SIGTERM)
    output, _ = process.communicate(timeout=10)

    assert (process.returncode, output) == (0, "doorman: stopped\n")
    assert time.monotonic() - started < 5


ROUTE = "Iface\tDestination\tGateway\n"
LOOPBACK = f"{'0' * 32} 80 {'0' * 32} 00 {'0' * 32} 00000100 00000003 00000000 80200001       lo\n"


def test_a_loopback_is_no_route(doorman: ModuleType) -> None:
    """The control for the next one."""
    assert doorman.routes(ROUTE, LOOPBACK) == []


@pytest.mark.parametrize(
    ("ipv4", "ipv6"),
    [
        (ROUTE + "eth0\t00000000\t010011AC\n", LOOPBACK),
        (ROUTE, LOOPBACK + LOOPBACK.replace("      lo", "    eth0")),
    ],
)
def test_a_route_by_another_interface_is_refused(doorman: ModuleType, ipv4: str, ipv6: str) -> None:
    """The doorman of such a network does not serve."""
    assert doorman.routes(ipv4, ipv6) == ["eth0"]


def test_on_a_network_with_a_route_it_does_not_start(
    doorman: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It says why and exits with its own code."""
    monkeypatch.setattr(doorman, "routes", lambda *_: ["eth0"])
    with pytest.raises(SystemExit) as end:
        doorman.check_network()

    assert end.value.code == doorman.EXIT_NETWORK
    assert "refusing: the pod's network has a route by eth0" in capsys.readouterr().out
