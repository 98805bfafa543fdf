"""The HTTP bridge, served over the contract, before a real HTTP server."""

import json
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest

from memrig_adapters.bridges import base
from memrig_adapters.bridges.http import HttpBridge
from memrig_adapters.bridges.reply import MAX_REPLY_BYTES, AgentError
from memrig_adapters.bridges.running import free_port
from memrig_proto.v1 import memory_adapter_pb2 as pb
from support.agents import HttpAgent, http_agent
from support.served import Serve, Served

_DIES = """
import os, sys
from http.server import BaseHTTPRequestHandler, HTTPServer

class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        if self.path == "/learn":
            os._exit(3)
        self.send_response(204)
        self.end_headers()

HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""
_SLEEPS = "import time; time.sleep(0.4)"


@pytest.fixture
def agent(monkeypatch: pytest.MonkeyPatch) -> Iterator[HttpAgent]:
    """A scripted agent, and the environment that names it."""
    with http_agent() as found:
        monkeypatch.setenv("MEMRIG_AGENT_URL", found.url)
        yield found


@pytest.fixture
def bridge(agent: HttpAgent, serve: Serve) -> Served:
    """The bridge to it, served."""
    return serve(HttpBridge())


def episode(number: int = 1, text: str = "Ann likes tea.") -> pb.Episode:
    return pb.Episode(episode_id=f"e{number}", text=text)


def ask(bridge: Served, question: str = "Where?", timeout: float = 10) -> pb.AnswerResponse:
    return bridge.stub.Answer(pb.AnswerRequest(question=question), timeout=timeout)


def code_of(caught: pytest.ExceptionInfo[grpc.RpcError]) -> tuple[grpc.StatusCode, str]:
    return caught.value.code(), caught.value.details()  # type: ignore[attr-defined]


def test_it_says_that_it_answers_and_cannot_be_searched(
    agent: HttpAgent, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the agent's name and version, and the doubt about what questions change."""
    monkeypatch.setenv("MEMRIG_AGENT_NAME", "mine")
    monkeypatch.setenv("MEMRIG_AGENT_VERSION", "7")
    declared = serve(HttpBridge()).stub.Capabilities(pb.CapabilitiesRequest())
    assert (declared.name, declared.version) == ("mine", "7")
    assert declared.supports_answer
    assert declared.questions_change_memory
    assert list(declared.search_modes) == []
    assert declared.max_results == 0


def test_search_is_unimplemented(bridge: Served) -> None:
    """Whatever the request holds."""
    with pytest.raises(grpc.RpcError) as caught:
        bridge.search("tea")
    assert code_of(caught)[0] is grpc.StatusCode.UNIMPLEMENTED


