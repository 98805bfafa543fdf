"""How soon after its acknowledgement an episode is found, without a barrier."""

import asyncio
import time

from memrig.model.scenario import Episode, FreshnessProbe, LookFor
from memrig.model.transcript import ProbeRecord
from memrig.trial.probes.scene import Found, Scene

_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.01, 0.25


async def measure(probe: FreshnessProbe, scene: Scene) -> list[ProbeRecord]:
    """Each episode alone: ingested, then looked for until it is found or the patience is over.

    `samples_ns["visible"]` holds the time from acknowledgement to the end of the search that found
    it. What was not found is looked for once more after the barrier.
    """
    visible: list[int] = []
    unseen: list[LookFor] = []
    asked = 0
    for episode, look in zip(probe.episodes, probe.searches, strict=True):
        if not await _stored(scene, episode):
            continue
        asked += 1
        ns = await _visible_after(scene, look, probe.patience_s)
        if ns is None:
            unseen.append(look)
        else:
            visible.append(ns)
    late = 0
    if unseen and await scene.flush():
        scene.enter("search")
        found = [await scene.search(look) for look in unseen]
        late = sum(one is not None and one.found for one in found)
    values: dict[str, float | None] = {
        "asked": asked,
        "found": len(visible),
        "found_after_flush": late,
    }
    return [scene.record(probe, values, {"visible": tuple(visible)})]


async def _stored(scene: Scene, episode: Episode) -> bool:
    acks = await scene.ingest([episode])
    return bool(acks["stored"] or acks["duplicate"])


async def _visible_after(scene: Scene, look: LookFor, patience_s: float) -> int | None:
    """Nanoseconds until a search found it; None: none did in time, or a search failed."""
    scene.enter("search")
    started = time.monotonic_ns()
    pause = _FIRST_PAUSE_S
    while True:
        found: Found | None = await scene.search(look)
        waited = time.monotonic_ns() - started
        if found is not None and found.found:
            return waited
        if found is None or waited >= patience_s * 1e9:
            return None
        await asyncio.sleep(pause)
        pause = min(pause * 1.5, _LONGEST_PAUSE_S)
