"""Tokens and money: reserved before a call, settled after it, refused where they do not fit.

Money is counted in whole nano-dollars, so that sums are exact. What a reservation estimates too low
is the most that a limit can be overspent by: no further call fits then.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from types import TracebackType
from typing import Protocol, Self

from memrig.errors import GatewayError, UsageError
from memrig.gateway.config import Limit, Limits
from memrig.model.chat import CallContext, Phase

NANO = 1_000_000_000


class Prices(Protocol):
    """What the ledger asks of a price table."""

    def cost(self, model: str, input_tokens: int, output_tokens: int) -> float | None:
        """US dollars; None where the model has no price."""


def check_prices(models: frozenset[str], limits: Limits, prices: Prices) -> None:
    """Refuses a limit in money beside a model whose price is not known.

    Raises:
        UsageError: names the models.
    """
    if not limits.money:
        return
    unknown = sorted(model for model in models if prices.cost(model, 0, 0) is None)
    if unknown:
        raise UsageError(
            f"there is a limit in US dollars, but no price is known of {', '.join(unknown)}",
            where="gateway",
            fix="limit tokens instead, or name models of the price table (docs/gateway.md)",
        )


@dataclass(slots=True)
class Account:
    """What one limit has seen. `nano` is money."""

    name: str
    limit: Limit
    spent_tokens: int = 0
    spent_nano: int = 0
    reserved_tokens: int = 0
    reserved_nano: int = 0

    def lacks(self, tokens: int, nano: int) -> str:
        """Why a call does not fit; empty: it does."""
        held = self.spent_tokens + self.reserved_tokens
        if self.limit.tokens is not None and held + tokens > self.limit.tokens:
            return (
                f"{held:,} of {self.limit.tokens:,} tokens are spent or reserved, "
                f"{tokens:,} more are needed"
            )
        money = self.spent_nano + self.reserved_nano
        if self.limit.usd is not None and money + nano > round(self.limit.usd * NANO):
            return (
                f"${money / NANO:.4f} of ${self.limit.usd:.4f} are spent or reserved, "
                f"${nano / NANO:.4f} more are needed"
            )
        return ""


@dataclass(slots=True)
class Reservation:
    """A call's share of every account it is charged to. Leaving it unsettled gives it back."""

    ledger: "Ledger"
    accounts: tuple[Account, ...]
    tokens: int
    nano: int
    open: bool = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._give_back()

    def _give_back(self) -> None:
        if self.open:
            self.open = False
            for account in self.accounts:
                account.reserved_tokens -= self.tokens
                account.reserved_nano -= self.nano

    def settle(self, tokens: int, cost_usd: float | None) -> None:
        """The call was made; this is what it took."""
        self._give_back()
        self.ledger.pay(self.accounts, tokens, cost_usd)


@dataclass(slots=True)
class Ledger:
    """All accounts of a run."""

    limits: Limits
    _run: Account = field(init=False)
    _trials: dict[str, Account] = field(default_factory=dict)
    _phases: dict[Phase, Account] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._run = Account("the run", self.limits.run)

    def accounts(self, trial_id: str, phase: Phase) -> tuple[Account, ...]:
        """What a call is charged to."""
        if trial_id not in self._trials:
            self._trials[trial_id] = Account(f"trial {trial_id}", self.limits.trial)
        if phase not in self._phases:
            limit = self.limits.phases.get(phase, Limit())
            self._phases[phase] = Account(f"phase {phase}", limit)
        return self._run, self._trials[trial_id], self._phases[phase]

    def __iter__(self) -> Iterator[Account]:
        yield self._run
        yield from self._trials.values()
        yield from self._phases.values()

    def reserve(self, context: CallContext, tokens: int, cost_usd: float | None) -> Reservation:
        """Sets a call's estimate aside.

        Raises:
            GatewayError: of kind `budget`: it does not fit into what is left.
        """
        nano = _nano(cost_usd)
        accounts = self.accounts(context.trial_id, context.phase)
        for account in accounts:
            if lack := account.lacks(tokens, nano):
                raise GatewayError(
                    f"the limit of {account.name} is reached: {lack}",
                    kind="budget",
                    where=f"trial={context.trial_id} phase={context.phase}",
                    fix="raise the limit and repeat the command: it goes on from there",
                )
        for account in accounts:
            account.reserved_tokens += tokens
            account.reserved_nano += nano
        return Reservation(self, accounts, tokens, nano)

    def pay(self, accounts: tuple[Account, ...], tokens: int, cost_usd: float | None) -> None:
        """Counts what was spent."""
        for account in accounts:
            account.spent_tokens += tokens
            account.spent_nano += _nano(cost_usd)


def _nano(cost_usd: float | None) -> int:
    return round((cost_usd or 0.0) * NANO)
