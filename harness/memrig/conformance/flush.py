"""Checks of Flush: a barrier that holds, and nothing lost behind it."""

from collections.abc import Sequence

from memrig.conformance.check import Check, check
from memrig.conformance.context import Context
from memrig.conformance.facts import Fact
from memrig.conformance.verdict import NotApplicable, require


@check(
    "flush.all-findable",
    reason="An episode that is acknowledged and then not there makes every score of it a lie.",
    spec="protocol §7.1",
)
async def all_findable(context: Context) -> None:
    """After Flush, each of 24 acknowledged episodes is found by a question about it."""
    await _require_all_found(context, await context.remember_facts(context.facts(24)))


async def _require_all_found(context: Context, kept: Sequence[Fact]) -> None:
    lost = []
    for fact in kept:
        hits = (await context.search(fact.query)).hits
        if not any(fact.told_by(hit) for hit in hits):
            lost.append(fact.text)
    require(
        not lost,
        f"{len(lost)} of {len(kept)} acknowledged episodes are not found after Flush",
        expected="each among the first hits of a question about it",
        got=lost,
    )


@check(
    "flush.new-after-search",
    reason="Checkpoints alternate with episodes: an index or a cache of before must not answer.",
    spec="protocol §7.1",
)
async def new_after_search(context: Context) -> None:
    """What is ingested after a search is found by the same search after the next Flush."""
    early, late = context.facts(2)
    await context.remember([early.episode()])
    await context.search(late.query)
    if late.episode_id not in await context.remember([late.episode()]):
        raise NotApplicable("the memory says that it did not keep the second episode")
    await context.require_found(late, "that came after the first search")
    await context.require_found(early, "from before the last Flush")


@check(
    "flush.nothing-new",
    reason="The rig flushes at every checkpoint, also where nothing was added.",
    spec="protocol §7.2",
)
async def flush_nothing_new(context: Context) -> None:
    """Flush answers OK on an empty memory, and twice in a row."""
    await context.flush()
    await context.ingest([context.fact().episode()])
    for _ in range(2):
        await context.flush()


CHECKS: tuple[Check, ...] = (all_findable, new_after_search, flush_nothing_new)
