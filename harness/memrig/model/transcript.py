"""The records of a transcript: all that happened in a trial, in order.

Ids in records are the data's own; what went over the wire is recoverable from them (client/ids).
Durations are monotonic nanoseconds, stamps are UTC.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from memrig.model.chat import Phase
from memrig.model.trial import Outcome


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class AttemptRecord(_Record):
    """A start of the trial. Records of an earlier attempt that answered questions stay valid."""

    kind: Literal["attempt"] = "attempt"
    number: int
    spec_digest: str
    started_at: datetime
    memrig_version: str


class PodRecord(_Record):
    """A pod is up and serves."""

    kind: Literal["pod"] = "pod"
    start_ns: int
    ready_ns: int
    description: dict[str, str]


class FilterFieldRecord(_Record):
    """A field that filters may name."""

    name: str
    type: Literal["string", "number", "timestamp", "enum"]
    values: tuple[str, ...] = ()
    description: str = ""


class ToolRecord(_Record):
    """An extra tool of the memory system."""

    name: str
    description: str
    input_schema: str


class CapabilitiesRecord(_Record):
    """What the adapter declared."""

    kind: Literal["capabilities"] = "capabilities"
    name: str
    version: str
    contract_version: str
    boot_id: str
    search_modes: tuple[str, ...]
    filter_fields: tuple[FilterFieldRecord, ...]
    max_results: int
    optional: tuple[str, ...]
    tools: tuple[ToolRecord, ...]
    limitations: tuple[str, ...] = ()


class Ack(_Record):
    """One episode's acknowledgement. `ns` is from sending its message to this."""

    episode_id: str
    status: Literal["stored", "duplicate", "rejected"]
    stored_items: int
    ns: int
    message: str = ""


class IngestRecord(_Record):
    """Some acknowledgements of an ingest stream, in the order they came."""

    kind: Literal["ingest"] = "ingest"
    scenario_id: str
    acks: tuple[Ack, ...]


class StreamRecord(_Record):
    """An ingest stream ended: how much went in, and how long it took in all."""

    kind: Literal["ingest_end"] = "ingest_end"
    scenario_id: str
    episodes: int
    text_bytes: int
    ns: int


class FlushRecord(_Record):
    """The barrier was passed."""

    kind: Literal["flush"] = "flush"
    scenario_id: str
    ns: int
    total_items: int | None


class ResetRecord(_Record):
    """The memory was emptied."""

    kind: Literal["reset"] = "reset"
    ns: int


@dataclass(frozen=True, slots=True)
class HitRecord:
    """A hit as it came. A source is None where the claim was void: not an acknowledged episode.

    A plain dataclass: ten of them are made for every search, a model's checks cost as much as all
    the rest, and the wire's types are checked already. Reading a transcript checks them.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    ref_id: str
    text: str
    score: float
    episodes: tuple[str | None, ...]
    turns: tuple[str | None, ...] = ()
    timestamp: datetime | None = None


class FilterUse(_Record):
    """A condition that a search was given."""

    field: str
    operator: Literal["equal", "greater_or_equal", "less"]
    value: str


class SearchRecord(_Record):
    """One search of a question."""

    query: str
    limit: int
    ns: int
    payload_bytes: int
    hits: tuple[HitRecord, ...]
    surplus_hits: int = 0
    mode: str = ""
    filters: tuple[FilterUse, ...] = ()


class DocumentRecord(_Record):
    """One item in full, as Retrieve gave it; `hit` holds its text and claims (its score is 0)."""

    hit: HitRecord
    ns: int
    payload_bytes: int


class ToolResultRecord(_Record):
    """What CallTool gave."""

    result_json: str
    is_error: bool
    hits: tuple[HitRecord, ...]
    ns: int
    payload_bytes: int


class AdapterUsage(_Record):
    """Model usage as the memory system counts it, in mode native."""

    model_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0


class ToolUseRecord(_Record):
    """One tool call of an agent, as the model made it and as it was answered.

    Of a memory system that answers by itself, as it tells it.
    """

    name: str
    arguments_json: str
    result: str
    is_error: bool
    ns: int
    payload_bytes: int = 0


class NativeRecord(_Record):
    """What the adapter's own Answer gave."""

    answer: str
    abstained: bool
    confidence: float | None
    cited_refs: tuple[str, ...]
    episodes: tuple[str | None, ...]
    tools: tuple[ToolUseRecord, ...]
    reasoning: str
    usage: AdapterUsage | None
    ns: int
    payload_bytes: int


