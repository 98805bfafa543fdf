"""What a question has used of its budget: asked for before, settled after."""

from dataclasses import dataclass
from typing import Literal

from memrig.errors import HarnessError
from memrig.model.trial import Budget

BudgetKind = Literal["turns", "tool_calls", "payload_bytes", "tokens", "usd"]


@dataclass(frozen=True, slots=True)
class Reserved:
    """What a call to a model may come to."""

    tokens: int
    usd: float


class Meter:
    """The budget of one question.

    A call to a model is granted if all that was settled and what is now reserved stay within the
    limits. A granted call is within the budget whatever it comes to, so that no question ends
    because an estimate was low; it is the only thing that can go beyond a limit, and the next one
    is then refused. The same holds for a call of the memory and its bytes.

    `hit` is the first kind that was refused or overshot; empty while there is none.
    """

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._open: Reserved | None = None
        self._dearest_usd = 0.0
        self.turns = 0
        self.tool_calls = 0
        self.payload_bytes = 0
        self.tokens = 0
        self.usd = 0.0
        self.hit: BudgetKind | Literal[""] = ""

    @property
    def tokens_left(self) -> int | None:
        """Tokens that may still be reserved; None: no limit."""
        limit = self._budget.tokens
        held = self.tokens + (self._open.tokens if self._open else 0)
        return None if limit is None else max(0, limit - held)

    @property
    def usd_left(self) -> float | None:
        """Dollars that may still be reserved; None: no limit."""
        limit = self._budget.usd
        held = self.usd + (self._open.usd if self._open else 0.0)
        return None if limit is None else max(0.0, limit - held)

    @property
    def payload_left(self) -> int:
        """Bytes that the memory may still return."""
        return max(0, self._budget.payload_bytes - self.payload_bytes)

    @property
    def tool_calls_left(self) -> int:
        """Tool calls that may still be made."""
        return self._budget.tool_calls - self.tool_calls

    def reserve_turn(self, tokens: int) -> Reserved | None:
        """Asks for one more turn; None: `hit` says what is used up.

        What it may cost is taken to be what the dearest turn so far did: what is sent grows.

        Args:
            tokens: the most that it may come to, what is sent and what may be returned.

        Raises:
            HarnessError: the turn before is not settled.
        """
        if self._open:
            raise HarnessError("a turn was asked for while another one is open")
        if refused := self._refusal(tokens):
            self._refuse(refused)
            return None
        self.turns += 1
        self._open = Reserved(tokens, self._dearest_usd)
        return self._open

    def _refusal(self, tokens: int) -> BudgetKind | None:
        if self.turns >= self._budget.turns:
            return "turns"
        tokens_left = self.tokens_left
        if tokens_left is not None and (tokens_left == 0 or tokens > tokens_left):
            return "tokens"
        left = self.usd_left
        if left is not None and (left == 0 or self._dearest_usd > left):
            return "usd"
        return None

    def settle_turn(self, reserved: Reserved, tokens: int, usd: float | None) -> None:
        """Puts what a turn came to in the place of what was reserved.

        Args:
            reserved: what `reserve_turn` gave.
            tokens: sent and returned, as the provider counts.
            usd: what it cost; None where no price is known.

        Raises:
            HarnessError: it was settled before.
        """
        if reserved is not self._open:
            raise HarnessError("a turn was settled that is not open")
        self._open = None
        self.tokens += tokens
        self.usd += usd or 0.0
        self._dearest_usd = max(self._dearest_usd, usd or 0.0)

    def take_tool_call(self) -> bool:
        """Asks for one more tool call."""
        if self.tool_calls_left == 0:
            self._refuse("tool_calls")
            return False
        self.tool_calls += 1
        return True

    def may_ask_memory(self) -> bool:
        """Whether the memory may return anything more."""
        if self.payload_left == 0:
            self._refuse("payload_bytes")
            return False
        return True

    def took_payload(self, size: int) -> None:
        """Notes what the memory returned; more than was left is a limit hit."""
        if size > self.payload_left:
            self._refuse("payload_bytes")
        self.payload_bytes += size

    def _refuse(self, kind: BudgetKind) -> None:
        self.hit = self.hit or kind
