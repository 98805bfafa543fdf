"""A memory as a question sees it, with hits as a test wants them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from memrig.answering.base import Access
from memrig.model.chat import CallContext
from memrig.model.scenario import Question, ScenarioRef
from memrig.model.transcript import (
    CapabilitiesRecord,
    DocumentRecord,
    FilterUse,
    HitRecord,
    NativeRecord,
    SearchRecord,
    ToolResultRecord,
)
from memrig.model.trial import AnswerSpec, Budget, TrialSpec
from support.fake_chat import ScriptedChat
from support.fake_memory import fake_adapter

QUESTION = Question(
    question_id="q1",
    text="Where is the <blue> kettle?",
    asked_at=datetime(2024, 4, 1, 9, 30, tzinfo=UTC),
)
TOOL_SCHEMA = (
    '{"type":"object","properties":{"refs":{"type":"array","items":{"type":"string"}}},'
    '"required":["refs"],"additionalProperties":false}'
)


def declared(**changes: object) -> CapabilitiesRecord:
    fields: dict[str, object] = {
        "name": "secret-name",
        "version": "1",
        "contract_version": "1.0",
        "boot_id": "boot-77",
        "search_modes": ("SEARCH_MODE_KEYWORD", "SEARCH_MODE_SEMANTIC"),
        "filter_fields": (),
        "max_results": 20,
        "optional": ("retrieve",),
        "tools": (),
    }
    return CapabilitiesRecord.model_validate(fields | changes)


def hit(ref_id: str, text: str, *episodes: str | None, **changes: object) -> HitRecord:
    return HitRecord(ref_id, text, 1.0, episodes, **changes)  # type: ignore[arg-type]


@dataclass
class FakeAnswers:
    """Implements `Memory`: the same hits for every query, up to the limit."""

    hits: Sequence[HitRecord] = ()
    dates: Mapping[str, str] = field(default_factory=dict)
    capabilities: CapabilitiesRecord = field(default_factory=declared)
    whole: bool = False
    payload_bytes: int | None = None
    native: NativeRecord | None = None
    tool: Callable[[str, str], ToolResultRecord] | None = None
    documents: Mapping[str, HitRecord] | None = None
    error: Exception | None = None
    asked: list[tuple[str, int, str, tuple[FilterUse, ...]]] = field(default_factory=list)
    called: list[tuple[str, str]] = field(default_factory=list)
    limits: list[int] = field(default_factory=list)

    async def search(
        self, query: str, limit: int, mode: str = "", filters: Sequence[FilterUse] = ()
    ) -> SearchRecord:
        if self.error:
            raise self.error
        self.asked.append((query, limit, mode, tuple(filters)))
        found = tuple(self.hits[:limit])
        size = sum(len(item.text.encode()) for item in found)
        return SearchRecord(
            query=query,
            limit=limit,
            ns=7,
            payload_bytes=size if self.payload_bytes is None else self.payload_bytes,
            hits=found,
            mode=mode,
            filters=tuple(filters),
        )

    async def retrieve(self, ref_id: str) -> DocumentRecord | None:
        known = self.documents
        if known is None:
            known = {item.ref_id: item for item in self.hits}
        found = known.get(ref_id)
        return found and DocumentRecord(hit=found, ns=3, payload_bytes=len(found.text))

    async def answer(self, question: Question, limit: int) -> NativeRecord:
        self.limits.append(limit)
        assert self.native
        return self.native

    async def call_tool(self, name: str, arguments_json: str) -> ToolResultRecord:
        self.called.append((name, arguments_json))
        assert self.tool
        return self.tool(name, arguments_json)

    def date_of(self, episode_id: str) -> str:
        return self.dates.get(episode_id, "")


def access_to(
    memory: FakeAnswers,
    chat: ScriptedChat,
    *,
    budget: Budget | None = None,
    top_k: int = 10,
    mode: str = "reader",
    **answer: object,
) -> Access:
    """What a mode gets, over these fakes; further arguments are of AnswerSpec."""
    spec = TrialSpec.model_validate(
        {
            "suite": "s",
            "protocol": "p",
            "mode": mode,
            "adapter": fake_adapter(),
            "scenarios": (
                ScenarioRef(scenario_id="s1", digest="d", gold_digest="g", episodes=1, questions=1),
            ),
            "seed": 7,
            "top_k": top_k,
            "budget": budget or Budget(),
            "answer": AnswerSpec.model_validate({"model": "scripted"} | answer),
        }
    )
    context = CallContext("answer", mode, spec.trial_id, "s1/q1#0", 7)
    return Access(spec, memory, chat, context)
