"""The part of `report.json` that follows a memory over time: checkpoints and their questions."""

from pydantic import BaseModel, ConfigDict


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class TimelineCell(_Frozen):
    """One kind of question at one checkpoint. `score` is None where nothing could be scored."""

    category: str
    n: int
    score: float | None


class Evidence(_Frozen):
    """Episodes, counted over questions: needed for a right answer, and of these found and cited."""

    required: int
    retrieved: int
    cited: int


class Spent(_Frozen):
    """What a question used, or the mean of what several did."""

    tool_calls: float
    payload_bytes: float
    tokens: float
    wall_s: float


class TimelineLimits(_Frozen):
    """What each question may use; None: no limit."""

    tool_calls: int
    payload_bytes: int
    tokens: int | None
    wall_s: float


class TimelineCheckpoint(_Frozen):
    """All questions of one checkpoint, the n-th of every scenario that has so many.

    `first` and `last` are the fewest and the most episodes that came before it. `exceeded` counts
    questions by the limit that ended them.
    """

    number: int
    first: int
    last: int
    n: int
    score: float | None
    cells: tuple[TimelineCell, ...]
    evidence: Evidence
    spent: Spent
    exceeded: dict[str, int]


class TimelineCall(_Frozen):
    """A call of a tool. `handles` are the memories that it returned, `more` counts further ones.

    `note` is its result where that names no memory, or its error.
    """

    name: str
    arguments: str
    handles: tuple[str, ...]
    more: int
    note: str
    is_error: bool
    payload_bytes: int
    latency_ms: float


class TimelineMemory(_Frozen):
    """A memory that was shown, by the handle it was shown by."""

    handle: str
    date: str
    evidence: bool
    cited: bool


class TimelineFact(_Frozen):
    """A key fact, and how far the answer states it."""

    text: str
    score: float


class TimelineQuestion(_Frozen):
    """One question at its checkpoint: what was looked for, what came, what was made of it.

    Long texts are cut. `more_calls` counts calls that are left out.
    """

    scenario_id: str
    question_id: str
    repeat: int
    category: str
    checkpoint: int
    episodes: int
    text: str
    outcome: str
    score: float | None
    evidence: Evidence
    spent: Spent
    calls: tuple[TimelineCall, ...]
    more_calls: int
    memories: tuple[TimelineMemory, ...]
    answer: str | None
    unknown_citations: int
    facts: tuple[TimelineFact, ...]
    gold: str


class Timeline(_Frozen):
    """How a memory did over time. `metric` is what `score` is; `left_out` counts questions."""

    metric: str
    categories: tuple[str, ...]
    limits: TimelineLimits
    checkpoints: tuple[TimelineCheckpoint, ...]
    questions: tuple[TimelineQuestion, ...]
    left_out: int
