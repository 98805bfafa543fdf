"""Base images: from a registry, or from Debian packages.

memrig's own is a slim Python; a folder that needs another one describes it in a `base.toml` of its
own.
"""

import asyncio
import threading
import time
from pathlib import Path

from memrig.model.canonical import digest_file, digest_of
from memrig.pod.images.builder import run_build
from memrig.pod.images.context import Context
from memrig.pod.images.debian import build_debian, check_possible
from memrig.pod.images.engine import REGISTRY_PATIENCE_S, Engine, ImageFacts
from memrig.pod.images.lock import build_lock
from memrig.pod.images.sources import own_image
from memrig.pod.images.spec import BaseSpec, load_base_spec
from memrig.pod.images.types import (
    INPUTS_LABEL,
    NAME_LABEL,
    BuiltImage,
    Progress,
    on_loop,
    tag_for,
)

SPEC_FILE = "base.toml"
#: What base.toml said when an image was made: finds it again without asking any registry.
_SPEC_LABEL = "io.memrig.base"

#: References that no registry answered for since this process started.
_unanswered: set[str] = set()


async def ensure_base(*, force: bool = False, progress: Progress | None = None) -> BuiltImage:
    """Makes sure that the base image is on the daemon, and says what it is.

    One that was made from the same base.toml is used as it is, without a network. Else a registry
    is asked (at most 10 seconds for an answer); where none answers, the image is built from Debian
    packages, which takes about a minute.

    Args:
        force: make a new one even so.
        progress: takes lines of text for a human.

    Raises:
        PrerequisiteError: no daemon; or no registry and no way to build from Debian packages.
    """
    say = on_loop(progress)
    engine = await asyncio.to_thread(Engine)
    try:
        return await ensure_base_on(engine, say, force=force)
    finally:
        engine.close()


def base_file(folder: Path | None = None) -> Path:
    """The `base.toml` that a build's folder stands on: its own, or memrig's."""
    own = folder / SPEC_FILE if folder else None
    return own if own is not None and own.is_file() else own_image("base") / SPEC_FILE


async def ensure_base_on(
    engine: Engine, say: Progress, *, force: bool = False, folder: Path | None = None
) -> BuiltImage:
    """As `ensure_base`, on an open connection, for the base that `folder` stands on."""
    began = time.monotonic()
    path = base_file(folder)
    spec = load_base_spec(path)
    wanted = digest_of({"base.toml": digest_file(path), "arch": engine.arch})
    found = None if force else await _find(engine, spec.name, wanted)
    if found is not None:
        return _result(spec.name, found, built=False, began=began)
    async with build_lock(say):
        found = None if force else await _find(engine, spec.name, wanted)
        if found is not None:
            return _result(spec.name, found, built=False, began=began)
        digest = await _make(engine, spec, wanted, say, str(path.parent))
    made = await asyncio.to_thread(engine.get, digest)
    assert made is not None  # noqa: S101  it was just made
    await asyncio.to_thread(engine.tag, digest, tag_for(spec.name, made.labels[INPUTS_LABEL]))
    return _result(spec.name, made, built=True, began=began)


async def _find(engine: Engine, name: str, wanted: str) -> ImageFacts | None:
    labels = {NAME_LABEL: name, _SPEC_LABEL: wanted}
    found = await asyncio.to_thread(engine.list_own, labels)
    return found[0] if found else None


async def _make(engine: Engine, spec: BaseSpec, wanted: str, say: Progress, folder: str) -> str:
    upstream = await _ask(engine, spec.reference, say) if spec.reference else None
    way = {"way": "registry", "digest": upstream} if upstream else {"way": "debian"}
    inputs = digest_of({"spec": wanted, **way})
    labels = {NAME_LABEL: spec.name, _SPEC_LABEL: wanted, INPUTS_LABEL: inputs}
    if spec.reference is None or upstream is None:
        check_possible("base" if spec.name == "base" else folder)
        tag = tag_for(spec.name, inputs)
        return await build_debian(engine, spec.debian, tag=tag, labels=labels, say=say)
    say(f"pulling {spec.reference}")
    pulled = await asyncio.to_thread(engine.pull, spec.reference)
    with Context() as context:
        context.add("Dockerfile", f"FROM {pulled}\n".encode())
        return await asyncio.to_thread(
            run_build, context.tar(), labels=labels, buildargs={}, fresh=False,
            where="images/base", say=say, stop=threading.Event(),
        )  # fmt: skip


async def _ask(engine: Engine, reference: str, say: Progress) -> str | None:
    if reference in _unanswered:
        return None
    say(f"asking a registry for {reference} (at most {REGISTRY_PATIENCE_S} s)")
    upstream = await asyncio.to_thread(engine.ask_registry, reference)
    if upstream is None:
        _unanswered.add(reference)
    return upstream


def _result(name: str, image: ImageFacts, *, built: bool, began: float) -> BuiltImage:
    inputs = image.labels[INPUTS_LABEL]
    return BuiltImage(
        name=name,
        tag=tag_for(name, inputs),
        digest=image.digest,
        inputs=inputs,
        built=built,
        size_bytes=image.size_bytes,
        seconds=time.monotonic() - began,
    )
