"""Checks of the optional calls: a flag and what it promises agree."""

import json
import math
from datetime import UTC, datetime

from memrig.conformance.check import Check, Condition, check, of_search
from memrig.conformance.context import Context, answer, callable_tool, status
from memrig.conformance.facts import find, opaque_id
from memrig.conformance.verdict import NotApplicable, require
from memrig_proto.v1 import memory_adapter_pb2 as pb

_RETRIEVES = Condition(lambda c: c.supports_retrieve, "supports_retrieve is false")
_ANSWERS = Condition(lambda c: c.supports_answer, "supports_answer is false")
_FORGETS = Condition(lambda c: c.supports_forget, "supports_forget is false")
_AS_OF = Condition(lambda c: c.supports_as_of, "supports_as_of is false")
_NO_AS_OF = Condition(lambda c: not c.supports_as_of, "supports_as_of is true")
_HAS_TOOLS = Condition(lambda c: bool(c.tools), "no tool is declared")
_HAS_PLAIN_TOOL = Condition(
    lambda c: bool(callable_tool(c)), "no tool is declared that can be called without arguments"
)


def _require_status(got: str, expected: str, what: str) -> None:
    require(got == expected, what, expected=expected, got=got)


def _require_flag(name: str, declared: bool, code: str) -> None:
    if declared:
        require(code != "UNIMPLEMENTED", f"{name} is declared", expected="implemented", got=code)
    else:
        require(
            code == "UNIMPLEMENTED", f"{name} is not declared", expected="UNIMPLEMENTED", got=code
        )


@check(
    "flags.search",
    reason="A memory that answers and cannot be searched is run in mode “native” alone.",
    spec="protocol §4.3, §4.4",
)
async def flag_search(context: Context) -> None:
    """Search is UNIMPLEMENTED exactly where no search mode is declared; then Answer is."""
    declared = context.capabilities
    code = await context.status_of_search(pb.SearchRequest(query=context.fact().query, limit=1))
    _require_flag("Search", bool(declared.search_modes), code)
    require(
        declared.search_modes or declared.supports_answer,
        "neither a search mode nor supports_answer is declared",
        expected="one of them",
        got=declared,
    )


@check(
    "flags.retrieve",
    reason="An agent is given memory_retrieve by this flag alone.",
    spec="protocol §4.4",
)
async def flag_retrieve(context: Context) -> None:
    """Retrieve is UNIMPLEMENTED exactly where supports_retrieve is false."""
    request = pb.RetrieveRequest(ref_id="no-such-ref")
    code = await status(context.stub.Retrieve(request, timeout=context.deadlines.search))
    _require_flag("Retrieve", context.capabilities.supports_retrieve, code)


@check(
    "flags.answer",
    reason="Mode “native” is offered by this flag alone.",
    spec="protocol §4.4",
)
async def flag_answer(context: Context) -> None:
    """Answer is UNIMPLEMENTED exactly where supports_answer is false."""
    request = pb.AnswerRequest(question=context.fact().query)
    code = await status(context.stub.Answer(request, timeout=context.deadlines.flush))
    _require_flag("Answer", context.capabilities.supports_answer, code)


@check(
    "flags.forget",
    reason="Suites that ask a memory to forget skip it by this flag alone.",
    spec="protocol §4.4",
)
async def flag_forget(context: Context) -> None:
    """Forget is UNIMPLEMENTED exactly where supports_forget is false."""
    request = pb.ForgetRequest(episode_ids=[context.fact().episode_id])
    code = await status(context.stub.Forget(request, timeout=context.deadlines.reset))
    _require_flag("Forget", context.capabilities.supports_forget, code)


