"""Starts and removes Docker pods."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

from memrig.errors import AdapterCrashedError, InfrastructureError, PrerequisiteError
from memrig.model.manifest import AdapterManifest
from memrig.pod.base import PodRequest
from memrig.pod.docker.engine import Engine, socket_path
from memrig.pod.docker.facts import ImageFacts
from memrig.pod.docker.floor import (
    ContainerPlan,
    container_gaps,
    create_config,
    engine_gaps,
    kernel_gaps,
)
from memrig.pod.docker.plan import (
    DOORMAN,
    Planner,
    PodPlan,
    check_gateway,
    description,
    service_images,
)
from memrig.pod.docker.pod import DockerPod
from memrig.pod.images import ensure_doorman
from memrig.pod.owner import this_process
from memrig.pod.runtime import PodFolder, create_folder
from memrig.pod.waiting import finish, together, until

TEARDOWN_S = 30.0
_DOORMAN_READY_S = 20.0
_POLL_S = 0.005

_log = logging.getLogger("memrig.pod")


class DockerProvider:
    """Implements `PodProvider`. One engine connection, one doorman image, many pods.

    Args:
        doorman: the doorman image's digest; None builds it when first needed.
    """

    kind: Literal["docker"] = "docker"

    def __init__(self, *, doorman: str | None = None) -> None:
        self._doorman = doorman
        self._engine: Engine | None = None
        self._images: dict[str, ImageFacts] = {}
        self._preparing = asyncio.Lock()

    def close(self) -> None:
        """Closes the engine's connections; pods that run are not touched."""
        if self._engine is not None:
            self._engine.close()
            self._engine = None

    @asynccontextmanager
    async def start(self, request: PodRequest) -> AsyncIterator[DockerPod]:
        """See `PodProvider`."""
        digests = service_images(request)
        manifest = request.adapter.manifest
        assert manifest is not None  # noqa: S101 - service_images refused that
        check_gateway(request.gateway_socket)
        engine, doorman = await self._prepared()
        images = {name: await self._image(engine, digest) for name, digest in digests.items()}
        owner = this_process(request.run_id, request.trial_id, request.lease_s, keep=request.keep)
        folder = create_folder(owner)
        plan: PodPlan | None = None
        kept = False
        try:
            plan = Planner(folder, owner.labels(), images).plan(request, manifest, doorman)
            starter = _Start(engine, folder, plan, manifest, owner.labels())
            pod = await starter.run()
            kept = request.keep
            yield pod
        finally:
            if not kept:
                await finish(_remove(engine, folder, plan), TEARDOWN_S, f"pod {folder.id}")

    async def _prepared(self) -> tuple[Engine, str]:
        """The engine, found able to give the floor, and the doorman's digest."""
        async with self._preparing:
            if self._engine is None:
                engine = Engine(socket_path())
                try:
                    gaps = engine_gaps(await engine.facts())
                except BaseException:
                    engine.close()
                    raise
                if gaps:
                    engine.close()
                    raise PrerequisiteError(
                        f"Docker cannot enforce the floor of a pod here: {'; '.join(gaps)}",
                        fix="`memrig doctor` explains each; or use --pod process",
                    )
                self._engine = engine
            if self._doorman is None:
                self._doorman = (await ensure_doorman()).digest
            return self._engine, self._doorman

    async def _image(self, engine: Engine, digest: str) -> ImageFacts:
        if digest not in self._images:
            self._images[digest] = await engine.image(digest)
        return self._images[digest]


class _Start:
    """One pod's way up. Whatever it leaves behind on a failure has a name that the plan knows."""

    def __init__(
        self,
        engine: Engine,
        folder: PodFolder,
        plan: PodPlan,
        manifest: AdapterManifest,
        labels: dict[str, str],
    ) -> None:
        self._engine = engine
        self._folder = folder
        self._plan = plan
        self._manifest = manifest
        self._labels = labels

    async def run(self) -> DockerPod:
        """Starts everything in order; the adapter last, once the doorman listens."""
        plan = self._plan
        await together(
            *(self._engine.create_volume(v.name, v.options(), self._labels) for v in plan.volumes)
        )
        doorman = await self._create(plan.doorman)
        _, *created = await together(
            self._open_door(doorman),
            *(self._create(service) for service in plan.joined(doorman)),
        )
        names = [s.service for s in plan.services]
        containers = dict(zip(names, created, strict=True))
        pod = DockerPod(
            self._engine,
            self._manifest,
            {**containers, DOORMAN: doorman},
            f"unix:{self._folder.adapter_socket}",
            description(plan, containers),
        )
        for name in names:
            where = f"adapter {self._manifest.name}, container {name!r}"
            await self._engine.start(containers[name], where=where)
            await pod.started(name)
        return pod

    async def _create(self, plan: ContainerPlan) -> str:
        """Creates one container and checks that it got the floor; nothing of it runs yet."""
        container = await self._engine.create(plan.name, create_config(plan))
        facts = await self._engine.inspect(container)
        _refuse(plan.service, container_gaps(plan, facts))
        return container

    async def _open_door(self, container: str) -> str:
        """Starts the doorman, checks what the kernel says of it, and waits until it listens."""
        try:
            await self._engine.start(container, where=DOORMAN)
        except AdapterCrashedError as error:  # our own image: not the adapter's fault
            raise InfrastructureError(error.message, where=DOORMAN) from error
        try:
            async with asyncio.timeout(_DOORMAN_READY_S):
                await until(lambda: self._listening(container), _POLL_S)
        except TimeoutError:
            raise InfrastructureError(
                f"the doorman did not listen within {_DOORMAN_READY_S:g} s",
                where=str(self._folder.adapter_socket),
            ) from None
        facts = await self._engine.inspect(container)
        status = Path(f"/proc/{facts.pid}/status")
        # Absent where the rig runs in a container of its own, with pids of its own.
        if container in _read(Path(f"/proc/{facts.pid}/cgroup")):
            _refuse("doorman (as the kernel reports it)", kernel_gaps(_read(status)))
        return container

    async def _listening(self, container: str) -> bool:
        if self._folder.adapter_socket.exists():
            return True
        facts = await self._engine.inspect(container)
        if facts.running:
            return False
        tail = (await self._engine.logs(container, 5)).strip()
        raise PrerequisiteError(
            f"the doorman refused to serve (exit code {facts.exit_code}): {tail}",
            fix="a pod must have no route; check the daemon's `none` network",
        )


def _refuse(service: str, gaps: tuple[str, ...]) -> None:
    if gaps:
        raise PrerequisiteError(
            f"the container does not get the floor: {'; '.join(gaps)}",
            where=f"container {service!r}",
            fix="check the daemon's configuration (daemon.json); or use --pod process",
        )


async def _remove(engine: Engine, folder: PodFolder, plan: PodPlan | None) -> None:
    """Removes all of a pod, by name: a create that was cut short may not have told its id."""
    problems: list[BaseException] = []
    if plan is not None:
        for step in (
            [engine.remove(name) for name in plan.container_names],
            [engine.remove_volume(volume.name) for volume in plan.volumes],
        ):
            results = await asyncio.gather(*step, return_exceptions=True)
            problems += [r for r in results if isinstance(r, BaseException)]
    for problem in problems:
        _log.warning("pod %s: %s (memrig clean removes it)", folder.id, problem)
    if not problems:  # else the reaper still finds the owner by it
        await asyncio.to_thread(folder.remove)


def _read(path: Path) -> str:
    with contextlib.suppress(OSError):
        return path.read_text("utf-8", "replace")
    return ""
