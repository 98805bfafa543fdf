"""What the pod uses now, after the barrier."""

from memrig.model.scenario import UsageProbe
from memrig.model.transcript import ProbeRecord
from memrig.trial.probes.scene import Scene


async def measure(probe: UsageProbe, scene: Scene) -> list[ProbeRecord]:
    """Memory, files in memory and CPU time, and what its own models came to, all so far."""
    await scene.flush()
    used = await scene.session.pod.usage()
    values: dict[str, float | None] = {
        "memory_bytes": used.memory_bytes,
        "file_bytes": used.file_bytes,
        "cpu_s": used.cpu_s,
    }
    return [scene.record(probe, values | _models(scene))]


def _models(scene: Scene) -> dict[str, float | None]:
    """What the memory system's own model calls came to; nothing where it asked for no model."""
    models = scene.session.models
    if models is None or models.socket is None:
        return {}
    rows = models.usage()
    costs = [row.cost_usd for row in rows]
    return {
        "model_calls": sum(row.calls for row in rows),
        "model_tokens": sum(row.input_tokens + row.output_tokens for row in rows),
        "model_usd": None if None in costs else sum(cost or 0.0 for cost in costs),
    }
