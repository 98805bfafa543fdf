"""Images whose memory is what a model extracts: mem0 with extraction, and graphiti.

The model is a stand-in that "extracts" each sentence as it is, so that these tests say whether the
systems run, ask in the right shape, and can be replayed. They say nothing of how well either works.
"""

import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from support.asker import provider_environment
from support.command import MEMRIG, ROOT
from support.extracting import extracts
from support.llm_standin import LlmStandIn, Seen

MEM0 = ROOT / "images" / "mem0+extract"
GRAPHITI = ROOT / "images" / "graphiti"
GRAPHITI_FORMS = {"ExtractedEntities", "ExtractedEdges"}
DATE = re.compile(r"## Observation Date\n(.*)\n")

pytestmark = [pytest.mark.docker, pytest.mark.slow, pytest.mark.timeout(600)]


def speaks(seen: Seen) -> str:
    """The extractor; what an embedding says is not read."""
    return "" if "input" in seen.body else extracts(seen)


@dataclass(frozen=True)
class Shell:
    """A user's shell whose provider is the stand-in."""

    folder: Path
    standin: LlmStandIn

    def memrig(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        """A command of memrig's."""
        urls = (self.standin.anthropic_url, self.standin.openai_url)
        return subprocess.run(
            [MEMRIG, *map(str, arguments)],
            env={**provider_environment(*urls, OPENAI_API_KEY="sk-none"), "NO_COLOR": "1"},
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=580,
        )

    def run(self, adapter: Path, name: str, *more: object) -> dict[str, Any]:
        """The report of a run in Docker."""
        out = self.folder / name
        done = self.memrig("run", "--adapter", adapter, "--pod", "docker", "--out", out, *more)
        assert done.returncode == 0, done.stdout + done.stderr
        report: dict[str, Any] = json.loads((out / "report.json").read_text())
        return report


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    with LlmStandIn.in_thread(speaks) as standin:
        yield Shell(tmp_path, standin)


def test_mem0_with_extraction_conforms_in_docker(shell: Shell) -> None:
    """All checks, the slow ones too. Graphiti has no variant: test_every_image.py checks it."""
    done = shell.memrig("conformance", MEM0, "--pod", "docker", "--slow", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert report["conforms"]
    assert report["counts"]["passed"] > 30


def test_mem0_with_extraction_runs_the_practical_suite(shell: Shell) -> None:
    """Every question settled, none by a fault, and the evidence found by the episodes named.

    The sample: all of the suite is run with what this variant shares with mem0.
    """
    report = shell.run(MEM0, "run", "--suite", "practical", "--sample")
    assert report["questions"]["outcomes"] == {"answered": 24}
    found = {m["metric"]: m["value"] for m in report["metrics"] if m["group"] == "overall"}
    assert found["recall_any@10"] > 0.5
    asked_as_mem0_does(shell.standin.seen)


def asked_as_mem0_does(seen: list[Seen]) -> None:
    """One call an episode, for a JSON object, dated by the episode; vectors are made in the pod."""
    assert {call.path for call in seen} == {"/v1/chat/completions"}
    assert {call.model for call in seen} == {"gpt-5-mini"}
    assert {json.dumps(call.body["response_format"]) for call in seen} == {
        '{"type": "json_object"}'
    }
    assert {tuple(m["role"] for m in call.body["messages"]) for call in seen} == {
        ("system", "user")
    }
    dates = {DATE.findall(call.text)[-1] for call in seen} - {"unknown"}  # the audit tells no times
    assert len(dates) > 5  # the stories' own days, and not that of this machine
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d", date) for date in dates)


def asked_as_graphiti_does(seen: list[Seen]) -> None:
    """A call for each step with the schema of its reply, and embeddings of texts."""
    asked = [call for call in seen if call.path == "/v1/chat/completions"]
    embedded = [call for call in seen if call.path == "/v1/embeddings"]
    assert len(asked) + len(embedded) == len(seen)
    assert {call.model for call in asked} == {"gpt-4.1-mini"}
    forms = [call.body["response_format"] for call in asked]
    assert {form["type"] for form in forms} == {"json_schema"}
    assert {form["json_schema"]["name"] for form in forms} >= GRAPHITI_FORMS
    assert all(form["json_schema"]["schema"]["type"] == "object" for form in forms)
    assert {call.model for call in embedded} == {"text-embedding-3-small"}
    inputs = [call.body["input"] for call in embedded]
    assert all(isinstance(i, str) or all(isinstance(t, str) for t in i) for i in inputs)


@pytest.mark.parametrize("adapter", (MEM0, GRAPHITI), ids=lambda path: path.name)
def test_an_extracting_image_is_replayed_strictly(shell: Shell, adapter: Path) -> None:
    """Its prompts hold nothing that differs from one run to the next: no clock, no random id."""
    sample = ("--suite", "locomo", "--sample", "--limit", 2)
    shell.run(adapter, "run", *sample)
    calls = len(shell.standin.seen)
    assert calls > 0
    if adapter == GRAPHITI:
        asked_as_graphiti_does(shell.standin.seen)
    record = shell.folder / "run" / "llm.sqlite"
    shell.run(adapter, "again", *sample, "--llm", "replay-strict", "--llm-record", record)
    assert len(shell.standin.seen) == calls
    first, again = ((shell.folder / n / "grades.jsonl").read_bytes() for n in ("run", "again"))
    assert first == again