@check(
    "flags.tools",
    reason="A tool that exists without being declared is one that no transcript explains.",
    spec="protocol §4.4",
)
async def flag_tools(context: Context) -> None:
    """CallTool is UNIMPLEMENTED exactly where no tool is declared."""
    declared = [tool.name for tool in context.capabilities.tools]
    request = pb.CallToolRequest(name=(declared or ["no_such_tool"])[0], arguments_json="{}")
    code = await status(context.stub.CallTool(request, timeout=context.deadlines.flush))
    _require_flag("CallTool", bool(declared), code)


@check(
    "retrieve.from-hit",
    reason="An agent reads on from a hit; a ref that leads nowhere wastes its budget.",
    spec="protocol §11.1",
    condition=_RETRIEVES,
)
async def retrieve_from_hit(context: Context) -> None:
    """The ref_id of a hit retrieves a document with that ref_id, a text and the hit's sources."""
    (fact, *_) = await context.remember_facts(context.facts(3))
    hit = await context.require_found(fact, "that is to be retrieved")
    document = await context.retrieve(hit.ref_id)
    require(
        document.ref_id == hit.ref_id, "another ref_id", expected=hit.ref_id, got=document.ref_id
    )
    require(document.text, "a document without text", expected="the whole text", got=document)
    missing = set(hit.source_episode_ids) - set(document.source_episode_ids)
    require(
        not missing,
        "the document names fewer sources than its hit",
        expected=list(hit.source_episode_ids),
        got=list(document.source_episode_ids),
    )


@check(
    "retrieve.unknown-ref",
    reason="An empty document would read as “the memory holds nothing on it”.",
    spec="protocol §11.2",
    condition=_RETRIEVES,
)
async def retrieve_unknown(context: Context) -> None:
    """An unknown ref_id is NOT_FOUND."""
    request = pb.RetrieveRequest(ref_id=opaque_id("r", context.purpose))
    code = await status(context.stub.Retrieve(request, timeout=context.deadlines.search))
    require(code == "NOT_FOUND", "an unknown ref_id", expected="NOT_FOUND", got=code)


@check(
    "retrieve.empty-ref-refused",
    reason="An empty ref is a defect of the caller, and not an item that is missing.",
    spec="protocol §11.2",
    condition=_RETRIEVES,
)
async def retrieve_empty(context: Context) -> None:
    """An empty ref_id is INVALID_ARGUMENT."""
    call = context.stub.Retrieve(pb.RetrieveRequest(), timeout=context.deadlines.search)
    _require_status(await status(call), "INVALID_ARGUMENT", "an empty ref_id")


@check(
    "answer.shape",
    reason="An empty answer is scored as wrong, not as abstaining; confidence is graded as given.",
    spec="protocol §12.1, §12.2, §12.3",
    condition=_ANSWERS,
)
async def answer_shape(context: Context) -> None:
    """Answer gives a text or abstains; confidence, where given, lies between 0 and 1."""
    fact = context.fact()
    acks = await context.ingest([fact.episode()])
    await context.flush()
    allowed = context.deadlines.flush
    call = context.stub.Answer(pb.AnswerRequest(question=fact.query), timeout=allowed)
    given = await answer(call, "Answer", allowed)
    require(
        given.answer or given.abstained, "an empty answer", expected="text or abstained", got=given
    )
    if given.HasField("confidence"):
        sure = given.confidence
        require(math.isfinite(sure) and 0 <= sure <= 1, "confidence", expected="0 to 1", got=sure)
    taken = {ack.episode_id for ack in acks}
    void = sorted(set(given.source_episode_ids) - taken)
    require(not void, "the answer cites unknown episodes", expected=sorted(taken), got=void)


@check(
    "answer.empty-question-refused",
    reason="Whatever is said to no question would be graded as an answer.",
    spec="protocol §12.1",
    condition=_ANSWERS,
)
async def answer_nothing(context: Context) -> None:
    """An empty question is INVALID_ARGUMENT."""
    call = context.stub.Answer(pb.AnswerRequest(), timeout=context.deadlines.flush)
    _require_status(await status(call), "INVALID_ARGUMENT", "an empty question")


