"""The part of `report.json` that says what the audits found (docs/runs.md, Audits)."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

from memrig.model.transcript import AuditName

AuditVerdict = Literal["passed", "failed", "n/a"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class AuditRow(_Frozen):
    """One audit over all trials of it. `values` are named in docs/formats.md.

    `detail` says what was measured, and the bound that the verdict hangs on.
    """

    audit: AuditName | Literal["judge"]
    verdict: AuditVerdict
    detail: str
    values: dict[str, float]


class AuditsSummary(_Frozen):
    """All audits of a run, and how many trials they took."""

    trials: int
    rows: tuple[AuditRow, ...]

    @property
    def failed(self) -> tuple[str, ...]:
        """Names of those that were not passed."""
        return tuple(row.audit for row in self.rows if row.verdict == "failed")

    @property
    def label(self) -> str:
        """What a reader must know of it; empty where nothing failed."""
        return f"audits failed: {', '.join(self.failed)}" if self.failed else ""
