"""What probes found of freshness, restarts, leaks and outages, over all trials of a run."""

from collections.abc import Sequence
from typing import get_args

from memrig.model.scenario import ModelFault
from memrig.model.transcript import ProbeRecord
from memrig.report.model_probes import (
    FreshnessSummary,
    LeakSummary,
    LeakVerdict,
    OutageRow,
    OutageVerdict,
    RestartRow,
    RestartVerdict,
)
from memrig.report.probe_values import mean_of, samples_of, sum_of, timing


def freshness_of(records: Sequence[ProbeRecord]) -> FreshnessSummary | None:
    """How soon what was acknowledged is found; None without a probe of it."""
    if not records:
        return None
    return FreshnessSummary(
        trials=len(records),
        asked=sum_of(records, "asked"),
        found=sum_of(records, "found"),
        after_flush=sum_of(records, "found_after_flush"),
        visible=timing(samples_of(records, "visible")),
    )


def restarts_of(records: Sequence[ProbeRecord]) -> tuple[RestartRow, ...]:
    """A row a container, in the order in which they were killed."""
    subjects = dict.fromkeys(record.subject for record in records)
    return tuple(_restart(name, [r for r in records if r.subject == name]) for name in subjects)


def _restart(subject: str, records: Sequence[ProbeRecord]) -> RestartRow:
    before, after = mean_of(records, "recall_before"), mean_of(records, "recall_after")
    failed = any(record.failure for record in records)
    return RestartRow(
        subject=subject,
        trials=len(records),
        down=timing(samples_of(records, "down")),
        recall_before=before,
        recall_after=after,
        acks_after=mean_of(records, "acks_after"),
        verdict=_kept(before, after, failed=failed),
    )


def _kept(before: float | None, after: float | None, *, failed: bool) -> RestartVerdict:
    if after is None:
        return "not back" if failed else "n/a"
    if not before:
        return "n/a"  # nothing was known that could have been lost
    if after >= before:
        return "kept"
    return "lost some" if after else "lost all"


def leak_of(records: Sequence[ProbeRecord]) -> LeakSummary | None:
    """Whether one scope's words came up in the next; None without a probe of it."""
    if not records:
        return None
    asked, leaks = sum_of(records, "asked"), sum_of(records, "leaks")
    proves = asked and all(_proves(record) for record in records)
    verdict: LeakVerdict = "failed" if leaks else "passed" if proves else "n/a"
    before = mean_of(records, "recall_before")
    return LeakSummary(verdict=verdict, asked=asked, leaks=leaks, recall_before=before)


def _proves(record: ProbeRecord) -> bool:
    """Whether every search worked, and could have found something."""
    return not record.failure and record.values.get("recall_before", 0) > 0


def outages_of(records: Sequence[ProbeRecord]) -> tuple[OutageRow, ...]:
    """A row a fault, the mildest first."""
    known = get_args(ModelFault)
    faults = sorted(
        {record.subject for record in records},
        key=lambda fault: (known.index(fault) if fault in known else len(known), fault),
    )
    return tuple(_outage(name, [r for r in records if r.subject == name]) for name in faults)


def _outage(fault: str, records: Sequence[ProbeRecord]) -> OutageRow:
    search_errors = sum_of(records, "search_errors")
    others = sum_of(records, "ingest_errors") + sum_of(records, "flush_errors")
    row = OutageRow(
        fault=fault,
        trials=len(records),
        met=sum_of(records, "met"),
        episodes=sum_of(records, "episodes"),
        acked=sum_of(records, "acked"),
        rejected=sum_of(records, "rejected"),
        errors=others + search_errors,
        search_ok=sum_of(records, "search_ok"),
        search_errors=search_errors,
        recall_outage=mean_of(records, "recall_outage"),
        recall_after=mean_of(records, "recall_after"),
        episodes_after=sum_of(records, "episodes_after"),
        acked_after=sum_of(records, "acked_after"),
        errors_after=sum_of(records, "errors_after"),
        verdict="n/a",
    )
    return row.model_copy(update={"verdict": _recovered(row)})


def _recovered(row: OutageRow) -> OutageVerdict:
    """Whether what is told and asked once the models are back is stored and found."""
    if row.recall_after is None:
        return "n/a"
    if not row.met:
        return "not met"
    if not row.acked_after or not row.recall_after:
        return "not recovered"
    whole = row.acked_after == row.episodes_after and not row.errors_after
    return "recovered" if whole else "in part"