class Memory(_Record):
    """A memory as a model gets to know it: a handle of the rig's instead of the adapter's ref.

    `shown_tokens` is how much of it a model was shown, by `estimate_tokens`.
    """

    handle: str
    ref_id: str
    episodes: tuple[str | None, ...]
    turns: tuple[str | None, ...] = ()
    shown_tokens: int = 0


class ModelCallRecord(_Record):
    """One call to a model; its text is in the gateway's record under `key`."""

    purpose: str
    model: str
    served_model: str
    key: str
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    ns: int
    attempts: int
    stop_reason: str = "end"


class AnswerRecord(_Record):
    """The answer to a question, in whatever mode it came about.

    `cited` are handles of `memories`, in the order of the answer; `unknown_citations` counts cited
    handles that were never issued. `reserved_turn` tells that a budget ran out and this is what
    the final turn made of what was there. `raw` is the model's text where `text` was taken out of
    it.
    """

    text: str
    abstained: bool = False
    confidence: float | None = Field(default=None, ge=0, le=1)
    cited: tuple[str, ...] = ()
    unknown_citations: int = 0
    reserved_turn: bool = False
    reasoning: str = ""
    raw: str = ""
    memories: tuple[Memory, ...] = ()
    usage: AdapterUsage | None = None


class NaiveRecord(_Record):
    """What a model said that was shown all episodes so far, as many as fit, newest kept.

    It is an opponent for the answer under test, not part of it. `answer` is None where it could
    not be had; `failure` says why, and then nothing is compared with it. `episodes` counts what
    there was, `shown` what fitted.
    """

    answer: AnswerRecord | None
    failure: str = ""
    episodes: int = 0
    shown: int = 0
    model_calls: tuple[ModelCallRecord, ...] = ()


class QuestionRecord(_Record):
    """A question is settled, whatever the outcome.

    `searches` are in the order they were made, in mode retrieval and reader exactly one. `ns` is
    the whole time, `memory_ns` what of it was spent waiting for the memory system.
    """

    kind: Literal["question"] = "question"
    scenario_id: str
    question_id: str
    outcome: Outcome
    ns: int
    memory_ns: int = 0
    searches: tuple[SearchRecord, ...] = ()
    answer: AnswerRecord | None = None
    model_calls: tuple[ModelCallRecord, ...] = ()
    tool_uses: tuple[ToolUseRecord, ...] = ()
    naive: NaiveRecord | None = None

    @property
    def paid_calls(self) -> tuple[ModelCallRecord, ...]:
        """Every call of the rig's for this question, its opponent's included."""
        return self.model_calls + (self.naive.model_calls if self.naive else ())

    @property
    def native(self) -> bool:
        """Whether the memory system answered by itself: the rig neither searched nor asked."""
        return self.answer is not None and not self.searches and not self.model_calls

    @property
    def answer_ns(self) -> int:
        """What answering took; where the memory system did it itself, all that it took."""
        return self.memory_ns if self.native else self.ns - self.memory_ns


class FaultRecord(_Record):
    """What ended the trial: every question that was open gets `outcome`.

    `log_tail` holds the adapter's last lines where it is gone.
    """

    kind: Literal["fault"] = "fault"
    outcome: Outcome
    message: str
    log_tail: str = ""


