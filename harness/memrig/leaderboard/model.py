"""`board.json`: every submission of a leaderboard, and every figure that its pages show."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict

from memrig.model.manifest import PodKind
from memrig.runs.lock import Machine
from memrig.submission.model import CheckResult, Division, Tier


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class BoardScore(_Frozen):
    """One number over all questions, as a fraction, with its 95 % interval where there is one."""

    metric: str
    value: float | None
    low: float | None
    high: float | None
    n: int


class BoardCost(_Frozen):
    """What a run took.

    `usd` is what models cost, the memory system's own and the reader's, without judge and naive
    opponent: for the whole run, and for each 1,000 questions. None where a price is not known.
    `cpu_s` are the pod's CPU seconds for each 1,000 questions. Durations in milliseconds; the
    answer's is the model's part. `context_tokens` is the median that a reader was shown.
    """

    usd: float | None
    usd_per_1000: float | None
    cpu_s_per_1000: float | None
    peak_memory_bytes: int | None
    search_p50_ms: float | None
    search_p95_ms: float | None
    answer_p50_ms: float | None
    context_tokens: float | None
    episodes_per_s: float | None


class BoardRun(_Frozen):
    """One run of a submission: a row of a table.

    `asked` is the digest of the questions with their memories, under their seeds: only rows with
    the same one stand in one table. `page` is where it is shown, from the site's first page.
    """

    number: int
    run_id: str
    lock_digest: str
    suite: str
    protocol: str
    mode: str
    data: str
    asked: str
    isolation: str
    top_k: int
    seeds: tuple[int, ...]
    repeats: int
    reader: str
    judge: str
    labels: tuple[str, ...]
    complete: bool
    planned: int
    graded: int
    score: BoardScore
    headline: tuple[BoardScore, ...]
    cost: BoardCost
    page: str


class AuditMark(_Frozen):
    """An organiser's rerun that was put beside a submission: who signed it, and what it says."""

    file: str
    key: str
    passed: bool
    said: str


class Entry(_Frozen):
    """One submission that verified.

    `id` names its page for good: it is made of the manifest's digest and the signer's key.
    Everything from `title` to `changed` is what the submitter says, and nobody has verified it.
    `shared` are the ids of other submissions that hold a transcript that this one holds too.
    """

    id: str
    archive: str
    archive_sha256: str
    manifest_digest: str
    key: str
    title: str
    submitter: str
    url: str
    changed: str
    adapter: str
    version: str
    pod: PodKind
    images: dict[str, str]
    memrig_version: str
    profile: str
    profile_digest: str
    division: Division
    differences: tuple[str, ...]
    tier: Tier
    audits: tuple[AuditMark, ...]
    checks: tuple[CheckResult, ...]
    machine: Machine
    engine: dict[str, str]
    limits: dict[str, str]
    first: datetime
    last: datetime
    shared: tuple[str, ...]
    runs: tuple[BoardRun, ...]


class Refused(_Frozen):
    """An archive that is not listed, and why: the checks that it failed, or what it repeats."""

    archive: str
    archive_sha256: str
    reasons: tuple[str, ...]


class Board(_Frozen):
    """The whole leaderboard. The same archives give the same bytes."""

    schema_version: Literal["memrig.board/1"] = "memrig.board/1"
    memrig_version: str
    title: str
    entries: tuple[Entry, ...]
    refused: tuple[Refused, ...] = ()
