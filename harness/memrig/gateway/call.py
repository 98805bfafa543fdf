"""One call: what is asked, what is answered, and how it fails."""

from collections.abc import Mapping
from dataclasses import dataclass

from memrig.errors import GatewayError, GatewayFault
from memrig.gateway.jsons import Json, as_text
from memrig.gateway.wire.base import Wire, WireReply
from memrig.model.chat import CallContext

_FIXES: Mapping[GatewayFault, str] = {
    "provider": "repeat the command when the provider is well again: it goes on from there",
    "auth": "check the key and what it is allowed to use",
    "not_allowed": "add the model to those of the run",
    "not_recorded": "replay with what the run was recorded with, or let models be called",
}


class CallError(GatewayError):
    """A call that failed for good, with what a memory system is told of it.

    `status` is the provider's, None where it gave none; `body` its own words, where the request is
    what was wrong.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: GatewayFault,
        where: str = "",
        fix: str = "",
        status: int | None = None,
        body: bytes = b"",
    ) -> None:
        self.status = status
        self.body = body
        super().__init__(message, kind=kind, where=where, fix=fix or _FIXES.get(kind, ""))

    @classmethod
    def of(cls, error: GatewayError) -> "CallError":
        """The same error, of a call."""
        return cls(error.message, kind=error.kind, where=error.where, fix=error.fix)


@dataclass(frozen=True, slots=True)
class Call:
    """One request.

    Args:
        wire: the format it is in.
        body: as the caller wrote it.
        headers: those that a reply depends on, such as ``anthropic-beta``; never a key.
        context: on whose behalf.
        models: what this caller may ask for; none: whatever the run may.
    """

    wire: Wire
    body: Json
    headers: Mapping[str, str]
    context: CallContext
    models: frozenset[str] = frozenset()

    @property
    def model(self) -> str:
        """The model asked for."""
        return as_text(self.body.get("model"))

    @property
    def where(self) -> str:
        """For messages."""
        return f"model={self.model} purpose={self.context.purpose} trial={self.context.trial_id}"


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply and what it took. `attempts` is 0 where it came out of the record."""

    reply: WireReply
    key: str
    cost_usd: float | None
    ns: int
    attempts: int