class AuditRecord(_Record):
    """The verdict of an isolation audit: n/a where the canary was not found to begin with."""

    kind: Literal["audit"] = "audit"
    audit: Literal["isolation"] = "isolation"
    verdict: Literal["passed", "failed", "n/a"]
    detail: str


AuditName = Literal["repeat", "canary", "poison", "reset", "rechunk"]
AuditPart = Literal[
    "first",
    "second",
    "paraphrase",
    "planted",
    "control",
    "poisoned",
    "emptied",
    "refilled",
    "rechunked",
]


class AuditAskRecord(_Record):
    """What came of one thing that an audit asked (docs/runs.md, Audits).

    `part` says when: the question as it stands, again, and in other words; what was planted, and
    what was not; with the poison in; from the emptied memory, and from one that was filled with
    something else; from the same text in other chunks. `text` is what was asked. The rest is as in
    `QuestionRecord`. No score comes of it, and no figure is kept here: the report makes them.
    """

    kind: Literal["audit_ask"] = "audit_ask"
    scenario_id: str
    audit: AuditName
    part: AuditPart
    question_id: str
    text: str
    outcome: Outcome
    ns: int
    memory_ns: int = 0
    searches: tuple[SearchRecord, ...] = ()
    answer: AnswerRecord | None = None
    model_calls: tuple[ModelCallRecord, ...] = ()
    tool_uses: tuple[ToolUseRecord, ...] = ()


class AuditSkipRecord(_Record):
    """An audit says nothing of this memory system or this scenario; `reason` says why."""

    kind: Literal["audit_skip"] = "audit_skip"
    scenario_id: str
    audit: AuditName
    reason: str


class UsageRecord(_Record):
    """What the memory system used from its start to here; None where the pod cannot tell.

    `file_bytes` is the part of `memory_bytes` that is files in tmpfs and shared memory.
    """

    kind: Literal["usage"] = "usage"
    cpu_s: float | None
    peak_memory_bytes: int | None
    memory_bytes: int | None
    file_bytes: int | None = None


class ProbeRecord(_Record):
    """What a probe measured (architecture §2; docs/suites.md, operations).

    `subject` is the container that was killed, or what the models were in an outage. `episodes` is
    how many the scenario had ingested by then, and `items` how many the memory said it holds.
    `values` and `samples_ns` are named in docs/formats.md. `failure` says how many of its calls
    failed, and how; empty: none. `skipped` says why it says nothing of this memory system or this
    pod.
    """

    kind: Literal["probe"] = "probe"
    scenario_id: str
    probe_id: str
    probe: Literal["usage", "load", "freshness", "restart", "leak", "outage"]
    subject: str = ""
    episodes: int
    items: int | None = None
    values: dict[str, float] = Field(default_factory=dict)
    samples_ns: dict[str, tuple[int, ...]] = Field(default_factory=dict)
    failure: str = ""
    skipped: str = ""


class ModelUsageRecord(_Record):
    """What the memory system's own calls of one model came to in one phase of the trial."""

    kind: Literal["model_usage"] = "model_usage"
    phase: Phase
    model: str
    calls: int
    attempts: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None


class TeardownRecord(_Record):
    """A pod is gone; how long its removal took."""

    kind: Literal["teardown"] = "teardown"
    ns: int


class CloseRecord(_Record):
    """The trial is over."""

    kind: Literal["close"] = "close"


Record = Annotated[
    AttemptRecord
    | PodRecord
    | CapabilitiesRecord
    | IngestRecord
    | StreamRecord
    | FlushRecord
    | ResetRecord
    | QuestionRecord
    | FaultRecord
    | AuditRecord
    | AuditAskRecord
    | AuditSkipRecord
    | UsageRecord
    | ProbeRecord
    | ModelUsageRecord
    | TeardownRecord
    | CloseRecord,
    Field(discriminator="kind"),
]
RECORD: TypeAdapter[Record] = TypeAdapter(Record)