def test_an_agent_that_is_steady_may_say_so(
    agent: HttpAgent, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then an interrupted trial is resumed."""
    monkeypatch.setenv("MEMRIG_AGENT_STEADY", "yes")
    declared = serve(HttpBridge()).stub.Capabilities(pb.CapabilitiesRequest())
    assert not declared.questions_change_memory


def test_the_three_calls_have_their_bodies(agent: HttpAgent, bridge: Served) -> None:
    """One learn an episode, one answer a question, and a reset at the start."""
    bridge.ingest([episode(1), episode(2, "Bob likes beer.")])
    assert ask(bridge).answer == "in Bergen"
    bridge.stub.Reset(pb.ResetRequest())
    assert agent.asked == [
        ("/reset", {}),
        ("/learn", {"content": "Ann likes tea."}),
        ("/learn", {"content": "Bob likes beer."}),
        ("/answer", {"question": "Where?"}),
        ("/reset", {}),
    ]


def test_one_connection_carries_all_calls(agent: HttpAgent, bridge: Served) -> None:
    """A connection a call would cost more than most agents take."""
    bridge.ingest([episode(n) for n in range(50)])
    assert agent.connections == 1


def test_a_connection_that_the_agent_closed_is_made_anew(agent: HttpAgent, bridge: Served) -> None:
    """Servers end idle connections; no call is lost to that, and none is made twice."""
    agent.closes_after_reply = True
    for number in range(5):
        bridge.ingest([episode(number)])
        time.sleep(0.02)  # the end of a connection travels, too
    assert len(agent.told("/learn")) == 5
    assert agent.connections >= 5


def test_headers_go_with_every_call(
    agent: HttpAgent, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as a tenant or a token."""
    monkeypatch.setenv("MEMRIG_AGENT_HEADERS", json.dumps({"X-Tenant": "t1"}))
    ask(serve(HttpBridge()))
    assert [headers["X-Tenant"] for headers in agent.headers] == ["t1", "t1"]


def test_an_episode_that_is_known_is_not_told_again(agent: HttpAgent, bridge: Served) -> None:
    """It is DUPLICATE until Reset, and STORED after it."""
    first, again = bridge.ingest([episode()]) + bridge.ingest([episode()])
    assert (first.status, again.status) == (pb.INGEST_STATUS_STORED, pb.INGEST_STATUS_DUPLICATE)
    assert bridge.stub.Flush(pb.FlushRequest()).total_items == 1
    bridge.stub.Reset(pb.ResetRequest())
    assert bridge.stub.Flush(pb.FlushRequest()).total_items == 0
    assert bridge.ingest([episode()])[0].status == pb.INGEST_STATUS_STORED
    assert len(agent.told("/learn")) == 2


@pytest.mark.parametrize("status", [400, 404, 429, 500, 503])
def test_an_episode_is_acknowledged_only_by_2xx(
    agent: HttpAgent, bridge: Served, status: int
) -> None:
    """Those before it are, the stream ends with the agent's words, and it may come again."""
    agent.queued["/learn"] += [(201, ""), (status, {"error": "the disk is on fire"})]
    acks: list[pb.IngestAck] = []
    with pytest.raises(grpc.RpcError) as caught:
        for response in bridge.stub.Ingest(
            iter([pb.IngestRequest(episodes=[episode(1), episode(2), episode(3)])]), timeout=10
        ):
            acks += response.acks
    assert [ack.episode_id for ack in acks] == ["e1"]
    code, details = code_of(caught)
    assert code is grpc.StatusCode.INTERNAL
    assert f"status {status}" in details
    assert "the disk is on fire" in details
    assert bridge.ingest([episode(2)])[0].status == pb.INGEST_STATUS_STORED


@pytest.mark.parametrize("status", [413, 415, 422])
def test_a_text_that_the_agent_will_not_have_is_rejected(
    agent: HttpAgent, bridge: Served, status: int
) -> None:
    """With its words; the others are taken."""
    agent.queued["/learn"].append((status, "longer than I read"))
    refused, taken = bridge.ingest([episode(1), episode(2)])
    assert refused.status == pb.INGEST_STATUS_REJECTED
    assert "longer than I read" in refused.message
    assert taken.status == pb.INGEST_STATUS_STORED


def test_an_agent_without_room_is_resource_exhausted(agent: HttpAgent, bridge: Served) -> None:
    """507 is what HTTP has for it."""
    agent.queued["/learn"].append((507, "full"))
    with pytest.raises(grpc.RpcError) as caught:
        bridge.ingest([episode()])
    assert code_of(caught)[0] is grpc.StatusCode.RESOURCE_EXHAUSTED


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ((500, "no model today"), "no model today"),
        ((200, "<html>hello</html>"), "no JSON object: '<html>hello</html>'"),
        ((200, ["Bergen"]), "no JSON object"),
        ((200, {"result": "Bergen"}), "only ['result']"),
    ],
)
def test_what_is_no_answer_is_an_error_with_the_agents_words(
    agent: HttpAgent, bridge: Served, reply: tuple[int, object], words: str
) -> None:
    """Nothing is made of it; the next question is asked as usual."""
    agent.queued["/answer"].append(reply)
    with pytest.raises(grpc.RpcError) as caught:
        ask(bridge)
    code, details = code_of(caught)
    assert code is grpc.StatusCode.INTERNAL
    assert words in details
    assert ask(bridge).answer == "in Bergen"


