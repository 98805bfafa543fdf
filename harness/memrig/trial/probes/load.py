"""Searches by several clients at once."""

import asyncio
import random
import time

from memrig.model.canonical import derive
from memrig.model.scenario import LoadProbe, LookFor
from memrig.model.transcript import ProbeRecord
from memrig.trial.probes.scene import Found, Scene


async def measure(probe: LoadProbe, scene: Scene) -> list[ProbeRecord]:
    """Every client asks all queries in an order of its own, the next when the last is answered.

    `samples_ns["search"]` holds the calls that succeeded, `recall` is the share of all calls that
    found what they look for.
    """
    scene.enter("search")
    started = time.monotonic_ns()
    async with asyncio.TaskGroup() as clients:
        tasks = [
            clients.create_task(_client(scene, _order(probe, scene, number)))
            for number in range(probe.clients)
        ]
    wall_s = (time.monotonic_ns() - started) / 1e9
    found = [one for task in tasks for one in task.result()]
    good = [one for one in found if one is not None]
    values: dict[str, float | None] = {
        "clients": probe.clients,
        "calls": len(found),
        "errors": len(found) - len(good),
        "wall_s": wall_s,
        "recall": sum(one.found for one in good) / len(found),
    }
    return [scene.record(probe, values, {"search": tuple(one.ns for one in good)})]


async def _client(scene: Scene, searches: list[LookFor]) -> list[Found | None]:
    return [await scene.search(look) for look in searches]


def _order(probe: LoadProbe, scene: Scene, number: int) -> list[LookFor]:
    """A client's order: the same for every memory system."""
    seed = derive(scene.session.spec.seed, "load", f"{probe.probe_id}/{number}")
    order = list(probe.searches)
    random.Random(seed).shuffle(order)  # noqa: S311
    return order
