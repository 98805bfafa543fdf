"""Builds a folder into an image: wheels collected first, then `docker build` without a network."""

import asyncio
import re
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from memrig.errors import DataError
from memrig.model.manifest import ADAPTER_SERVICE, AdapterManifest, Container, load_manifest
from memrig.pod.images.base import ensure_base_on
from memrig.pod.images.context import Context
from memrig.pod.images.engine import Engine, ImageFacts, BuildStoppedError
from memrig.pod.images.inputs import hash_bytes, hash_inputs, hash_tree
from memrig.pod.images.lock import build_lock
from memrig.pod.images.sources import own_image
from memrig.pod.images.spec import load_base_spec
from memrig.pod.images.types import (
    INPUTS_LABEL,
    MANIFEST_PATH,
    NAME_LABEL,
    BuiltImage,
    Progress,
    on_loop,
    tag_for,
)
from memrig.pod.images.wheels import collect_local, collect_locked, local_hash

LOCK_FILE = "requirements.lock"
MANIFEST_FILE = "adapter.toml"
DOORMAN = "doorman"

_USES_BASE = re.compile(r"^\s*ARG\s+BASE\b", re.MULTILINE)
_USES_LOCAL = re.compile(r"\bwheels-local\b")
_MANIFEST_LIMIT = 256 * 1024


@dataclass(frozen=True, slots=True)
class Recipe:
    """What one image is built from.

    Args:
        name: what the image is called.
        folder: the build's folder, with its Dockerfile.
        manifest: the adapter.toml that the image must carry; None for a companion.
        base: the tag, id and inputs of memrig's base image; None when the Dockerfile does not ask.
        local: the hash of memrig's own wheels; None likewise.
        inputs: the hash of all of it.
    """

    name: str
    folder: Path
    manifest: Path | None
    base: BuiltImage | None
    local: str | None
    inputs: str = field(default="")

    @property
    def lock(self) -> Path | None:
        """The wheel lock, when there is one."""
        path = self.folder / LOCK_FILE
        return path if path.is_file() else None


async def ensure_built(
    folder: Path, *, force: bool = False, progress: Progress | None = None
) -> BuiltImage:
    """Makes sure that the image of an adapter's folder is on the daemon, and says what it is.

    An image that was made of the same inputs is used as it is.

    Args:
        folder: holds adapter.toml with ``[image] build = …``.
        force: build anew even so; the new image has the same inputs and another digest.
        progress: takes lines of text for a human.

    Raises:
        DataError: the folder, its manifest or its Dockerfile cannot be used; names the step.
        PrerequisiteError: no daemon, no base image, or wheels that cannot be had.
    """
    manifest = load_manifest(folder / MANIFEST_FILE)
    if manifest.image.build is None:
        raise DataError(
            f"names an image to use ({manifest.image.reference}), so there is nothing to build",
            where=f"{folder / MANIFEST_FILE}: image",
            fix='write `build = "."` there to build this folder',
        )
    say = on_loop(progress)
    engine = await asyncio.to_thread(Engine)
    try:
        return await build_service(engine, folder, manifest, ADAPTER_SERVICE, say, force=force)
    finally:
        engine.close()


async def ensure_doorman(*, force: bool = False, progress: Progress | None = None) -> BuiltImage:
    """As `ensure_built`, for the container that owns a pod's network namespace."""
    say = on_loop(progress)
    engine = await asyncio.to_thread(Engine)
    try:
        return await build_folder(engine, own_image(DOORMAN), DOORMAN, None, say, force=force)
    finally:
        engine.close()


async def build_service(
    engine: Engine,
    folder: Path,
    manifest: AdapterManifest,
    service: str,
    say: Progress,
    *,
    force: bool = False,
) -> BuiltImage:
    """Builds one container of an adapter whose manifest says `build`; see `ensure_built`."""
    adapter = service == ADAPTER_SERVICE
    container: Container = manifest.image if adapter else manifest.services[service]
    name = manifest.name if adapter else f"{manifest.name}-{service}"
    path = _inside(folder, str(container.build), "image" if adapter else f"services.{service}")
    carried = folder / MANIFEST_FILE if adapter else None
    return await build_folder(engine, path, name, carried, say, force=force)


def _inside(folder: Path, build: str, where: str) -> Path:
    """The build folder; never one outside the adapter's, for a manifest may come from anyone."""
    path = (folder / build).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise DataError(
            f"lies outside the adapter's folder: {build!r}",
            where=f"{folder / MANIFEST_FILE}: {where}.build",
            fix="move it inside",
        )
    return path


