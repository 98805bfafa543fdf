"""What memories that score all they hold have in common: times as numbers, filters, the best."""

from datetime import UTC, datetime, timedelta
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memrig_adapters.types import Filter, Operator

#: The number of an item without a time.
NO_TIME: Final = int(np.iinfo(np.int64).min)

Mask = NDArray[np.bool_]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def microseconds(time: datetime | None) -> int:
    """A time as whole microseconds since 1970; `NO_TIME` for none."""
    return NO_TIME if time is None else (time - _EPOCH) // _MICROSECOND


def meets(times: NDArray[np.int64], item: Filter) -> Mask:
    """Which of the times meet a timestamp filter: no time meets none."""
    bound = microseconds(item.value if isinstance(item.value, datetime) else None)
    if item.operator is Operator.EQUAL:
        return np.equal(times, bound)
    if item.operator is Operator.LESS:
        return np.less(times, bound) & np.not_equal(times, NO_TIME)
    return np.greater_equal(times, bound)


def best(scores: NDArray[np.floating], allowed: Mask, limit: int) -> list[int]:
    """Indexes of the best allowed scores, best first, equal ones in rising order."""
    candidates = np.flatnonzero(allowed)
    found = scores[candidates]
    if len(candidates) > limit:
        threshold = np.partition(found, -limit)[-limit]
        above = np.flatnonzero(found > threshold)
        level = np.flatnonzero(found == threshold)[: limit - len(above)]
        chosen = np.sort(np.concatenate((above, level)))
        candidates, found = candidates[chosen], found[chosen]
    order = np.argsort(-found, kind="stable")
    return [int(i) for i in candidates[order]]
