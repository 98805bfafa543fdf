"""The list of all checks, in the order in which they run."""

from collections.abc import Collection

from memrig.conformance import (
    filters,
    flush,
    handshake,
    ingest,
    longitudinal,
    optional,
    reset,
    restart,
    search,
    sources,
    strain,
)
from memrig.conformance.check import Check
from memrig.errors import UsageError

CHECKS: tuple[Check, ...] = (
    *handshake.CHECKS,
    *ingest.CHECKS,
    *flush.CHECKS,
    *search.CHECKS,
    *filters.CHECKS,
    *sources.CHECKS,
    *reset.CHECKS,
    *optional.CHECKS,
    *longitudinal.CHECKS,
    *strain.CHECKS,
    *restart.CHECKS,
)


def choose(only: Collection[str] | None, *, slow: bool) -> tuple[Check, ...]:
    """The checks to run: all that are not slow, or those that `only` names.

    Args:
        only: ids (`search.scores`) or groups (`search`); slow checks run if named by id.
        slow: run slow checks too.

    Raises:
        UsageError: a name fits no check.
    """
    names = frozenset(only or ())
    known = {c.id for c in CHECKS} | {_group(c) for c in CHECKS}
    if unknown := sorted(names - known):
        groups = ", ".join(sorted({_group(c) for c in CHECKS}))
        raise UsageError(
            f"no check is called {', '.join(map(repr, unknown))}",
            where="conformance --only",
            fix=f"name checks of docs/conformance.md, or whole groups: {groups}",
        )
    return tuple(
        c
        for c in CHECKS
        if c.id in names or ((not names or _group(c) in names) and (slow or not c.slow))
    )


def _group(check: Check) -> str:
    return check.id.partition(".")[0]
