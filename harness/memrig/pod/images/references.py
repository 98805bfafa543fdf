"""Images that a manifest names by reference: found on the daemon, or pulled, and pinned."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

from memrig.errors import DataError, UsageError
from memrig.model.manifest import ADAPTER_SERVICE, AdapterManifest, load_manifest
from memrig.pod.images.engine import Engine, ImageFacts
from memrig.pod.images.faults import MissingImageError, missing_images
from memrig.pod.images.pins import PIN_FILE, Pin, PinBook, book_of_folder, pin_for, repository_of
from memrig.pod.images.recipe import MANIFEST_FILE
from memrig.pod.images.types import Progress, on_loop


@dataclass(frozen=True, slots=True)
class PinnedImage:
    """What a service's reference means: the image's id here, and its registry's digest if known."""

    service: str
    reference: str
    id: str
    digest: str | None


async def find_references(
    engine: Engine, manifest: AdapterManifest, book: PinBook, where: str, say: Progress
) -> dict[str, PinnedImage]:
    """All images that a manifest names by reference, by service; pinned if they were not yet.

    A pinned reference means the pinned image, wherever it is; another one under the same name is
    refused. One that is not pinned means what its tag means here, else what its registry has.

    Args:
        engine: the daemon.
        manifest: the adapter's.
        book: its pins; new ones are written down.
        where: names the manifest in errors.
        say: takes lines of text for a human.

    Raises:
        PrerequisiteError: images that are neither here nor to be had, all of them in one error.
        UsageError: a tag means another image here than the pinned one.
    """
    return await _find_all(engine, manifest, book, where, say, anew=False)


async def pin_images(
    folder: Path, *, update: bool = False, progress: Progress | None = None
) -> tuple[PinnedImage, ...]:
    """Pins the images that a folder's manifest names by reference; returns what they mean now.

    Args:
        folder: holds adapter.toml.
        update: forget the old pins: take what each tag means on this machine, or, where it is not
            here, what its registry has.
        progress: takes lines of text for a human.

    Raises:
        DataError: the manifest names no image by reference, or cannot be read.
        PrerequisiteError, UsageError: see `find_references`.
    """
    where = str(folder / MANIFEST_FILE)
    manifest = load_manifest(folder / MANIFEST_FILE)
    if not _references(manifest):
        fix = "nothing needs to be pinned: what is built is named by its inputs"
        raise DataError("names no image by `reference`", where=where, fix=fix)
    book = book_of_folder(folder)
    say = on_loop(progress)
    engine = await asyncio.to_thread(Engine)
    try:
        found = await _find_all(engine, manifest, book, where, say, anew=update)
    finally:
        engine.close()
    return tuple(found.values())


async def _find_all(
    engine: Engine,
    manifest: AdapterManifest,
    book: PinBook,
    where: str,
    say: Progress,
    *,
    anew: bool,
) -> dict[str, PinnedImage]:
    wanted = _references(manifest)
    references = sorted(set(wanted.values()))
    pins = {reference: None if anew else book.get(reference) for reference in references}
    results = await asyncio.gather(
        *(asyncio.to_thread(_find, engine, r, pins[r], where, say) for r in references),
        return_exceptions=True,
    )
    images = dict(zip(references, results, strict=True))
    # Whatever else went wrong, what was found is pinned: it may have been pulled just now.
    found = {r: i for r, i in images.items() if isinstance(i, ImageFacts)}
    fixed = {r: pin_for(image, r, engine.arch, book.get(r)) for r, image in found.items()}
    named = {r: pin for r, pin in fixed.items() if not r.startswith("sha256:")}  # an id is a pin
    if path := book.update(named):
        say(f"pinned {', '.join(named)} in {path}")
    for error in results:
        if isinstance(error, BaseException) and not isinstance(error, MissingImageError):
            raise error
    if absent := [e for e in results if isinstance(e, MissingImageError)]:
        raise missing_images(absent, engine.arch, where)
    return {
        service: PinnedImage(service, r, found[r].digest, fixed[r].digest)
        for service, r in wanted.items()
    }


def _references(manifest: AdapterManifest) -> dict[str, str]:
    containers = {ADAPTER_SERVICE: manifest.image, **manifest.services}
    return {name: c.reference for name, c in containers.items() if c.reference is not None}


def _find(engine: Engine, reference: str, pin: Pin | None, where: str, say: Progress) -> ImageFacts:
    held = _held(engine, reference, pin) if pin else None
    named = engine.get(reference)
    if named is not None and pin is not None and not pin.means(named, reference, engine.arch):
        raise _moved(reference, pin, named, held, where)
    image = held or named
    if image is not None:
        return image
    if pin is None:
        return _pulled(engine, reference, say)
    if pin.digest is None:
        known = ", ".join(pin.ids.values())
        raise MissingImageError(reference, f"it is pinned to {known}, which came from a file")
    return _pulled(engine, f"{repository_of(reference)}@{pin.digest}", say)


def _held(engine: Engine, reference: str, pin: Pin) -> ImageFacts | None:
    """The pinned image, if this daemon has it under any name."""
    candidates: list[str] = [pin.ids[engine.arch]] if engine.arch in pin.ids else []
    if pin.digest is not None:
        candidates.append(f"{repository_of(reference)}@{pin.digest}")
    return next((image for name in candidates if (image := engine.get(name))), None)


def _pulled(engine: Engine, reference: str, say: Progress) -> ImageFacts:
    say(f"asking a registry for {reference}")
    digest = engine.pull(reference)
    image = engine.get(digest)
    assert image is not None  # noqa: S101  it was just pulled
    return image


def _moved(
    reference: str, pin: Pin, named: ImageFacts, held: ImageFacts | None, where: str
) -> UsageError:
    pinned = pin.digest or ", ".join(pin.ids.values())
    back = f"; `docker tag {held.digest} {reference}` goes back" if held else ""
    return UsageError(
        f"{reference} means {named.digest} on this machine, "
        f"and {PIN_FILE} pins it to {pinned}: results would be of two systems under one name",
        where=where,
        fix=f"`memrig image pin --update {Path(where).parent}` takes the new one{back}",
    )
