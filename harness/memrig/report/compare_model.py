"""`memrig compare --json`: runs set side by side, with a published JSON Schema (docs/schema)."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

from memrig.model.manifest import PodKind
from memrig.stats.paired import IntervalRule, TestRule
from memrig.stats.summary import Kind

#: A difference is shown where Holm's p is below it.
ALPHA = 0.05
#: What the pairs say of the other run against the base. "none": no difference shown; "unknown":
#: too few scenarios to say anything.
Verdict = Literal["better", "worse", "none", "unknown"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ComparedRun(_Frozen):
    """One run. `letter` names it in tables; `name` is as short as tells the runs apart.

    `values` are its headline metrics over all its own graded questions, by metric and group, which
    gates look at.
    """

    letter: str
    name: str
    run_id: str
    folder: str
    lock_digest: str
    memrig_version: str
    adapter: str
    version: str
    digest: str
    pod: PodKind
    mode: str
    reader: str
    judge: str
    seeds: tuple[int, ...]
    repeats: int
    complete: bool
    incomplete: str
    labels: tuple[str, ...]
    graded: int
    ungraded: int
    values: dict[str, dict[str, float]]


class Unlike(_Frozen):
    """An input, other than the memory system, in which the runs differ: what each has, in order."""

    field: str
    values: tuple[str, ...]


class PairCounts(_Frozen):
    """How many questions of a run and the base met. A question counts once, whatever its repeats.

    `only_base` and `only_run` were settled in one of them alone; `ungraded` were settled in both
    and not graded in one or both.
    """

    run: str
    pairs: int
    scenarios: int
    only_base: int
    only_run: int
    ungraded: int


class ComparedMetric(_Frozen):
    """One metric of one group: a run less the base, over the questions that both have graded.

    Values are fractions. `p_holm` is `p` adjusted over all rows of the same kind (overall, macro,
    tag, category). `mde` is the least difference that had been shown four times in five by this
    one test. `ties` of the `n` pairs do not differ. The rest is as in docs/compare.md; None where
    it cannot be given.
    """

    run: str
    metric: str
    group: str
    kind: Kind
    base_value: float
    run_value: float
    difference: float
    low: float | None
    high: float | None
    interval: IntervalRule
    p: float | None
    p_holm: float | None
    test: TestRule
    p_permutation: float | None
    smallest_p: float | None
    effect: float | None
    error: float | None
    mde: float | None
    n: int
    ties: int
    scenarios: int
    verdict: Verdict


class GateResult(_Frozen):
    """One gate on one run: whether it is met, and the figures that say so."""

    gate: str
    run: str
    met: bool
    said: str


class Comparison(_Frozen):
    """The whole comparison; the first run is the base of every difference."""

    schema_version: Literal["memrig.compare/1"] = "memrig.compare/1"
    memrig_version: str
    suite: str
    protocol: str
    metrics: tuple[str, ...]
    runs: tuple[ComparedRun, ...]
    unlike: tuple[Unlike, ...] = ()
    notes: tuple[str, ...] = ()
    pairs: tuple[PairCounts, ...] = ()
    rows: tuple[ComparedMetric, ...] = ()
    gates: tuple[GateResult, ...] = ()

    @property
    def failed(self) -> tuple[GateResult, ...]:
        """The gates that were not met."""
        return tuple(gate for gate in self.gates if not gate.met)

    def row(self, metric: str, group: str = "overall", run: str = "B") -> ComparedMetric:
        """One difference.

        Raises:
            KeyError: the comparison has none of this metric, group and run.
        """
        for item in self.rows:
            if (item.metric, item.group, item.run) == (metric, group, run):
                return item
        raise KeyError(f"{metric} for {group} of {run}")
