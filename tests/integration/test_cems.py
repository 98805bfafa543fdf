"""images/cems in Docker: refused where its images are missing; its sidecar beside a stand-in."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from memrig.pod.images.engine import Engine
from support.cems_pod import FOLDER, NAMES, standin_folder
from support.command import memrig

REFERENCES = ("chocksy/cems-server:latest", "pgvector/pgvector:pg16")

pytestmark = [pytest.mark.docker, pytest.mark.slow, pytest.mark.timeout(600)]


def test_missing_images_are_all_named_with_both_ways_to_supply_them(tmp_path: Path) -> None:
    """Exit code 3, before anything is built."""
    engine = Engine()
    here = [name for name in REFERENCES if engine.get(name)]
    engine.close()
    if here:
        pytest.skip(f"this machine has {', '.join(here)}")
    done = memrig("run", "--adapter", FOLDER, "--suite", "practical", cwd=tmp_path)
    assert done.code == 3, done.out + done.err
    said = " ".join(done.err.split())
    if "2 images are not on this machine" not in said:
        pytest.skip("a registry has them")
    for name in REFERENCES:
        assert f"docker pull --platform linux/amd64 {name}" in said
    assert f"docker save --output images.tar {' '.join(REFERENCES)}" in said
    assert "memrig image load images.tar" in said
    assert "make a registry that has them reachable" in said


@pytest.fixture(scope="module")
def pod(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder with a stand-in in the place of the two containers that a registry has."""
    yield standin_folder(tmp_path_factory.mktemp("images"))
    engine = Engine()
    for name in NAMES:
        for image in engine.list_own({"io.memrig.name": name}):
            engine.remove(image.names[0])
    engine.close()


def test_the_sidecar_conforms_as_a_container(pod: Path, tmp_path: Path) -> None:
    """Its own image under the floor, in a pod with a server beside it; the slow checks too."""
    done = memrig(
        "conformance", pod, "--pod", "docker", "--slow", "--json", cwd=tmp_path, timeout=500
    )
    assert done.code == 0, done.out + done.err
    assert json.loads(done.out)["counts"]["passed"] > 60


#: The stand-in scores by words in common, which seldom reach the threshold that CEMS ships for the
#: cosine of embeddings: it cuts off most of what was found, and not all.
LEAST_RECALL = {"": 0.5, "+production": 0.1}


@pytest.mark.parametrize("variant", LEAST_RECALL)
def test_the_sidecar_answers_the_practical_suite(pod: Path, tmp_path: Path, variant: str) -> None:
    """Every question settled; what is found is the stand-in's, and says nothing of CEMS."""
    arguments = ("--suite", "practical", "--pod", "docker", "--out", tmp_path / "run")
    done = memrig("run", "--adapter", f"{pod}{variant}", *arguments, cwd=tmp_path, timeout=500)
    assert done.code == 0, done.err
    report = json.loads((tmp_path / "run" / "report.json").read_text())
    assert report["questions"]["outcomes"] == {"answered": 144}
    found = {m["metric"]: m["value"] for m in report["metrics"] if m["group"] == "overall"}
    assert found["recall_any@10"] > LEAST_RECALL[variant]
