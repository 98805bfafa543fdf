"""`report.json`: everything a run came to, with a published JSON Schema (docs/schema)."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

from memrig.model.chat import Phase as CallPhase
from memrig.model.manifest import PodKind
from memrig.report.boots import Boot
from memrig.report.model_audits import AuditsSummary
from memrig.report.model_depth import CalibrationSummary, DepthSummary, OperationSummary
from memrig.report.model_probes import ProbeSummary
from memrig.report.model_timeline import Timeline
from memrig.runs.directory import Execution
from memrig.runs.lock import DataLock, Machine
from memrig.runs.profiles import Division
from memrig.stats.composite import Composite
from memrig.stats.seeds import AcrossSeeds
from memrig.stats.summary import MetricValue

Phase = Literal[
    "pod_start", "pod_ready", "ingest", "flush", "search", "answer", "judge", "teardown"
]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class AdapterSummary(_Frozen):
    """Which memory system, and how it ran. `digest` is its image's; empty without one."""

    name: str
    version: str
    pod: PodKind
    digest: str
    inputs: str
    declared_name: str = ""
    declared_version: str = ""


class Latency(_Frozen):
    """One phase's durations in milliseconds, over `n` calls or episodes."""

    phase: Phase
    n: int
    p50_ms: float
    p95_ms: float
    p99_ms: float
    max_ms: float


class ModelCost(_Frozen):
    """What one model came to in one phase. `usd` is None where it has no known price.

    `purpose` is who called: the memory system itself, the rig's reader or agent, or the judge.
    """

    phase: CallPhase
    purpose: str
    model: str
    calls: int
    attempts: int
    input_tokens: int
    output_tokens: int
    usd: float | None


class AnsweringSummary(_Frozen):
    """How questions were answered and judged.

    `comparable` is False where the reader is built in or the judge is not the protocol's; `why`
    says it. `context_tokens_p50` is what a reader was shown, by the rig's estimate; `context_cut`
    counts questions whose memories did not all fit.
    """

    reader: str
    served_readers: tuple[str, ...]
    prompt: str
    context_limit: int
    context_tokens_p50: float | None
    context_tokens_p95: float | None
    context_cut: int = 0
    budget: str
    judge: str
    served_judges: tuple[str, ...]
    judge_agreement: float | None
    comparable: bool
    why: tuple[str, ...]


class PublishedRow(_Frozen):
    """Somebody else's published number, for the table beside ours.

    `metric` is micro, macro or unspecified; `dated` tells whether `as_of` is when it was published
    or when it was read.
    """

    system: str
    reader: str
    judge: str = ""
    top_k: int | None = None
    metric: str
    value: float
    n: int | None
    source: str
    as_of: str
    dated: str = "published"
    note: str = ""


class Bar(_Frozen):
    """One bar of a histogram: `low` to `high` (exclusive), in the histogram's unit."""

    low: float
    high: float
    count: int


class IngestSummary(_Frozen):
    """What went in. Rates are over the time the streams were open."""

    episodes: int
    stored: int
    duplicate: int
    rejected: int
    items: int
    text_bytes: int
    episodes_per_s: float | None


class QuestionCounts(_Frozen):
    """Questions by what became of them."""

    planned: int
    settled: int
    graded: int
    ungraded: dict[str, int]
    outcomes: dict[str, int]


class ProfileSummary(_Frozen):
    """What a run was made to be, and whether it is; `differences` are what makes it open."""

    name: str
    tier: str
    digest: str
    division: Division
    differences: tuple[str, ...]


class Claims(_Frozen):
    """What the adapter claimed of its hits (docs/protocol.md, sources)."""

    hits: int
    void: int
    derived: int
    surplus: int


class Resources(_Frozen):
    """What the memory system used: CPU seconds of all trials, memory of the largest one."""

    cpu_s: float | None
    peak_memory_bytes: int | None
    rig_peak_memory_bytes: int | None
    wall_s: float


class Audit(_Frozen):
    """The isolation audit's verdict."""

    verdict: Literal["passed", "failed", "n/a", "not run"]
    detail: str


