"""From what a user gives as ``--adapter`` to all that is needed to start it, by digest."""

import asyncio
import re
import site
import sys
from collections.abc import Iterable
from importlib.metadata import distributions
from pathlib import Path

from memrig._version import __version__
from memrig.errors import DataError, PrerequisiteError, UsageError
from memrig.model.canonical import digest_file, digest_of
from memrig.model.manifest import (
    ADAPTER_SERVICE,
    BASELINE_PREFIX,
    BASELINES,
    AdapterManifest,
    AdapterRef,
    Container,
    PodKind,
    load_manifest,
    parse_manifest,
    split_variant,
)
from memrig.pod.images.build import build_service
from memrig.pod.images.engine import Engine, ImageFacts
from memrig.pod.images.faults import MissingImageError, missing_images
from memrig.pod.images.inputs import hash_tree
from memrig.pod.images.pins import book_of_folder, book_of_image
from memrig.pod.images.recipe import MANIFEST_FILE
from memrig.pod.images.references import PinnedImage, find_references
from memrig.pod.images.types import MANIFEST_LIMIT, MANIFEST_PATH, Progress, on_loop
from memrig.pod.images.wheels import local_hash

_ENDPOINT = re.compile(r"^grpc://(?P<target>(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):[0-9]{1,5})$")
_DIGEST = re.compile(r"^(?:(?P<name>[a-z0-9][A-Za-z0-9._:/-]*)@)?(?P<digest>sha256:[0-9a-f]{64})$")
_TAGGED = re.compile(r"^[a-z0-9][a-z0-9._/:-]*:[A-Za-z0-9_][A-Za-z0-9._-]*$")
#: Where Python, or Debian's, keeps what was installed.
_SITES = ("site-packages", "dist-packages")
_SEPARATORS = re.compile(r"[-_.]+")
#: What stands before the path of a file with answers that were produced elsewhere.
ANSWERS = "answers:"
_IMPLIED = ("endpoint", "baseline", "given")
_FORMS = (
    "give a folder with an adapter.toml (images/bm25, with a variant images/mem0+extract), "
    "an image by digest (NAME@sha256:…), a running adapter (grpc://host:port), or a baseline "
    "(baseline:oracle)"
)


def implied_pod(adapter: str) -> PodKind | None:
    """The only kind of pod that can take this adapter; None for a folder, which can choose."""
    if adapter.startswith("grpc://"):
        return "endpoint"
    if adapter.startswith(BASELINE_PREFIX):
        return "baseline"
    if adapter.startswith(ANSWERS):
        return "given"
    return "docker" if "sha256:" in adapter else None


async def resolve(adapter: str, pod: PodKind, *, progress: Progress | None = None) -> AdapterRef:
    """Finds an adapter, builds or pulls what its pod needs, and names all of it by digest.

    Args:
        adapter: a folder, ``NAME@sha256:…``, ``sha256:…`` (an image id), each also with
            ``+variant``; ``grpc://host:port``, or ``baseline:NAME``.
        pod: where it is to run; `implied_pod` tells when there is no choice.
        progress: takes lines of text for a human.

    Raises:
        UsageError: this pod cannot take this adapter, or an image is named by tag.
        DataError: the folder, its manifest, or the manifest inside the image cannot be used.
        PrerequisiteError: an image is neither here nor to be had; says how to supply it.
    """
    needed = implied_pod(adapter)
    if (needed or pod) != pod or (pod in _IMPLIED) != (needed in _IMPLIED):
        fits = needed or "docker or process"
        raise UsageError(
            f"a pod of kind {pod} cannot take this adapter; it needs {fits}",
            where=f"--adapter {adapter}",
            fix=f"give --pod {needed}, or leave --pod out" if needed else _FORMS,
        )
    if needed == "endpoint":
        return _endpoint(adapter)
    if needed == "baseline":
        return _baseline(adapter)
    if needed == "given":
        return await asyncio.to_thread(_given, Path(adapter.removeprefix(ANSWERS)))
    named, variant = split_variant(adapter)
    found = await _contained(named, pod, on_loop(progress))
    if not variant or found.manifest is None:
        return found
    manifest = found.manifest.as_variant(variant)
    return found.model_copy(update={"name": manifest.name, "manifest": manifest})


