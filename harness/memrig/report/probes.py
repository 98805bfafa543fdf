"""What a run's probes say together: growth with size, and what befell the memory."""

from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean

from memrig.grading.base import Metric
from memrig.model.transcript import ProbeRecord
from memrig.report.estimates import Estimator
from memrig.report.model_depth import Estimate
from memrig.report.model_probes import (
    GrowthRow,
    GrowthSummary,
    LoadFigures,
    NoteKind,
    ProbeNote,
    ProbeSummary,
)
from memrig.report.probe_log import ProbeLog, Taken
from memrig.report.probe_values import mean_of, samples_of, sum_of, timing, whole_of
from memrig.report.probes_events import freshness_of, leak_of, outages_of, restarts_of
from memrig.report.settled import Settled, recall_name
from memrig.stats.power import PowerFit, fit_power, no_fit

_NS = 1e9
#: Of the empty pod. What grows less than this may be anything, such as a library loaded late.
_LEAST_GROWTH = 0.05


def probe_summary(
    log: ProbeLog, settled: Sequence[Settled], metrics: Sequence[Metric], seed: int
) -> ProbeSummary | None:
    """Everything that probes measured; None where a run has none.

    Args:
        log: the probes.
        settled: every question of the run.
        metrics: the protocol's.
        seed: of the intervals' draws.
    """
    if not log.taken:
        return None
    said = [item for item in log.taken if not item.record.skipped]
    records = [item.record for item in said]
    return ProbeSummary(
        growth=_growth(said, settled, metrics, seed),
        freshness=freshness_of(_of(records, "freshness")),
        restarts=restarts_of(_of(records, "restart")),
        leak=leak_of(_of(records, "leak")),
        outages=outages_of(_of(records, "outage")),
        # Each thing once, however many trials it happened in.
        notes=tuple(dict.fromkeys(_notes(log.taken))),
    )


def _of(records: Iterable[ProbeRecord], probe: str) -> list[ProbeRecord]:
    return [record for record in records if record.probe == probe]


def _notes(taken: Iterable[Taken]) -> Iterator[ProbeNote]:
    """What probes say of themselves."""
    for item in taken:
        record = item.record
        texts: tuple[tuple[NoteKind, str], ...] = (
            ("failed", record.failure),
            ("skipped", record.skipped),
        )
        for kind, text in texts:
            if text:
                yield ProbeNote(
                    kind=kind,
                    probe=record.probe,
                    scenario_id=record.scenario_id,
                    probe_id=record.probe_id,
                    subject=record.subject,
                    text=text,
                )


def _growth(
    said: Sequence[Taken], settled: Sequence[Settled], metrics: Sequence[Metric], seed: int
) -> GrowthSummary | None:
    usage = [item for item in said if item.record.probe == "usage"]
    loads = [item for item in said if item.record.probe == "load"]
    sizes = sorted({item.record.episodes for item in (*usage, *loads)} - {0})
    if not sizes:
        return None
    places = {item.record.scenario_id for item in (*usage, *loads)}
    asked = [row for row in settled if row.graded and row.grade.scenario_id in places]
    recall = recall_name(asked)
    estimator = Estimator(metrics, recall, seed)
    empty = _empty(usage)
    bytes_empty = round(fmean(empty.values())) if empty else None

    def row_of(size: int) -> GrowthRow:
        there = [row.grade for row in asked if row.before == size]
        return _row(
            size,
            [item for item in usage if item.record.episodes == size],
            [item for item in loads if item.record.episodes == size],
            empty,
            estimator.mean(there, f"size {size}"),
        )

    return GrowthSummary(
        empty_bytes=bytes_empty,
        recall=recall,
        rows=_with_margins(tuple(map(row_of, sizes)), bytes_empty),
        memory=_memory_fit(_over_empty(usage, empty), empty),
        latency=fit_power(_medians(loads)),
    )


