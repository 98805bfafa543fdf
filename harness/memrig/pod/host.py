"""No pod at all: a baseline, or answers given in a file, live in the rig's own process."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Literal

from memrig.errors import PrerequisiteError
from memrig.model.manifest import PodKind
from memrig.pod.base import Fate, PodRequest, Usage


class HostPod:
    """Implements `Pod` where there is nothing to reach, to measure or to restart."""

    target = ""

    def __init__(self, kind: PodKind) -> None:
        self._kind = kind

    @property
    def description(self) -> dict[str, str]:
        """See `Pod`."""
        return {"pod": self._kind}

    async def fate(self) -> Fate:
        """See `Pod`: it runs as long as the rig does."""
        return Fate("running")

    async def usage(self) -> Usage:
        """See `Pod`: not measured, since it cannot be told from the rig's own."""
        return Usage()

    async def logs(self, lines: int = 200) -> str:  # noqa: ARG002 - the seam's signature
        """See `Pod`: none."""
        return ""

    @property
    def services(self) -> tuple[str, ...]:
        """See `Pod`: none."""
        return ()

    async def restart(self, service: str, *, kill: bool = False) -> None:  # noqa: ARG002
        """See `Pod`.

        Raises:
            PrerequisiteError: always.
        """
        raise PrerequisiteError(f"there is no {service!r} to restart in a pod of kind {self._kind}")


class HostProvider:
    """Implements `PodProvider`; starts and removes nothing."""

    def __init__(self, kind: Literal["baseline", "given"]) -> None:
        self.kind: PodKind = kind

    def close(self) -> None:
        """See `PodProvider`; there is nothing to let go of."""

    @asynccontextmanager
    async def start(self, request: PodRequest) -> AsyncIterator[HostPod]:
        """See `PodProvider`."""
        yield HostPod(request.adapter.pod)
