"""Measurements at places of a timeline: one module a kind (docs/suites.md, operations).

What the adapter does wrong within a probe is the probe's result. Only an adapter that is gone
afterwards ends the trial.
"""

from memrig.client.host import HostClient
from memrig.model.scenario import (
    FreshnessProbe,
    LeakProbe,
    LoadProbe,
    OutageProbe,
    Probe,
    RestartProbe,
    UsageProbe,
)
from memrig.model.transcript import ProbeRecord
from memrig.trial.probes import freshness, leak, load, outage, restart, usage
from memrig.trial.probes.scene import Scene


async def measure(probe: Probe, scene: Scene) -> list[ProbeRecord]:
    """Carries a probe out; a record for each thing that it acted on.

    Raises:
        InfrastructureError: the engine failed.
    """
    if isinstance(scene.session.client, HostClient):
        return scene.skipped(probe, "what lives in the rig itself has nothing to measure")
    match probe:
        case UsageProbe():
            records = await usage.measure(probe, scene)
        case LoadProbe():
            records = await load.measure(probe, scene)
        case FreshnessProbe():
            records = await freshness.measure(probe, scene)
        case RestartProbe():
            records = await restart.measure(probe, scene)
        case LeakProbe():
            records = await leak.measure(probe, scene)
        case OutageProbe():
            records = await outage.measure(probe, scene)
    return records


__all__ = ["Scene", "measure"]
