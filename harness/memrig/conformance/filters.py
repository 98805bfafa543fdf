"""Checks of filters: what is declared filters, before the limit; anything else is refused."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

from memrig.conformance.check import Check, Condition, check, of_search
from memrig.conformance.context import Context
from memrig.conformance.facts import Fact, find
from memrig.conformance.search import require_refused
from memrig.conformance.verdict import NotApplicable, require
from memrig_proto.v1 import memory_adapter_pb2 as pb

_START = datetime(2024, 2, 10, 9, 30, tzinfo=UTC)
_HAS_TIMESTAMP = Condition(
    lambda c: any(f.name == "timestamp" for f in c.filter_fields),
    "no filter field “timestamp” is declared",
)
_HAS_METADATA_FIELD = Condition(
    lambda c: any(f.name != "timestamp" for f in c.filter_fields),
    "no filter field beside “timestamp” is declared",
)
_HAS_FIELD = Condition(lambda c: bool(c.filter_fields), "no filter field is declared")


@check(
    "filter.unknown-refused",
    reason="A filter that is ignored turns a filtered search into an unfiltered one, unseen.",
    spec="protocol §9.6",
)
async def unknown_filter(context: Context) -> None:
    """A filter on a field that is not declared is INVALID_ARGUMENT."""
    condition = pb.Filter(
        field="no_such_field", operator=pb.FILTER_OPERATOR_EQUAL, value="anything"
    )
    request = pb.SearchRequest(query=context.fact().query, limit=1, filters=[condition])
    await require_refused(context, request, "a filter on the unknown field no_such_field")


@check(
    "filter.timestamp",
    reason="Questions about a period are asked with these; one day off is a wrong answer.",
    spec="protocol §9.1, §9.4, §9.5",
    condition=_HAS_TIMESTAMP,
)
async def timestamp_filter(context: Context) -> None:
    """Filters on timestamp hold together; >= takes its bound in, < does not; no time, no match."""
    days = [_START + timedelta(days=30 * n) for n in range(3)]
    told = context.facts(3)
    kept = await context.remember(f.episode(day) for f, day in zip(told, days, strict=True))
    bound = _rfc3339(days[1])
    since = pb.Filter(field="timestamp", operator=pb.FILTER_OPERATOR_GREATER_OR_EQUAL, value=bound)
    until = pb.Filter(field="timestamp", operator=pb.FILTER_OPERATOR_LESS, value=bound)
    exact = pb.Filter(field="timestamp", operator=pb.FILTER_OPERATOR_EQUAL, value=bound)
    undated = context.fact(3)
    kept |= await context.remember([undated.episode()])
    cases: tuple[tuple[str, list[pb.Filter], set[int]], ...] = (
        (f">= {bound}", [since], {1, 2}),
        (f"< {bound}", [until], {0}),
        (f"= {bound}", [exact], {1}),
        (f">= and < {bound}", [since, until], set()),
    )
    for what, filters, wanted in cases:
        for number, fact in enumerate((*told, undated)):
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
        await context.reset()
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
    "filter.before-limit",
    reason="Filtering what is left of the best hits loses the only one that fits.",
    spec="protocol §9.1",
    condition=_HAS_TIMESTAMP,
)
async def before_limit(context: Context) -> None:
    """With limit 1, a filter finds what it lets through, however much ranks higher without it."""
    days = [_START + timedelta(days=30 * n) for n in range(3)]
    told = context.facts(3)
    await context.remember(f.episode(day) for f, day in zip(told, days, strict=True))
    query = told[0].query
    if find(told[2], (await context.search(query)).hits) is None:
        raise NotApplicable("the memory does not rank the filtered episode for this query at all")
    bound = pb.Filter(
        field="timestamp", operator=pb.FILTER_OPERATOR_GREATER_OR_EQUAL, value=_rfc3339(days[2])
    )
    hits = (await context.search(query, limit=1, filters=[bound])).hits
    require(
        find(told[2], hits),
        f"the filter >= {bound.value} with limit 1 loses the only episode that meets it",
        expected=told[2].text,
        got=[hit.text for hit in hits],
    )


@check(
    "filter.malformed-refused",
    reason="A condition that cannot be understood must not let everything through.",
    spec="protocol §9.6",
    condition=_HAS_FIELD,
)
async def malformed_refused(context: Context) -> None:
    """An operator or a value that the field's type does not have is INVALID_ARGUMENT."""
    for field in context.capabilities.filter_fields:
        for wrong in _malformed(field):
            request = pb.SearchRequest(query=context.fact().query, limit=1, filters=[wrong])
            name = pb.FilterOperator.Name(wrong.operator)
            await require_refused(context, request, f"{field.name}: {name} {wrong.value!r}")


def _malformed(field: pb.FilterField) -> Iterator[pb.Filter]:
    value, _ = _two_values(field)
    yield pb.Filter(field=field.name, value=value)  # no operator
    if field.type in {pb.FILTER_TYPE_STRING, pb.FILTER_TYPE_ENUM}:
        yield pb.Filter(field=field.name, operator=pb.FILTER_OPERATOR_LESS, value=value)
    if field.type != pb.FILTER_TYPE_STRING:
        yield pb.Filter(field=field.name, operator=pb.FILTER_OPERATOR_EQUAL, value="no such value")


def _rfc3339(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


CHECKS: tuple[Check, ...] = (
    of_search(unknown_filter),
    timestamp_filter,
    metadata_filter,
    before_limit,
    malformed_refused,
)
