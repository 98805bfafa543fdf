"""Mode reader: the rig searches, a model answers from what was found."""

from memrig.answering.base import Access, Trace
from memrig.answering.context import cut_by_rank
from memrig.answering.final import reader_answer
from memrig.answering.handles import Handles, Item
from memrig.answering.prompts import reader_prompt
from memrig.answering.steps import (
    answer_spec,
    call_model,
    exceeded,
    hits_to_show,
    note_search,
    request_tokens,
    settled,
)
from memrig.model.chat import ChatRequest, Message
from memrig.model.scenario import Question
from memrig.model.trial import AnswerSpec, Budget, Outcome

#: What `estimate_tokens` takes for one token.
_BYTES_PER_TOKEN = 4


async def reader(question: Question, access: Access, trace: Trace) -> Outcome:
    """Searches once, shows a model what fits, and takes its reply.

    Raises:
        AdapterError: the memory system failed.
        GatewayError: the model could not be had.
        UsageError: the trial names no model.
    """
    spec, budget = answer_spec(access), access.spec.budget
    found = note_search(await access.memory.search(question.text, hits_to_show(access)), trace)
    handles = Handles(access.memory.date_of)
    items = [handles.item(hit) for hit in found.hits]
    payload = 0 if access.memory.whole else found.payload_bytes
    room, hit = _room(question, payload, spec, budget)
    request = _request(question, cut_by_rank(items, room, handles), spec)
    reply = await call_model(request, access, trace)
    if budget.usd is not None and (reply.cost_usd or 0.0) > budget.usd:
        hit = hit or "usd"  # its one call is always made; what it cost is known only now
    trace.answer = reader_answer(reply.text, handles, spec.prompt, reserved=bool(hit))
    return exceeded(hit, budget) if hit else settled(trace.answer.abstained)


def _room(
    question: Question, payload_bytes: int, spec: AnswerSpec, budget: Budget
) -> tuple[int, str]:
    """How many tokens of memories may be shown, and the kind of budget that is used up.

    A budget of tokens is known beforehand, so the context is made to fit it. What the memory
    returned is not: beyond the budget it is cut, and the question has used up its bytes.
    """
    room, hit = spec.context_tokens, ""
    if payload_bytes > budget.payload_bytes:
        room, hit = min(room, budget.payload_bytes // _BYTES_PER_TOKEN), "payload_bytes"
    if budget.tokens is not None:
        bare = request_tokens(_request(question, [], spec)) + spec.max_output_tokens
        room = min(room, budget.tokens - bare)
        hit = hit or ("tokens" if room < 0 else "")
    return max(0, room), hit


def _request(question: Question, items: list[Item], spec: AnswerSpec) -> ChatRequest:
    prompt = reader_prompt(question, items, spec.prompt)
    return ChatRequest(
        model=spec.model,
        system=prompt.system,
        messages=(Message("user", prompt.user),),
        max_tokens=spec.max_output_tokens,
        stream=True,
    )
