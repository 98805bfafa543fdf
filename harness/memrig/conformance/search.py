"""Checks of Search: what a request may ask, what a response holds, where its claims come from."""

import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from memrig_proto.v1 import memory_adapter_pb2 as pb

from memrig.conformance.check import Check, Condition, check
from memrig.conformance.context import Context
from memrig.conformance.facts import Fact, find, opaque_id, stamp
from memrig.conformance.verdict import require

_LONGEST_QUERY = 64 * 1024
_MAX_REF_BYTES = 256
_MAX_UINT32 = 2**32 - 1
_START = datetime(2024, 2, 10, 9, 30, tzinfo=UTC)
_BROAD = "Which lockers do people keep things in?"

_HAS_TIMESTAMP = Condition(
    lambda c: any(f.name == "timestamp" for f in c.filter_fields),
    "no filter field “timestamp” is declared",
)
_HAS_METADATA_FIELD = Condition(
    lambda c: any(f.name != "timestamp" for f in c.filter_fields),
    "no filter field beside “timestamp” is declared",
)
_LACKS_A_MODE = Condition(
    lambda c: len(set(c.search_modes)) < 3, "every search mode there is is declared"
)
_LIMIT_CAN_BE_PASSED = Condition(
    lambda c: c.max_results < _MAX_UINT32, "max_results is the largest number there is"
)
_LIMIT_CAN_BIND = Condition(lambda c: c.max_results > 1, "max_results is 1")
_HAS_TURNS = Condition(lambda c: c.reports_source_turns, "reports_source_turns is false")
_STEADY = Condition(lambda c: not c.questions_change_memory, "questions_change_memory is true")


@check(
    "search.empty-memory",
    reason="A memory that knows nothing yet is a state of every trial, not an error.",
    spec="protocol §8.9",
)
async def empty_memory(context: Context) -> None:
    """A search in an empty memory answers OK without hits."""
    hits = (await context.search(context.fact().query)).hits
    require(not hits, "hits from an empty memory", expected="no hits", got=[h.text for h in hits])


@check(
    "search.limit-one",
    reason="Hits beyond the limit are cut and counted against the adapter; retrieval is ranked.",
    spec="protocol §8.1",
)
async def limit_one(context: Context) -> None:
    """With limit 1 there is at most one hit."""
    await context.remember(fact.episode() for fact in context.facts(8))
    await _require_limit(context, 1)


@check(
    "search.limit-between",
    reason="An agent asks for as many as its budget bears; more than that overruns it.",
    spec="protocol §8.1",
    condition=_LIMIT_CAN_BIND,
)
async def limit_between(context: Context) -> None:
    """With a limit below the number of episodes there are at most that many hits."""
    await context.remember(fact.episode() for fact in context.facts(24))
    await _require_limit(context, min(5, context.capabilities.max_results - 1))


@check(
    "search.limit-max-results",
    reason="What is declared as the most that one search returns must be possible to ask for.",
    spec="protocol §8.1, §8.4",
)
async def limit_max_results(context: Context) -> None:
    """With limit max_results the search answers OK, with at most that many hits."""
    await context.remember(fact.episode() for fact in context.facts(24))
    await _require_limit(context, context.capabilities.max_results)


async def _require_limit(context: Context, limit: int) -> None:
    for query in (_BROAD, context.fact().query):
        hits = (await context.search(query, limit=limit)).hits
        require(
            len(hits) <= limit,
            f"{len(hits)} hits for limit {limit}",
            expected=f"at most {limit}",
            got=len(hits),
        )


@check(
    "search.scores",
    reason="A NaN breaks every ranking, and ranks are what retrieval is graded by.",
    spec="protocol §8.1, §8.6",
)
async def scores(context: Context) -> None:
    """Scores are finite and do not rise from one hit to the next."""
    await context.remember(fact.episode() for fact in context.facts(12))
    for query in (_BROAD, *(fact.query for fact in context.facts(3))):
        found = [hit.score for hit in (await context.search(query)).hits]
        require(
            all(map(math.isfinite, found)), "a score is not finite", expected="finite", got=found
        )
        require(
            found == sorted(found, reverse=True),
            "a later hit scores higher than an earlier one",
            expected="best first",
            got=found,
        )


@check(
    "search.refs",
    reason="A ref is the handle of a hit: it is kept in the transcript and asked for again.",
    spec="protocol §1.3",
)
async def refs(context: Context) -> None:
    """Each hit has a ref_id of 1 to 256 bytes."""
    await context.remember(fact.episode() for fact in context.facts(12))
    found = [
        hit.ref_id
        for query in (_BROAD, context.fact().query)
        for hit in (await context.search(query)).hits
    ]
    wrong = [ref for ref in found if not 1 <= len(ref.encode()) <= _MAX_REF_BYTES]
    require(not wrong, "a ref_id is empty or too long", expected="1 to 256 bytes", got=wrong)


