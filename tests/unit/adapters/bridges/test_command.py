"""The subprocess bridge, served over the contract, before real commands."""

import os
import signal
import time
from pathlib import Path

import grpc
import pytest

from memrig_adapters.bridges.command import CommandBridge
from memrig_adapters.bridges.reply import AgentError
from memrig_proto.v1 import memory_adapter_pb2 as pb
from support.agents import command_agent
from support.served import Serve, Served

REMEMBERS = """
file = os.path.join(os.environ["MEMRIG_AGENT_STATE"], "texts")
if flag == "--learn":
    with open(file, "a") as out: out.write(text + "|")
elif flag == "--answer":
    print(open(file).read() if os.path.exists(file) else "nothing")
elif os.path.exists(file):
    os.remove(file)
"""


@pytest.fixture
def bridge(serve: Serve, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Serves the bridge to a command with this body."""

    def make(body: str) -> Served:
        monkeypatch.setenv("MEMRIG_AGENT_COMMAND", command_agent(tmp_path, body))
        return serve(CommandBridge())

    return make


def ask(bridge: Served, question: str = "Where?", timeout: float = 10) -> pb.AnswerResponse:
    return bridge.stub.Answer(pb.AnswerRequest(question=question), timeout=timeout)


def failure(call) -> tuple[grpc.StatusCode, str]:
    with pytest.raises(grpc.RpcError) as caught:
        call()
    return caught.value.code(), caught.value.details()


def ended(pid: int) -> bool:
    """Whether a process is over, or will be in a moment. A zombie has no command line."""
    for _ in range(200):
        try:
            if not Path("/proc", str(pid), "cmdline").read_bytes():
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.02)
    return False


def test_the_agent_keeps_its_state_between_processes_and_loses_it_at_reset(bridge):
    """In the folder that it is told."""
    served = bridge(REMEMBERS)
    served.ingest([pb.Episode(episode_id="e1", text="ä"), pb.Episode(episode_id="e2", text="b")])
    assert ask(served).answer == "ä|b|"
    served.stub.Reset(pb.ResetRequest())
    assert ask(served).answer == "nothing"


def test_json_and_plain_text_are_answers(bridge):
    """A text that is no JSON object is the answer itself."""
    served = bridge("""
print(json.dumps({"answer": text[::-1], "confidence": .25}) if "?" in text else text)
""")
    answer = ask(served, "abc?")
    assert (answer.answer, answer.confidence) == ("?cba", 0.25)
    plain = ask(served, "Say this")
    assert plain.answer == "Say this"
    assert not plain.HasField("confidence")


def test_an_exit_code_is_an_error_with_the_last_words(bridge):
    """For learn, nothing is acknowledged; for answer, the next one is asked as usual."""
    served = bridge("""
if text == "bad":
    print("Traceback", file=sys.stderr); print("the disk is on fire", file=sys.stderr); sys.exit(3)
print("fine")
""")
    learned = failure(lambda: served.ingest([pb.Episode(episode_id="e", text="bad")]))
    asked = failure(lambda: ask(served, "bad"))
    for flag, (code, details) in (("--learn", learned), ("--answer", asked)):
        assert code is grpc.StatusCode.INTERNAL
        assert f"{flag} ended with exit code 3: the disk is on fire" in details
    assert served.stub.Flush(pb.FlushRequest()).total_items == 0
    assert ask(served, "good").answer == "fine"


def test_no_output_is_an_abstention(bridge):
    """As of a search that found nothing; its exit code says that it worked."""
    answer = ask(bridge("pass"))
    assert (answer.answer, answer.abstained) == ("", True)


def test_errors_are_in_the_log_as_a_whole(bridge, capfd):
    """An error's details have room for the last line alone."""
    served = bridge("""
if flag == "--learn":
    print("first line", file=sys.stderr); print("last line", file=sys.stderr); sys.exit(3)
""")
    failure(lambda: served.ingest([pb.Episode(episode_id="e", text="a")]))
    assert "first line\nlast line\n" in capfd.readouterr().err


def test_a_signal_is_told_by_its_number(bridge):
    """Such as the one that ends what has taken too much memory."""
    _, details = failure(lambda: ask(bridge("if text: os.kill(os.getpid(), 9)")))
    assert "--answer was killed by signal 9" in details


@pytest.mark.parametrize("apart", [False, True])
def test_what_the_agent_leaves_running_is_not_waited_for(bridge, tmp_path, apart):
    """A call is over when its process is; a child in its group ends with it."""
    served = bridge(f"""
import subprocess
if flag == "--answer":
    child = subprocess.Popen(["sleep", "60"], start_new_session={apart})
    open(os.path.join(os.path.dirname(__file__), "pid"), "w").write(str(child.pid))
    print("fine")
""")
    assert ask(served, timeout=20).answer == "fine"
    pid = int((tmp_path / "pid").read_text())
    if apart:
        os.kill(pid, signal.SIGKILL)  # out of the bridge's reach
    assert ended(pid)


def test_an_output_without_end_is_no_answer(bridge):
    """It is not kept either: the bridge has a memory of its own to mind."""
    code, details = failure(lambda: ask(bridge("if text: print('x' * 8_400_000)")))
    assert code is grpc.StatusCode.INTERNAL
    assert "--answer: the reply has more than 8,388,608 bytes" in details


def test_a_call_past_its_deadline_is_killed(bridge, tmp_path):
    """The process does not live on, and the next call is answered."""
    served = bridge("""
if text == "slow":
    open(os.path.join(os.path.dirname(__file__), "pid"), "w").write(str(os.getpid()))
    time.sleep(60)
print("fine")
""")
    code, _ = failure(lambda: ask(served, "slow", timeout=0.5))
    assert code is grpc.StatusCode.DEADLINE_EXCEEDED
    assert ask(served).answer == "fine"
    assert not Path("/proc", (tmp_path / "pid").read_text(), "cmdline").exists()


def test_a_large_text_goes_through_standard_input(bridge):
    """No command line could hold it."""
    served = bridge("""
if flag == "--learn" and len(text) != 3_000_000: sys.exit(1)
""")
    (ack,) = served.ingest([pb.Episode(episode_id="e", text="x" * 3_000_000)])
    assert ack.status == pb.INGEST_STATUS_STORED


def test_an_agent_that_reads_nothing_is_no_fault(bridge):
    """It may not care for what it learns."""
    served = bridge("os.close(0)\nprint('always this')")
    assert ask(served, "x" * 60_000).answer == "always this"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("", "command is empty"),
        ("no-such-agent", "no-such-agent cannot be run: No such file"),
        ("'open", "cannot be read"),
    ],
)
def test_a_command_that_cannot_be_run_is_named(connect, monkeypatch, command, message):
    """Before anything is served."""
    monkeypatch.setenv("MEMRIG_AGENT_COMMAND", command)
    with pytest.raises(AgentError, match=message):
        connect(CommandBridge()).server.start()


def test_the_state_is_removed_at_the_end(connect, monkeypatch, tmp_path):
    """Nothing is left of what was learned."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setenv("MEMRIG_AGENT_COMMAND", "demo")
    served = connect(CommandBridge())
    served.server.start()
    served.ingest([pb.Episode(episode_id="e", text="Ann likes tea.")])
    assert [path.name for path in tmp_path.glob("agent-*/*")] == ["memory.jsonl"]
    served.server.stop(within_s=5.0)
    assert list(tmp_path.iterdir()) == []
