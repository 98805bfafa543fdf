"""What calls came to, summed for tables: whoever paid for a reply, and when."""

from dataclasses import dataclass

from memrig.gateway.call import Answer, Call
from memrig.model.chat import Phase, Spent


@dataclass(frozen=True, slots=True)
class Column:
    """What is summed apart."""

    phase: Phase
    trial_id: str
    purpose: str
    model: str


@dataclass(slots=True)
class Sum:
    """Calls of one column that were answered; `attempts` are those of failed calls, too."""

    calls: int = 0
    attempts: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    unpriced: int = 0


class Tally:
    """Sums by phase, trial, purpose and model."""

    def __init__(self) -> None:
        self._sums: dict[Column, Sum] = {}

    def _of(self, call: Call) -> Sum:
        context = call.context
        column = Column(context.phase, context.trial_id, context.purpose, call.model)
        return self._sums.setdefault(column, Sum())

    def answered(self, call: Call, answer: Answer) -> None:
        """Counts a reply; the attempts at it are counted by themselves."""
        total = self._of(call)
        total.calls += 1
        total.input_tokens += answer.reply.input_tokens
        total.output_tokens += answer.reply.output_tokens
        total.cost_usd += answer.cost_usd or 0.0
        total.unpriced += answer.cost_usd is None

    def tried(self, call: Call, attempts: int) -> None:
        """Counts calls to a provider, in vain or not."""
        if attempts:
            self._of(call).attempts += attempts

    def sums(
        self, phase: str | None = None, trial_id: str | None = None, purpose: str | None = None
    ) -> dict[Column, Sum]:
        """The columns that match, in order; None matches everything."""
        wanted = (phase, trial_id, purpose)
        return {
            column: total
            for column, total in self._sums.items()
            if all(
                want is None or want == have
                for want, have in zip(
                    wanted, (column.phase, column.trial_id, column.purpose), strict=True
                )
            )
        }

    def spent(
        self, phase: str | None = None, trial_id: str | None = None, purpose: str | None = None
    ) -> Spent:
        """The sum over all columns that match; `by_model` counts calls."""
        result = Spent()
        for column, total in self.sums(phase, trial_id, purpose).items():
            result.calls += total.calls
            result.input_tokens += total.input_tokens
            result.output_tokens += total.output_tokens
            result.cost_usd += total.cost_usd
            result.unpriced += total.unpriced
            if total.calls:
                result.by_model[column.model] = result.by_model.get(column.model, 0) + total.calls
        return result
