"""A pod that is not ours: an adapter that somebody already runs at ``grpc://host:port``."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Literal

from memrig.errors import PrerequisiteError, UsageError
from memrig.pod.base import Fate, PodRequest, Usage

_URL = re.compile(r"(?:grpc://)?(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):(?P<port>\d{1,5})/?")
_MAX_PORT = 65535


class EndpointPod:
    """Implements `Pod`, which here means: knows the target, and nothing else."""

    def __init__(self, target: str) -> None:
        self._target = target

    @property
    def target(self) -> str:
        """See `Pod`."""
        return self._target

    @property
    def description(self) -> dict[str, str]:
        """See `Pod`."""
        return {"pod": "endpoint", "target": self._target}

    async def fate(self) -> Fate:
        """See `Pod`: unknown."""
        return Fate("unknown")

    async def usage(self) -> Usage:
        """See `Pod`: not measured."""
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
        raise PrerequisiteError(
            f"{service!r} at {self._target} is not ours to restart", fix="use --pod docker"
        )


class EndpointProvider:
    """Implements `PodProvider`; starts and removes nothing."""

    kind: Literal["endpoint"] = "endpoint"

    def close(self) -> None:
        """See `PodProvider`; there is nothing to let go of."""

    @asynccontextmanager
    async def start(self, request: PodRequest) -> AsyncIterator[EndpointPod]:
        """See `PodProvider`."""
        yield EndpointPod(parse_endpoint(request.adapter.endpoint or ""))


def parse_endpoint(url: str) -> str:
    """The gRPC target of ``grpc://host:port``, or of a bare ``host:port``.

    Raises:
        UsageError: it is something else.
    """
    match = _URL.fullmatch(url)
    if match is None or not 0 < int(match["port"]) <= _MAX_PORT:
        raise UsageError(
            f"expected grpc://host:port, got {url!r}",
            where="endpoint",
            fix="for example --adapter grpc://127.0.0.1:50051",
        )
    return f"{match['host']}:{match['port']}"
