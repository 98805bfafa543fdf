"""The part of `report.json` that says how a memory system does in operation: what probes found."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

from memrig.report.model_depth import Estimate
from memrig.stats.power import PowerFit

ProbeKind = Literal["usage", "load", "freshness", "restart", "leak", "outage"]
RestartVerdict = Literal["kept", "lost some", "lost all", "not back", "n/a"]
LeakVerdict = Literal["passed", "failed", "n/a"]
NoteKind = Literal["failed", "skipped"]
OutageVerdict = Literal["recovered", "in part", "not recovered", "not met", "n/a"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Timing(_Frozen):
    """Durations in milliseconds, over `n` of them."""

    n: int
    p50_ms: float
    p95_ms: float
    max_ms: float


class LoadFigures(_Frozen):
    """Searches by so many clients at once, over all trials.

    `timing` is of the calls that came back well, `per_s` how many of them did in a second of all
    clients' time together. `recall` is the share of searches that found what they looked for.
    """

    clients: int
    calls: int
    errors: int
    timing: Timing | None
    per_s: float | None
    recall: float | None


class GrowthRow(_Frozen):
    """A memory at one size, given in episodes; means over `trials`.

    `memory_bytes` is what the pod used, `file_bytes` what of it is files in memory and shared
    memory. `bytes_per_1000` is the growth over the empty pod for each 1,000 episodes,
    `marginal_per_1000` that since the size before.
    `episodes_per_s` is of what was ingested since the size before, its barrier included. Calls,
    tokens and money are of the memory's own models since its start. None: not measured.
    """

    episodes: int
    trials: int
    items: int | None
    memory_bytes: int | None
    file_bytes: int | None
    bytes_per_1000: float | None
    marginal_per_1000: float | None
    cpu_s: float | None
    episodes_per_s: float | None
    model_calls: int | None
    tokens: int | None
    usd: float | None
    loads: tuple[LoadFigures, ...]
    recall: Estimate | None


class GrowthSummary(_Frozen):
    """How memory and searches grow with size.

    `empty_bytes` is what the pod used before the first episode. `memory` is the exponent of the
    growth over that, `latency` the exponent of the p50 of a single client's searches, both over
    the points of every trial. `recall` names the metric of the rows; empty: no question there.
    """

    empty_bytes: int | None
    recall: str
    rows: tuple[GrowthRow, ...]
    memory: PowerFit
    latency: PowerFit


class FreshnessSummary(_Frozen):
    """How soon an acknowledged episode is found, without a barrier.

    Of `asked`, `found` were found by themselves, in the time `visible` from their acknowledgement;
    `after_flush` only once the barrier was passed, the others never.
    """

    trials: int
    asked: int
    found: int
    after_flush: int
    visible: Timing | None


class RestartRow(_Frozen):
    """A container that was killed and started again, over `trials`.

    `down` is from the kill to the first search that worked. Recall is the share of searches that
    found what had been told before the kill; `acks_after` the share of episodes told after it that
    were stored. `verdict` is about what was known before.
    """

    subject: str
    trials: int
    down: Timing | None
    recall_before: float | None
    recall_after: float | None
    acks_after: float | None
    verdict: RestartVerdict


class LeakSummary(_Frozen):
    """Whether anything of one scope was found after Reset, in `asked` searches of the next.

    `recall_before` is the share of these searches that found it before: where none did, that
    nothing is found afterwards proves nothing. `leaks` counts hits.
    """

    verdict: LeakVerdict
    asked: int
    leaks: int
    recall_before: float | None


class OutageRow(_Frozen):
    """A memory while its models were `fault`, and once they were back; sums over `trials`.

    `met` counts the model calls that met the fault. Of `episodes` told meanwhile, `acked` were
    acknowledged as stored and `rejected` as not; `search_ok` and `search_errors` count searches
    meanwhile, `errors` every call that failed then. Recall is asked once the models are back: of
    what was told meanwhile (`recall_outage`) and since (`recall_after`), when `acked_after` of
    `episodes_after` were stored and `errors_after` calls failed. `verdict` is about that time.
    """

    fault: str
    trials: int
    met: int
    episodes: int
    acked: int
    rejected: int
    errors: int
    search_ok: int
    search_errors: int
    recall_outage: float | None
    recall_after: float | None
    episodes_after: int
    acked_after: int
    errors_after: int
    verdict: OutageVerdict


class ProbeNote(_Frozen):
    """A probe that could not be carried out to its end, or says nothing of this system."""

    kind: NoteKind
    probe: ProbeKind
    scenario_id: str
    probe_id: str
    subject: str
    text: str


class ProbeSummary(_Frozen):
    """What the probes of a run found; None or empty where there were none of a kind."""

    growth: GrowthSummary | None
    freshness: FreshnessSummary | None
    restarts: tuple[RestartRow, ...]
    leak: LeakSummary | None
    outages: tuple[OutageRow, ...]
    notes: tuple[ProbeNote, ...]
