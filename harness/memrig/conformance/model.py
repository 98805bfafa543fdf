"""What a conformance run comes to: one result a check, published as JSON (docs/schema)."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from memrig.model.manifest import PodKind

Status = Literal["passed", "failed", "not_applicable", "error"]
STATUSES: tuple[Status, ...] = ("passed", "failed", "not_applicable", "error")
#: What the command ends with when a check failed or could not be carried out.
EXIT_FAILED = 4


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class CheckResult(_Frozen):
    """What became of one check.

    `failed` is a verdict on the adapter. `error` is none: the check itself broke, or the memory
    could not be prepared for it. `not_applicable` says in `message` why it was not asked.
    """

    id: str
    title: str
    reason: str
    spec: str
    status: Status
    message: str = ""
    expected: str = ""
    got: str = ""
    seconds: float = Field(ge=0)


class Subject(_Frozen):
    """Which adapter was checked: as resolved, and as it declares itself."""

    name: str
    version: str
    pod: PodKind
    images: dict[str, str]
    endpoint: str | None
    declared_name: str
    declared_version: str
    contract_version: str


class ConformanceReport(_Frozen):
    """Every result, in the order of the checks. `left_out` names the checks that were not chosen.

    An adapter conforms when nothing failed and nothing broke.
    """

    format: Literal["memrig.conformance/1"] = "memrig.conformance/1"
    memrig_version: str
    adapter: Subject
    conforms: bool
    counts: dict[Status, int]
    results: tuple[CheckResult, ...]
    left_out: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """0 if the adapter conforms, else 4."""
        return 0 if self.conforms else EXIT_FAILED


def conclude(
    memrig_version: str,
    adapter: Subject,
    results: tuple[CheckResult, ...],
    left_out: tuple[str, ...],
) -> ConformanceReport:
    """Counts the results and draws the conclusion."""
    counts = {status: sum(r.status == status for r in results) for status in STATUSES}
    return ConformanceReport(
        memrig_version=memrig_version,
        adapter=adapter,
        conforms=counts["failed"] == counts["error"] == 0,
        counts=counts,
        results=results,
        left_out=left_out,
    )
