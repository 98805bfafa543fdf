"""From a manifest to the containers and volumes of one pod; no I/O."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import ByteSize

from memrig.errors import UsageError
from memrig.model.manifest import ADAPTER_SERVICE, AdapterManifest, Container, Resources, Volume
from memrig.pod.base import GATEWAY_VARIABLE, LISTEN_VARIABLE, PodRequest
from memrig.pod.docker.facts import ImageFacts
from memrig.pod.docker.floor import ContainerPlan, Mount, tmpfs_options
from memrig.pod.owner import PREFIX
from memrig.pod.runtime import ADAPTER_SOCKET, PodFolder

DOORMAN = "doorman"
GATEWAY_URL = "http://127.0.0.1:4000"

#: Not the adapters' 65534: the same uid in two containers shares the kernel's per-user limits.
DOORMAN_USER = "65533:65533"
#: 2 × 256 connections of two threads each, 64 KiB a thread's buffer.
DOORMAN_RESOURCES = Resources(
    cpus=1.0,
    memory=ByteSize(192 * 1024**2),
    pids=1100,
    shm=ByteSize(1024**2),
    tmp=ByteSize(1024**2),
)

POD_LABEL = PREFIX + "pod"
SERVICE_LABEL = PREFIX + "service"

_SOCKETS = "/run/memrig"
_GATEWAY = "/run/memrig-llm.sock"
_IMAGE_VOLUME = ByteSize(64 * 1024**2)


@dataclass(frozen=True, slots=True)
class VolumePlan:
    """A named tmpfs volume. `lasting`: the doorman holds it, over a restart of its container."""

    name: str
    size: int
    uid: int
    mode: str
    lasting: bool

    def options(self) -> dict[str, str]:
        """The local driver's options."""
        flags = tmpfs_options(self.size, self.mode, self.uid)
        return {"type": "tmpfs", "device": "tmpfs", "o": flags}


@dataclass(frozen=True, slots=True)
class PodPlan:
    """One pod: its doorman, its volumes, and its services in start order, the adapter last."""

    doorman: ContainerPlan
    volumes: tuple[VolumePlan, ...]
    services: tuple[ContainerPlan, ...]

    @property
    def container_names(self) -> tuple[str, ...]:
        """Every container, the doorman last."""
        return (*(s.name for s in self.services), self.doorman.name)

    def joined(self, doorman_id: str) -> tuple[ContainerPlan, ...]:
        """The services inside the network namespace of the doorman that was created."""
        return tuple(replace(s, network=f"container:{doorman_id}") for s in self.services)


