"""Checks of Reset: an empty memory, ids and all."""

from memrig.conformance.check import Check, check
from memrig.conformance.context import Context, kept_ids
from memrig.conformance.verdict import require
from memrig_proto.v1 import memory_adapter_pb2 as pb


@check(
    "reset.empties",
    reason="One scenario's memory in another's answers is a leak that looks like skill.",
    spec="protocol §5.1",
)
async def reset_empties(context: Context) -> None:
    """After Reset, nothing that was ingested before is found any more."""
    kept = await context.remember_facts(context.facts(4))
    for fact in kept:
        await context.search(fact.query)
    await context.reset()
    for fact in kept:
        await context.require_gone(fact, "after Reset")
    total = (await context.flush()).total_items
    require(total == 0, "total_items of Flush after Reset", expected=0, got=total)
    for fact in kept:
        await context.require_gone(fact, "after Reset and Flush")


@check(
    "reset.forgets-ids",
    reason="A list of known ids that survives Reset swallows the next scenario's episodes.",
    spec="protocol §5.2",
)
async def reset_forgets_ids(context: Context) -> None:
    """An episode ingested again after Reset is new: STORED, not DUPLICATE, and found."""
    fact = context.fact()
    await context.remember([fact.episode()])
    await context.reset()
    acks = await context.ingest([fact.episode()])
    known = [ack for ack in acks if ack.status == pb.INGEST_STATUS_DUPLICATE]
    require(not known, "an episode of before Reset is still known", expected="STORED", got=known)
    if fact.episode_id in kept_ids(acks, (await context.flush()).total_items):
        await context.require_found(fact, "ingested after Reset")


@check(
    "reset.empty-memory",
    reason="The rig resets before it knows whether there is anything to reset.",
    spec="protocol §5.2",
)
async def reset_of_empty(context: Context) -> None:
    """Reset of an empty memory answers OK, also twice, and the memory is usable."""
    for _ in range(2):
        await context.reset()
    await context.require_usable("two calls of Reset")


CHECKS: tuple[Check, ...] = (reset_empties, reset_forgets_ids, reset_of_empty)
