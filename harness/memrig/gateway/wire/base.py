"""What every wire format offers: check a reply, stream it, say no in the provider's own words."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from memrig.errors import GatewayFault
from memrig.gateway.jsons import Json
from memrig.model.chat import ChatRequest, ToolCall

Format = Literal["anthropic.messages", "openai.chat", "openai.embeddings"]

#: What a request without a limit of its own is taken to return at most, for the reservation.
UNBOUNDED_OUTPUT_TOKENS = 4096
#: What one reply is taken to have at most, whatever its request says: no model returns more.
MOST_OUTPUT_TOKENS = 131_072
#: The most choices that a request can ask for.
MOST_CHOICES = 128


def output_estimate(stated: int, choices: int = 1) -> int:
    """The most tokens that a reply is taken to have; `stated` is 0 where the request says none."""
    each = min(stated or UNBOUNDED_OUTPUT_TOKENS, MOST_OUTPUT_TOKENS)
    return each * min(max(1, choices), MOST_CHOICES)


class WireError(Exception):
    """A reply that is none. `kind` is what it comes to if asking again does not help.

    `status` is the provider's own where it gave one within the reply.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: GatewayFault = "malformed",
        retryable: bool = True,
        status: int | None = None,
    ) -> None:
        self.kind: GatewayFault = kind
        self.retryable = retryable
        self.status = status
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class WireReply:
    """A whole reply.

    Args:
        body: the JSON that a caller who does not stream gets.
        events: the stream as the provider sent it; empty where it was not asked to stream.
        value: `body`, parsed.
        input_tokens: as the provider counted them, or estimated where it does not.
        output_tokens: likewise.
        served_model: the name that the provider gave.
    """

    body: bytes
    events: bytes
    value: Json
    input_tokens: int
    output_tokens: int
    served_model: str


@dataclass(frozen=True, slots=True)
class Said:
    """What a chat model said, whatever the wire."""

    text: str
    tool_calls: tuple[ToolCall, ...]
    stop_reason: Literal["end", "tool_use", "length", "refusal"]


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error as a caller's SDK understands it."""

    status: int
    body: bytes


class Wire(Protocol):
    """One wire format."""

    @property
    def format(self) -> Format:
        """Its name."""

    @property
    def path(self) -> str:
        """Its endpoint, without the ``/v1`` before it."""

    def max_output_tokens(self, body: Json) -> int:
        """The most tokens that a reply to this request may have."""

    def prepared(self, body: Json) -> Json:
        """The request as the provider gets it: as it is, but a stream must report its usage."""

    def read(self, raw: bytes, body: Json) -> WireReply:
        """Checks that a provider's reply to this request is whole.

        Raises:
            WireError: it is not, or it is an error in the guise of a reply.
        """

    def stream(self, reply: WireReply, body: Json) -> bytes:
        """The reply as the stream that this request asked for."""

    def refusal(self, kind: GatewayFault, status: int | None, message: str) -> Refusal:
        """An error in the provider's shape; `status` is the provider's own where it gave one."""


class ChatWire(Wire, Protocol):
    """A wire format that the rig's own requests can be said in."""

    def request(self, request: ChatRequest) -> dict[str, object]:
        """The rig's request as a body."""

    def said(self, value: Json) -> Said:
        """What a whole reply says."""


def without_stream_flags(body: Json) -> dict[str, object]:
    """What is asked, however it is to be delivered: what the record's key is made of."""
    return {key: value for key, value in body.items() if key not in {"stream", "stream_options"}}


#: The status of an error that the gateway itself is the author of.
STATUS: Mapping[GatewayFault, int] = {
    "provider": 503,
    "auth": 401,
    "missing_key": 401,
    "rejected": 400,
    "malformed": 502,
    "not_allowed": 404,
    "budget": 429,
    "not_recorded": 503,
    "cut_off": 503,
}