@check(
    "tools.unknown",
    reason="Models invent tool names; they must learn that from the status.",
    spec="protocol §14.3",
    condition=_HAS_TOOLS,
)
async def tool_unknown(context: Context) -> None:
    """Calling a tool that is not declared is NOT_FOUND."""
    request = pb.CallToolRequest(name="no_such_tool", arguments_json="{}")
    call = context.stub.CallTool(request, timeout=context.deadlines.flush)
    _require_status(await status(call), "NOT_FOUND", "an unknown tool")


@check(
    "tools.arguments-refused",
    reason="What is no JSON object is a defect of the caller, not of the tool.",
    spec="protocol §14.3",
    condition=_HAS_TOOLS,
)
async def tool_arguments(context: Context) -> None:
    """Arguments that are not a JSON object are INVALID_ARGUMENT."""
    for arguments in ("[]", "not JSON"):
        name = context.capabilities.tools[0].name
        request = pb.CallToolRequest(name=name, arguments_json=arguments)
        call = context.stub.CallTool(request, timeout=context.deadlines.flush)
        _require_status(await status(call), "INVALID_ARGUMENT", f"the arguments {arguments!r}")


@check(
    "tools.call",
    reason="The result is handed to a model as JSON; what does not parse ends its turn.",
    spec="protocol §14.2",
    condition=_HAS_PLAIN_TOOL,
)
async def tool_call(context: Context) -> None:
    """A declared tool that needs no arguments answers with JSON."""
    name, allowed = callable_tool(context.capabilities), context.deadlines.flush
    request = pb.CallToolRequest(name=name, arguments_json="{}")
    result = await answer(context.stub.CallTool(request, timeout=allowed), "CallTool", allowed)
    try:
        json.loads(result.result_json)
    except ValueError:
        parses = False
    else:
        parses = True
    require(parses, f"the result of {name}", expected="JSON", got=result.result_json)


@check(
    "forget.gone",
    reason="Forgetting is asked for by law and by people; a cache or an index must not remember.",
    spec="protocol §13.1, §13.2",
    condition=_FORGETS,
)
async def forget_gone(context: Context) -> None:
    """A forgotten episode is not found any more, by a search made before included."""
    kept = await context.remember_facts(context.facts(4))
    gone, *others = kept
    await context.require_found(gone, "that is to be forgotten")
    response = await context.forget([gone.episode_id])
    require(
        response.forgotten_episodes == 1,
        "forgotten_episodes for one known id",
        expected=1,
        got=response.forgotten_episodes,
    )
    await context.require_gone(gone, "after Forget")
    await context.flush()
    await context.require_gone(gone, "after Forget and Flush")
    for fact in others:
        await context.require_found(fact, "that was not to be forgotten")


@check(
    "forget.ref-gone",
    reason="A handle from before must not be a way back to what was forgotten.",
    spec="protocol §13.1",
    condition=Condition(
        lambda c: c.supports_forget and c.supports_retrieve, "needs both Forget and Retrieve"
    ),
)
async def forget_ref_gone(context: Context) -> None:
    """A ref whose only source is forgotten is NOT_FOUND."""
    (fact, *_) = await context.remember_facts([context.fact()])
    hit = await context.require_found(fact, "that is to be forgotten")
    if list(hit.source_episode_ids) != [fact.episode_id]:
        raise NotApplicable("the hit does not name the episode as its only source")
    request = pb.RetrieveRequest(ref_id=hit.ref_id)
    limit = context.deadlines.search
    if await status(context.stub.Retrieve(request, timeout=limit)) != "OK":
        raise NotApplicable("the ref cannot be retrieved to begin with")
    await context.forget([fact.episode_id])
    code = await status(context.stub.Retrieve(request, timeout=limit))
    require(code == "NOT_FOUND", "the ref of a forgotten episode", expected="NOT_FOUND", got=code)


