"""What an organiser's rerun of a submission came to, as a signed record (`NAME.audit.json`).

A leaderboard reads `manifest_digest`, `passed` and `summary` of it; the rest is for people, and for
whoever wants to make the same draw again.
"""

from datetime import datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memrig.errors import DataError, VerificationError
from memrig.model.canonical import canonical_json
from memrig.model.manifest import PodKind
from memrig.report.model_audits import AuditRow
from memrig.runs.lock import Machine
from memrig.submission.keys import Key, verify_signature
from memrig.submission.model import Signature
from memrig.trial.directory import write_aside

SUFFIX = ".audit.json"

#: exact: every grade of every question is the same; statistical: means agree within bounds.
Rule = Literal["exact", "statistical"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Tolerance(_Frozen):
    """How far a run may be from what was claimed of it; fixed before anything is run again.

    `metrics` are the protocol's headlines; of each, means are compared. `metric` is the one among
    them that cells are compared by. `margin` bounds the difference of the means over all cells of
    the run, `fresh_margin` how much more may be claimed than fresh seeds give; both are fractions.
    """

    run_id: str
    rule: Rule
    why: str
    metric: str
    metrics: tuple[str, ...]
    margin: float
    fresh_margin: float


class AuditSystem(_Frozen):
    """Which memory system was run, and how it came to be here. `images` are by digest."""

    name: str
    version: str
    pod: PodKind
    images: dict[str, str] = Field(default_factory=dict)
    inputs: dict[str, str] = Field(default_factory=dict)
    how: str


class Deviation(_Frozen):
    """A question whose grade is another one, and in what: ``field: claimed → again``."""

    scenario_id: str
    question_id: str
    fields: tuple[str, ...]


class CellResult(_Frozen):
    """A trial that was run again. Means are of the tolerance's metric; None where nothing has it.

    `bound` is how far the means may be apart: of rule exact 0, and then no grade may differ.
    Times of a search, milliseconds, are medians; they decide nothing.
    """

    run_id: str
    trial_id: str
    again_trial_id: str
    questions: int
    differing: int
    claimed: float | None
    again: float | None
    bound: float
    agrees: bool
    deviations: tuple[Deviation, ...] = ()
    claimed_search_ms: float | None = None
    again_search_ms: float | None = None


class MetricResult(_Frozen):
    """A headline metric's mean as it was claimed, and as it was found.

    `low` and `high` are the 95 % interval of claimed less found; None where nothing can be said,
    or where no question may differ to begin with.
    """

    metric: str
    claimed: float | None
    found: float | None
    low: float | None = None
    high: float | None = None
    agrees: bool


class RunResult(_Frozen):
    """All cells of a run together, over the same questions in pairs."""

    run_id: str
    questions: int
    differing: int
    metrics: tuple[MetricResult, ...]
    agrees: bool


class FreshResult(_Frozen):
    """A run under seeds that nobody could know before.

    `made` tells what the seeds made: worlds of their own, or the same data under other ids. Where
    the questions are the same ones, means are compared in pairs, else over all that were claimed.
    `audits` are those of the fresh audits trial; of them the canary's verdict decides.
    """

    run_id: str
    made: Literal["worlds", "ids"]
    seeds: tuple[int, ...]
    trials: tuple[str, ...]
    claimed_questions: int
    questions: int
    metrics: tuple[MetricResult, ...]
    agrees: bool
    audits: tuple[AuditRow, ...] = ()


class RerunAudit(_Frozen):
    """Everything that an organiser's rerun found. `draw` makes all its random choices again."""

    manifest_digest: str
    archive: str
    submitter_key: str
    passed: bool
    summary: str
    memrig_version: str
    draw: int
    cells_asked: int
    fresh_seeds: bool
    system: AuditSystem
    machine: Machine
    engine: dict[str, str] = Field(default_factory=dict)
    started_at: datetime
    ended_at: datetime
    tolerances: tuple[Tolerance, ...]
    cells: tuple[CellResult, ...]
    runs: tuple[RunResult, ...]
    fresh: tuple[FreshResult, ...] = ()
    notes: tuple[str, ...] = ()


class SignedAudit(_Frozen):
    """The file. The signature is over the audit's RFC 8785 bytes."""

    format: Literal["memrig.audit/1"] = "memrig.audit/1"
    audit: RerunAudit
    signature: Signature


def write_audit(path: Path, audit: RerunAudit, key: Key) -> SignedAudit:
    """Signs an audit and writes it, whole or not at all.

    Raises:
        InfrastructureError: the file cannot be written.
    """
    signed = SignedAudit(audit=audit, signature=key.sign(canonical_json(audit)))
    write_aside(path, canonical_json(signed) + b"\n")
    return signed


def read_audit(path: Path) -> SignedAudit:
    """Reads a record.

    Raises:
        DataError: the file is no audit record.
        VerificationError: it is not what its key signed.
    """
    try:
        signed = SignedAudit.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        reason = error.strerror if isinstance(error, OSError) else "wrong or missing fields"
        fix = "`memrig submission rerun` writes them"
        raise DataError(f"is no audit record ({reason})", where=str(path), fix=fix) from error
    if not verify_signature(signed.signature, canonical_json(signed.audit)):
        message = "its signature is not of what it says: it was changed since it was signed"
        raise VerificationError(message, where=str(path))
    return signed
