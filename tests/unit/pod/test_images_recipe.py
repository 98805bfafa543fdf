"""What an image is built from: bases of its own, lists of wheels, node packages."""

import os
import tarfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from memrig.errors import DataError, PrerequisiteError
from memrig.pod.images import node, recipe
from memrig.pod.images.base import base_file
from memrig.pod.images.context import Context
from memrig.pod.images.recipe import Recipe, fill_context, make_recipe
from memrig.pod.images.spec import load_base_spec
from memrig.pod.images.types import Progress

OWN_BASE = """
name = "base-postgres"
python = "3.13"
[debian]
suite = "trixie"
mirror = "http://deb.debian.org/debian"
packages = ["postgresql-17"]
"""


class Daemon:
    """A daemon of which only the architecture is asked."""

    arch = "amd64"


def silent(_line: str) -> None:
    pass


def a_recipe(folder: Path, *, modules: bool = False) -> Recipe:
    return Recipe("toy", folder, None, None, None, modules, "sha256:0")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[tuple[str, str]]:
    """Which lock was collected for which Python; each gives one wheel and one that both have."""
    seen: list[tuple[str, str]] = []

    async def collect(lock: Path, *, arch: str, python: str, say: Progress) -> Sequence[Path]:
        seen.append((lock.name, python))
        folder = tmp_path / "collected" / lock.stem
        folder.mkdir(parents=True)
        wheels = [folder / f"{lock.stem}-1-py3-none-any.whl", folder / "both-1-py3-none-any.whl"]
        for wheel in wheels:
            wheel.write_bytes(b"")
        return wheels

    monkeypatch.setattr(recipe, "collect_locked", collect)
    return seen


async def names_in_context(made: Recipe) -> list[str]:
    with Context() as context:
        await fill_context(context, Daemon(), made, silent)
        with tarfile.open(fileobj=context.tar()) as tar:
            return tar.getnames()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "folder"
    made.mkdir()
    (made / "Dockerfile").write_text("FROM scratch\n")
    return made


def test_a_folder_stands_on_its_own_base_where_it_has_one(folder: Path) -> None:
    """Its base.toml is taken, with the name and the Python that it says; else memrig's."""
    shipped = base_file(folder)
    assert load_base_spec(shipped).name == "base"
    (folder / "base.toml").write_text(OWN_BASE)
    assert base_file(folder) == folder / "base.toml"
    spec = load_base_spec(base_file(folder))
    assert (spec.name, spec.python, spec.reference) == ("base-postgres", "3.13", None)


@pytest.mark.parametrize("name", ["postgres", "base-", "base_x", "Base-x", "base/x", ""])
def test_a_base_is_named_base_and_something(folder: Path, name: str) -> None:
    """No base can take the name of an adapter's image."""
    path = folder / "base.toml"
    path.write_text(OWN_BASE.replace("base-postgres", name))
    with pytest.raises(DataError, match=r"base\.toml: is not a base description"):
        load_base_spec(path)


async def test_both_lists_of_wheels_end_in_one_folder(
    folder: Path, asked: list[tuple[str, str]]
) -> None:
    """`wheels/` holds what either lock names, for the Python of the folder's own base."""
    (folder / "base.toml").write_text(OWN_BASE)
    (folder / "requirements.lock").touch()
    (folder / "requirements-nodeps.lock").touch()
    names = await names_in_context(a_recipe(folder))
    assert asked == [("requirements.lock", "3.13"), ("requirements-nodeps.lock", "3.13")]
    assert sorted(Path(n).name for n in names if n.startswith("wheels/") and n.endswith("whl")) == [
        "both-1-py3-none-any.whl",
        "requirements-1-py3-none-any.whl",
        "requirements-nodeps-1-py3-none-any.whl",
    ]


async def test_a_lone_list_of_wheels_will_do(folder: Path, asked: list[tuple[str, str]]) -> None:
    """requirements-nodeps.lock needs no requirements.lock beside it; memrig's base has a Python."""
    (folder / "requirements-nodeps.lock").touch()
    await names_in_context(a_recipe(folder))
    assert asked == [("requirements-nodeps.lock", load_base_spec(base_file()).python)]


