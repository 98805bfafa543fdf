"""Checks of sources: what a hit claims to come from."""

from datetime import UTC, datetime

from memrig.conformance.check import Check, Condition, check
from memrig.conformance.context import Context
from memrig.conformance.facts import opaque_id, stamp
from memrig.conformance.search import BROAD
from memrig.conformance.verdict import require
from memrig_proto.v1 import memory_adapter_pb2 as pb

_MONDAY = datetime(2024, 2, 12, 9, 30, tzinfo=UTC)
_HAS_TURNS = Condition(lambda c: c.reports_source_turns, "reports_source_turns is false")


@check(
    "sources.acknowledged",
    reason="A claim on an episode that was never taken in is void, and costs its rank.",
    spec="protocol §10.2",
)
async def sources_acknowledged(context: Context) -> None:
    """Hits name only episodes and turns that were ingested and acknowledged."""
    episodes = [_conversation(context, n) for n in range(2)]
    episodes += [fact.episode() for fact in context.facts(6)]
    acks = await context.ingest(episodes)
    await context.flush()
    taken = {a.episode_id for a in acks if a.status != pb.INGEST_STATUS_REJECTED}
    turns = {t.turn_id for e in episodes if e.episode_id in taken for t in e.turns}
    for query in (BROAD, *(fact.query for fact in context.facts(6))):
        for hit in (await context.search(query)).hits:
            void = (set(hit.source_episode_ids) - taken) | (set(hit.source_turn_ids) - turns)
            require(
                not void,
                f"a hit of {query!r} claims a source that was never acknowledged",
                expected="acknowledged ids alone",
                got=sorted(void),
            )


@check(
    "sources.turns",
    reason="Some suites grade by turn: without turn ids such an adapter earns nothing there.",
    spec="protocol §10.1",
    condition=_HAS_TURNS,
)
async def source_turns(context: Context) -> None:
    """Where reports_source_turns is declared, the hit of a turn names that turn."""
    episode = _conversation(context, 0)
    await context.remember([episode])
    fact = context.fact(100)
    hits = (await context.search(fact.query)).hits
    named = {turn for hit in hits if fact.told_by(hit) for turn in hit.source_turn_ids}
    want = episode.turns[1].turn_id
    require(
        want in named,
        f"no hit of {fact.query!r} names the turn that says it",
        expected=want,
        got=[(hit.text, list(hit.source_turn_ids)) for hit in hits],
    )


@check(
    "ingest.turns",
    reason="Conversations are most of the data; a turn may say nothing and still be there.",
    spec="protocol §6.10, §6.11",
)
async def turns(context: Context) -> None:
    """An episode with turns, one of them empty, is found by what one of them says."""
    await context.remember([_conversation(context, 0)])
    await context.require_found(context.fact(100), "by what one of its turns says")


def _conversation(context: Context, number: int) -> pb.Episode:
    """Three turns: a greeting, a fact, and one without words."""
    fact = context.fact(100 + number)
    said = (("Ana", "Good morning! Any news?"), ("Ben", fact.text), ("Ana", ""))
    return pb.Episode(
        episode_id=fact.episode_id,
        timestamp=stamp(_MONDAY),
        text="\n".join(f"{speaker}: {text}" for speaker, text in said),
        turns=[
            pb.Turn(
                turn_id=opaque_id("t", f"{context.purpose}/{number}/{place}"),
                speaker=speaker,
                text=text,
            )
            for place, (speaker, text) in enumerate(said)
        ],
        media_type="text/plain",
    )


CHECKS: tuple[Check, ...] = (turns, sources_acknowledged, source_turns)
