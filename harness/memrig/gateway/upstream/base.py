"""The seam of providers, and what their failures mean."""

from collections.abc import Mapping
from typing import Protocol

from memrig.errors import GatewayFault
from memrig.gateway.jsons import Json
from memrig.gateway.wire.base import Format

#: Asking again may help. 409 is a lock that another request holds.
RETRYABLE = {408, 409, 429}
#: No money left there: asking again does not help, but the question stays open.
_UNPAID = 402


class UpstreamError(Exception):
    """One call failed.

    Args:
        message: what the provider said, with no key in it.
        kind: what it comes to when it is final.
        retryable: whether asking again may help.
        status: the provider's; None where there was none.
        retry_after_s: how long it asks to be left alone.
        body: its whole error, passed on to the memory system as it is; empty where there is none.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: GatewayFault = "provider",
        retryable: bool = True,
        status: int | None = None,
        retry_after_s: float | None = None,
        body: bytes = b"",
    ) -> None:
        self.message = message
        self.kind: GatewayFault = kind
        self.retryable = retryable
        self.status = status
        self.retry_after_s = retry_after_s
        self.body = body
        super().__init__(message)


class Upstream(Protocol):
    """One provider."""

    async def send(self, wire: Format, path: str, body: Json, headers: Mapping[str, str]) -> bytes:
        """Calls it once and returns the whole reply, streamed or not.

        Raises:
            UpstreamError: it failed.
        """

    async def close(self) -> None:
        """Closes its connections."""


def failure_of_status(
    status: int, message: str, headers: Mapping[str, str], body: bytes
) -> UpstreamError:
    """What an HTTP error comes to."""
    kind: GatewayFault = "rejected"
    retryable = False
    if status in {401, 403}:
        kind = "auth"
    elif status in RETRYABLE or status >= 500:
        # OpenAI says 429 for an account without credit as well.
        kind, retryable = "provider", b"insufficient_quota" not in body
    elif status == _UNPAID:
        kind = "provider"
    return UpstreamError(
        message,
        kind=kind,
        retryable=retryable,
        status=status,
        retry_after_s=retry_after(headers),
        body=body,
    )


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that a provider asks to wait; None where it does not, or gives a date."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers[name]) / unit
        except (KeyError, ValueError):
            continue
        if seconds >= 0:
            return seconds
    return None
