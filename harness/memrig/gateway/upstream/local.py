"""The built-in models, as one more provider."""

import asyncio
from collections.abc import Mapping

from memrig.errors import GatewayError
from memrig.gateway.jsons import Json, dump
from memrig.gateway.upstream.base import UpstreamError
from memrig.gateway.wire.base import Format


class LocalUpstream:
    """Models that are computed here. They never stream by themselves."""

    async def send(
        self,
        wire: Format,
        path: str,  # noqa: ARG002 - the wire says it
        body: Json,
        headers: Mapping[str, str],  # noqa: ARG002 - nothing to tell them
    ) -> bytes:
        """Computes a reply in a thread: the loop goes on serving others."""
        # Imported where it is used: a run that calls no built-in model needs none of it.
        from memrig.gateway.local import run_local  # noqa: PLC0415

        try:
            return dump(await asyncio.to_thread(run_local, wire, body))
        except GatewayError as error:
            raise UpstreamError(error.message, kind=error.kind, retryable=False) from error

    async def close(self) -> None:
        """Holds nothing."""
