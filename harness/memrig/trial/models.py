"""A trial's way to models: the rig's own calls, and the memory system's through a socket."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from memrig.errors import GatewayError
from memrig.gateway.identity import TrialIdentity
from memrig.model.chat import CallContext, Chat, ChatReply, ChatRequest
from memrig.model.transcript import ModelUsageRecord
from memrig.model.trial import TrialSpec


class ModelService(Chat, Protocol):
    """What a trial needs of the gateway."""

    def serve(self, identity: TrialIdentity) -> AbstractAsyncContextManager[Path]:
        """A Unix socket on which this trial's memory system, and nobody else, reaches models."""

    def usage_of(self, trial_id: str) -> tuple[ModelUsageRecord, ...]:
        """What a trial's memory system used so far, by phase and model."""


@dataclass(frozen=True, slots=True)
class TrialModels:
    """The models of one session.

    Args:
        chat: for the rig's own calls.
        identity: whom the memory system's own calls are charged to.
        socket: where they come in; None: this memory system asked for no model.
    """

    chat: ModelService
    identity: TrialIdentity
    socket: Path | None = None

    def usage(self) -> tuple[ModelUsageRecord, ...]:
        """What its memory system used so far, by phase and model."""
        return self.chat.usage_of(self.identity.trial_id)


class _NoModels:
    """Implements `Chat` where a run has no gateway."""

    async def chat(self, request: ChatRequest, context: CallContext) -> ChatReply:
        """Refuses.

        Raises:
            GatewayError: always.
        """
        raise GatewayError(
            f"this run has no gateway, but {context.purpose} asks for {request.model!r}",
            kind="not_allowed",
            fix="give the trial a gateway",
        )


NO_MODELS = _NoModels()


@asynccontextmanager
async def trial_models(
    service: ModelService | None, spec: TrialSpec
) -> AsyncIterator[TrialModels | None]:
    """Opens the trial's socket where its memory system asked for models."""
    if service is None:
        yield None
        return
    manifest = spec.adapter.manifest
    models = frozenset(manifest.models) if manifest else frozenset()
    identity = TrialIdentity(trial_id=spec.trial_id, seed=spec.seed, models=models)
    if manifest is None or not manifest.models or spec.adapter.pod == "endpoint":
        yield TrialModels(service, identity)
        return
    async with service.serve(identity) as socket:
        yield TrialModels(service, identity, socket)
