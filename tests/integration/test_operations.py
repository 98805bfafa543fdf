"""The suite `operations` as a user runs it: probes measured in real pods."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from support.command import ROOT, Done, memrig

LEANING = ROOT / "tests" / "images" / "leaning"
#: As small as it goes.
SMALL = ("--suite", "operations", "--turns", "100", "--questions", "4")


def run(cwd: Path, adapter: Path, *more: object, pod: str = "process") -> Done:
    return memrig("run", "--adapter", adapter, "--pod", pod, *SMALL, *more, cwd=cwd, timeout=550)


def probes(run_: Path) -> dict[str, dict[str, Any]]:
    """The probe records of a run by id, and by what they acted on."""
    found = {}
    for path in sorted(run_.glob("trials/*/transcript.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            record = json.loads(line)["record"]
            if record["kind"] == "probe":
                found["/".join(filter(None, (record["probe_id"], record["subject"])))] = record
    return found


@pytest.fixture(scope="module")
def leaning(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of a memory that cannot do without its model."""
    folder = tmp_path_factory.mktemp("leaning")
    adapter = Path(shutil.copytree(LEANING, folder / "leaning"))
    text = (adapter / "adapter.toml").read_text("utf-8")
    variables = f'environment = {{ PYTHONPATH = "{adapter}", PYTHONDONTWRITEBYTECODE = "1" }}\n'
    (adapter / "adapter.toml").write_text(text + variables, "utf-8")
    done = run(folder, adapter, "--out", folder / "run")
    assert done.code == 0, done.err
    return folder / "run"


@pytest.mark.slow
@pytest.mark.timeout(300)
class TestModels:
    """A memory whose model fails, in a process pod with the gateway's own embeddings."""

    def test_a_refusing_model_costs_what_was_told_meanwhile(self, leaning: Path) -> None:
        """Each line met the fault once; nothing of them is found later, the rest is."""
        for fault in ("refuses", "down"):
            record = probes(leaning)[f"outage-{fault}/{fault}"]
            values = record["values"]
            assert (values["rejected"], values["acked"]) == (8, 0)
            assert (values["search_ok"], values["search_errors"]) == (0, 8)
            assert values["met"] == 16
            assert values["recall_outage"] == 0
            assert values["recall_after"] > 0.5
            assert "8 calls failed" in record["failure"]

    def test_a_slow_model_costs_time_alone(self, leaning: Path) -> None:
        """All is stored and found."""
        values = probes(leaning)["outage-slow/slow"]["values"]
        assert (values["acked"], values["search_ok"], values["met"]) == (8, 8, 16)
        assert values["recall_outage"] > 0.5

    def test_no_outage_makes_a_run_incomplete(self, leaning: Path) -> None:
        """It is a probe's result, no fault of a provider's."""
        report = json.loads((leaning / "report.json").read_text("utf-8"))
        assert report["complete"]

    def test_growth_tells_what_its_models_came_to(self, leaning: Path) -> None:
        """Calls so far at each size."""
        found = probes(leaning)
        assert found["usage-0"]["values"]["model_calls"] == 0
        assert found["usage-100"]["values"]["model_calls"] == 100


@pytest.mark.docker
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_memory_is_measured_in_its_container(tmp_path: Path) -> None:
    """Memory and files by size, searches under load, a kill, a leak: all in one run."""
    done = run(tmp_path, ROOT / "images" / "fts5", "--out", tmp_path / "run", pod="docker")
    assert done.code == 0, done.err
    found = probes(tmp_path / "run")
    assert {name for name in found if "outage" not in name} == {
        "usage-0", "usage-100", "load-100-1", "load-100-8", "freshness", "restart/adapter", "leak",
    }  # fmt: skip
    usage = found["usage-100"]["values"]
    assert 0 <= usage["file_bytes"] < usage["memory_bytes"]
    assert found["load-100-8"]["values"]["errors"] == 0
    assert found["restart/adapter"]["failure"] == ""
    assert found["restart/adapter"]["values"]["acks_after"] == 1
    assert found["leak"]["values"] == {"recall_before": 1, "asked": 10, "leaks": 0}
    outages = [found[f"outage-{fault}/{fault}"] for fault in ("slow", "refuses", "down")]
    assert all("no model" in outage["skipped"] for outage in outages)