def _empty(usage: Iterable[Taken]) -> dict[str, float]:
    """By trial, what its pod used before the first episode."""
    return {
        item.trial_id: item.record.values["memory_bytes"]
        for item in usage
        if item.record.episodes == 0 and "memory_bytes" in item.record.values
    }


def _over_empty(usage: Iterable[Taken], empty: dict[str, float]) -> list[tuple[float, float]]:
    return [
        (item.record.episodes, item.record.values["memory_bytes"] - empty[item.trial_id])
        for item in usage
        if item.record.episodes and item.trial_id in empty and "memory_bytes" in item.record.values
    ]


def _memory_fit(points: list[tuple[float, float]], empty: dict[str, float]) -> PowerFit:
    """The exponent, unless all growth is about what a process gains by being used at all."""
    if not empty:
        return no_fit("the empty pod was not measured")
    most = max((more for _, more in points), default=0.0)
    if most < _LEAST_GROWTH * fmean(empty.values()):
        share = f"{100 * _LEAST_GROWTH:.0f} %"
        return no_fit(f"too little to tell: it never takes {share} more than the empty pod")
    return fit_power(points)


def _medians(loads: Iterable[Taken]) -> list[tuple[float, float]]:
    """The p50 of a single client's searches, milliseconds, by size and trial."""
    return [
        (item.record.episodes, found.p50_ms)
        for item in loads
        if item.record.values.get("clients") == 1
        and (found := timing(item.record.samples_ns.get("search", ())))
    ]


def _row(
    size: int,
    usage: Sequence[Taken],
    loads: Sequence[Taken],
    empty: dict[str, float],
    recall: Estimate | None,
) -> GrowthRow:
    records = [item.record for item in usage]
    over = [more / size * 1000 for _, more in _over_empty(usage, empty)]
    ingested = sum(item.since.episodes for item in usage)
    seconds = sum(item.since.ns for item in usage) / _NS
    items = [record.items for record in records if record.items is not None]
    return GrowthRow(
        episodes=size,
        trials=len({item.trial_id for item in (*usage, *loads)}),
        items=round(fmean(items)) if items else None,
        memory_bytes=whole_of(records, "memory_bytes"),
        file_bytes=whole_of(records, "file_bytes"),
        bytes_per_1000=round(fmean(over), 1) if over else None,
        marginal_per_1000=None,
        cpu_s=mean_of(records, "cpu_s"),
        episodes_per_s=round(ingested / seconds, 1) if ingested and seconds else None,
        model_calls=whole_of(records, "model_calls"),
        tokens=whole_of(records, "model_tokens"),
        usd=mean_of(records, "model_usd"),
        loads=tuple(_loads([item.record for item in loads])),
        recall=recall,
    )


def _with_margins(rows: tuple[GrowthRow, ...], empty: int | None) -> tuple[GrowthRow, ...]:
    """Each row with what its memory grew by since the row before, the empty pod for the first."""
    found: list[GrowthRow] = []
    size, held = 0, empty
    for row in rows:
        margin = None
        if row.memory_bytes is not None and held is not None:
            margin = round((row.memory_bytes - held) / (row.episodes - size) * 1000, 1)
        found.append(row.model_copy(update={"marginal_per_1000": margin}))
        size, held = row.episodes, row.memory_bytes
    return tuple(found)


def _loads(records: Sequence[ProbeRecord]) -> Iterator[LoadFigures]:
    for clients in sorted({round(record.values.get("clients", 1)) for record in records}):
        some = [record for record in records if record.values.get("clients", 1) == clients]
        calls, errors = sum_of(some, "calls"), sum_of(some, "errors")
        wall_s = sum(record.values.get("wall_s", 0) for record in some)
        yield LoadFigures(
            clients=clients,
            calls=calls,
            errors=errors,
            timing=timing(samples_of(some, "search")),
            per_s=round((calls - errors) / wall_s, 1) if wall_s else None,
            recall=mean_of(some, "recall"),
        )
