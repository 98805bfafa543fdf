"""Every image that memrig ships: it builds, conforms, and runs the suite that everyone runs."""

import json
from pathlib import Path

import pytest

from support.command import ROOT, memrig

IMAGES = sorted(path.parent for path in (ROOT / "images").glob("*/adapter.toml"))

#: They cannot be searched, and are asked for answers.
BRIDGES = ("http-bridge", "subprocess-bridge")

pytestmark = [pytest.mark.docker, pytest.mark.slow, pytest.mark.timeout(600)]


def test_there_are_images():
    """An empty list would prove nothing."""
    assert {path.name for path in IMAGES} >= {"bm25", "fts5", "none", *BRIDGES}


@pytest.mark.parametrize("folder", IMAGES, ids=lambda path: path.name)
def test_an_image_conforms_in_docker(tmp_path, folder):
    """All checks, the slow ones too, against the container under the floor."""
    done = memrig(
        "conformance", folder, "--pod", "docker", "--slow", "--json", cwd=tmp_path, timeout=500
    )
    assert done.code == 0, done.out + done.err
    report = json.loads(done.out)
    assert report["conforms"]
    assert report["counts"]["passed"] > 30


@pytest.mark.parametrize("folder", IMAGES, ids=lambda path: path.name)
def test_an_image_runs_the_practical_suite_in_docker(tmp_path, folder):
    """Every question settled, none by a fault."""
    arguments = ("--suite", "practical", "--pod", "docker", "--out", tmp_path / "run")
    done = memrig("run", "--adapter", folder, *arguments, cwd=tmp_path, timeout=500)
    assert done.code == 0, done.err
    report = json.loads(Path(tmp_path / "run" / "report.json").read_text())
    assert report["questions"]["outcomes"] == {"answered": 144}
    found = {m["metric"]: m["value"] for m in report["metrics"] if m["group"] == "overall"}
    if folder.name in BRIDGES:
        assert 0.05 < found["accuracy"] < 0.5
        assert report["adapter"]["declared_name"] == "keyword-agent"
    elif folder.name == "none":
        assert found["recall_any@10"] == 0
    else:
        assert found["recall_any@10"] > 0.5