async def test_wheels_need_a_base_that_has_python(
    folder: Path, asked: list[tuple[str, str]]
) -> None:
    """A base without a Python cannot say which wheels fit; the line to add is named."""
    (folder / "base.toml").write_text(OWN_BASE.replace('python = "3.13"\n', ""))
    (folder / "requirements.lock").touch()
    with pytest.raises(
        DataError, match=r"base\.toml: python: names no version of Python"
    ) as caught:
        await names_in_context(a_recipe(folder))
    assert "python = " in caught.value.fix
    assert asked == []


@pytest.mark.parametrize(
    ("dockerfile", "lock", "wanted"),
    [
        ("COPY node_modules /app/node_modules\n", True, True),
        ("COPY node_modules /app/node_modules\n", False, False),
        ("COPY . /app\n", True, False),
    ],
)
async def test_node_packages_are_collected_where_they_are_asked_for(
    folder: Path, dockerfile: str, lock: bool, wanted: bool
) -> None:
    """A lock and a Dockerfile that says node_modules: both, or npm is not run at all."""
    (folder / "Dockerfile").write_text(f"FROM scratch\n{dockerfile}")
    if lock:
        (folder / "package-lock.json").write_text("{}")
    made = await make_recipe(Daemon(), folder, "toy", None, silent)
    assert made.modules is wanted


def npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Puts a program called npm on PATH, alone with what a shell script needs."""
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    (bin_ / "npm").write_text(f"#!/bin/sh\n{script}\n")
    (bin_ / "npm").chmod(0o755)
    monkeypatch.setenv("PATH", f"{bin_}:{os.environ['PATH']}")


@pytest.fixture
def packages(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with node packages, and a cache of its own that the build lock has prepared."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "cache" / "memrig" / "scratch").mkdir(parents=True)
    (folder / "package.json").write_text('{"name": "toy", "version": "1.0.0"}')
    (folder / "package-lock.json").write_text("{}")
    return folder


async def test_node_packages_come_into_the_context_as_npm_lays_them(
    packages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One inside another's node_modules too; npm runs once for a lock, and no package's scripts."""
    npm(
        tmp_path,
        monkeypatch,
        f'echo "$@" >> {tmp_path}/asked\nmkdir -p node_modules/a/node_modules/b\n'
        "touch node_modules/a/a.js node_modules/a/node_modules/b/b.js",
    )
    for _ in range(2):
        names = await names_in_context(a_recipe(packages, modules=True))
        assert {"node_modules/a/a.js", "node_modules/a/node_modules/b/b.js"} <= set(names)
    (asked,) = (tmp_path / "asked").read_text().splitlines()
    assert asked.startswith("ci --ignore-scripts")


async def test_a_lock_without_its_package_file_is_named(packages: Path) -> None:
    """npm needs both files."""
    (packages / "package.json").unlink()
    with pytest.raises(DataError, match=r"package\.json: is missing"):
        await names_in_context(a_recipe(packages, modules=True))


async def test_a_machine_without_npm_is_told_how_to_get_it(
    packages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is a missing prerequisite, with both ways out."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(PrerequisiteError, match="needs npm") as caught:
        await names_in_context(a_recipe(packages, modules=True))
    assert "apt-get install" in caught.value.fix
    assert "memrig image load" in caught.value.fix


@pytest.mark.parametrize("said", ["npm error code EINTEGRITY", "npm error code EUSAGE"])
async def test_a_package_of_another_hash_is_the_locks_fault(
    packages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    """What npm refuses for the lock's sake is a DataError at the lock; nothing is cached."""
    npm(tmp_path, monkeypatch, f"echo '{said}' >&2; exit 1")
    with pytest.raises(DataError, match=r"package-lock\.json: npm refuses") as caught:
        await names_in_context(a_recipe(packages, modules=True))
    assert said in caught.value.message
    assert not list((tmp_path / "cache").rglob("node_modules"))


async def test_a_registry_that_is_silent_is_the_machines_fault(
    packages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any other failure of npm is a missing prerequisite, with npm's own words."""
    npm(tmp_path, monkeypatch, "echo 'npm error network ENOTFOUND' >&2; exit 1")
    with pytest.raises(PrerequisiteError, match="ENOTFOUND") as caught:
        await names_in_context(a_recipe(packages, modules=True))
    assert "registry" in caught.value.fix


def test_the_packages_of_no_lock_stay_out_of_the_inputs(folder: Path) -> None:
    """node_modules beside a Dockerfile is litter: what counts is the lock."""
    before = recipe.hash_tree(folder)
    (folder / node.MODULES).mkdir()
    (folder / node.MODULES / "a.js").touch()
    assert recipe.hash_tree(folder) == before
