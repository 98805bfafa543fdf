"""Answers a question again by the rig's own code, from what the records say came back.

The memory's results and the models' replies are those on record; what the rig makes of them —
queries, prompts, answers, outcomes — is made again. Nothing is called.
"""

from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeVar

from memrig.answering.handles import minute
from memrig.gateway.record import Exchange
from memrig.model.chat import CallContext, ChatReply, ChatRequest
from memrig.model.scenario import Question
from memrig.model.transcript import (
    CapabilitiesRecord,
    DocumentRecord,
    FilterUse,
    ModelCallRecord,
    NativeRecord,
    SearchRecord,
    ToolResultRecord,
)
from memrig.submission.checks.exchanged import chat_wire, reply_of, request_digest

#: What a difference is about; each is a check of its own.
About = Literal["query", "prompt", "answer", "outcome"]
Say = Callable[[About, str], None]

T = TypeVar("T")


class Over(Exception):  # noqa: N818 - not an error: the record ends here, as a question may
    """Nothing more is on record."""


class Adopt(Exception):  # noqa: N818 - not an error: it asks for what is on record
    """What the memory gave here is on record only as a model was shown it."""


def settle(coroutine: Coroutine[Any, Any, T]) -> T:
    """Runs to its end what never waits for anything."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        value: T = done.value
        return value
    coroutine.close()
    raise Over


@dataclass(slots=True)
class RecordedMemory:
    """Implements `memrig.answering.base.Memory` over the searches on record.

    Args:
        capabilities: what the memory system declared.
        whole: see `Memory`.
        hosted: whether it lives in the rig, where modes and filters are not passed on.
        searches: in order.
        dates: of episodes.
        say: told of differences.
    """

    capabilities: CapabilitiesRecord
    whole: bool
    hosted: bool
    searches: Sequence[SearchRecord]
    dates: Mapping[str, datetime]
    say: Say
    used: int = 0

    async def search(
        self, query: str, limit: int, mode: str = "", filters: Sequence[FilterUse] = ()
    ) -> SearchRecord:
        """The next one on record, which must be this one."""
        if self.used >= len(self.searches):
            raise Over
        found = self.searches[self.used]
        self.used += 1
        wanted = {"query": query, "limit": limit}
        if not self.hosted:
            wanted |= {"mode": mode, "filters": tuple(filters)}
        for name, value in wanted.items():
            if (has := getattr(found, name)) != value:
                self.say("query", f"searched with {name} {has!r}, the rig asks for {value!r}")
        return found

    async def retrieve(self, ref_id: str) -> DocumentRecord | None:
        """Asks for what is on record.

        Raises:
            Adopt: always.
        """
        raise Adopt(ref_id)

    async def answer(self, question: Question, limit: int) -> NativeRecord:
        """It is not on record as it came.

        Raises:
            Over: always.
        """
        raise Over(f"{question.question_id} {limit}")

    async def call_tool(self, name: str, arguments_json: str) -> ToolResultRecord:
        """Asks for what is on record.

        Raises:
            Adopt: always.
        """
        raise Adopt(f"{name} {arguments_json:.40}")

    def date_of(self, episode_id: str) -> str:
        """See `Memory`."""
        return minute(self.dates.get(episode_id))


@dataclass(slots=True)
class RecordedChat:
    """Implements `memrig.model.chat.Chat` over the calls on record.

    Args:
        calls: of one question, in order.
        exchanges: the record, by key.
        say: told of differences.
        exact: whether a request must be the recorded one to the byte.
        broken: whether a call is one that the record does not hold.
        unasked: the request that has no call on record.
    """

    calls: Sequence[ModelCallRecord]
    exchanges: Mapping[str, Exchange]
    say: Say
    used: int = 0
    exact: bool = True
    broken: bool = False
    unasked: ChatRequest | None = None

    @property
    def left(self) -> int:
        """Calls on record that were not made again yet."""
        return len(self.calls) - self.used

    async def chat(self, request: ChatRequest, context: CallContext) -> ChatReply:
        """The next reply on record, if what was asked for it is this request.

        Raises:
            Over: there is none, or the record does not hold it.
        """
        if not self.left:
            self.unasked = request
            raise Over
        call = self.calls[self.used]
        self.used += 1
        exchange = self.exchanges.get(call.key)
        reply = reply_of(exchange) if exchange else None
        if exchange is None or reply is None:
            self.used, self.broken = len(self.calls), True
            raise Over  # `models.recorded` says so
        if self.exact:
            self._compare(request, exchange, context.purpose)
        return reply

    def _compare(self, request: ChatRequest, exchange: Exchange, purpose: str) -> None:
        wire = chat_wire(exchange)
        try:
            digest = request_digest(wire, request) if wire else ""
        except TypeError as error:
            digest = f"no clean JSON: {error}"
        if digest != exchange.request:
            message = (
                f"what the {purpose}'s call {self.used} was sent is not what the rig makes of the "
                f"question and the memory's results ({exchange.request[:12]}, not {digest[:12]})"
            )
            self.say("prompt", message)


@dataclass(slots=True)
class Differences:
    """What a question's records and the rig's own doing differ in."""

    found: list[tuple[About, str]] = field(default_factory=list)

    def say(self, about: About, message: str) -> None:
        """Notes one."""
        self.found.append((about, message))

    def of(self, about: About) -> Iterator[str]:
        """Those about one thing."""
        return (message for kind, message in self.found if kind == about)
