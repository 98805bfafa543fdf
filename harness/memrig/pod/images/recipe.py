"""What one image is built from: its inputs, their hash, and the context that carries them."""

import asyncio
import re
from dataclasses import dataclass
from pathlib import Path

from memrig.errors import DataError
from memrig.model.canonical import digest_bytes, digest_of
from memrig.pod.images.base import base_file, ensure_base_on
from memrig.pod.images.context import Context
from memrig.pod.images.engine import Engine
from memrig.pod.images.inputs import hash_tree
from memrig.pod.images.node import MODULES, NODE_LOCK, collect_modules
from memrig.pod.images.spec import load_base_spec
from memrig.pod.images.types import BuiltImage, Progress
from memrig.pod.images.wheels import collect_local, collect_locked, local_hash

#: What pip installs: with what each of them needs, and, from the second, alone.
LOCK_FILES = ("requirements.lock", "requirements-nodeps.lock")
MANIFEST_FILE = "adapter.toml"

_USES_BASE = re.compile(r"^\s*ARG\s+BASE\b", re.MULTILINE)
_USES_LOCAL = re.compile(r"\bwheels-local\b")
_USES_MODULES = re.compile(rf"\b{MODULES}\b")


@dataclass(frozen=True, slots=True)
class Recipe:
    """What one image is built from.

    Args:
        name: what the image is called.
        folder: the build's folder, with its Dockerfile and, maybe, its wheel lock.
        manifest: the text of the adapter.toml that the image must carry; None for a companion.
        base: memrig's base image; None where the Dockerfile does not ask for it.
        local: the hash of memrig's own packages; None where the Dockerfile does not ask for them.
        modules: whether the Dockerfile asks for what package-lock.json names.
        inputs: the hash of all of it.
    """

    name: str
    folder: Path
    manifest: bytes | None
    base: BuiltImage | None
    local: str | None
    modules: bool
    inputs: str

    @property
    def where(self) -> str:
        """The Dockerfile, for messages."""
        return str(self.folder / "Dockerfile")


async def make_recipe(
    engine: Engine, folder: Path, name: str, manifest: bytes | None, say: Progress
) -> Recipe:
    """Reads a folder and hashes what counts. Builds the base image where it is asked for.

    Raises:
        DataError: the folder has no Dockerfile.
    """
    text = _read_dockerfile(folder / "Dockerfile")
    uses_base = _USES_BASE.search(text)
    base = await ensure_base_on(engine, say, folder=folder) if uses_base else None
    local = await asyncio.to_thread(local_hash) if _USES_LOCAL.search(text) else None
    inputs = digest_of(
        {
            "arch": engine.arch,
            "base": base.inputs if base else None,
            # requirements.lock is one of the folder's files.
            "folder": await asyncio.to_thread(hash_tree, folder),
            "local": local,
            "manifest": digest_bytes(manifest) if manifest is not None else None,
            "name": name,
        }
    )
    modules = _USES_MODULES.search(text) is not None and (folder / NODE_LOCK).is_file()
    return Recipe(name, folder, manifest, base, local, modules, inputs)


async def fill_context(context: Context, engine: Engine, recipe: Recipe, say: Progress) -> None:
    """Collects what the build needs. The build lock is held.

    Raises:
        DataError, PrerequisiteError: see `wheels`.
    """
    if recipe.manifest is not None:
        context.add(MANIFEST_FILE, recipe.manifest)
    locks = [path for name in LOCK_FILES if (path := recipe.folder / name).is_file()]
    if locks:
        python = _python_of(recipe.folder)
        wheels: dict[str, Path] = {}
        for lock in locks:
            found = await collect_locked(lock, arch=engine.arch, python=python, say=say)
            wheels |= {path.name: path for path in found}
        context.add_folder("wheels", tuple(wheels.values()))
    if recipe.modules:
        await asyncio.to_thread(
            context.add_tree, await collect_modules(recipe.folder, say), MODULES
        )
    if recipe.local is not None:
        context.add_folder("wheels-local", await collect_local(recipe.local, say))
    await asyncio.to_thread(context.add_tree, recipe.folder)


def _python_of(folder: Path) -> str:
    path = base_file(folder)
    if python := load_base_spec(path).python:
        return python
    raise DataError(
        "names no version of Python, but the folder locks wheels",
        where=f"{path}: python",
        fix='add python = "3.13" (the one that its Debian has), or remove requirements.lock',
    )


def _read_dockerfile(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except OSError as error:
        raise DataError(
            f"cannot be read ({error.strerror})",
            where=str(path),
            fix="a folder to build needs a Dockerfile; see docs/images.md",
        ) from error
