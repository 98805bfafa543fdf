"""Docs are run: every shell block marked `sh test` in README and docs is executed as it stands."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.command import ROOT

_BLOCK = re.compile(r"^```sh test(?P<marks>[^\n]*)\n(?P<body>.*?)^```", re.MULTILINE | re.DOTALL)
_PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks() -> list[object]:
    """Every marked block; `docker` and `slow` behind the mark become pytest's."""
    found = []
    for page in _PAGES:
        for number, match in enumerate(_BLOCK.finditer(page.read_text("utf-8")), 1):
            marks = [getattr(pytest.mark, name) for name in match["marks"].split()]
            name = f"{page.relative_to(ROOT)}-{number}"
            found.append(pytest.param(match["body"], id=name, marks=marks))
    return found


@pytest.fixture
def checkout(tmp_path) -> Path:
    """A folder that looks like a checkout that is set up, with runs of its own."""
    for entry in ROOT.iterdir():
        if entry.name not in {"runs", ".git", ".pytest_cache", ".venv"}:
            (tmp_path / entry.name).symlink_to(entry)
    # A stamp of its own: `make` must not install this folder into the environment of the tests.
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "bin").symlink_to(Path(sys.executable).parent)
    (tmp_path / ".venv" / ".installed").touch()
    return tmp_path


@pytest.mark.parametrize("script", blocks())
@pytest.mark.timeout(400)
def test_the_commands_of_the_docs_work(checkout, script):
    """What a reader copies must run."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=checkout,
        env=os.environ | {"PATH": path, "NO_COLOR": "1"},
        text=True,
        capture_output=True,
        timeout=390,
        check=False,
    )
    assert done.returncode == 0, f"{script}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"


def test_there_are_commands_to_run():
    """A marker that nobody uses would prove nothing."""
    assert len(blocks()) >= 4
