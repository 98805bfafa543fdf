"""Each container is killed and started again: how long it is gone, and what is lost."""

import asyncio
import time

from memrig.errors import AdapterCrashedError, AdapterError
from memrig.model.manifest import ADAPTER_SERVICE
from memrig.model.scenario import Episode, LookFor, RestartProbe
from memrig.model.transcript import ProbeRecord
from memrig.trial.probes.scene import Found, Scene

#: How long a memory may take to answer a search again once its container runs, seconds, where the
#: manifest does not say how long a start may take.
_PATIENCE_S = 30.0
_PAUSE_S = 0.02


async def measure(probe: RestartProbe, scene: Scene) -> list[ProbeRecord]:
    """A record for each container, companions first.

    `samples_ns["down"]` holds one time: from the kill to the end of the first search that succeeds.
    """
    pod = scene.session.pod
    if not pod.services:
        return scene.skipped(probe, "nothing can be restarted in this kind of pod")
    records = []
    for service in pod.services:
        scene.errors.clear()
        records.append(await _killed(probe, scene, service))
        if (await pod.fate()).state == "exited":
            break  # and the trial ends with it
    return records


async def _killed(probe: RestartProbe, scene: Scene, service: str) -> ProbeRecord:
    values: dict[str, float | None] = {"recall_before": await scene.recall(probe.searches)}
    started = time.monotonic_ns()
    try:
        await scene.session.pod.restart(service, kill=True)
        if service == ADAPTER_SERVICE:
            await _again(scene)
        await _first_answer(scene, probe.searches[0])
    except AdapterError as error:
        scene.errors.append(error)
        return scene.record(probe, values, subject=service)
    down = time.monotonic_ns() - started
    values["recall_after"] = await scene.recall(probe.searches)
    acks = await scene.ingest([_afterwards(probe, scene, service)])
    values["acks_after"] = acks["stored"] + acks["duplicate"]
    await scene.flush()
    return scene.record(probe, values, {"down": (down,)}, subject=service)


async def _again(scene: Scene) -> None:
    """Shakes hands with the new process, which is no crash here and only here.

    Raises:
        AdapterCrashedError: it ended again, or was not ready in time.
        AdapterError: the handshake failed.
    """
    session = scene.session
    await session.client.wait_ready(_patience_s(scene), session.raise_if_dead)
    await session.client.capabilities()


async def _first_answer(scene: Scene, look: LookFor) -> None:
    """Searches until that succeeds, whatever it finds.

    Raises:
        AdapterError: the last error, where it does not within the patience.
        AdapterCrashedError: a container ended meanwhile.
    """
    scene.enter("search")
    give_up = time.monotonic() + _patience_s(scene)
    while not isinstance(found := await scene.attempt(look), Found):
        if isinstance(found, AdapterCrashedError) or time.monotonic() >= give_up:
            raise found
        await scene.session.raise_if_dead()
        await asyncio.sleep(_PAUSE_S)


def _patience_s(scene: Scene) -> float:
    manifest = scene.session.spec.adapter.manifest
    return manifest.start_timeout_s if manifest else _PATIENCE_S


def _afterwards(probe: RestartProbe, scene: Scene, service: str) -> Episode:
    """Something new to remember: whether it is still taken is what counts."""
    return Episode(
        episode_id=f"{probe.probe_id}/after-{service}",
        text=f"The lights were out for a moment, note {scene.episodes + 1} says.",
    )