def test_an_answer_that_says_nothing_is_an_abstention(agent: HttpAgent, bridge: Served) -> None:
    """An agent that was just emptied has nothing to say, and no fault."""
    agent.queued["/answer"].append((200, {"answer": ""}))
    answer = ask(bridge)
    assert (answer.answer, answer.abstained) == ("", True)


def test_a_reply_that_is_cut_off_is_said_to_be(agent: HttpAgent, bridge: Served) -> None:
    """The agent went away in the middle of a word."""
    agent.cut_off = 40
    with pytest.raises(grpc.RpcError) as caught:
        ask(bridge)
    code, details = code_of(caught)
    assert code is grpc.StatusCode.INTERNAL
    assert "/answer: the reply ended 40 bytes early" in details
    agent.cut_off = 0
    assert ask(bridge).answer == "in Bergen"


def test_a_reply_without_end_is_not_read_to_the_end(agent: HttpAgent, bridge: Served) -> None:
    """No message of the contract could hold it."""
    agent.queued["/answer"].append((200, "x" * (MAX_REPLY_BYTES + 1)))
    with pytest.raises(grpc.RpcError) as caught:
        ask(bridge)
    assert "the reply has more than 8,388,608 bytes" in code_of(caught)[1]
    assert ask(bridge).answer == "in Bergen"


def test_a_reply_is_passed_on_whole(agent: HttpAgent, bridge: Served) -> None:
    """Confidence, reasoning and tool calls reach the rig."""
    calls = [{"tool": "recall", "args": {"n": 3}, "result": "three notes"}]
    said = {"answer": "Tea", "confidence": 0.5, "reasoning": "notes", "tool_calls": calls}
    agent.queued["/answer"].append((200, said))
    answer = ask(bridge)
    assert (answer.answer, answer.confidence, answer.reasoning_trace) == ("Tea", 0.5, "notes")
    (use,) = answer.tool_uses
    assert (use.name, use.result) == ("recall", "three notes")
    assert json.loads(use.arguments_json) == {"n": 3}


def test_a_call_past_its_deadline_leaves_the_bridge_usable(
    agent: HttpAgent, bridge: Served
) -> None:
    """Its connection is dropped, and the next call has one of its own."""
    agent.release.clear()
    with pytest.raises(grpc.RpcError) as caught:
        ask(bridge, timeout=0.2)
    assert code_of(caught)[0] is grpc.StatusCode.DEADLINE_EXCEEDED
    agent.release.set()
    assert ask(bridge).answer == "in Bergen"
    assert agent.connections == 2


def test_the_start_waits_while_the_agent_is_not_ready(agent: HttpAgent, serve: Serve) -> None:
    """503 is no failure yet."""
    agent.queued["/reset"] += [(503, "loading"), (503, "loading")]
    serve(HttpBridge())
    assert len(agent.told("/reset")) == 3


