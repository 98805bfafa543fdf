"""Checks of what evidence over time needs: sources through chunks, checkpoints, no future."""

from collections.abc import Collection, Iterator
from itertools import pairwise

from memrig.conformance.check import Check, Condition, check, of_search
from memrig.conformance.context import Context, answer, status
from memrig.conformance.facts import Fact, opaque_id
from memrig.conformance.verdict import NotApplicable, require
from memrig_proto.v1 import memory_adapter_pb2 as pb

_RETRIEVES = Condition(lambda c: c.supports_retrieve, "supports_retrieve is false")
#: Long documents: so many facts in each, with so much between them that chunks come apart.
_REPORTS, _FACTS_EACH = 3, 4
_BETWEEN = (
    "The office opened at the usual hour and the post was sorted before noon. Two visitors signed "
    "the book at the front desk, and the lift was serviced without delay. The canteen served soup "
    "and bread. Windows on the second floor were cleaned, and the plants were watered. The meeting "
    "about the summer schedule was short; the minutes go to all departments by the end of the week."
)
#: Checkpoints of the staged checks, and episodes before each.
_STAGES, _EACH = 4, 5


@check(
    "longitudinal.chunk-sources",
    reason="Evidence is counted by episode: a chunk that lost its episode proves nothing.",
    spec="protocol §10.1, §10.6",
)
async def chunk_sources(context: Context) -> None:
    """A hit that gives back a part of a long episode names that episode, and no other one."""
    told = await _told_in_reports(context)
    seen = 0
    for fact, _ in told:
        for hit in (await context.search(fact.query)).hits:
            # What is put together from several episodes comes from each that it quotes.
            quoted = {report.episode_id for other, report in told if other.text in hit.text}
            whole = any(hit.text in report.text for _, report in told)
            named = set(hit.source_episode_ids)
            seen += bool(quoted)
            require(
                quoted <= named and (named <= quoted or not (quoted and whole)),
                f"a hit of {fact.query!r} names other sources than its episode",
                expected=sorted(quoted),
                got=list(hit.source_episode_ids),
            )
    if not seen:
        raise NotApplicable("no hit gives back a text as it was ingested")


@check(
    "longitudinal.chunk-retrieved",
    reason="An agent reads on from a chunk: what it then cites must be what it has read.",
    spec="protocol §11.1",
    condition=_RETRIEVES,
)
async def chunk_retrieved(context: Context) -> None:
    """Retrieve after a search gives the very chunk of the hit, with the hit's sources."""
    for fact, _ in await _told_in_reports(context):
        for hit in (await context.search(fact.query)).hits:
            if fact.marker not in hit.text:
                continue
            document = await context.retrieve(hit.ref_id)
            require(
                fact.marker in document.text,
                f"what the ref of a hit retrieves does not hold what the hit said: {fact.text!r}",
                expected=hit.text,
                got=document.text,
            )
            require(
                set(hit.source_episode_ids) <= set(document.source_episode_ids),
                "the document names fewer sources than its hit",
                expected=list(hit.source_episode_ids),
                got=list(document.source_episode_ids),
            )


@check(
    "longitudinal.scopes-apart",
    reason="Scopes follow each other in one pod: a ref of the last one is a leak into the next.",
    spec="protocol §5.1, §10.2, §11.2",
)
async def scopes_apart(context: Context) -> None:
    """After Reset and another scope's episodes, nothing of the first is found or retrieved."""
    first, second = context.facts(_EACH), context.facts(_EACH, 50)
    kept = await context.remember_facts(first)
    refs = {hit.ref_id: hit.text for fact in kept for hit in (await _telling(context, fact))}
    await context.reset()
    await context.ingest(fact.episode() for fact in second)
    await context.flush()
    for fact in kept:
        await context.require_gone(fact, "of the scope before Reset")
    if not context.capabilities.supports_retrieve:
        return
    for ref_id, text in refs.items():
        found = await _retrieved(context, ref_id)
        require(
            not text or text not in found,
            "a ref of before Reset still retrieves its text",
            expected="NOT_FOUND, or an item of the new scope",
            got=found,
        )


@check(
    "longitudinal.no-future",
    reason="A question at a checkpoint is asked of what was so then: the rest is yet to happen.",
    spec="protocol §10.2, §10.5",
)
async def no_future(context: Context) -> None:
    """A search names no episode before it is ingested, and finds it after the next Flush."""
    stages = list(_stages(context))
    # All of it once, and emptied: what an adapter saved over Reset is the future of what follows.
    for stage in stages:
        await context.remember_facts(stage)
    for fact in (fact for stage in stages for fact in stage):
        await context.search(fact.query)
    await context.reset()
    taken: set[str] = set()
    for stage, following in pairwise([*stages, []]):
        kept = await context.remember_facts(stage)
        taken |= {fact.episode_id for fact in stage}
        for fact in kept:
            await context.require_found(fact, "that was ingested at this checkpoint")
        for fact in following:
            await context.require_gone(fact, "that comes after this checkpoint")
            await _require_sources(context, fact, taken)


@check(
    "longitudinal.checkpoints",
    reason="Evidence builds up: what an early checkpoint found, the last one has to find too.",
    spec="protocol §7.1",
)
async def checkpoints(context: Context) -> None:
    """At each of several checkpoints, what came before any of them is found."""
    told: list[Fact] = []
    for stage in _stages(context):
        told += await context.remember_facts(stage)
        for fact in told:
            await context.require_found(fact, "from this checkpoint or an earlier one")


def _stages(context: Context) -> Iterator[list[Fact]]:
    for number in range(_STAGES):
        yield context.facts(_EACH, number * _EACH)


async def _told_in_reports(context: Context) -> list[tuple[Fact, pb.Episode]]:
    """Ingests long episodes; gives the facts in those that are kept, each with its episode."""
    reports: list[tuple[pb.Episode, list[Fact]]] = []
    for number in range(_REPORTS):
        told = context.facts(_FACTS_EACH, number * _FACTS_EACH)
        text = "\n\n".join(part for fact in told for part in (_BETWEEN, fact.text))
        name = opaque_id("e", f"{context.purpose}/report/{number}")
        reports.append((pb.Episode(episode_id=name, text=text, media_type="text/plain"), told))
    kept = await context.remember(episode for episode, _ in reports)
    return [
        (fact, episode) for episode, told in reports if episode.episode_id in kept for fact in told
    ]


async def _telling(context: Context, fact: Fact) -> list[pb.Hit]:
    return [hit for hit in (await context.search(fact.query)).hits if fact.told_by(hit)]


async def _retrieved(context: Context, ref_id: str) -> str:
    """The text under a ref; empty where there is none."""
    request, allowed = pb.RetrieveRequest(ref_id=ref_id), context.deadlines.search
    if await status(context.stub.Retrieve(request, timeout=allowed)) != "OK":
        return ""
    found = await answer(context.stub.Retrieve(request, timeout=allowed), "Retrieve", allowed)
    return found.document.text


async def _require_sources(context: Context, fact: Fact, taken: Collection[str]) -> None:
    for hit in (await context.search(fact.query)).hits:
        unknown = set(hit.source_episode_ids) - set(taken)
        require(
            not unknown,
            f"a hit of {fact.query!r} names an episode that was not ingested yet",
            expected="episodes of this checkpoint or before",
            got=sorted(unknown),
        )


CHECKS: tuple[Check, ...] = (
    of_search(chunk_sources),
    chunk_retrieved,
    scopes_apart,
    no_future,
    checkpoints,
)
