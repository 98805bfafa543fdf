"""Whose calls come over a socket: the socket is one trial's, and the trial says where it stands."""

from dataclasses import dataclass

from memrig.errors import GatewayError
from memrig.model.chat import CallContext, Phase

#: The purpose of a memory system's own calls.
MEMORY = "memory"


@dataclass(slots=True)
class TrialIdentity:
    """One trial, as it goes. No header that a memory system sends has a say in it.

    Args:
        trial_id: whose limits apply.
        seed: the run's.
        phase: what the memory system's calls are charged to now.
        scope: what identical requests are counted within now: the scenario, then the question.
        models: what its memory system may call; none: whatever the run may.
        fault: what kept the memory system from a model it may call, the provider's fault or the
            run's: the results since are not the memory system's own. The server notes the first.
    """

    trial_id: str
    seed: int
    phase: Phase = "ingest"
    scope: str = ""
    models: frozenset[str] = frozenset()
    fault: GatewayError | None = None

    def enter(self, phase: Phase, scope: str) -> None:
        """The trial goes on to another phase or scope; calls that are under way stay in theirs."""
        self.phase, self.scope = phase, scope

    def context(self) -> CallContext:
        """On whose behalf a call that arrives now is made."""
        return CallContext(
            phase=self.phase,
            purpose=MEMORY,
            trial_id=self.trial_id,
            scope=self.scope,
            seed=self.seed,
        )