async def _contained(adapter: str, pod: PodKind, say: Progress) -> AdapterRef:
    if implied_pod(adapter) == "docker":
        return await _image(adapter, say)
    folder = _folder(adapter)
    manifest = load_manifest(folder / MANIFEST_FILE)
    if pod == "process":
        return await asyncio.to_thread(_process, folder, manifest)
    return await _built(folder, manifest, say)


async def load_images(tar: Path) -> tuple[ImageFacts, ...]:
    """Loads all images of a `docker save` file: adapters, to be given by id, and companions.

    Raises:
        DataError: the file cannot be read, or is not such a file.
        PrerequisiteError: no daemon.
    """
    engine = await asyncio.to_thread(Engine)
    try:
        return await asyncio.to_thread(engine.load, tar)
    finally:
        engine.close()


async def save_image(digest: str, out: Path) -> None:
    """Writes one image to a file that `load_images` takes.

    Raises:
        PrerequisiteError: no daemon, or it does not have the image.
        InfrastructureError: the daemon failed.
    """
    engine = await asyncio.to_thread(Engine)
    try:
        await asyncio.to_thread(engine.save, digest, out)
    finally:
        engine.close()


async def missing_images_of(digests: Iterable[str]) -> tuple[str, ...]:
    """Which images, by id, the daemon does not have.

    Raises:
        PrerequisiteError: no daemon.
    """
    engine = await asyncio.to_thread(Engine)
    try:
        wanted = tuple(dict.fromkeys(digests))
        found = [await asyncio.to_thread(engine.get, digest) for digest in wanted]
    finally:
        engine.close()
    return tuple(name for name, image in zip(wanted, found, strict=True) if image is None)


def _baseline(adapter: str) -> AdapterRef:
    name = adapter.removeprefix(BASELINE_PREFIX)
    if name not in BASELINES:
        fix = f"one of: {', '.join(BASELINE_PREFIX + known for known in BASELINES)}"
        raise UsageError(f"there is no baseline {name!r}", where=f"--adapter {adapter}", fix=fix)
    return AdapterRef(name=adapter, version=__version__, pod="baseline")


def _given(path: Path) -> AdapterRef:
    if not path.is_file():
        message = "is a folder" if path.is_dir() else "there is no such file"
        fix = "give a file of JSON lines: question_id, answer"
        raise DataError(message, where=f"--answers {path}", fix=fix)
    inputs = {"answers": digest_file(path)}
    return AdapterRef(name=path.name, version="", pod="given", inputs=inputs, endpoint=str(path))


def _endpoint(adapter: str) -> AdapterRef:
    match = _ENDPOINT.match(adapter)
    port = int(match["target"].rpartition(":")[2]) if match else 0
    if match is None or not 1 <= port <= 65535:
        raise UsageError(
            "is not an endpoint", where=f"--adapter {adapter}", fix="write grpc://host:port"
        )
    return AdapterRef(name="endpoint", version="", pod="endpoint", endpoint=match["target"])


def _folder(adapter: str) -> Path:
    path = Path(adapter)
    if path.is_dir():
        return path
    if _TAGGED.match(adapter) and not path.exists():
        raise UsageError(
            "a tag may mean another image tomorrow; runs take images by digest only",
            where=f"--adapter {adapter}",
            fix=f"`docker image inspect --format '{{{{.Id}}}}' {adapter}` prints its digest",
        )
    state = "is a file, not a folder" if path.exists() else "is no folder"
    raise DataError(state, where=f"--adapter {adapter}", fix=_FORMS)


def _process(folder: Path, manifest: AdapterManifest) -> AdapterRef:
    if manifest.process is None:
        raise UsageError(
            "cannot run without Docker: its manifest has no [process] section",
            where=str(folder / MANIFEST_FILE),
            fix="use --pod docker, or add the command that serves it",
        )
    # No image is built, yet the lock must show when what a run used has changed.
    inputs = digest_of({"folder": hash_tree(folder), "local": local_hash()})
    environment = digest_of(_installed())
    return AdapterRef(
        name=manifest.name,
        version=manifest.version,
        pod="process",
        manifest=manifest,
        inputs={ADAPTER_SERVICE: inputs, "environment": environment},
    )


