"""Tokens and money by phase, purpose and model, from transcripts and verdicts."""

from dataclasses import dataclass, field

from memrig.model.chat import PHASES, Phase
from memrig.model.judgement import Verdict
from memrig.model.transcript import ModelCallRecord, ModelUsageRecord
from memrig.report.model import ModelCost


@dataclass(slots=True)
class _Sum:
    calls: int = 0
    attempts: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = 0.0

    def add(self, calls: int, attempts: int, tokens: tuple[int, int], usd: float | None) -> None:
        self.calls += calls
        self.attempts += attempts
        self.input_tokens += tokens[0]
        self.output_tokens += tokens[1]
        # One call without a price makes the sum unknown: half a sum would pass for a whole one.
        self.usd = None if usd is None or self.usd is None else self.usd + usd


@dataclass(slots=True)
class CostTable:
    """Sums by (phase, purpose, model)."""

    served: dict[str, set[str]] = field(default_factory=dict)
    _sums: dict[tuple[Phase, str, str], _Sum] = field(default_factory=dict)

    def _sum(self, phase: Phase, purpose: str, model: str) -> _Sum:
        return self._sums.setdefault((phase, purpose, model), _Sum())

    def take_call(self, call: ModelCallRecord) -> None:
        """Takes a call of the rig's reader or agent, or of their opponent."""
        tokens = call.input_tokens, call.output_tokens
        self._sum("answer", call.purpose, call.model).add(1, call.attempts, tokens, call.cost_usd)
        if call.purpose != "naive":  # it is not what answered
            self.served.setdefault("answer", set()).add(call.served_model)

    def take_usage(self, record: ModelUsageRecord) -> None:
        """Takes the memory system's own calls of one phase."""
        tokens = record.input_tokens, record.output_tokens
        found = self._sum(record.phase, "memory", record.model)
        found.add(record.calls, record.attempts, tokens, record.cost_usd)

    def take_verdict(self, verdict: Verdict) -> None:
        """Takes a judge's votes; each may have been asked for more than once."""
        found = self._sum("judge", "judge", verdict.model)
        for vote in verdict.votes:
            if not vote.asked:  # somebody else's: nothing was called for it here
                continue
            tokens = vote.input_tokens, vote.output_tokens
            found.add(vote.asked, vote.attempts, tokens, vote.cost_usd)
            if vote.served_model:
                self.served.setdefault("judge", set()).add(vote.served_model)

    def rows(self) -> tuple[ModelCost, ...]:
        """Every sum, in the order of the phases."""
        return tuple(
            ModelCost(
                phase=phase,
                purpose=purpose,
                model=model,
                calls=found.calls,
                attempts=found.attempts,
                input_tokens=found.input_tokens,
                output_tokens=found.output_tokens,
                usd=None if found.usd is None else round(found.usd, 6),
            )
            for (phase, purpose, model), found in sorted(
                self._sums.items(), key=lambda item: (PHASES.index(item[0][0]), item[0][1:])
            )
        )
