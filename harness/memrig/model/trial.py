"""What one trial is asked to do, hashed by content, and what it comes to."""

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from memrig.model.canonical import digest_of, short
from memrig.model.manifest import AdapterRef, AnswerMode
from memrig.model.scenario import ScenarioRef

Mode = AnswerMode
Isolation = Literal["fresh", "reset", "pooled"]
TrialKind = Literal["scored", "isolation-audit", "audits"]

_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Deadlines(_Frozen):
    """Seconds that each call may take (docs/protocol.md, Deadlines)."""

    capabilities: float = Field(default=5, gt=0, allow_inf_nan=False)
    reset: float = Field(default=30, gt=0, allow_inf_nan=False)
    ingest_idle: float = Field(default=30, gt=0, allow_inf_nan=False)
    ingest: float = Field(default=3600, gt=0, allow_inf_nan=False)
    flush: float = Field(default=600, gt=0, allow_inf_nan=False)
    search: float = Field(default=10, gt=0, allow_inf_nan=False)
    retrieve: float = Field(default=10, gt=0, allow_inf_nan=False)
    answer: float = Field(default=120, gt=0, allow_inf_nan=False)
    call_tool: float = Field(default=30, gt=0, allow_inf_nan=False)


class Budget(_Frozen):
    """What one question may use. A limit hit is a result, not an error.

    Args:
        preset: its name where it is one of `PRESETS`.
        wall_time_s: seconds from asking to answer, models' replies included; waiting for the rig,
            and what a provider loses by failing, is not.
        payload_bytes: bytes that the memory system may return, all calls of the question together.
        turns: replies of an agent that may call tools; the reserved final one comes on top.
        tool_calls: calls that an agent may make.
        tokens: tokens that models may be sent and return for the question, without the reserved
            final turn; None: no limit.
        usd: money that models may cost for the question; None: no limit.
    """

    preset: str = ""
    wall_time_s: float = Field(default=30, gt=0)
    payload_bytes: int = Field(default=4 * 1024**2, gt=0)
    turns: int = Field(default=8, ge=1)
    tool_calls: int = Field(default=16, ge=1)
    tokens: int | None = Field(default=None, gt=0)
    usd: float | None = Field(default=None, gt=0)


#: `--budget NAME`. The numbers of turns, calls and bytes follow LENS where it has such a preset.
PRESETS: Mapping[str, Budget] = {
    "fast": Budget(
        preset="fast",
        wall_time_s=60,
        payload_bytes=32 * 1024,
        turns=5,
        tool_calls=10,
        tokens=16_384,
    ),
    "standard": Budget(
        preset="standard",
        wall_time_s=180,
        payload_bytes=64 * 1024,
        turns=8,
        tool_calls=16,
        tokens=65_536,
    ),
    "extended": Budget(
        preset="extended",
        wall_time_s=600,
        payload_bytes=128 * 1024,
        turns=20,
        tool_calls=50,
        tokens=262_144,
    ),
    "constrained": Budget(
        preset="constrained",
        wall_time_s=120,
        payload_bytes=8 * 1024,
        turns=4,
        tool_calls=4,
        tokens=16_384,
    ),
}

PromptStyle = Literal["direct", "step-by-step", "cited"]


class AnswerSpec(_Frozen):
    """How questions become answers, in every mode but retrieval.

    Args:
        model: the reader's or agent's; in mode native the naive opponent's, or empty.
        prompt: the instruction's style.
        prompts: sha256 of the prompt texts in use, so that a changed prompt is another trial.
        context_tokens: the most tokens of memories that a reader is shown, by `estimate_tokens`.
        max_output_tokens: of each reply.
    """

    model: str = ""
    prompt: PromptStyle = "direct"
    prompts: str = ""
    context_tokens: int = Field(default=16_000, ge=100)
    max_output_tokens: int = Field(default=500, ge=1)


class TrialSpec(_Frozen):
    """Adapter × scenarios × seed × repeat × mode, frozen.

    Isolation `fresh` gives a trial one scenario; `reset` gives one trial all of them, with a Reset
    between; `pooled` gives it one scenario that holds all memories together.

    With `naive`, every question is also put to the same model with all episodes so far in its
    context, newest kept: what the answer under test is measured against.
    """

    format: Literal["memrig.trial/1"] = "memrig.trial/1"
    kind: TrialKind = "scored"
    suite: str
    protocol: str
    mode: Mode = "retrieval"
    adapter: AdapterRef
    scenarios: tuple[ScenarioRef, ...] = Field(min_length=1)
    isolation: Isolation = "fresh"
    seed: int
    repeat: int = Field(default=0, ge=0)
    top_k: int = Field(default=10, ge=1, le=1000)
    deadlines: Deadlines = Deadlines()
    budget: Budget = Budget()
    answer: AnswerSpec | None = None
    naive: bool = False

    @cached_property
    def trial_id(self) -> str:
        """A readable name that ends in the hash of the whole spec."""
        head = self.scenarios[0].scenario_id if len(self.scenarios) == 1 else "all"
        safe = _UNSAFE.sub("-", head)[:40].lstrip("-") or "scenario"
        names = {"isolation-audit": "audit", "audits": f"audits-{safe}"}
        name = names.get(self.kind, safe)
        return f"{name}-s{self.seed}-r{self.repeat}-{short(digest_of(self))}"

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """As pydantic's, but a changed copy has an id of its own: the cached one is not copied."""
        copy = super().model_copy(update=update, deep=deep)
        copy.__dict__.pop("trial_id", None)
        return copy


OutcomeStatus = Literal[
    "answered",
    "abstained",
    "budget_exceeded",
    "adapter_error",
    "adapter_crashed",
    "timeout",
    "harness_error",
]


class Outcome(_Frozen):
    """How a question ended. `kind` is the budget, status code or crash that ended it."""

    status: OutcomeStatus
    kind: str = ""
    message: str = ""

    @property
    def label(self) -> str:
        """The status with its kind, such as ``adapter_crashed(oom)``."""
        return f"{self.status}({self.kind})" if self.kind else self.status

    @property
    def adapters_fault(self) -> bool:
        """Scored 0 under its own name."""
        return self.status in {"adapter_error", "adapter_crashed", "timeout"}


class TrialOutcome(_Frozen):
    """`outcome.json`: the seal of a finished trial.

    `head` is the hash of the transcript's last line: with it, no line can be changed, dropped or
    added unseen. `attempts` counts starts, the first included.
    """

    format: Literal["memrig.outcome/1"] = "memrig.outcome/1"
    trial_id: str
    spec_digest: str
    head: str
    records: int
    questions: int
    attempts: int
    statuses: dict[str, int]
