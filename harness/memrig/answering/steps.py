"""What all modes do alike: search, call a model, note both, and say how a question ended."""

import json
from dataclasses import replace

from memrig.answering.base import Access, Trace
from memrig.errors import UsageError
from memrig.model.chat import ChatReply, ChatRequest, estimate_tokens
from memrig.model.transcript import ModelCallRecord, SearchRecord
from memrig.model.trial import AnswerSpec, Budget, Outcome


def hits_wanted(access: Access) -> int:
    """How many hits a search asks for: the trial's top k, or fewer where the memory gives fewer."""
    return min(access.spec.top_k, access.memory.capabilities.max_results)


def hits_to_show(access: Access) -> int:
    """How many hits a model's search gives that names no limit: all, of what shows everything."""
    most = access.memory.capabilities.max_results
    return most if access.memory.whole else hits_wanted(access)


def note_search(found: SearchRecord, trace: Trace) -> SearchRecord:
    """Leaves a search in the trace."""
    trace.searches.append(found)
    note_memory(found.ns, found.payload_bytes, trace)
    return found


def note_memory(ns: int, payload_bytes: int, trace: Trace) -> None:
    """Adds up what the memory system took, and what it returned."""
    trace.memory_ns += ns
    trace.payload_bytes += payload_bytes


def answer_spec(access: Access) -> AnswerSpec:
    """How the trial wants its answers.

    Raises:
        UsageError: it names no model.
    """
    spec = access.spec.answer
    if spec is None or not spec.model:
        raise UsageError(
            f"mode {access.spec.mode} needs a model to answer with, but the trial names none",
            where=f"trial={access.spec.trial_id}",
            fix="name one with --reader-model",
        )
    return spec


async def call_model(request: ChatRequest, access: Access, trace: Trace) -> ChatReply:
    """Calls a model on behalf of `access.context` and leaves the call in the trace.

    Raises:
        GatewayError: it could not be had.
    """
    reply = _sound(await access.chat.chat(request, access.context))
    trace.model_calls.append(
        ModelCallRecord(
            purpose=access.context.purpose,
            model=request.model,
            served_model=reply.served_model,
            key=reply.key,
            input_tokens=reply.input_tokens,
            output_tokens=reply.output_tokens,
            cost_usd=reply.cost_usd,
            ns=reply.ns,
            attempts=reply.attempts,
            stop_reason=reply.stop_reason,
        )
    )
    return reply


def _sound(reply: ChatReply) -> ChatReply:
    """A reply without lone surrogates: JSON can carry them to us, UTF-8 cannot carry them on."""
    calls = tuple(
        replace(call, name=_utf8(call.name), arguments_json=_utf8(call.arguments_json))
        for call in reply.tool_calls
    )
    return replace(reply, text=_utf8(reply.text), tool_calls=calls)


def _utf8(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def request_tokens(request: ChatRequest) -> int:
    """About how many tokens a request sends."""
    texts = [request.system]
    texts += [message.text for message in request.messages]
    texts += [call.arguments_json for message in request.messages for call in message.tool_calls]
    texts += [tool.name + tool.description + json.dumps(tool.schema) for tool in request.tools]
    return sum(map(estimate_tokens, texts))


def settled(abstained: bool) -> Outcome:
    """A question that was answered, or declined, within its budget."""
    return Outcome(status="abstained" if abstained else "answered")


def exceeded(kind: str, budget: Budget) -> Outcome:
    """A question that wanted more than its budget has.

    Args:
        kind: the field of the budget, or "wall_time".
        budget: the question's.
    """
    limit = budget.wall_time_s if kind == "wall_time" else getattr(budget, kind)
    shown = f"{limit:,}" if isinstance(limit, int) else f"{limit:g}"
    message = f"the question wanted more than its {shown} {_UNITS[kind]}"
    return Outcome(status="budget_exceeded", kind=kind, message=message)


_UNITS = {
    "turns": "turns",
    "tool_calls": "tool calls",
    "payload_bytes": "bytes from the memory",
    "tokens": "tokens of models",
    "usd": "dollars for models",
    "wall_time": "seconds",
}
