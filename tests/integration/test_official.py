"""From an official run to a site, as a vendor and a host do it. The host has no Docker."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from memrig.submission.model import Verification
from support.command import MEMRIG, ROOT, Done, memrig
from support.judges import blocks_of
from support.llm_standin import LlmStandIn, Say, Seen
from support.model_fixtures import with_models
from support.scripted_agent import series_agent

pytestmark = [pytest.mark.docker, pytest.mark.slow, pytest.mark.timeout(1800)]
SYSTEMS = ("bm25", "fts5")
SUITES = ("practical", "longhorizon", "longitudinal")
#: The whole official tier of two systems; a busy machine takes its time.
PATIENCE_S = 900


@pytest.fixture(scope="module")
def submitted(tmp_path_factory) -> Path:
    """A folder with an archive of each system's official runs, and nothing else of them."""
    home = tmp_path_factory.mktemp("vendor")
    done = memrig("key", "new", "--out", home / "key", cwd=home)
    assert done.code == 0, done.err
    folder = tmp_path_factory.mktemp("host")
    for name in SYSTEMS:
        adapter, out = ROOT / "images" / name, home / name
        asked = ("run", "--profile", "official-v1", "--adapter", adapter, "--out", out)
        done = memrig(*asked, cwd=home, timeout=PATIENCE_S)
        assert done.code == 0, done.err
        assert "closed division: official-v1, no-key" in done.out
        runs = [out / suite for suite in SUITES]
        packed = ("submission", "pack", *runs, "--out", home / f"{name}.memrig")
        done = memrig(*packed, "--key", home / "key", cwd=home, timeout=PATIENCE_S)
        assert done.code == 0, done.err
        shutil.copy(home / f"{name}.memrig", folder)
    shutil.rmtree(home)
    return folder


def far_from_everything(*arguments: object, cwd: Path) -> Done:
    """Runs `memrig` with no network at all, no Docker, no keys and a home of its own."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(cwd),
        "DOCKER_HOST": "unix:///nowhere/docker.sock",
        "NO_COLOR": "1",
        "COLUMNS": "80",
    }
    command = ["unshare", "--user", "--map-root-user", "--net", str(MEMRIG), *map(str, arguments)]
    done = subprocess.run(
        command,
        check=False,
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("name", SYSTEMS)
def test_an_official_archive_verifies_far_from_where_it_was_made(submitted, name):
    """Without Docker, network or key: closed division, every number made again."""
    done = far_from_everything(
        "submission", "verify", submitted / f"{name}.memrig", "--json", cwd=submitted
    )
    assert done.code == 0, done.out + done.err
    found = Verification.model_validate_json(done.out)
    assert (found.profile, found.division, found.tier) == ("official-v1", "closed", "recomputed")
    assert found.differences == ()
    assert len(found.checks) > 90


def test_a_site_is_built_of_both(submitted, tmp_path):
    """Both rows, in the closed division, and their comparison."""
    done = far_from_everything(
        "leaderboard", "build", submitted, "--out", tmp_path / "site", cwd=tmp_path
    )
    assert done.code == 0, done.out + done.err
    front = (tmp_path / "site" / "index.html").read_text("utf-8")
    assert all(name in front for name in SYSTEMS)
    assert "closed" in front


def provider(seen: Seen) -> Say | str:
    """An agent that answers from what it finds, and a judge that is of any mind."""
    if not seen.model.startswith("gpt-4o-2024"):
        return series_agent(seen)
    if "finding" in blocks_of(seen.text):
        return json.dumps({"met": len(seen.text) % 3 > 0})
    return json.dumps({"choice": ("A", "B", "TIE")[len(seen.text) % 3]})


def test_the_keyed_tier_is_read_judged_and_verified(tmp_path, monkeypatch):
    """Every turn, tool call and vote; open, since a stand-in is not the models' provider."""
    adapter, run = ROOT / "images" / "fts5", tmp_path / "longitudinal"
    asked = ("--profile", "official-v1", "--tier", "keyed", "--suite", "longitudinal")
    with LlmStandIn.in_thread(provider) as standin:
        with_models(monkeypatch, standin)
        called = ("run", *asked, "--adapter", adapter, "--out", run)
        done = memrig(*called, cwd=tmp_path, timeout=PATIENCE_S)
    assert done.code == 0, done.err
    memrig("key", "new", "--out", tmp_path / "key", cwd=tmp_path)
    packed = ("submission", "pack", run, "--out", tmp_path / "fts5.memrig")
    done = memrig(*packed, "--key", tmp_path / "key", cwd=tmp_path, timeout=PATIENCE_S)
    assert done.code == 0, done.err
    done = far_from_everything("submission", "verify", "fts5.memrig", "--json", cwd=tmp_path)
    found = Verification.model_validate_json(done.out)
    assert (found.tier, found.division) == ("recomputed", "open"), done.out
    assert [line.split(":")[1].strip() for line in found.differences] == [
        "gpt-4o-2024-08-06",
        "gpt-4o-mini-2024-07-18",
    ]
