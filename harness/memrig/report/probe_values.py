"""Means, sums and quantiles over probes' records."""

from collections.abc import Iterable, Sequence
from statistics import fmean

import numpy as np

from memrig.model.transcript import ProbeRecord
from memrig.report.model_probes import Timing

_MS = 1e6


def timing(samples_ns: Sequence[int]) -> Timing | None:
    """Quantiles of durations in nanoseconds; None of none."""
    if not samples_ns:
        return None
    p50, p95, top = np.quantile(np.asarray(samples_ns) / _MS, [0.5, 0.95, 1.0])
    return Timing(
        n=len(samples_ns),
        p50_ms=round(float(p50), 3),
        p95_ms=round(float(p95), 3),
        max_ms=round(float(top), 3),
    )


def samples_of(records: Iterable[ProbeRecord], name: str) -> list[int]:
    """All durations of one kind, nanoseconds."""
    return [ns for record in records for ns in record.samples_ns.get(name, ())]


def mean_of(records: Iterable[ProbeRecord], name: str) -> float | None:
    """The mean of a value over the records that have it; None where none has."""
    found = [record.values[name] for record in records if name in record.values]
    return round(fmean(found), 6) if found else None


def whole_of(records: Iterable[ProbeRecord], name: str) -> int | None:
    """As `mean_of`, as a whole number."""
    mean = mean_of(records, name)
    return None if mean is None else round(mean)


def sum_of(records: Iterable[ProbeRecord], name: str) -> int:
    """The sum of a count."""
    return round(sum(record.values.get(name, 0) for record in records))
