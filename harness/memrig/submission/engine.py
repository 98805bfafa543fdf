"""What the container engine says of itself, and its containers' limits, for the disclosure."""

import asyncio

from memrig.errors import MemrigError
from memrig.model.manifest import ADAPTER_SERVICE, AdapterRef, PodKind, Resources
from memrig.pod.probe import engine_facts


def disclosed_engine(pod: PodKind) -> dict[str, str]:
    """The engine's facts by name; none where no engine took part, or none answers."""
    if pod != "docker":
        return {}
    try:
        facts = asyncio.run(engine_facts())
    except MemrigError:
        return {}
    return {
        "docker": facts.server_version,
        "api": facts.api_version,
        "cgroup": facts.cgroup_version,
        "storage": facts.storage_driver,
        "kernel": facts.kernel,
        "security": "; ".join(sorted(facts.security)),
    }


def disclosed_limits(adapter: AdapterRef) -> dict[str, str]:
    """What each container may use at most, as its manifest declares; sizes in bytes."""
    if adapter.manifest is None:
        return {}
    services = {name: service.resources for name, service in adapter.manifest.services.items()}
    services[ADAPTER_SERVICE] = adapter.manifest.image.resources
    return {name: _limits(resources) for name, resources in sorted(services.items())}


def _limits(given: Resources) -> str:
    """As a pod's own record has them (`memrig.pod.docker.plan.description`)."""
    return (
        f"cpus={given.cpus:g} memory={int(given.memory)} pids={given.pids}"
        f" shm={int(given.shm)} tmp={int(given.tmp)}"
    )
