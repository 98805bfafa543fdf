"""`memrig adapter new`: what a vendor begins with builds, conforms and is measured as it stands."""

import json
import os
import re
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml

from memrig.kit import LANGUAGES, new_adapter
from support.command import ROOT, memrig

#: Of the practical suite: every template ranks by BM25, as images/bm25 does, which has 67.4.
LEAST_RECALL = 0.6


def test_the_command_makes_a_folder_and_lists_it(tmp_path):
    """What it made on standard output, a file a line; the next step beside it."""
    done = memrig("adapter", "new", "acme-memory", "--lang", "python", cwd=tmp_path)
    assert done.code == 0, done.err
    files = [tmp_path / line for line in done.out.splitlines()]
    assert all(path.is_file() for path in files)
    assert tmp_path / "acme-memory" / "acme_memory_adapter.py" in files
    assert "memrig conformance acme-memory" in done.err


def test_a_folder_that_is_there_ends_with_exit_code_2(tmp_path):
    """With its fix, and nothing written."""
    done = memrig("adapter", "new", "acme", "--out", ".", cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert "fix:" in done.err
    assert list(tmp_path.iterdir()) == []


def test_conformance_writes_a_badge(tmp_path):
    """Of what was asked; here a part, and it says so."""
    badge = tmp_path / "badge.svg"
    chosen = ("--pod", "process", "--only", "capabilities", "--badge", badge)
    done = memrig("conformance", ROOT / "images" / "none", *chosen, cwd=tmp_path)
    assert done.code == 0, done.err
    title = ET.fromstring(badge.read_text("utf-8"))[0].text or ""  # noqa: S314 - our own
    assert title.startswith("none 0.1.0: memrig contract 1.0, ")
    assert "not asked" in title


@pytest.mark.slow
def test_the_python_template_keeps_its_own_rules(tmp_path):
    """Its unit tests pass, its types hold under mypy --strict, and it is formatted."""
    folder = new_adapter("acme-memory", "python", tmp_path / "acme").folder
    config = f"--config={ROOT / 'pyproject.toml'}"
    for command in (
        ("pytest", "-q", "-p", "no:cacheprovider"),
        ("mypy", "--strict", "--cache-dir", str(tmp_path / "mypy"), "."),
        ("ruff", "format", "--no-cache", "--check", config, "."),
        ("ruff", "check", "--no-cache", "--ignore=I001", config, "."),
    ):  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-m", *command], cwd=folder, text=True, capture_output=True,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"


@pytest.mark.docker
@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_new_adapter_passes_its_own_workflow(tmp_path, language):
    """Build, every check of the contract, a benchmark: the commands of its workflow, in Docker."""
    folder = new_adapter(f"acme-{language}", language, tmp_path / "acme").folder
    for arguments in _memrig_steps(folder):
        done = memrig(*arguments, cwd=folder, timeout=500)
        assert done.code == 0, f"{arguments}\n{done.out}\n{done.err}"
    (suite,) = ET.parse(folder / "conformance.xml").getroot()  # noqa: S314 - our own
    assert int(suite.get("tests", 0)) > 80
    assert (suite.get("failures"), suite.get("errors")) == ("0", "0")
    assert "not asked" not in (folder / "conformance.svg").read_text("utf-8")
    report = json.loads((folder / "runs" / "practical" / "report.json").read_text("utf-8"))
    assert report["questions"]["outcomes"] == {"answered": 144}
    found = {m["metric"]: m["value"] for m in report["metrics"] if m["group"] == "overall"}
    assert found["recall_any@10"] > LEAST_RECALL


def _memrig_steps(folder: Path) -> list[list[str]]:
    """The workflow's commands that are memrig's."""
    workflow = yaml.safe_load((folder / ".github" / "workflows" / "memory.yml").read_text("utf-8"))
    (job,) = workflow["jobs"].values()
    commands = [str(step.get("run", "")).split() for step in job["steps"]]
    found = [words[1:] for words in commands if words[:1] == ["memrig"]]
    assert [words[0] for words in found] == ["image", "conformance", "run"]
    return found


@pytest.fixture
def environment(tmp_path) -> dict[str, str]:
    """An environment of a new user's own: memrig and its SDK are there, and pip installs into it.

    It sees what the tests' environment has, so that only what the guide installs is installed.
    """
    venv.create(tmp_path / "venv", with_pip=True, symlinks=True)
    commands = tmp_path / "venv" / "bin"
    (packages,) = (tmp_path / "venv" / "lib").glob("python3.*/site-packages")
    seen = f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n"
    (packages / "seen.pth").write_text(seen)
    for name in ("memrig", "memrig-adapter"):
        source = (Path(sys.executable).parent / name).read_text("utf-8").splitlines()[1:]
        script = commands / name
        script.write_text("\n".join([f"#!{commands / 'python'}", *source]))
        script.chmod(0o755)
    return os.environ | {"PATH": f"{commands}{os.pathsep}{os.environ['PATH']}", "NO_COLOR": "1"}


@pytest.mark.network
@pytest.mark.timeout(600)
def test_the_guide_works_without_docker_for_a_new_user(tmp_path, environment):
    """Its commands, as they stand, where nothing of the new adapter is installed yet."""
    guide = (ROOT / "docs" / "adapters.md").read_text("utf-8")
    (script,) = re.findall(r"^```sh new-user\n(.*?)^```", guide, re.MULTILINE | re.DOTALL)
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script], cwd=tmp_path, env=environment, text=True,
        capture_output=True, timeout=500, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    assert "144 of 144 settled, all answered" in done.stdout