@check(
    "forget.unknown-id",
    reason="The rig names what it sent, and the memory may have rejected it.",
    spec="protocol §13.2",
    condition=_FORGETS,
)
async def forget_unknown(context: Context) -> None:
    """Forgetting an id that was never ingested answers OK and counts nothing."""
    response = await context.forget([opaque_id("e", f"{context.purpose}/unknown")])
    require(
        response.forgotten_episodes == 0,
        "forgotten_episodes for an unknown id",
        expected=0,
        got=response.forgotten_episodes,
    )


@check(
    "forget.then-again",
    reason="What was forgotten by mistake is told again; a list of the forgotten would block it.",
    spec="protocol §13.3",
    condition=_FORGETS,
)
async def forget_then_again(context: Context) -> None:
    """A forgotten episode that is ingested again is STORED, and found."""
    fact = context.fact()
    await context.remember([fact.episode()])
    await context.forget([fact.episode_id])
    acks = await context.ingest([fact.episode()])
    known = [ack for ack in acks if ack.status == pb.INGEST_STATUS_DUPLICATE]
    require(not known, "a forgotten episode is still known", expected="STORED", got=known)
    await context.flush()
    await context.require_found(fact, "ingested again after Forget")


@check(
    "forget.no-ids-refused",
    reason="“Forget nothing” must not be read as “forget everything”.",
    spec="protocol §13.4",
    condition=_FORGETS,
)
async def forget_nothing(context: Context) -> None:
    """Forget without ids, or with an empty one, is INVALID_ARGUMENT."""
    for ids in ([], [""]):
        request = pb.ForgetRequest(episode_ids=ids)
        call = context.stub.Forget(request, timeout=context.deadlines.reset)
        _require_status(await status(call), "INVALID_ARGUMENT", f"episode_ids {ids}")


@check(
    "as-of.honoured",
    reason="A question asked in March must not be answered from April.",
    spec="protocol §8.5",
    condition=_AS_OF,
)
async def as_of_honoured(context: Context) -> None:
    """A search with as_of finds what was there by then, and nothing from later."""
    early, late = context.facts(2)
    moments = (datetime(2024, 3, 1, tzinfo=UTC), datetime(2024, 5, 1, tzinfo=UTC))
    kept = await context.remember(
        fact.episode(moment) for fact, moment in zip((early, late), moments, strict=True)
    )
    between = datetime(2024, 4, 1, tzinfo=UTC)
    if early.episode_id in kept:
        hits = (await context.search(early.query, as_of=between)).hits
        require(
            find(early, hits), "as_of loses what was there by then", expected=early.text, got=hits
        )
    later = find(late, (await context.search(late.query, as_of=between)).hits)
    require(later is None, "as_of lets later episodes through", expected="no such hit", got=later)


@check(
    "as-of.refused",
    reason="Ignoring it would answer a question about the past from the present, unseen.",
    spec="protocol §8.5",
    condition=_NO_AS_OF,
)
async def as_of_refused(context: Context) -> None:
    """Where supports_as_of is false, a search with as_of is INVALID_ARGUMENT."""
    request = pb.SearchRequest(query=context.fact().query, limit=1)
    request.as_of.FromDatetime(datetime(2024, 4, 1, tzinfo=UTC))
    code = await context.status_of_search(request)
    require(code == "INVALID_ARGUMENT", "as_of", expected="INVALID_ARGUMENT", got=code)


CHECKS: tuple[Check, ...] = (
    flag_search,
    flag_retrieve,
    flag_answer,
    flag_forget,
    flag_tools,
    retrieve_from_hit,
    retrieve_unknown,
    retrieve_empty,
    answer_shape,
    answer_nothing,
    tool_unknown,
    tool_arguments,
    tool_call,
    forget_gone,
    forget_ref_gone,
    forget_unknown,
    forget_then_again,
    forget_nothing,
    as_of_honoured,
    of_search(as_of_refused),
)
