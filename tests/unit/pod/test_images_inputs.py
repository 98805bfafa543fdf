"""The hash of build inputs: it moves with each kind of input, and with nothing else."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from memrig.errors import DataError
from memrig.pod.images.context import Context
from memrig.pod.images.inputs import hash_tree, list_files


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "Dockerfile").write_text("FROM scratch\n")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("A = 1\n")
    (tmp_path / "run.sh").write_text("#!/bin/sh\n")
    (tmp_path / "link").symlink_to("src/a.py")
    return tmp_path


def _link_elsewhere(folder: Path) -> None:
    (folder / "link").unlink()
    (folder / "link").symlink_to("run.sh")


def _link_becomes_file(folder: Path) -> None:
    (folder / "link").unlink()
    (folder / "link").write_text("src/a.py")


CHANGES: dict[str, Callable[[Path], object]] = {
    "content": lambda f: (f / "src" / "a.py").write_text("A = 2\n"),
    "a new file": lambda f: (f / "b").touch(),
    "a file less": lambda f: (f / "run.sh").unlink(),
    "a name": lambda f: (f / "run.sh").rename(f / "start.sh"),
    "a place": lambda f: (f / "run.sh").rename(f / "src" / "run.sh"),
    "the execute bit": lambda f: (f / "run.sh").chmod(0o755),
    "the lock": lambda f: (f / "requirements.lock").write_text("a==1\n"),
    "a link's target": _link_elsewhere,
    "a link that becomes a file": _link_becomes_file,
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_input_changes_the_hash(folder: Path, change: str) -> None:
    """Each kind of change to what a build reads changes the hash."""
    before = hash_tree(folder)
    CHANGES[change](folder)
    assert hash_tree(folder) != before


def _litter(folder: Path) -> None:
    (folder / "src" / "__pycache__").mkdir()
    (folder / "src" / "__pycache__" / "a.pyc").touch()
    (folder / "b.pyc").touch()


NOT_CHANGES: dict[str, Callable[[Path], object]] = {
    "times": lambda f: os.utime(f / "run.sh", (1, 1)),
    "other mode bits": lambda f: (f / "run.sh").chmod(0o600),
    "an empty folder": lambda f: (f / "empty").mkdir(),
    "what Python leaves behind": _litter,
}


@pytest.mark.parametrize("change", NOT_CHANGES)
def test_nothing_else_changes_the_hash(folder: Path, change: str) -> None:
    """Times, owners' habits and litter leave the hash as it is."""
    before = hash_tree(folder)
    NOT_CHANGES[change](folder)
    assert hash_tree(folder) == before


def test_dockerignore_takes_files_out_of_the_hash(folder: Path) -> None:
    """A file that .dockerignore names is neither hashed nor sent."""
    (folder / ".dockerignore").write_text("# words about words\nREADME.md\n")
    before = hash_tree(folder)
    (folder / "README.md").write_text("hello\n")
    assert hash_tree(folder) == before
    assert "README.md" not in [file.path for file in list_files(folder)]


def test_parts_limit_the_hash(folder: Path) -> None:
    """Of a folder of which only parts count, the rest may change."""
    before = hash_tree(folder, ["src"])
    (folder / "run.sh").write_text("changed\n")
    assert hash_tree(folder, ["src"]) == before
    (folder / "src" / "a.py").write_text("changed\n")
    assert hash_tree(folder, ["src"]) != before


def test_a_socket_cannot_be_an_input(folder: Path) -> None:
    """A pipe or socket in the folder is refused by name, not waited for."""
    os.mkfifo(folder / "pipe")
    with pytest.raises(DataError, match=r"pipe: is neither a file nor a folder"):
        hash_tree(folder)


def test_the_same_content_makes_the_same_context(folder: Path) -> None:
    """Two contexts of the same content are the same bytes, whatever the times on disk."""

    def tar() -> bytes:
        with Context() as context:
            context.add_folder("wheels", ())
            context.add_tree(folder)
            return context.tar().read()

    before = tar()
    os.utime(folder / "run.sh", (1, 1))
    assert tar() == before
