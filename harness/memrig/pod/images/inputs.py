"""Content hashes of what an image is built from. Same inputs, same hash, on any machine."""

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from docker.utils.build import exclude_paths

from memrig.errors import DataError
from memrig.model.canonical import Digest, digest_file, digest_of

#: Left behind by tools and editors; never a build input, whatever .dockerignore says. Which image a
#: reference means is no input either: it is named beside them (`AdapterRef.images`).
_LITTER = ("**/__pycache__", "**/*.pyc", "**/.DS_Store", ".git", "node_modules", "references.lock")


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file of a tree: its path relative to the root (with ``/``), and where it is on disk."""

    path: str
    origin: Path

    @property
    def is_link(self) -> bool:
        """Whether it is a symbolic link. Links are kept as links, never followed."""
        return self.origin.is_symlink()

    @property
    def executable(self) -> bool:
        """Whether its owner may execute it: the one bit of its mode that is kept."""
        return not self.is_link and bool(self.origin.stat().st_mode & stat.S_IXUSR)


def list_files(root: Path) -> tuple[SourceFile, ...]:
    """All files of a folder, sorted by path, without litter and what .dockerignore names.

    Raises:
        DataError: something in it is neither a file, a folder nor a symbolic link.
    """
    ignore = root / ".dockerignore"
    patterns = ignore.read_text("utf-8").splitlines() if ignore.is_file() else []
    patterns = [line.strip() for line in patterns if line.strip() and not line.startswith("#")]
    files = []
    for path in sorted(exclude_paths(str(root), [*patterns, *_LITTER])):
        origin = root / path
        if origin.is_dir() and not origin.is_symlink():
            continue
        if not origin.is_symlink() and not origin.is_file():
            raise DataError("is neither a file nor a folder", where=str(origin), fix="remove it")
        files.append(SourceFile(path.replace(os.sep, "/"), origin))
    return tuple(files)


def hash_files(files: Iterable[SourceFile]) -> Digest:
    """The hash of files: paths, contents (or link targets) and execute bits, and nothing else."""
    entries = []
    for file in sorted(files, key=lambda f: f.path):
        if file.is_link:
            entries.append([file.path, "link", str(file.origin.readlink())])
            continue
        kind = "program" if file.executable else "file"
        entries.append([file.path, kind, digest_file(file.origin)])
    return digest_of(entries)


def hash_tree(root: Path, parts: Iterable[str] | None = None) -> Digest:
    """The hash of a folder, or of the named parts of it."""
    files = list_files(root)
    if parts is not None:
        wanted = tuple(parts)
        files = tuple(f for f in files if f.path.split("/", 1)[0] in wanted)
    return hash_files(files)