def _installed() -> list[str]:
    """``name==version`` of all that a process pod's command can import beside its own folder.

    It runs in the rig's environment, but with a home of its own and without the rig's PYTHONPATH.
    """
    own = {str(site.getusersitepackages()), ""}
    folders = [path for path in sys.path if path not in own and Path(path).name in _SITES]
    found: dict[str, str] = {}
    for item in distributions(path=folders):
        name = _SEPARATORS.sub("-", item.name or "").lower()
        found.setdefault(name, item.version)  # the first on the path is the one that is imported
    return sorted(f"{name}=={version}" for name, version in found.items())


async def _built(folder: Path, manifest: AdapterManifest, say: Progress) -> AdapterRef:
    images: dict[str, str] = {}
    inputs: dict[str, str] = {}
    engine = await asyncio.to_thread(Engine)
    try:
        # First what cannot be made here: there is no use in building the rest without it.
        where = str(folder / MANIFEST_FILE)
        found = await find_references(engine, manifest, book_of_folder(folder), where, say)
        for service in (ADAPTER_SERVICE, *manifest.services):
            if service in found:
                _take(found[service], images, inputs)
                continue
            built = await build_service(engine, folder, manifest, service, say)
            images[service], inputs[service] = built.digest, built.inputs
    finally:
        engine.close()
    return AdapterRef(
        name=manifest.name,
        version=manifest.version,
        pod="docker",
        manifest=manifest,
        images=images,
        inputs=inputs,
    )


def _take(image: PinnedImage, images: dict[str, str], inputs: dict[str, str]) -> None:
    images[image.service] = image.id
    if image.digest is not None:
        inputs[image.service] = image.digest


async def _image(adapter: str, say: Progress) -> AdapterRef:
    match = _DIGEST.match(adapter)
    if match is None:
        raise UsageError(
            "is not a whole digest: sha256: and 64 hex digits", where=f"--adapter {adapter}",
            fix="`docker image inspect --format '{{.Id}}' IMAGE` prints it",
        )  # fmt: skip
    engine = await asyncio.to_thread(Engine)
    try:
        digest = await _have_digest(engine, match["name"], match["digest"], say)
        manifest = await asyncio.to_thread(_carried_manifest, engine, adapter, digest)
        where = f"{adapter}: {MANIFEST_PATH}"
        for service, container in manifest.services.items():
            if container.reference is None:
                raise DataError(
                    f"says build = {container.build!r}, and an image carries no folders",
                    where=f"{where}: services.{service}",
                    fix="give the folder as --adapter, or have its maker name a `reference`",
                )
        images, inputs = {ADAPTER_SERVICE: digest}, dict[str, str]()
        # Its own `image` is how its maker built it; it is here already.
        companions = manifest.model_copy(update={"image": Container(build=".")})
        book = book_of_image(digest)
        for image in (await find_references(engine, companions, book, where, say)).values():
            _take(image, images, inputs)
    finally:
        engine.close()
    return AdapterRef(
        name=manifest.name,
        version=manifest.version,
        pod="docker",
        manifest=manifest,
        images=images,
        inputs=inputs,
    )


def _carried_manifest(engine: Engine, adapter: str, digest: str) -> AdapterManifest:
    data = engine.read_file(digest, MANIFEST_PATH, MANIFEST_LIMIT)
    where = f"{adapter}: {MANIFEST_PATH}"
    if data is None:
        raise DataError(
            "the image carries no manifest",
            where=where,
            fix=f"have its Dockerfile COPY adapter.toml {MANIFEST_PATH}, or give its folder",
        )
    try:
        return parse_manifest(data.decode("utf-8"), where)
    except UnicodeDecodeError as error:
        raise DataError(f"is not UTF-8: {error}", where=where) from error


async def _have_digest(engine: Engine, name: str | None, digest: str, say: Progress) -> str:
    """An image on the daemon, by the digest of its manifest or by its id, else pulled."""
    for candidate in (f"{name}@{digest}", digest) if name else (digest,):
        if image := await asyncio.to_thread(engine.get, candidate):
            return image.digest
    if name is None:
        raise PrerequisiteError(
            f"no image on this machine has the id {digest}",
            fix="load it from a file (`memrig image load FILE.tar`, or `docker load`), or give "
            "NAME@sha256:… of one that a registry has",
        )
    say(f"asking a registry for {name}@{digest}")
    try:
        return await asyncio.to_thread(engine.pull, f"{name}@{digest}")
    except MissingImageError as error:
        raise missing_images([error], engine.arch, f"--adapter {name}@{digest}") from error
