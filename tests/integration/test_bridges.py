"""Bridges from end to end: a run asks the agent, in each kind of pod; other modes are refused."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.agents import http_agent
from support.command import ROOT, memrig

HTTP = ROOT / "images" / "http-bridge"
COMMAND = ROOT / "images" / "subprocess-bridge"


def run(tmp_path: Path, adapter: object, *arguments: object, code: int = 0) -> dict[str, object]:
    out = tmp_path / "run"
    suite = ("--suite", "practical", "--sample")
    done = memrig("run", "--adapter", adapter, *suite, "--out", out, *arguments, cwd=tmp_path)
    assert done.code == code, done.err
    return json.loads((out / "report.json").read_text())


def accuracy(report: dict) -> float:
    (found,) = [
        m["value"]
        for m in report["metrics"]
        if (m["metric"], m["group"]) == ("accuracy", "overall")
    ]
    return found


def test_an_agent_behind_http_is_asked_without_a_flag(tmp_path):
    """Mode native; every question is answered; the audit is passed by asking."""
    report = run(tmp_path, HTTP, "--pod", "process")
    assert report["questions"]["outcomes"] == {"answered": 24}
    assert 0.05 < accuracy(report) < 0.5
    transcripts = [path.read_text() for path in tmp_path.glob("run/trials/*/transcript.jsonl")]
    records = [json.loads(line) for text in transcripts for line in text.splitlines()]
    kinds = {record["record"]["kind"]: record["record"] for record in records}
    assert kinds["audit"]["verdict"] == "passed"
    answer = kinds["question"]["answer"]
    assert 0 <= answer["confidence"] <= 1
    assert "share a word" in answer["reasoning"]


@pytest.mark.slow
def test_an_agent_that_is_a_command_is_asked_without_a_flag(tmp_path):
    """The same agent, so the same answers."""
    (tmp_path / "http").mkdir()
    (tmp_path / "command").mkdir()
    over_http = run(tmp_path / "http", HTTP, "--pod", "process")
    by_command = run(tmp_path / "command", COMMAND, "--pod", "process")
    assert by_command["questions"]["outcomes"] == {"answered": 24}
    assert accuracy(by_command) == accuracy(over_http)


@pytest.mark.docker
@pytest.mark.slow
@pytest.mark.timeout(400)
def test_an_agent_is_a_companion_of_the_bridge_in_docker(tmp_path):
    """Two containers, one loopback, and no other network."""
    report = run(tmp_path, HTTP, "--pod", "docker")
    assert report["questions"]["outcomes"] == {"answered": 24}
    lock = json.loads((tmp_path / "run" / "lock.json").read_text())
    assert set(lock["adapter"]["images"]) == {"adapter", "agent"}


@pytest.mark.parametrize("mode", ["retrieval", "reader"])
def test_a_mode_that_searches_is_refused_before_anything_runs(tmp_path, mode):
    """The manifest says what it can be run in."""
    arguments = ("--suite", "practical", "--mode", mode, "--pod", "process")
    done = memrig("run", "--adapter", HTTP, *arguments, cwd=tmp_path)
    assert done.code == 2
    assert "can only be run in mode native" in done.err
    assert list(tmp_path.glob("runs/*")) == []


@contextmanager
def bridge_to(url: str) -> Iterator[str]:
    """The bridge's own command, before an agent that runs already."""
    command = [sys.executable, "-m", "memrig_adapters.bridges.http", "--agent-url", url]
    command += ["--listen", "127.0.0.1:0", "--name", "mine", "--steady"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        try:
            yield line.split(" on ")[1].split()[0]
        finally:
            process.terminate()
            process.communicate()


@pytest.mark.slow
def test_an_agent_that_runs_already_is_bridged_by_a_command(tmp_path):
    """Its own address, emptied between scenarios; what it says is what is graded."""
    with http_agent() as agent, bridge_to(agent.url) as address:
        arguments = ("--mode", "native", "--isolation", "reset", "--limit", "2")
        report = run(tmp_path, f"grpc://{address}", *arguments)
        refused = memrig(
            "run", "--adapter", f"grpc://{address}", "--suite", "practical", "--sample",
            "--isolation", "reset", "--out", tmp_path / "other", cwd=tmp_path,
        )  # fmt: skip
    assert report["questions"]["outcomes"] == {"answered": 2}
    assert {body["content"][0] for body in agent.told("/learn")} >= {"["}
    assert len(agent.told("/answer")) >= 2
    assert refused.code == 2
    assert "mine cannot be searched: it declares no search mode" in refused.err
    assert "--mode native" in refused.err


@pytest.mark.parametrize(("forgets", "verdict"), [(True, "passed"), (False, "failed")])
def test_isolation_is_audited_by_asking(tmp_path, forgets, verdict):
    """An agent that still tells the canary after Reset is caught, without a search."""
    with http_agent() as agent, bridge_to(agent.url) as address:
        agent.recites, agent.forgets = [], forgets
        arguments = ("--suite", "practical", "--mode", "native", "--isolation", "reset")
        out = tmp_path / "run"
        memrig(
            "run", "--adapter", f"grpc://{address}", *arguments, "--limit", "1", "--out", out,
            cwd=tmp_path,
        )  # fmt: skip
    lines = "".join(path.read_text() for path in out.glob("trials/*/transcript.jsonl"))
    records = [json.loads(line)["record"] for line in lines.splitlines()]
    assert [r["verdict"] for r in records if r["kind"] == "audit"] == [verdict]
