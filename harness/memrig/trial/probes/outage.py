"""Episodes and searches while the memory's own models fail, and again once they are back."""

from collections.abc import Iterator
from contextlib import contextmanager

from memrig.gateway.identity import Injected
from memrig.model.scenario import LookFor, OutageProbe
from memrig.model.transcript import ProbeRecord
from memrig.trial.models import TrialModels
from memrig.trial.probes.scene import Scene


async def measure(probe: OutageProbe, scene: Scene) -> list[ProbeRecord]:
    """What is acknowledged, what fails, and what is found during the outage and after it.

    `met` counts the model calls that met the fault: where there was none, nothing was tried.
    `recall_outage` is that of what was told during the outage, asked once it is over.
    """
    models = scene.session.models
    if models is None or models.socket is None:
        return scene.skipped(probe, "this memory system asked for no model", subject=probe.fault)
    with _injected(models, probe) as injected:
        values = await _during(probe, scene)
    values["met"] = injected.met
    values |= await _after(probe, scene)
    return [scene.record(probe, values, subject=probe.fault)]


@contextmanager
def _injected(models: TrialModels, probe: OutageProbe) -> Iterator[Injected]:
    injected = Injected(probe.fault, probe.delay_s)
    models.identity.injected = injected
    try:
        yield injected
    finally:
        models.identity.injected = None


async def _during(probe: OutageProbe, scene: Scene) -> dict[str, float | None]:
    failed = len(scene.errors)
    acks = await scene.ingest(probe.episodes)
    ingest_errors = len(scene.errors) - failed
    flushed = await scene.flush()
    scene.enter("search")
    found = [await scene.search(look) for look in probe.searches]
    good = [one for one in found if one is not None]
    return {
        "episodes": len(probe.episodes),
        "acked": acks["stored"] + acks["duplicate"],
        "rejected": acks["rejected"],
        "ingest_errors": ingest_errors,
        "flush_errors": float(not flushed),
        "search_ok": len(good),
        "search_errors": len(found) - len(good),
        "recall_during": sum(one.found for one in good) / len(found),
    }


async def _after(probe: OutageProbe, scene: Scene) -> dict[str, float | None]:
    failed = len(scene.errors)
    acks = await scene.ingest(probe.after)
    await scene.flush()
    told = frozenset(episode.episode_id for episode in probe.episodes)
    new = frozenset(episode.episode_id for episode in probe.after)
    return {
        "episodes_after": len(probe.after),
        "acked_after": acks["stored"] + acks["duplicate"],
        "recall_outage": await scene.recall(_about(probe, told)),
        "recall_after": await scene.recall(_about(probe, new)),
        "errors_after": len(scene.errors) - failed,
    }


def _about(probe: OutageProbe, episode_ids: frozenset[str]) -> list[LookFor]:
    return [look for look in probe.searches_after if episode_ids.issuperset(look.episode_ids)]