@check(
    "search.repeatable",
    reason="A resumed or repeated trial has to meet the same memory, or results cannot be checked.",
    spec="protocol §8.8",
    condition=_STEADY,
)
async def repeatable(context: Context) -> None:
    """The same query on the same memory gives the same hits in the same order."""
    await context.remember(fact.episode() for fact in context.facts(12))
    for query in (_BROAD, context.fact().query):
        first, second = (await context.search(query)).hits, (await context.search(query)).hits
        require_same_hits(first, second, f"the search {query!r} repeated")


@check(
    "search.questions-leave-memory-alone",
    reason="Answers are kept over an interruption only because questions change nothing.",
    spec="protocol §4.5",
    condition=_STEADY,
)
async def questions_leave_memory_alone(context: Context) -> None:
    """Unless questions_change_memory is declared, other searches in between change no hits."""
    told = context.facts(12)
    await context.remember(fact.episode() for fact in told)
    first = (await context.search(_BROAD)).hits
    for fact in (*told[6:], *told[6:], *told[6:]):
        await context.search(fact.query)
    require_same_hits(
        first, (await context.search(_BROAD)).hits, "a search after 18 other searches"
    )


def require_same_hits(first: Sequence[pb.Hit], second: Sequence[pb.Hit], what: str) -> None:
    """Fails unless two searches gave the same hits in the same order."""
    before = [(hit.ref_id, hit.text, tuple(hit.source_episode_ids)) for hit in first]
    after = [(hit.ref_id, hit.text, tuple(hit.source_episode_ids)) for hit in second]
    require(before == after, f"{what} gives other hits", expected=before, got=after)


@check(
    "search.declared-modes",
    reason="A mode that is declared is one that a suite may choose for a whole table.",
    spec="protocol §4.4, §8.3",
)
async def declared_modes(context: Context) -> None:
    """Every declared search mode finds an episode by a question about it."""
    (fact, *_) = await context.remember_facts(context.facts(6))
    for mode in context.capabilities.search_modes:
        hits = (await context.search(fact.query, mode=mode)).hits
        name = pb.SearchMode.Name(mode)
        require(
            find(fact, hits),
            f"mode {name} does not find an episode",
            expected=f"a hit that tells {fact.text!r}",
            got=[hit.text for hit in hits],
        )


