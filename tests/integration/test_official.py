"""From an official run to a site, as a vendor and a host do it. The host has no Docker."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from memrig.submission.model import Verification
from support.command import MEMRIG, ROOT, Done, memrig

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
