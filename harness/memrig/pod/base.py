"""Where an adapter runs: one seam, three implementations (docker, process, endpoint)."""

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from memrig.model.manifest import AdapterRef, PodKind

#: What the rig names itself by in labels, paths and environment variables inside a pod.
LISTEN_VARIABLE = "MEMRIG_LISTEN"
GATEWAY_VARIABLE = "MEMRIG_LLM_BASE_URL"


@dataclass(frozen=True, slots=True)
class PodRequest:
    """What a trial asks of a pod.

    Args:
        adapter: the resolved adapter.
        run_id: labels every object of the pod.
        trial_id: likewise.
        lease_s: seconds after which a pod may be reaped, whoever owns it.
        gateway_socket: the host's LLM gateway (a Unix socket), reached in the pod at
            127.0.0.1:4000; none: no model can be called. Of mode 0666 in a folder of mode 0700:
            the doorman, which connects to it, is another user.
        keep: leave the pod running at the end, for a look.
    """

    adapter: AdapterRef
    run_id: str
    trial_id: str
    lease_s: float = 6 * 3600.0
    gateway_socket: Path | None = None
    keep: bool = False


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of the adapter's process, as the host sees it.

    Running with `oom` true: a process inside `service` was killed for memory, its first one lives.
    `exit_code` and `oom` are None where the pod cannot know. `service` names the container that
    `state` speaks of: the first one of the pod that is no longer running, else "adapter".
    """

    state: Literal["running", "exited", "unknown"]
    exit_code: int | None = None
    oom: bool | None = None
    service: str = "adapter"


@dataclass(frozen=True, slots=True)
class Usage:
    """What the memory system used since its start, all containers of the pod together.

    CPU in seconds, memory in bytes. `file_bytes` is the part of `memory_bytes` that is files in
    tmpfs and shared memory: volumes, /tmp, and a database's shared buffers. None: this pod cannot
    measure it.
    """

    cpu_s: float | None = None
    peak_memory_bytes: int | None = None
    memory_bytes: int | None = None
    file_bytes: int | None = None


class Pod(Protocol):
    """A started pod. The processes run; whether the adapter serves is the client's question."""

    @property
    def target(self) -> str:
        """The gRPC target, such as ``unix:/run/…/adapter.sock`` or ``127.0.0.1:50051``."""

    @property
    def description(self) -> dict[str, str]:
        """What ran, for the transcript: image digests, container ids, limits."""

    async def fate(self) -> Fate:
        """Tells whether the memory system's processes still run, and if not, how they ended."""

    async def usage(self) -> Usage:
        """Measures what the memory system used so far."""

    async def logs(self, lines: int = 200) -> str:
        """The last log lines of every container, newest last, control sequences removed."""

    @property
    def services(self) -> tuple[str, ...]:
        """What `restart` takes, the adapter last; empty: this kind of pod restarts nothing."""

    async def restart(self, service: str, *, kill: bool = False) -> None:
        """Restarts one container of the pod ("adapter" or a companion) in place.

        A companion with a health command is healthy again when this returns. With `kill` it gets
        SIGKILL at once instead of time to end by itself.

        Raises:
            PrerequisiteError: this kind of pod cannot.
            AdapterCrashedError: it did not come up again.
        """


class PodProvider(Protocol):
    """Starts pods of one kind."""

    @property
    def kind(self) -> PodKind:
        """Which kind."""

    def close(self) -> None:
        """Lets go of what all pods share, such as an engine's connections; pods are not touched."""

    def start(self, request: PodRequest) -> AbstractAsyncContextManager[Pod]:
        """Starts a pod; leaving the context removes it, shielded and bounded in time.

        Raises:
            AdapterCrashedError: a container ended, or a companion never got healthy.
            InfrastructureError: the engine failed.
            PrerequisiteError: the floor or the network policy cannot be enforced here.
        """
