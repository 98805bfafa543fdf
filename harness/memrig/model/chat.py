"""What the rig says to a model and hears back, whoever provides it; the gateway has the wires."""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Literal, Protocol

#: What tokens and money are charged to. A memory system's calls during Flush are "ingest".
#: "generate" is the making of a dataset, outside of any trial.
Phase = Literal["ingest", "search", "answer", "judge", "generate"]
PHASES: tuple[Phase, ...] = ("ingest", "search", "answer", "judge", "generate")


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool that a model may call; `schema` is a JSON Schema of type object."""

    name: str
    description: str
    schema: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model wants a tool called. `arguments_json` is as the model wrote it, perhaps no JSON."""

    call_id: str
    name: str
    arguments_json: str


@dataclass(frozen=True, slots=True)
class Message:
    """One message. Role "tool" answers the call `tool_call_id` of the assistant message before."""

    role: Literal["user", "assistant", "tool"]
    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One call to a chat model.

    Args:
        model: as the user names it, such as ``gpt-4o-2024-08-06`` or ``local/extractive``.
        messages: the conversation so far; the first is the user's.
        max_tokens: the most tokens the reply may have.
        system: instructions that stand before the conversation.
        tools: what the model may call.
        temperature: 0 unless a protocol says otherwise; None leaves it to the provider.
        stream: whether the provider is asked to stream; the reply is the same.
    """

    model: str
    messages: tuple[Message, ...]
    max_tokens: int
    system: str = ""
    tools: tuple[ToolSpec, ...] = ()
    temperature: float | None = 0.0
    stream: bool = False


class Clock(Protocol):
    """Whose time a call uses up, where that is not simply the time that passes."""

    def standing_still(self) -> AbstractContextManager[None]:
        """Takes what is done out of that time."""

    def running(self) -> AbstractContextManager[None]:
        """Within `standing_still`: counts what is done after all, unless it fails."""


class FreeClock:
    """Implements `Clock` where nobody counts."""

    def standing_still(self) -> AbstractContextManager[None]:
        """See `Clock`."""
        return nullcontext()

    def running(self) -> AbstractContextManager[None]:
        """See `Clock`."""
        return nullcontext()


@dataclass(frozen=True, slots=True)
class CallContext:
    """On whose behalf a call is made.

    All of it but `trial_id` and `clock` is in the record's key or its ledger.

    Args:
        phase: what the call is charged to.
        purpose: "memory", "reader", "agent", "naive", "judge", "planner" or "renderer"; shown in
            tables.
        trial_id: whose limits apply.
        scope: what identical requests are counted within; never an adapter's own ref. For the rig's
            calls: scenario, question and repeat.
        seed: the run's.
        attempt: 0, or how often this very question to the model was put before (a judge whose
            verdict could not be parsed is asked again).
        vote: which of several votes.
        clock: stands still while a provider makes the caller wait: for a turn, and after failures.
    """

    phase: Phase
    purpose: str
    trial_id: str
    scope: str
    seed: int
    attempt: int = 0
    vote: int = 0
    clock: Clock = field(default=FreeClock(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What came back.

    `served_model` is the name that the provider gave; `cost_usd` is None where no price is known;
    `attempts` counts calls to the provider, 0 for a replayed reply; `ns` is the time until the
    reply was whole, retries included (of a replayed reply: as it was recorded). `key` names the
    exchange in the record.
    """

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    stop_reason: Literal["end", "tool_use", "length", "refusal"] = "end"
    served_model: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    ns: int = 0
    attempts: int = 1
    key: str = ""


class Chat(Protocol):
    """Where the rig's own calls go: the gateway, or a fake in a unit test."""

    async def chat(self, request: ChatRequest, context: CallContext) -> ChatReply:
        """Calls a model.

        Raises:
            GatewayError: it could not be had; `kind` says why.
        """


def estimate_tokens(text: str) -> int:
    """About how many tokens a text has, by a rule that needs no vocabulary: a token per 4 bytes.

    Used for context limits and forecasts, never for what a provider charges. On English prose it
    is within some 15 % of the common vocabularies.
    """
    return (len(text.encode("utf-8", "surrogatepass")) + 3) // 4


@dataclass(slots=True)
class Spent:
    """Tokens and money so far. `unpriced` counts calls of models that have no price."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    unpriced: int = 0
    by_model: dict[str, int] = field(default_factory=dict)
