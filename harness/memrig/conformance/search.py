"""Checks of Search: what a request may ask, what a response holds, where its claims come from."""

import math
from collections.abc import Sequence

from memrig.conformance.check import Check, Condition, check, of_search
from memrig.conformance.context import Context
from memrig.conformance.facts import find
from memrig.conformance.verdict import require
from memrig_proto.v1 import memory_adapter_pb2 as pb

#: Field 2, mode, with a value that no enum has.
_MODE_99 = b"\x10\x63"
_LONGEST_QUERY = 64 * 1024
_SYNTAX = (
    *('"', "'", "*", "(", ")", "-", "^", ":", "\\", "%", "\0", "AND", "OR NOT", "a AND", '"a b'),
    *("locker:1", "locker*", "NEAR(a b)", "'; DROP TABLE episode; --", "{a} [b] /c/", "a~2 b^3"),
)
_MAX_REF_BYTES = 256
_MAX_UINT32 = 2**32 - 1
BROAD = "Which lockers do people keep things in?"

_LACKS_A_MODE = Condition(
    lambda c: len(set(c.search_modes)) < 3, "every search mode there is is declared"
)
_LIMIT_CAN_BE_PASSED = Condition(
    lambda c: c.max_results < _MAX_UINT32, "max_results is the largest number there is"
)
_LIMIT_CAN_BIND = Condition(lambda c: c.max_results > 1, "max_results is 1")
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
    for query in (BROAD, context.fact().query):
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
    for query in (BROAD, *(fact.query for fact in context.facts(3))):
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
    """Each hit has a ref_id of 1 to 256 bytes, unique within its response."""
    await context.remember(fact.episode() for fact in context.facts(12))
    for query in (BROAD, context.fact().query):
        found = [hit.ref_id for hit in (await context.search(query)).hits]
        wrong = [ref for ref in found if not 1 <= len(ref.encode()) <= _MAX_REF_BYTES]
        require(not wrong, "a ref_id is empty or too long", expected="1 to 256 bytes", got=wrong)
        require(len(set(found)) == len(found), "a ref_id twice", expected="unique", got=found)


@check(
    "search.repeatable",
    reason="A resumed or repeated trial has to meet the same memory, or results cannot be checked.",
    spec="protocol §8.8",
    condition=_STEADY,
)
async def repeatable(context: Context) -> None:
    """The same query on the same memory gives the same hits in the same order."""
    await context.remember(fact.episode() for fact in context.facts(12))
    for query in (BROAD, context.fact().query):
        first, second = (await context.search(query)).hits, (await context.search(query)).hits
        require_same_hits(first, second, f"the search {query!r} repeated")


@check(
    "search.rebuilt",
    reason="A stranger recomputes a result by telling another memory the same episodes.",
    spec="protocol §8.8",
    condition=_STEADY,
)
async def rebuilt(context: Context) -> None:
    """A memory that is emptied and told the same again gives the same sources in the same order."""
    told = context.facts(12)
    ranked = []
    for _ in range(2):
        await context.reset()
        await context.remember(fact.episode() for fact in told)
        found = [(await context.search(query)).hits for query in (BROAD, told[0].query)]
        ranked.append([[tuple(hit.source_episode_ids) for hit in hits] for hits in found])
    require(
        ranked[0] == ranked[1],
        "the same episodes, told anew, are ranked in another order",
        expected=ranked[0],
        got=ranked[1],
    )


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
    first = (await context.search(BROAD)).hits
    for fact in (*told[6:], *told[6:], *told[6:]):
        await context.search(fact.query)
    require_same_hits(first, (await context.search(BROAD)).hits, "a search after 18 others")


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


@check(
    "search.query-is-text",
    reason="Questions hold quotes, brackets and dashes; read as syntax they fail or mislead.",
    spec="protocol §8.2",
)
async def query_is_text(context: Context) -> None:
    """Characters that search engines take for syntax are answered OK, like any other text."""
    await context.ingest([context.fact().episode()])
    await context.flush()
    for query in _SYNTAX:
        await context.search(query)


@check(
    "search.too-long-query-refused",
    reason="A query that is cut without a word is another query.",
    spec="protocol §8.2",
)
async def too_long_query(context: Context) -> None:
    """A search with a query over 64 KiB is INVALID_ARGUMENT."""
    request = pb.SearchRequest(query="word " * (_LONGEST_QUERY // 5 + 1), limit=1)
    await require_refused(context, request, "a query over 64 KiB")


async def require_refused(context: Context, request: pb.SearchRequest, what: str) -> None:
    """Fails unless a search is INVALID_ARGUMENT."""
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
    await require_refused(context, pb.SearchRequest(limit=1), "an empty query")


@check(
    "search.limit-zero-refused",
    reason="Zero is what a caller sends who forgot the limit; guessing one hides that.",
    spec="protocol §8.4",
)
async def limit_zero(context: Context) -> None:
    """A search with limit 0 is INVALID_ARGUMENT."""
    request = pb.SearchRequest(query=context.fact().query, limit=0)
    await require_refused(context, request, "limit 0")


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
    await require_refused(context, request, f"limit {limit} with max_results {limit - 1}")


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
    await require_refused(context, request, f"the undeclared mode {pb.SearchMode.Name(mode)}")


@check(
    "search.unknown-mode-refused",
    reason="A mode of a later minor must be refused by name, not taken for another.",
    spec="protocol §1.7",
)
async def unknown_mode(context: Context) -> None:
    """A search in a mode that this contract does not have is INVALID_ARGUMENT."""
    request = pb.SearchRequest(query=context.fact().query, limit=1)
    request.MergeFromString(_MODE_99)
    await require_refused(context, request, "the unknown mode 99")


CHECKS: tuple[Check, ...] = (
    of_search(empty_memory),
    of_search(limit_one),
    of_search(limit_between),
    of_search(limit_max_results),
    of_search(scores),
    of_search(refs),
    repeatable,
    rebuilt,
    questions_leave_memory_alone,
    of_search(declared_modes),
    of_search(longest_query),
    query_is_text,
    of_search(empty_query),
    of_search(too_long_query),
    of_search(limit_zero),
    of_search(limit_too_high),
    of_search(undeclared_mode),
    of_search(unknown_mode),
)