async def build_folder(
    engine: Engine,
    folder: Path,
    name: str,
    manifest: Path | None,
    say: Progress,
    *,
    force: bool = False,
) -> BuiltImage:
    """Builds a folder with a Dockerfile under a name, unless its inputs were built before."""
    began = time.monotonic()
    recipe = await _recipe(engine, folder, name, manifest, say)
    labels = {NAME_LABEL: name, INPUTS_LABEL: recipe.inputs}
    found = None if force else await asyncio.to_thread(engine.find, labels)
    if found is not None:
        return _result(recipe, found, built=False, began=began)
    async with build_lock(say):
        found = None if force else await asyncio.to_thread(engine.find, labels)
        if found is not None:
            return _result(recipe, found, built=False, began=began)
        say(f"building {name} from {folder}")
        context = await _context(engine, recipe, say)
        digest = await _build(engine, recipe, context, say, fresh=force)
        image = await asyncio.to_thread(_finish, engine, recipe, digest)
    return _result(recipe, image, built=True, began=began)


async def _recipe(
    engine: Engine, folder: Path, name: str, manifest: Path | None, say: Progress
) -> Recipe:
    dockerfile = folder / "Dockerfile"
    try:
        text = dockerfile.read_text("utf-8")
    except OSError as error:
        raise DataError(
            f"cannot be read ({error.strerror})",
            where=str(dockerfile),
            fix="a folder to build needs a Dockerfile; see docs/images.md",
        ) from error
    base = await ensure_base_on(engine, say) if _USES_BASE.search(text) else None
    local = await asyncio.to_thread(local_hash) if _USES_LOCAL.search(text) else None
    inputs = hash_inputs(
        {
            "arch": engine.arch,
            "base": base.inputs if base else None,
            "folder": await asyncio.to_thread(hash_tree, folder),
            "local": local,
            "manifest": hash_bytes(manifest.read_bytes()) if manifest else None,
            "name": name,
        }
    )
    return Recipe(name, folder, manifest, base, local, inputs)


async def _context(engine: Engine, recipe: Recipe, say: Progress) -> Context:
    python = load_base_spec(own_image("base") / "base.toml").python
    context = Context()
    if recipe.manifest is not None:
        context.add(MANIFEST_FILE, recipe.manifest.read_bytes())
    if recipe.lock is not None:
        context.add(LOCK_FILE, recipe.lock.read_bytes())
        wheels = await collect_locked(recipe.lock, arch=engine.arch, python=python, say=say)
        context.add_folder("wheels", wheels)
    if recipe.local is not None:
        context.add_folder("wheels-local", await collect_local(say))
    await asyncio.to_thread(context.add_tree, recipe.folder)
    return context


async def _build(
    engine: Engine, recipe: Recipe, context: Context, say: Progress, *, fresh: bool
) -> str:
    buildargs = {}
    if recipe.base is not None:
        # The classic builder's FROM takes a name; `Engine.tag` makes sure what the name means.
        await asyncio.to_thread(engine.tag, recipe.base.digest, recipe.base.tag)
        buildargs["BASE"] = recipe.base.tag
    stop = threading.Event()
    task = asyncio.create_task(
        asyncio.to_thread(
            engine.build,
            context.tar(),
            labels={NAME_LABEL: recipe.name, INPUTS_LABEL: recipe.inputs},
            buildargs=buildargs,
            fresh=fresh,
            where=str(recipe.folder / "Dockerfile"),
            say=say,
            stop=stop,
        )
    )
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        # A thread cannot be cancelled: it is told, and hangs up on the daemon at the next line.
        stop.set()
        task.add_done_callback(_forget)
        raise


def _forget(task: "asyncio.Task[str]") -> None:
    if not task.cancelled() and not isinstance(task.exception(), BuildStoppedError | None):
        task.exception()


def _finish(engine: Engine, recipe: Recipe, digest: str) -> ImageFacts:
    """Checks that the image carries its manifest, and names it."""
    if recipe.manifest is not None:
        carried = engine.read_file(digest, MANIFEST_PATH, _MANIFEST_LIMIT)
        if carried != recipe.manifest.read_bytes():
            engine.remove(digest)
            state = "does not carry its manifest" if carried is None else "carries another manifest"
            raise DataError(
                f"the image {state} at {MANIFEST_PATH}, so it could not run by reference alone",
                where=str(recipe.folder / "Dockerfile"),
                fix=f"add to its last stage: COPY {MANIFEST_FILE} {MANIFEST_PATH}",
            )
    engine.tag(digest, tag_for(recipe.name, recipe.inputs))
    engine.drop_stages(recipe.name)
    image = engine.get(digest)
    assert image is not None  # noqa: S101  it was just named
    return image


def _result(recipe: Recipe, image: ImageFacts, *, built: bool, began: float) -> BuiltImage:
    return BuiltImage(
        name=recipe.name,
        tag=tag_for(recipe.name, recipe.inputs),
        digest=image.digest,
        inputs=recipe.inputs,
        built=built,
        size_bytes=image.size_bytes,
        seconds=time.monotonic() - began,
    )
