"""Checks of a process that ends and is started again within its pod."""

from memrig.conformance.check import Check, check
from memrig.conformance.context import Context
from memrig.conformance.verdict import require

_TOLD = 8


@check(
    "restart.new-process",
    reason="Where a restart cannot be seen, a memory that lost everything looks like a bad one.",
    spec="protocol §1.4, §2.3, §4.1",
)
async def new_process(context: Context) -> None:
    """Ended and started again, the adapter is SERVING with a new boot_id, otherwise the same."""
    before = context.capabilities
    again = await context.restarted()
    require(
        again.boot_id != context.boot_id,
        "the process that was started again has the boot_id of the one before",
        expected=f"another one than {context.boot_id}",
        got=again.boot_id,
    )
    after = type(before)()
    after.CopyFrom(again.capabilities)
    after.boot_id = before.boot_id
    require(
        after == before,
        "the adapter declares something else after a restart",
        expected=before,
        got=again.capabilities,
    )
    await again.require_usable("a restart")


@check(
    "restart.whole-or-empty",
    reason="Half a memory passes for a whole one, and every later score of it is wrong.",
    spec="protocol §2.6",
)
async def whole_or_empty(context: Context) -> None:
    """After a restart the memory holds all that a Flush had covered, or nothing."""
    kept = await context.remember_facts(context.facts(_TOLD))
    again = await context.restarted()
    await again.flush()
    found = []
    for fact in kept:
        hits = (await again.search(fact.query)).hits
        found.append(any(fact.told_by(hit) for hit in hits))
    require(
        all(found) or not any(found),
        f"after a restart {sum(found)} of {len(found)} episodes are found",
        expected=f"all {len(found)}, or none",
        got=[fact.text for fact, there in zip(kept, found, strict=True) if not there],
    )
    await again.require_usable("a restart with a memory")


@check(
    "restart.reset-lasts",
    reason="What Reset removed and a restart brings back is a leak into another's answers.",
    spec="protocol §5.1, §2.6",
)
async def reset_lasts(context: Context) -> None:
    """What Reset removed does not come back with a restart."""
    kept = await context.remember_facts(context.facts(2))
    await context.reset()
    again = await context.restarted()
    for fact in kept:
        await again.require_gone(fact, "from before a Reset, after a restart")


CHECKS: tuple[Check, ...] = (new_process, whole_or_empty, reset_lasts)