@dataclass(frozen=True, slots=True)
class Planner:
    """What all containers of one pod have in common."""

    folder: PodFolder
    labels: Mapping[str, str]
    images: Mapping[str, ImageFacts]

    def plan(self, request: PodRequest, manifest: AdapterManifest, doorman: str) -> PodPlan:
        """The whole pod; `doorman` is the doorman image's digest."""
        volumes: dict[str, VolumePlan] = {}
        services = []
        for name in (*manifest.start_order(), ADAPTER_SERVICE):
            spec = manifest.image if name == ADAPTER_SERVICE else manifest.services[name]
            environment = dict(spec.environment)
            if name == ADAPTER_SERVICE:
                environment |= _rig_variables(request, manifest.port)
            services.append(self._service(name, spec, environment, volumes))
        command = ["--port", str(manifest.port), "--adapter", f"{_SOCKETS}/{ADAPTER_SOCKET}"]
        binds = [Mount("bind", str(self.folder.sockets), _SOCKETS)]
        if request.gateway_socket is not None:
            command += ["--gateway", _GATEWAY]
            binds.append(Mount("bind", str(request.gateway_socket), _GATEWAY))
        held = [
            Mount("volume", v.name, f"/volumes/{v.name}") for v in volumes.values() if v.lasting
        ]
        return PodPlan(
            doorman=ContainerPlan(
                service=DOORMAN,
                name=self._name(DOORMAN),
                image=doorman,
                user=DOORMAN_USER,
                network="none",
                resources=DOORMAN_RESOURCES,
                labels=self._labels(DOORMAN),
                command=tuple(command),
                mounts=(*binds, *held),
            ),
            volumes=tuple(volumes.values()),
            services=tuple(services),
        )

    def _service(
        self,
        name: str,
        spec: Container,
        environment: Mapping[str, str],
        volumes: dict[str, VolumePlan],
    ) -> ContainerPlan:
        image = self.images[name]
        user = spec.user if ":" in spec.user else f"{spec.user}:{spec.user}"
        mounts = [self._declared(volume, volumes) for volume in spec.volumes]
        covered = {m.target for m in mounts}
        scratch = {t.path: t for t in spec.tmpfs if t.path not in covered}
        for number, path in enumerate(sorted(p.rstrip("/") for p in image.volumes)):
            if path in covered:
                continue
            # A VOLUME of the image would become an unbounded volume on the host's disk; where the
            # manifest puts a tmpfs, the engine would make one below it.
            tmpfs = scratch.pop(path, None)
            volume = VolumePlan(
                name=self._name(f"{name}-image-{number}"),
                size=int(tmpfs.size if tmpfs else _IMAGE_VOLUME),
                uid=tmpfs.uid if tmpfs else int(user.split(":")[0]),
                mode=tmpfs.mode if tmpfs else "0700",
                lasting=tmpfs is None,
            )
            volumes[volume.name] = volume
            mounts.append(Mount("volume", volume.name, path))
        return ContainerPlan(
            service=name,
            name=self._name(name),
            image=image.id,
            user=user,
            network="",
            resources=spec.resources,
            labels=self._labels(name),
            command=spec.command,
            environment=_with_home(environment, image),
            mounts=tuple(mounts),
            tmpfs={p: tmpfs_options(int(t.size), t.mode, t.uid) for p, t in scratch.items()},
        )

    def _declared(self, volume: Volume, volumes: dict[str, VolumePlan]) -> Mount:
        """A volume of the manifest: two containers that name it share it."""
        plan = VolumePlan(
            name=self._name(f"volume-{volume.name}"),
            size=int(volume.size),
            uid=volume.uid,
            mode=volume.mode,
            lasting=True,
        )
        if volumes.setdefault(plan.name, plan) != plan:
            raise UsageError(
                "two containers declare it with different size, uid or mode",
                where=f"adapter.toml: volume {volume.name!r}",
                fix="declare it the same in both",
            )
        return Mount("volume", plan.name, volume.path)

    def _name(self, part: str) -> str:
        return f"memrig-{self.folder.id}-{part}"

    def _labels(self, service: str) -> dict[str, str]:
        return {**self.labels, POD_LABEL: self.folder.id, SERVICE_LABEL: service}


def service_images(request: PodRequest) -> dict[str, str]:
    """The image digest of each container that the adapter's manifest names.

    Raises:
        UsageError: there is no manifest, or an image is not named by digest.
    """
    adapter = request.adapter
    if adapter.manifest is None:
        raise UsageError(
            "has no manifest, so its containers are unknown",
            where=f"adapter {adapter.name}",
            fix="give an image folder or an image reference, or use --pod endpoint",
        )
    wanted = (ADAPTER_SERVICE, *adapter.manifest.services)
    for name in wanted:
        if not adapter.images.get(name, "").startswith("sha256:"):
            raise UsageError(
                f"its image {name!r} is {adapter.images.get(name, 'unknown')!r}, not a digest",
                where=f"adapter {adapter.name}",
                fix="`memrig image build` builds it and prints the digest",
            )
    return {name: adapter.images[name] for name in wanted}


def description(plan: PodPlan, containers: Mapping[str, str]) -> dict[str, str]:
    """What runs, for the transcript; `containers` maps services to container ids."""
    facts = {"pod": "docker", f"image.{DOORMAN}": plan.doorman.image}
    for service in plan.services:
        limits = service.resources
        facts[f"image.{service.service}"] = service.image
        facts[f"container.{service.service}"] = containers[service.service]
        facts[f"limits.{service.service}"] = (
            f"cpus={limits.cpus:g} memory={int(limits.memory)} pids={limits.pids}"
            f" shm={int(limits.shm)} tmp={int(limits.tmp)}"
        )
    for volume in plan.volumes:
        facts[f"volume.{volume.name.split('-', 2)[2]}"] = f"tmpfs size={volume.size}"
    return facts


def check_gateway(socket: Path | None) -> None:
    """Raises UsageError where the gateway's socket is not there to be mounted."""
    if socket is not None and not socket.is_socket():
        raise UsageError("is not a Unix socket", where=f"gateway {socket}")


def _rig_variables(request: PodRequest, port: int) -> dict[str, str]:
    values = {LISTEN_VARIABLE: f"127.0.0.1:{port}"}
    if request.gateway_socket is not None:
        values[GATEWAY_VARIABLE] = GATEWAY_URL
    return values


def _with_home(environment: Mapping[str, str], image: ImageFacts) -> dict[str, str]:
    """A writable home where neither image nor manifest says otherwise: many libraries need one."""
    if any(entry.startswith("HOME=") for entry in image.environment):
        return dict(environment)
    return {"HOME": "/tmp", **environment}  # noqa: S108 - inside the container
