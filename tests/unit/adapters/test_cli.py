"""`memrig-adapter` as a process: how it starts, where it listens, how it ends (protocol §2)."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import grpc
import pytest

from memrig_adapters import __version__
from memrig_adapters.cli import TargetError, load
from memrig_adapters.none import NoneAdapter
from memrig_proto.v1 import memory_adapter_pb2 as pb
from memrig_proto.v1 import memory_adapter_pb2_grpc as pb_grpc

COMMAND = [sys.executable, "-m", "memrig_adapters"]
NONE = "memrig_adapters.none:NoneAdapter"
Start = Callable[..., subprocess.Popen[str]]

HANGING = """
import time
from memrig_adapters.none import NoneAdapter

class Hanging(NoneAdapter):
    def start(self):
        if {in_start}:
            time.sleep(600)

    def flush(self):
        time.sleep(600)
        return 0
"""


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts the command in an empty folder, and ends what is left of it."""
    processes: list[subprocess.Popen[str]] = []

    def run(*arguments: str, **environment: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [*COMMAND, *arguments],
            cwd=tmp_path,
            env={**os.environ, **environment},
            stderr=subprocess.PIPE,
            text=True,
        )
        processes.append(process)
        return process

    yield run
    for process in processes:
        process.kill()
        process.wait(10)
        if process.stderr:
            process.stderr.close()


def boot_id(address: str) -> str:
    with grpc.insecure_channel(address) as channel:
        grpc.channel_ready_future(channel).result(30)
        stub = pb_grpc.MemoryAdapterStub(channel)
        for _ in range(100):
            try:
                return stub.Capabilities(pb.CapabilitiesRequest(), timeout=10).boot_id
            except grpc.RpcError as error:
                if error.code() is not grpc.StatusCode.UNAVAILABLE:
                    raise
                time.sleep(0.05)
    raise AssertionError("never served")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_with_code_0(start: Start, socket: Path, number: signal.Signals) -> None:
    """SIGTERM and SIGINT end the process gracefully with exit code 0."""
    process = start("serve", NONE, "--listen", f"unix:{socket}")
    boot_id(f"unix:{socket}")
    process.send_signal(number)
    assert process.wait(10) == 0


def test_every_start_has_another_boot_id(start: Start, socket: Path) -> None:
    """A restart on the same socket is seen by its boot id; a stale socket is no obstacle."""
    first = start("serve", NONE, "--listen", f"unix:{socket}")
    before = boot_id(f"unix:{socket}")
    first.kill()
    first.wait(10)
    start("serve", NONE, "--listen", f"unix:{socket}")
    assert boot_id(f"unix:{socket}") != before


def test_the_environment_says_where_to_listen(start: Start, socket: Path) -> None:
    """Without --listen, MEMRIG_LISTEN is the address."""
    start("serve", NONE, MEMRIG_LISTEN=f"unix:{socket}")
    assert boot_id(f"unix:{socket}")


def test_the_working_directory_is_importable(start: Start, tmp_path: Path, socket: Path) -> None:
    """An adapter's module is found in the folder that the command runs in."""
    (tmp_path / "mine.py").write_text("from memrig_adapters.none import NoneAdapter as Mine\n")
    start("serve", "mine:Mine", "--listen", f"unix:{socket}")
    assert boot_id(f"unix:{socket}")


@pytest.mark.slow
def test_a_hung_call_does_not_outlive_the_grace(start: Start, tmp_path: Path, socket: Path) -> None:
    """With a call that never ends, SIGTERM still ends the process within 5 s, with code 1."""
    (tmp_path / "hanging.py").write_text(HANGING.format(in_start=False))
    process = start("serve", "hanging:Hanging", "--listen", f"unix:{socket}")
    boot_id(f"unix:{socket}")
    with grpc.insecure_channel(f"unix:{socket}") as channel:
        pending = pb_grpc.MemoryAdapterStub(channel).Flush.future(pb.FlushRequest(), timeout=0.5)
        assert pending.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        began = time.monotonic()
        process.terminate()
        assert process.wait(20) == 1
    assert time.monotonic() - began < 7


def test_a_hung_start_can_be_ended(start: Start, tmp_path: Path, socket: Path) -> None:
    """A start() that never returns does not keep SIGTERM from ending the process."""
    (tmp_path / "hanging.py").write_text(HANGING.format(in_start=True))
    process = start("serve", "hanging:Hanging", "--listen", f"unix:{socket}")
    with grpc.insecure_channel(f"unix:{socket}") as channel:
        grpc.channel_ready_future(channel).result(30)
        process.terminate()
        assert process.wait(10) == 0


def test_a_failed_start_is_code_1_with_its_traceback(start: Start, tmp_path: Path) -> None:
    """An exception of start() ends the process with code 1 and the reason on standard error."""
    (tmp_path / "broken.py").write_text(
        "from memrig_adapters.none import NoneAdapter\n"
        "class Broken(NoneAdapter):\n"
        "    def start(self):\n"
        "        raise RuntimeError('no database')\n"
    )
    process = start("serve", "broken:Broken", "--listen", "127.0.0.1:0")
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 1
    assert "RuntimeError: no database" in errors


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("nonsense", "not of the form module:Class"),
        ("no_such_module:X", "no module 'no_such_module'"),
        ("memrig_adapters.none:Missing", "is None, not a subclass of Adapter"),
        ("json:JSONDecoder", "not a subclass of Adapter"),
    ],
)
def test_a_target_that_is_no_adapter_is_refused(target: str, message: str) -> None:
    """A target that cannot be served is named, with what is wrong about it."""
    with pytest.raises(TargetError, match=message):
        load(target)


def test_a_missing_dependency_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the adapter's module needs what is not installed, the message names that."""
    (tmp_path / "needy.py").write_text("import not_installed_here\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(TargetError, match="needy needs 'not_installed_here'"):
        load("needy:X")


def test_a_target_is_loaded() -> None:
    """A target names a class, and gives an instance of it."""
    assert isinstance(load(NONE), NoneAdapter)


def test_a_wrong_command_line_is_code_2(start: Start) -> None:
    """A target that cannot be served ends with code 2 and one line."""
    process = start("serve", "nonsense")
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 2
    assert errors == "memrig-adapter: 'nonsense' is not of the form module:Class\n"


def test_the_version_is_told() -> None:
    """--version prints the SDK's version."""
    done = subprocess.run([*COMMAND, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"memrig-adapter {__version__}\n"
