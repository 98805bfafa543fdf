"""Whether anything of one scope is still found in the next."""

from memrig.errors import AdapterError
from memrig.model.scenario import LeakProbe
from memrig.model.transcript import HitRecord, ProbeRecord
from memrig.trial.probes.scene import Scene


async def measure(probe: LeakProbe, scene: Scene) -> list[ProbeRecord]:
    """Looks for the first scope's secrets, empties the memory, fills it anew, looks again.

    A hit leaks if its text holds a secret or if one of its sources is an episode of the first
    scope. `recall_before` tells whether the secrets could be found to begin with: where not, their
    absence proves nothing.
    """
    before = await scene.recall(probe.searches)
    values: dict[str, float | None] = {"recall_before": before}
    try:
        await scene.session.reset()
    except AdapterError as error:
        scene.errors.append(error)
        return [scene.record(probe, values)]
    own = frozenset(episode.episode_id for episode in probe.episodes)
    secrets = tuple(secret.casefold() for secret in probe.secrets)

    def leaks(hit: HitRecord) -> bool:
        text = hit.text.casefold()
        named = any(name is not None and name not in own for name in hit.episodes)
        return named or any(secret in text for secret in secrets)

    await scene.ingest(probe.episodes)
    await scene.flush()
    scene.enter("search")
    found = [await scene.search(look) for look in probe.searches]
    came = [one for one in found if one is not None]
    values["asked"] = len(came)
    values["leaks"] = sum(leaks(hit) for one in came for hit in one.hits)
    return [scene.record(probe, values)]