class ShownHit(_Frozen):
    """A hit of a question that is shown in full. `handle` is the name a model was shown it by."""

    rank: int
    text: str
    score: float
    sources: tuple[str, ...]
    relevant: bool
    stale: bool
    handle: str = ""


class ShownEvidence(_Frozen):
    """What should have been found."""

    source: str
    text: str


class ShownVote(_Frozen):
    """One vote of a judge: what it said, or why there is none."""

    score: float | None
    said: str


class ShownVerdict(_Frozen):
    """What a judge decided. `score` is None where too few votes were valid; `reason` says why."""

    task: str
    score: float | None
    reason: str
    votes: tuple[ShownVote, ...]


class ShownCitation(_Frozen):
    """A memory that an answer cites; `relevant` tells that it is evidence."""

    handle: str
    sources: tuple[str, ...]
    text: str
    relevant: bool


class ShownTool(_Frozen):
    """A tool call of an agent, and in short what came of it."""

    name: str
    arguments: str
    result: str
    is_error: bool
    latency_ms: float


class ShownNaive(_Frozen):
    """What the naive opponent said, shown so many of the episodes; with `failure`, nothing."""

    text: str
    failure: str
    episodes: int
    shown: int


class ShownQuestion(_Frozen):
    """A question with what was retrieved for it, and what was answered.

    `rank` is that of the first evidence where one search is graded; None too in modes that search
    as they like. `hits` are those of that search, or the distinct ones of all of an agent's.
    `answer` is None where none was given; `score` is None where none was graded, and `ungraded`
    says why. `reserved_turn` tells that a budget ran out before it; `naive` is its opponent's.
    """

    scenario_id: str
    question_id: str
    category: str
    text: str
    gold: str
    outcome: str
    message: str
    rank: int | None
    latency_ms: float
    asked_at: str = ""
    answer: str | None = None
    confidence: float | None = None
    reserved_turn: bool = False
    naive: ShownNaive | None = None
    score: float | None = None
    ungraded: str = ""
    verdicts: tuple[ShownVerdict, ...] = ()
    citations: tuple[ShownCitation, ...] = ()
    unknown_citations: int = 0
    tools: tuple[ShownTool, ...] = ()
    evidence: tuple[ShownEvidence, ...]
    hits: tuple[ShownHit, ...]


class Report(_Frozen):
    """The whole report.

    `complete` is False when a planned question was not settled or the rig failed one; `labels` are
    what a reader must know before comparing (sample, limit, pooled, process pod); `notes` are what
    was found in the data.
    """

    schema_version: Literal["memrig.report/1"] = "memrig.report/1"
    run_id: str
    lock_digest: str
    memrig_version: str
    complete: bool
    incomplete: str
    labels: tuple[str, ...]
    notes: tuple[str, ...]
    adapter: AdapterSummary
    profile: ProfileSummary | None = None
    suite: str
    protocol: str
    mode: str
    isolation: str
    seeds: tuple[int, ...]
    repeats: int
    top_k: int
    scenarios: int
    headline: tuple[str, ...]
    data: DataLock
    machine: Machine
    questions: QuestionCounts
    metrics: tuple[MetricValue, ...]
    composite: Composite | None = None
    latencies: tuple[Latency, ...]
    search_histogram_ms: tuple[Bar, ...]
    rank_histogram: dict[str, int]
    ingest: IngestSummary
    claims: Claims
    resources: Resources
    answering: AnsweringSummary | None = None
    costs: tuple[ModelCost, ...] = ()
    published: tuple[PublishedRow, ...] = ()
    timeline: Timeline | None = None
    depth: DepthSummary | None = None
    operations: OperationSummary | None = None
    calibration: CalibrationSummary | None = None
    probes: ProbeSummary | None = None
    audit: Audit
    audits: AuditsSummary | None = None
    faults: tuple[str, ...]
    worst: tuple[ShownQuestion, ...]
    across: AcrossSeeds | None = None
    boots: tuple[Boot, ...] = ()
    executions: tuple[Execution, ...]

    def value(self, metric: str, group: str = "overall") -> MetricValue:
        """One metric.

        Raises:
            KeyError: the report has none of this name and group.
        """
        for item in self.metrics:
            if item.metric == metric and item.group == group:
                return item
        raise KeyError(f"{metric} for {group}")
