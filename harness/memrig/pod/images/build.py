"""Builds a folder into an image: wheels collected first, then `docker build` without a network."""

import asyncio
import threading
import time
from pathlib import Path

from memrig.errors import DataError
from memrig.model.manifest import ADAPTER_SERVICE, AdapterManifest, Container, load_manifest
from memrig.pod.images.builder import run_build
from memrig.pod.images.context import Context
from memrig.pod.images.engine import Engine, ImageFacts
from memrig.pod.images.lock import build_lock
from memrig.pod.images.recipe import MANIFEST_FILE, Recipe, fill_context, make_recipe
from memrig.pod.images.sources import own_image
from memrig.pod.images.types import (
    INPUTS_LABEL,
    MANIFEST_LIMIT,
    MANIFEST_PATH,
    NAME_LABEL,
    BuiltImage,
    Progress,
    on_loop,
    tag_for,
)

DOORMAN = "doorman"


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
    carried = (folder / MANIFEST_FILE).read_bytes() if adapter else None
    return await build_folder(engine, path, name, carried, say, force=force)


async def build_folder(
    engine: Engine,
    folder: Path,
    name: str,
    manifest: bytes | None,
    say: Progress,
    *,
    force: bool = False,
) -> BuiltImage:
    """Builds a folder with a Dockerfile under a name, unless its inputs were built before.

    Args:
        engine: the daemon.
        folder: the build's folder.
        name: what the image is called.
        manifest: what it must carry at /memrig/adapter.toml; None for one that is no adapter.
        say: takes lines of text for a human.
        force: build anew even so.
    """
    began = time.monotonic()
    recipe = await make_recipe(engine, folder, name, manifest, say)
    image = None if force else await asyncio.to_thread(_find, engine, recipe)
    if image is not None:
        return _result(recipe, image, built=False, began=began)
    async with build_lock(say):
        image = None if force else await asyncio.to_thread(_find, engine, recipe)
        if image is not None:
            return _result(recipe, image, built=False, began=began)
        say(f"building {name} from {folder}")
        with Context() as context:
            await fill_context(context, engine, recipe, say)
            digest = await _build(engine, recipe, context, say, fresh=force)
        image = await asyncio.to_thread(_finish, engine, recipe, digest)
    return _result(recipe, image, built=True, began=began)


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


def _find(engine: Engine, recipe: Recipe) -> ImageFacts | None:
    image = engine.get(tag_for(recipe.name, recipe.inputs))
    same = image is not None and image.labels.get(INPUTS_LABEL) == recipe.inputs
    return image if same else None


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
            run_build,
            context.tar(),
            labels={NAME_LABEL: recipe.name, INPUTS_LABEL: recipe.inputs},
            buildargs=buildargs,
            fresh=fresh,
            where=recipe.where,
            say=say,
            stop=stop,
        )
    )
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        # A thread cannot be cancelled. It hangs up on the daemon at the next line of output, and
        # the daemon then ends the build; the lock must not be given up before.
        stop.set()
        await asyncio.wait({task})
        task.exception()
        raise


def _finish(engine: Engine, recipe: Recipe, digest: str) -> ImageFacts:
    """Checks that the image carries its manifest, and names it."""
    if recipe.manifest is not None:
        carried = engine.read_file(digest, MANIFEST_PATH, MANIFEST_LIMIT)
        if carried != recipe.manifest:
            engine.remove(digest)
            state = "does not carry its manifest" if carried is None else "carries another manifest"
            raise DataError(
                f"the image {state} at {MANIFEST_PATH}, so it could not run by reference alone",
                where=recipe.where,
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
