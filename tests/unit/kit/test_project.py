"""`memrig adapter new`: names, folders, and what the templates hold."""

import ast
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from memrig.errors import DataError, UsageError
from memrig.kit import LANGUAGES, new_adapter
from memrig.kit.naming import checked
from memrig.kit.project import contract
from memrig.model.manifest import load_manifest
from support.source import ROOT


@pytest.fixture(params=LANGUAGES)
def folder(request, tmp_path) -> Path:
    """A new adapter in each language."""
    return new_adapter("acme-memory", request.param, tmp_path / "made").folder


@pytest.mark.parametrize(
    ("name", "module", "class_name"),
    [
        ("acme", "acme_adapter", "Acme"),
        ("acme-memory-2", "acme_memory_2_adapter", "AcmeMemory2"),
        ("class", "class_adapter", "Class"),
        ("a" * 39, f"{'a' * 39}_adapter", f"A{'a' * 38}"),
    ],
)
def test_code_is_named_after_the_adapter(name, module, class_name):
    """Dashes become what the language has."""
    names = checked(name)
    assert (names.module, names.class_name) == (module, class_name)


@pytest.mark.parametrize(
    "name", ["", "Acme", "2acme", "-a", "a-", "a--b", "a_b", "../a", "a b", "é", "a" * 40, "a\n"]
)
def test_a_name_that_not_all_can_have_is_refused(name):
    """adapter.toml, an image, a module and a class are called after it."""
    with pytest.raises(UsageError, match="cannot be an adapter's name"):
        checked(name)


@pytest.mark.parametrize("name", ["base", "base-node", "doorman"])
def test_names_of_memrigs_own_images_are_taken(name):
    """`memrig image build base` means memrig's."""
    with pytest.raises(UsageError, match="memrig's own"):
        checked(name)


def test_an_unknown_language_names_the_known_ones(tmp_path):
    """And says where the contract for any other is."""
    with pytest.raises(UsageError) as refused:
        new_adapter("acme", "cobol", tmp_path / "acme")
    assert all(language in refused.value.fix for language in (*LANGUAGES, "docs/protocol.md"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("there", ["folder", "file", "link"])
def test_what_is_there_is_not_touched(tmp_path, there):
    """Not even an empty folder, nor a link to nowhere."""
    out = tmp_path / "acme"
    {"folder": out.mkdir, "file": out.touch, "link": lambda: out.symlink_to("nowhere")}[there]()
    with pytest.raises(DataError, match="is there already"):
        new_adapter("acme", "python", out)
    assert list(tmp_path.iterdir()) == [out]


def test_a_folder_that_cannot_be_written_leaves_nothing(tmp_path):
    """The error names it."""
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match="cannot be written"):
        new_adapter("acme", "python", tmp_path / "file" / "acme")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_without_out_it_is_made_here(tmp_path, monkeypatch):
    """Under its name, with every file that is said to be made."""
    monkeypatch.chdir(tmp_path)
    made = new_adapter("acme", "python")
    found = {p.relative_to(made.folder) for p in made.folder.rglob("*") if p.is_file()}
    assert made.folder == Path("acme")
    assert found == set(made.files)


def test_a_new_folder_is_readable_as_any_other(folder):
    """Not kept to its maker, as temporary folders are."""
    assert folder.stat().st_mode & 0o777 == 0o755


def test_nothing_is_left_to_fill_in(folder):
    """No word of a template, no suffix, and no dot spelt out."""
    for path in folder.rglob("*"):
        name = str(path.relative_to(folder))
        assert not any(sign in name for sign in ("@", ".tmpl", "dot-")), name
        if path.is_file():
            text = path.read_text("utf-8")
            assert not any(f"@{w}@" in text for w in ("NAME", "MODULE", "CLASS", "MEMRIG")), name


def test_every_template_comes_with_what_a_project_needs(folder):
    """A manifest that loads, an image, a workflow, a README, and what git and Docker leave out."""
    manifest = load_manifest(folder / "adapter.toml")
    assert (manifest.name, manifest.image.build) == ("acme-memory", ".")
    for name in ("Dockerfile", "README.md", ".gitignore", ".dockerignore"):
        assert (folder / name).is_file()


def test_the_workflow_tests_conforms_and_measures(folder):
    """Each step is a command or an action; the checks are asked in Docker, the slow ones too."""
    workflow = yaml.safe_load((folder / ".github" / "workflows" / "memory.yml").read_text("utf-8"))
    (job,) = workflow["jobs"].values()
    assert all(("run" in step) != ("uses" in step) for step in job["steps"])
    commands = "\n".join(step["run"] for step in job["steps"] if "run" in step)
    assert "memrig conformance . --pod docker --slow --junit conformance.xml" in commands
    assert "memrig run --adapter . --suite practical --pod docker" in commands
    assert "Unit tests" in [step.get("name") for step in job["steps"]]


def test_a_template_of_another_language_carries_the_contract(folder):
    """Byte for byte; Python's comes with the SDK."""
    copy = folder / "proto" / "memrig" / "v1" / "memory_adapter.proto"
    if (folder / "pyproject.toml").is_file():
        assert not copy.exists()
    else:
        assert copy.read_text("utf-8") == contract()


def test_the_contract_is_the_repositorys():
    """What `make proto` reads."""
    source = ROOT / "proto" / "memrig" / "v1" / "memory_adapter.proto"
    assert contract() == source.read_text("utf-8")


def test_python_installs_what_memrigs_own_images_do(tmp_path):
    """One set of hashes to keep, which `make image-locks` keeps."""
    made = new_adapter("acme", "python", tmp_path / "acme")
    own = (ROOT / "images" / "none" / "requirements.lock").read_text("utf-8")
    assert (made.folder / "requirements.lock").read_text("utf-8") == own


def test_pythons_project_asks_for_this_memrigs_sdk(tmp_path):
    """Another version was never tried."""
    from memrig import __version__

    made = new_adapter("acme", "python", tmp_path / "acme")
    project = tomllib.loads((made.folder / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["dependencies"] == [f"memrig-adapters=={__version__}"]


def test_pythons_module_needs_the_sdk_alone(tmp_path):
    """What it imports is in its lock."""
    made = new_adapter("acme", "python", tmp_path / "acme")
    tree = ast.parse((made.folder / "acme_adapter.py").read_text("utf-8"))
    names = [n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
    names += [a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names]
    foreign = {name.split(".")[0] for name in names} - set(sys.stdlib_module_names)
    assert foreign == {"memrig_adapters"}
