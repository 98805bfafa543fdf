"""Which pod to use, and who provides it."""

from typing import Literal, NamedTuple, assert_never

from memrig.errors import MemrigError
from memrig.model.manifest import PodKind
from memrig.pod.base import PodProvider
from memrig.pod.docker import DockerProvider
from memrig.pod.docker.floor import engine_gaps
from memrig.pod.endpoint import EndpointProvider
from memrig.pod.host import HostProvider
from memrig.pod.probe import engine_facts
from memrig.pod.process import ProcessProvider


class Choice(NamedTuple):
    """A pod kind, and one sentence that says why."""

    kind: PodKind
    reason: str


async def choose_pod(requested: Literal["auto"] | PodKind) -> Choice:
    """Chooses the pod kind: what was asked for, or for "auto" Docker where it can give the floor.

    What was asked for is not checked here: its provider refuses to start where it cannot.
    """
    if requested != "auto":
        return Choice(requested, f"{requested.capitalize()} pods, as was asked.")
    try:
        facts = await engine_facts()
    except MemrigError as error:
        return Choice("process", f"Process pods, since Docker cannot be used: {error.message}.")
    if gaps := engine_gaps(facts):
        return Choice("process", f"Process pods, since Docker lacks {'; '.join(gaps)}.")
    return Choice("docker", f"Docker pods, since a local daemon ({facts.server_version}) answers.")


def provider_for(kind: PodKind) -> PodProvider:
    """A provider of pods of this kind. Use one for a whole run: it keeps its connections."""
    match kind:
        case "docker":
            return DockerProvider()
        case "process":
            return ProcessProvider()
        case "endpoint":
            return EndpointProvider()
        case "baseline" | "given":
            return HostProvider(kind)
        case _:
            assert_never(kind)
