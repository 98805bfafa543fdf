"""Every image that memrig ships: it builds, conforms, and runs the suite that everyone runs."""

import json
from pathlib import Path

import pytest

from memrig.conformance.catalogue import CHECKS
from support.command import ROOT, memrig
from support.extracting import extracts
from support.llm_standin import LlmStandIn

#: cems: two of its containers are others' images, which only a registry has (see test_cems.py).
NOT_BUILT_HERE = {"cems"}
IMAGES = sorted(
    path.parent
    for path in (ROOT / "images").glob("*/adapter.toml")
    if path.parent.name not in NOT_BUILT_HERE
)

#: Each episode is three calls of a model or more, one after another, and Kuzu's indexes are made
#: anew at every Flush: all 144 questions, or the thousand episodes of these three checks, were some
#: eight minutes on two busy cores. It is given the sample, and `make conformance-matrix` asks the
#: rest.
SLOW_TO_TELL = {"graphiti"}
OF_HUNDREDS = {"health.under-load", "ingest.full-message", "ingest.many-messages"}

#: Half of graphiti's ranking is vectors, and those of the stand-in mean nothing.
LEAST_RECALL = {"graphiti": 0.3}

#: They cannot be searched, and are asked for answers.
BRIDGES = ("http-bridge", "subprocess-bridge")

pytestmark = [pytest.mark.docker, pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture(autouse=True)
def provider(monkeypatch):
    """A stand-in for the models that some of them ask for; it extracts each sentence as it is."""
    with LlmStandIn.in_thread(
        lambda seen: "" if "input" in seen.body else extracts(seen)
    ) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
        yield


def test_there_are_images():
    """An empty list would prove nothing."""
    assert {path.name for path in IMAGES} >= {"bm25", "fts5", "none", *BRIDGES}


@pytest.mark.parametrize("folder", IMAGES, ids=lambda path: path.name)
def test_an_image_conforms_in_docker(tmp_path, folder):
    """All checks, the slow ones too, against the container under the floor."""
    left = OF_HUNDREDS if folder.name in SLOW_TO_TELL else set()
    only = [f"--only={check.id}" for check in CHECKS if left and check.id not in left]
    arguments = ("--pod", "docker", "--slow", "--json", *only)
    done = memrig("conformance", folder, *arguments, cwd=tmp_path, timeout=500)
    assert done.code == 0, done.out + done.err
    report = json.loads(done.out)
    assert report["conforms"]
    assert set(report["left_out"]) == left
    assert report["counts"]["passed"] > 30


@pytest.mark.parametrize("folder", IMAGES, ids=lambda path: path.name)
def test_an_image_runs_the_practical_suite_in_docker(tmp_path, folder):
    """Every question settled, none by a fault."""
    sample = ("--sample",) if folder.name in SLOW_TO_TELL else ()
    arguments = ("--suite", "practical", *sample, "--pod", "docker", "--out", tmp_path / "run")
    done = memrig("run", "--adapter", folder, *arguments, cwd=tmp_path, timeout=500)
    assert done.code == 0, done.err
    report = json.loads(Path(tmp_path / "run" / "report.json").read_text())
    assert report["questions"]["outcomes"] == {"answered": 24 if sample else 144}
    found = {m["metric"]: m["value"] for m in report["metrics"] if m["group"] == "overall"}
    if folder.name in BRIDGES:
        assert 0.05 < found["accuracy"] < 0.5
        assert report["adapter"]["declared_name"] == "keyword-agent"
    elif folder.name == "none":
        assert found["recall_any@10"] == 0
    else:
        assert found["recall_any@10"] > LEAST_RECALL.get(folder.name, 0.5)