def test_the_start_says_what_it_waits_for(
    agent: HttpAgent, serve: Serve, monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    """An agent that takes the connection and then hangs is told from one that is not there."""
    monkeypatch.setattr(base, "_SAY_EVERY_S", 0.01)
    agent.release.clear()
    threading.Timer(0.3, agent.release.set).start()
    serve(HttpBridge())
    assert "waiting for the agent: it has not ended its first reset" in caplog.messages


def test_an_agent_that_is_not_there_is_said_to_be_waited_for(
    connect: Serve, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """By its address, such as one with a wrong port."""
    monkeypatch.setattr(base, "_SAY_EVERY_S", 0.01)
    wrong = f"http://127.0.0.1:{free_port()}"
    monkeypatch.setenv("MEMRIG_AGENT_URL", wrong)
    monkeypatch.setenv("MEMRIG_AGENT_COMMAND", f"{sys.executable} -I -S -c '{_SLEEPS}'")
    with pytest.raises(AgentError, match="has ended, with exit code 0"):
        connect(HttpBridge()).server.start()
    assert any(f"POST {wrong}/reset: no connection" in said for said in caplog.messages)


def test_an_agent_that_cannot_be_emptied_is_not_served(agent: HttpAgent, connect: Serve) -> None:
    """Nobody could trust what it answers."""
    agent.always["/reset"] = (404, "no such path")
    with pytest.raises(AgentError, match="status 404: no such path"):
        connect(HttpBridge()).server.start()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("MEMRIG_AGENT_URL", "127.0.0.1:8000", "address is '127.0.0.1:8000'"),
        ("MEMRIG_AGENT_URL", "", "address is ''"),
        ("MEMRIG_AGENT_URL", "http://127.0.0.1:port", "address is 'http://127.0.0.1:port'"),
        ("MEMRIG_AGENT_URL", "http://me:secret@127.0.0.1", "expected such as http://127"),
        ("MEMRIG_AGENT_HEADERS", "[1]", "no JSON object of texts"),
        ("MEMRIG_AGENT_TELLING", "loud", "expected one of: dated, bare"),
        ("MEMRIG_AGENT_STEADY", "maybe", "expected one of: yes, no"),
        ("MEMRIG_AGENT_COMMAND", "no-such-command", "no-such-command cannot be run"),
        ("MEMRIG_AGENT_COMMAND", "'open", "cannot be read"),
    ],
)
def test_a_setting_that_cannot_be_is_named(
    agent: HttpAgent, connect: Serve, monkeypatch: pytest.MonkeyPatch, name: str, value: str,
    message: str,
) -> None:  # fmt: skip
    """With its value, before anything is served."""
    monkeypatch.setenv(name, value)
    with pytest.raises(Exception, match=message):
        connect(HttpBridge()).server.start()


def test_the_bridge_starts_an_agent_and_ends_it(
    connect: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a free port that both are told."""
    monkeypatch.setenv("MEMRIG_AGENT_URL", "http://127.0.0.1:{port}")
    monkeypatch.setenv("MEMRIG_AGENT_COMMAND", "demo --listen 127.0.0.1:{port}")
    adapter = HttpBridge()
    served = connect(adapter)
    served.server.start()
    served.ingest([episode()])
    answer = ask(served, "What does Ann like?")
    assert answer.answer == "Ann likes tea."
    served.server.stop(within_s=5.0)
    assert adapter._process is not None
    assert adapter._process.returncode is not None


def test_an_agent_that_ends_in_the_middle_is_told_by_its_exit_code(
    connect: Serve, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Not by the connection that it left behind."""
    script = tmp_path / "agent.py"
    script.write_text(_DIES, "utf-8")
    monkeypatch.setenv("MEMRIG_AGENT_URL", "http://127.0.0.1:{port}")
    monkeypatch.setenv("MEMRIG_AGENT_COMMAND", f"{sys.executable} -I {script} {{port}}")
    served = connect(HttpBridge())
    served.server.start()
    with pytest.raises(grpc.RpcError) as caught:
        served.ingest([episode()])
    assert "the agent has ended, with exit code 3" in code_of(caught)[1]


def test_an_agent_that_ends_at_once_is_told_by_its_exit_code(
    connect: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Waiting for it would never end."""
    monkeypatch.setenv("MEMRIG_AGENT_URL", "http://127.0.0.1:{port}")
    monkeypatch.setenv("MEMRIG_AGENT_COMMAND", f"{sys.executable} -I -S -c 'raise SystemExit(3)'")
    with pytest.raises(AgentError, match="has ended, with exit code 3"):
        connect(HttpBridge()).server.start()
