"""Whose calls come over a socket: the socket is one trial's, and the trial says where it stands."""

from dataclasses import dataclass

from memrig.errors import GatewayError
from memrig.model.chat import CallContext, Phase
from memrig.model.scenario import ModelFault

#: The purpose of a memory system's own calls.
MEMORY = "memory"


@dataclass(slots=True)
class Injected:
    """What befalls a memory system's own calls on purpose; no provider has a part in it.

    Args:
        fault: "slow" goes on after `delay_s`; "refuses" and "down" are answered as providers do.
        delay_s: seconds.
        met: how many calls met it.
    """

    fault: ModelFault
    delay_s: float = 0.0
    met: int = 0


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
        injected: what its calls are made to meet now; it is neither a fault nor charged.
    """

    trial_id: str
    seed: int
    phase: Phase = "ingest"
    scope: str = ""
    models: frozenset[str] = frozenset()
    fault: GatewayError | None = None
    injected: Injected | None = None

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
