"""What the record of models holds of a call: its key, the request that it must be, and the reply.

Keys follow memrig/gateway/keys.py: the request and the place it was made from, never who asked.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from memrig.gateway.jsons import load_object
from memrig.gateway.record import Attempt, Exchange
from memrig.gateway.wire.base import ChatWire, WireReply, without_stream_flags
from memrig.gateway.wire.formats import CHAT_WIRES
from memrig.model.canonical import canonical_json
from memrig.model.chat import ChatReply, ChatRequest
from memrig.runs.directory import Execution
from memrig.submission.checks.base import TrialEvidence


def replays(executions: Iterable[Execution]) -> bool:
    """Whether models were answered out of an earlier run's record."""
    return any(one.llm.startswith("replay") for one in executions)


def attempts_of(trial: TrialEvidence) -> Sequence[Attempt]:
    """Every attempt at a model's reply that a trial made."""
    return trial.run.models.by_trial.get(trial.spec.trial_id, ())


def scope_of(trial: TrialEvidence, attempt: Attempt) -> str:
    """Where in the trial an attempt was made from; empty where no exchange tells."""
    exchange = trial.run.models.exchanges.get(attempt.key)
    return exchange.scope if exchange else ""


def request_digest(wire: ChatWire, request: ChatRequest) -> str:
    """The hash by which the record knows a request of the rig's own.

    Raises:
        TypeError: it holds what canonical JSON does not have.
    """
    body = without_stream_flags(wire.request(request))
    asked = {"format": wire.format, "request": body}
    return hashlib.sha256(canonical_json(asked)).hexdigest()


@dataclass(frozen=True, slots=True)
class Place:
    """Where a call was made from, as its key has it."""

    request: str
    seed: int
    attempt: int
    vote: int
    scope: str
    occurrence: int

    @classmethod
    def of(cls, exchange: Exchange) -> "Place":
        """An exchange's own."""
        return cls(
            request=exchange.request,
            seed=exchange.seed,
            attempt=exchange.attempt,
            vote=exchange.vote,
            scope=exchange.scope,
            occurrence=exchange.occurrence,
        )

    @property
    def _anywhere(self) -> Mapping[str, object]:
        return {
            "request": self.request,
            "seed": self.seed,
            "attempt": self.attempt,
            "vote": self.vote,
        }

    @property
    def same(self) -> str:
        """The key of all calls like it, wherever they are made."""
        return hashlib.sha256(canonical_json(self._anywhere)).hexdigest()

    @property
    def key(self) -> str:
        """The key of this very call."""
        here = {**self._anywhere, "scope": self.scope, "occurrence": self.occurrence}
        return hashlib.sha256(canonical_json(here)).hexdigest()


def chat_wire(exchange: Exchange) -> ChatWire | None:
    """The format of a chat; None for embeddings, and for formats that there are not."""
    return CHAT_WIRES.get(exchange.format)


def reply_of(exchange: Exchange) -> ChatReply | None:
    """What a model said; None where the record does not hold it, or it is none."""
    wire = chat_wire(exchange)
    value = load_object(exchange.response or "")
    if wire is None or value is None or exchange.state != "ok":
        return None
    try:
        said = wire.said(value)
    except (IndexError, TypeError, ValueError):
        return None
    return ChatReply(
        text=said.text,
        tool_calls=said.tool_calls,
        stop_reason=said.stop_reason,
        served_model=exchange.served_model,
        input_tokens=exchange.input_tokens,
        output_tokens=exchange.output_tokens,
        cost_usd=exchange.cost_usd,
        ns=exchange.ns,
        attempts=exchange.attempts,
        key=exchange.key,
    )


def has_usage(reply: WireReply) -> bool:
    """Whether a reply tells its tokens; otherwise they were estimated when it came."""
    usage = reply.value.get("usage")
    return isinstance(usage, dict) and bool(usage)


def sound(text: str) -> str:
    """A reply's text as a transcript can hold it, without lone surrogates."""
    return text.encode("utf-8", "replace").decode()