@check(
    "search.longest-query",
    reason="Questions may quote whole documents; 64 KiB is a valid query.",
    spec="protocol §8.2",
)
async def longest_query(context: Context) -> None:
    """A query of 64 KiB is answered OK."""
    await context.ingest([context.fact().episode()])
    await context.flush()
    words = f"{context.fact().query} " * (_LONGEST_QUERY // len(context.fact().query))
    await context.search(words[:_LONGEST_QUERY])


async def _require_refused(context: Context, request: pb.SearchRequest, what: str) -> None:
    await context.ingest([context.fact().episode()])
    await context.flush()
    code = await context.status_of_search(request)
    require(code == "INVALID_ARGUMENT", what, expected="INVALID_ARGUMENT", got=code)


@check(
    "search.empty-query-refused",
    reason="An empty query is a defect of the caller; hits would hide it.",
    spec="protocol §8.2",
)
async def empty_query(context: Context) -> None:
    """A search with an empty query is INVALID_ARGUMENT."""
    await _require_refused(context, pb.SearchRequest(limit=1), "an empty query")


@check(
    "search.limit-zero-refused",
    reason="Zero is what a caller sends who forgot the limit; guessing one hides that.",
    spec="protocol §8.4",
)
async def limit_zero(context: Context) -> None:
    """A search with limit 0 is INVALID_ARGUMENT."""
    request = pb.SearchRequest(query=context.fact().query, limit=0)
    await _require_refused(context, request, "limit 0")


@check(
    "search.limit-too-high-refused",
    reason="Who asks for more than max_results must learn it, not get fewer without a word.",
    spec="protocol §8.4",
    condition=_LIMIT_CAN_BE_PASSED,
)
async def limit_too_high(context: Context) -> None:
    """A search with a limit above max_results is INVALID_ARGUMENT."""
    limit = context.capabilities.max_results + 1
    request = pb.SearchRequest(query=context.fact().query, limit=limit)
    await _require_refused(context, request, f"limit {limit} with max_results {limit - 1}")


@check(
    "search.unknown-filter-refused",
    reason="A filter that is ignored turns a filtered search into an unfiltered one, unseen.",
    spec="protocol §9.6",
)
async def unknown_filter(context: Context) -> None:
    """A filter on a field that is not declared is INVALID_ARGUMENT."""
    condition = pb.Filter(
        field="no_such_field", operator=pb.FILTER_OPERATOR_EQUAL, value="anything"
    )
    request = pb.SearchRequest(query=context.fact().query, limit=1, filters=[condition])
    await _require_refused(context, request, "a filter on the unknown field no_such_field")


@check(
    "search.undeclared-mode-refused",
    reason="A table that says “hybrid” over keyword hits compares the wrong things.",
    spec="protocol §8.3, §1.7",
    condition=_LACKS_A_MODE,
)
async def undeclared_mode(context: Context) -> None:
    """A search in a mode that is not declared is INVALID_ARGUMENT."""
    modes = (pb.SEARCH_MODE_KEYWORD, pb.SEARCH_MODE_SEMANTIC, pb.SEARCH_MODE_HYBRID)
    mode = next(m for m in modes if m not in context.capabilities.search_modes)
    request = pb.SearchRequest(query=context.fact().query, limit=1, mode=mode)
    await _require_refused(context, request, f"the undeclared mode {pb.SearchMode.Name(mode)}")


@check(
    "filter.timestamp",
    reason="Questions about a period are asked with these; one day off is a wrong answer.",
    spec="protocol §9.1, §9.4, §9.5",
    condition=_HAS_TIMESTAMP,
)
async def timestamp_filter(context: Context) -> None:
    """Filters on timestamp hold: >= takes its bound in, < leaves it out, and both combine."""
    days = [_START + timedelta(days=30 * n) for n in range(3)]
    told = context.facts(3)
    kept = await context.remember(f.episode(day) for f, day in zip(told, days, strict=True))
    bound = days[1].strftime("%Y-%m-%dT%H:%M:%SZ")
    since = pb.Filter(field="timestamp", operator=pb.FILTER_OPERATOR_GREATER_OR_EQUAL, value=bound)
    until = pb.Filter(field="timestamp", operator=pb.FILTER_OPERATOR_LESS, value=bound)
    exact = pb.Filter(field="timestamp", operator=pb.FILTER_OPERATOR_EQUAL, value=bound)
    cases: tuple[tuple[str, list[pb.Filter], set[int]], ...] = (
        (f">= {bound}", [since], {1, 2}),
        (f"< {bound}", [until], {0}),
        (f"= {bound}", [exact], {1}),
        (f">= and < {bound}", [since, until], set()),
    )
    for what, filters, wanted in cases:
        for number, fact in enumerate(told):
            if fact.episode_id in kept:
                await _require_filtered(context, fact, filters, what, number in wanted)


async def _require_filtered(
    context: Context, fact: Fact, filters: Sequence[pb.Filter], what: str, wanted: bool
) -> None:
    hits = (await context.search(fact.query, filters=filters)).hits
    require(
        (find(fact, hits) is not None) == wanted,
        f"the filter {what} {'loses' if wanted else 'lets through'} {fact.text!r}",
        expected="a hit that tells it" if wanted else "no hit that tells it",
        got=[hit.text for hit in hits],
    )


@check(
    "filter.metadata",
    reason="A declared field that filters nothing gives an agent answers from the wrong place.",
    spec="protocol §9.1, §9.5",
    condition=_HAS_METADATA_FIELD,
)
async def metadata_filter(context: Context) -> None:
    """A filter EQUAL on each declared metadata field finds its episodes and no others."""
    for number, field in enumerate(context.capabilities.filter_fields):
        if field.name == "timestamp":
            continue
        value, other = _two_values(field)
        told = context.facts(2, start=2 * number)
        mine = told[0].episode(metadata={field.name: value})
        theirs = told[1].episode(metadata={field.name: other} if other else {})
        kept = await context.remember([mine, theirs])
        equal = pb.Filter(field=field.name, operator=pb.FILTER_OPERATOR_EQUAL, value=value)
        for fact in told:
            if fact.episode_id in kept:
                what = f"{field.name} = {value!r}"
                await _require_filtered(context, fact, [equal], what, fact is told[0])


def _two_values(field: pb.FilterField) -> tuple[str, str]:
    if field.type == pb.FILTER_TYPE_ENUM:
        return field.enum_values[0], field.enum_values[1] if len(field.enum_values) > 1 else ""
    if field.type == pb.FILTER_TYPE_NUMBER:
        return "4.5", "12"
    if field.type == pb.FILTER_TYPE_TIMESTAMP:
        return "2024-03-05T17:00:00Z", "2024-03-06T17:00:00Z"
    return "north wing", "south wing"


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
    for query in (_BROAD, *(fact.query for fact in context.facts(6))):
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
        timestamp=stamp(_START),
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


CHECKS: tuple[Check, ...] = (
    empty_memory,
    limit_one,
    limit_between,
    limit_max_results,
    scores,
    refs,
    repeatable,
    questions_leave_memory_alone,
    declared_modes,
    longest_query,
    empty_query,
    limit_zero,
    limit_too_high,
    unknown_filter,
    undeclared_mode,
    timestamp_filter,
    metadata_filter,
    turns,
    sources_acknowledged,
    source_turns,
)
