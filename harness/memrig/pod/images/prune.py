"""Removes images of former builds. Nothing here happens by itself: a run may still name them."""

import asyncio

from memrig.pod.images.engine import Engine, own_tag
from memrig.pod.images.lock import build_lock
from memrig.pod.images.types import NAME_LABEL, Progress, on_loop


async def prune_images(
    name: str | None = None, *, progress: Progress | None = None
) -> tuple[str, ...]:
    """Removes all but the newest image of each name that memrig built; returns what went.

    Images that lost their name to a forced build, and builder stages kept as a cache, go too.

    One that a container uses stays. A run that was made with a removed image can be graded and
    reported as before, but an unfinished one can no longer be resumed with the same digest.

    Args:
        name: only images of this name, such as ``bm25``; None: of every name.
        progress: takes lines of text for a human.

    Raises:
        PrerequisiteError: no daemon.
    """
    say = on_loop(progress)
    engine = await asyncio.to_thread(Engine)
    try:
        async with build_lock(say):
            return await asyncio.to_thread(_prune, engine, name)
    finally:
        engine.close()


def _prune(engine: Engine, only: str | None) -> tuple[str, ...]:
    kept: set[str] = set()
    removed = []
    for image in engine.list_own({NAME_LABEL: only} if only else None):
        name = image.labels[NAME_LABEL]
        if name in kept and engine.remove(own_tag(image)):
            removed.append(own_tag(image))
        kept.add(name)
    nameless = engine.list_dangling(f"{NAME_LABEL}={only}" if only else NAME_LABEL)
    return (*removed, *(image.digest for image in nameless if engine.remove(image.digest)))
