"""A whole run of a memory system that asks models: called once, then replayed without any."""

import json
import re
import secrets
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.asker import ASKER, folder_for_processes, provider_environment
from support.command import MEMRIG
from support.llm_standin import LlmStandIn, Seen

# The same pods are asked in Docker by test_gateway_pods.py; whole runs of them take their time.
KINDS = [pytest.param("docker", marks=[pytest.mark.docker, pytest.mark.slow]), "process"]
KEY_NAMES = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY")


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def reader(seen: Seen) -> str:
    """Says the line that shares most words with the question, as a weak reader would."""
    *lines, question = seen.text.splitlines()
    wanted = words(question)
    return max(lines, key=lambda line: len(wanted & words(line)), default="I do not know.")


@dataclass(frozen=True)
class Bench:
    """A user's shell: an adapter, a folder, and an environment with servers and keys."""

    folder: Path
    adapter: Path
    pod: str
    environment: dict[str, str]
    keys: dict[str, str]

    def run(self, name: str, *more: object, keys: bool = True) -> subprocess.CompletedProcess[str]:
        """`memrig run`, its results in a folder of this name."""
        arguments = ["--adapter", self.adapter, "--pod", self.pod, "--out", self.folder / name]
        suite = ["--suite", "locomo", "--sample", "--mode", "native"]
        return self.command("run", *arguments, *suite, *more, keys=keys)

    def command(self, *arguments: object, keys: bool = True) -> subprocess.CompletedProcess[str]:
        """`memrig` as a user runs it."""
        return subprocess.run(
            [MEMRIG, *map(str, arguments)],
            env=self.environment | (self.keys if keys else {}),
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=110,
        )

    def read(self, name: str) -> bytes:
        return (self.folder / name).read_bytes()


@pytest.fixture
def standin() -> Iterator[LlmStandIn]:
    with LlmStandIn.in_thread(reader) as server:
        yield server


@pytest.fixture(params=KINDS)
def bench(request: pytest.FixtureRequest, tmp_path: Path, standin: LlmStandIn) -> Bench:
    adapter = ASKER if request.param == "docker" else folder_for_processes(tmp_path)
    environment = provider_environment(standin.anthropic_url, standin.openai_url)
    keys = {name: f"sk-planted-{secrets.token_hex(20)}" for name in KEY_NAMES}
    return Bench(tmp_path, adapter, request.param, {**environment, "NO_COLOR": "1"}, keys)


@pytest.mark.slow
def test_a_run_with_models_is_replayed_without_network_or_key(
    bench: Bench, standin: LlmStandIn
) -> None:
    """Both SDKs, streams and embeddings, random refs: strictly replayed, the grades are the same.

    And no key is anywhere in what a run leaves behind or prints.
    """
    done = bench.run("run")
    assert done.returncode == 0, done.stderr
    report = json.loads(bench.read("run/report.json"))
    assert report["complete"]
    assert report["questions"]["outcomes"] == {"answered": 10}
    grades = bench.read("run/grades.jsonl")
    assert len({json.loads(line)["scores"]["f1"] for line in grades.splitlines()}) > 1
    models = {(seen.model, seen.stream) for seen in standin.seen}
    streamed = {(name, stream) for name in ("claude-test", "gpt-test") for stream in (True, False)}
    assert models == {*streamed, ("embed-test", False)}
    used = [header for seen in standin.seen for header in seen.headers.values()]
    assert bench.keys["ANTHROPIC_API_KEY"] in used

    calls = len(standin.seen)
    standin.script = lambda _: "called, although everything is on record"
    again = bench.run("again", "--llm", "replay-strict", *recorded(bench), keys=False)
    assert again.returncode == 0, again.stderr
    assert len(standin.seen) == calls
    assert bench.read("again/grades.jsonl") == grades

    left = [path for path in bench.folder.rglob("*") if path.is_file()]
    assert {"lock.json", "transcript.jsonl", "llm.sqlite", "adapter.log"} <= {p.name for p in left}
    for key in bench.keys.values():
        assert key not in done.stdout + done.stderr
        assert [path for path in left if key.encode() in path.read_bytes()] == []


def recorded(bench: Bench) -> tuple[object, ...]:
    return "--llm-record", bench.folder / "run" / "llm.sqlite"


@pytest.mark.slow
def test_a_strict_replay_of_another_question_is_no_answer(
    bench: Bench, standin: LlmStandIn
) -> None:
    """What is not on record is the rig's fault to show, never a wrong answer, and no call."""
    assert bench.run("run", "--limit", 5).returncode == 0
    calls = len(standin.seen)
    more = bench.run("more", "--llm", "replay-strict", *recorded(bench), keys=False)

    assert more.returncode == 4, more.stderr
    assert len(standin.seen) == calls
    report = json.loads(bench.read("more/report.json"))
    assert not report["complete"]
    assert "adapter_error" not in str(report["questions"]["outcomes"])


@pytest.mark.slow
def test_a_limit_that_is_reached_stops_the_run_and_it_goes_on_from_there(
    bench: Bench, standin: LlmStandIn
) -> None:
    """The memory system's own calls count; what was paid for is not paid for again."""
    stopped = bench.run("run", "--stop-at", "1500tokens")
    assert stopped.returncode == 4, stopped.stderr
    assert "limit" in stopped.stderr
    calls = len(standin.seen)
    done = bench.run("run")
    assert done.returncode == 0, done.stderr
    report = json.loads(bench.read("run/report.json"))
    assert report["questions"]["outcomes"] == {"answered": 10}
    whole = bench.run("whole")
    assert whole.returncode == 0, whole.stderr
    assert bench.read("run/grades.jsonl") == bench.read("whole/grades.jsonl")
    assert 0 < calls < len(standin.seen) / 2


@pytest.mark.slow
def test_a_memory_system_that_asks_for_models_is_given_them_by_every_command(bench: Bench) -> None:
    """Conformance and a single trial reach the same models as a run does."""
    conform = bench.command("conformance", bench.adapter, "--pod", bench.pod, "--only", "ingest")
    assert conform.returncode == 0, conform.stdout + conform.stderr
    assert bench.run("planned", "--no-audit", "--stop-at", "1tokens").returncode == 4
    (spec,) = (bench.folder / "planned" / "specs").glob("*.json")
    trial = bench.command("trial", "run", spec, "--out", bench.folder / "alone" / "trials")
    assert trial.returncode == 0, trial.stdout + trial.stderr
    (outcome,) = (bench.folder / "alone" / "trials").glob("*/outcome.json")
    assert json.loads(outcome.read_bytes())["statuses"] == {"answered": 10}
    assert (bench.folder / "alone" / "llm.sqlite").is_file()
