"""The seams of answering: what a mode works with, and what it leaves behind."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from memrig.model.chat import CallContext, Chat
from memrig.model.scenario import Question
from memrig.model.transcript import (
    AnswerRecord,
    CapabilitiesRecord,
    DocumentRecord,
    FilterUse,
    ModelCallRecord,
    NativeRecord,
    SearchRecord,
    ToolResultRecord,
    ToolUseRecord,
)
from memrig.model.trial import Outcome, TrialSpec


class Memory(Protocol):
    """The memory under test, as a question sees it. Deadlines and checks are the client's.

    Every method raises AdapterError: a fault of the memory system ends the question.
    """

    @property
    def capabilities(self) -> CapabilitiesRecord:
        """What the adapter declared."""

    @property
    def whole(self) -> bool:
        """Whether a model is to be shown all there is instead of the top k: the rig's baselines.

        A reader takes it whole: nothing comes over a wire. To an agent it is a memory like any.
        """

    async def search(
        self, query: str, limit: int, mode: str = "", filters: Sequence[FilterUse] = ()
    ) -> SearchRecord:
        """Searches; `mode` is a declared one's name or empty."""

    async def retrieve(self, ref_id: str) -> DocumentRecord | None:
        """One item in full; None where the adapter does not know it any more."""

    async def answer(self, question: Question, limit: int) -> NativeRecord:
        """The adapter's own answer."""

    async def call_tool(self, name: str, arguments_json: str) -> ToolResultRecord:
        """Runs a declared extra tool."""

    def date_of(self, episode_id: str) -> str:
        """An ingested episode's time as ``2024-03-05 17:00`` in UTC; empty where it has none."""


@dataclass(slots=True)
class Trace:
    """All that happened for one question; whole up to the moment that anything fails.

    `last_turn` is set while a question has a reserved turn left: who ends it for its wall time may
    then await ``last_turn("wall_time")`` for an answer from what was found, and its outcome. It is
    one more call to the model, outside of the budget.
    """

    searches: list[SearchRecord] = field(default_factory=list)
    model_calls: list[ModelCallRecord] = field(default_factory=list)
    tool_uses: list[ToolUseRecord] = field(default_factory=list)
    answer: AnswerRecord | None = None
    memory_ns: int = 0
    payload_bytes: int = 0
    last_turn: Callable[[str], Awaitable[Outcome]] | None = None


@dataclass(frozen=True, slots=True)
class Access:
    """What a mode of answering may use for one question.

    Args:
        spec: the trial's.
        memory: the memory under test.
        chat: the models.
        context: on whose behalf models are called.
    """

    spec: TrialSpec
    memory: Memory
    chat: Chat
    context: CallContext


class AnsweringMode(Protocol):
    """One mode. Leaves its steps in `trace` as they happen and returns how the question ended.

    Raises:
        AdapterError: the memory system failed.
        GatewayError: a model could not be had.
    """

    async def __call__(self, question: Question, access: Access, trace: Trace) -> Outcome:
        """Answers one question."""
