"""What is written down of a call: rows of the record, made of what happened."""

import time
from dataclasses import replace
from typing import get_args

from memrig.errors import GatewayFault
from memrig.gateway.call import Answer, Call, CallError
from memrig.gateway.jsons import load_object
from memrig.gateway.keys import Key
from memrig.gateway.record import Attempt, Exchange
from memrig.gateway.upstream.base import UpstreamError
from memrig.gateway.wire.base import WireReply

_FAULTS: dict[str, GatewayFault] = {fault: fault for fault in get_args(GatewayFault)}


def open_exchange(call: Call, key: Key, stamp: str) -> Exchange:
    """An exchange with nothing answered yet."""
    context = call.context
    return Exchange(
        key=key.exact,
        same=key.same,
        request=key.request,
        format=call.wire.format,
        model=call.model,
        phase=context.phase,
        purpose=context.purpose,
        trial_id=context.trial_id,
        scope=context.scope,
        seed=context.seed,
        attempt=context.attempt,
        vote=context.vote,
        occurrence=key.occurrence,
        state="",
        status=None,
        error="",
        response=None,
        events=None,
        served_model="",
        input_tokens=0,
        output_tokens=0,
        cost_usd=None,
        ns=0,
        attempts=0,
        at=stamp,
    )


def answered(row: Exchange, answer: Answer, *, bodies: bool) -> Exchange:
    """The exchange as it went well; mode live keeps no `bodies`."""
    reply = answer.reply
    events = reply.events.decode("utf-8", "replace") if reply.events else None
    return replace(
        row,
        state="ok",
        status=200,
        response=reply.body.decode("utf-8", "replace") if bodies else None,
        events=events if bodies else None,
        served_model=reply.served_model,
        input_tokens=reply.input_tokens,
        output_tokens=reply.output_tokens,
        cost_usd=answer.cost_usd,
        ns=answer.ns,
        attempts=answer.attempts,
    )


def failed(row: Exchange, error: CallError, tried: list[Attempt], ns: int) -> Exchange:
    """The exchange as it failed."""
    body = error.body.decode("utf-8", "replace") if error.body else None
    return replace(
        row,
        state=error.kind,
        error=error.message,
        status=error.status,
        response=body,
        ns=ns,
        attempts=len(tried),
    )


def cancelled(row: Exchange, tried: list[Attempt], ns: int) -> Exchange:
    """The exchange that nobody waited for."""
    return replace(
        row,
        state="cancelled",
        status=None,
        response=None,
        events=None,
        ns=ns,
        attempts=len(tried),
    )


def recorded(call: Call, row: Exchange) -> Answer:
    """What a row says to a call like its own.

    Raises:
        CallError: it was an error then, and is the same one now.
    """
    body = (row.response or "").encode()
    if row.state == "cancelled":
        message = f"nobody waited for this reply: given up after {row.ns / 1e9:.1f} s"
        raise CallError(message, kind="cut_off", where=call.where)
    if row.state != "ok":
        kind = _FAULTS.get(row.state, "provider")
        raise CallError(row.error, kind=kind, where=call.where, status=row.status, body=body)
    reply = WireReply(
        body=body,
        events=(row.events or "").encode(),
        value=load_object(body) or {},
        input_tokens=row.input_tokens,
        output_tokens=row.output_tokens,
        served_model=row.served_model,
    )
    return Answer(reply, row.key, row.cost_usd, row.ns, attempts=0)


def open_attempt(call: Call, key: Key, number: int, stamp: str) -> Attempt:
    """An attempt with nothing come of it yet."""
    return Attempt(
        key=key.exact,
        number=number,
        model=call.model,
        phase=call.context.phase,
        purpose=call.context.purpose,
        trial_id=call.context.trial_id,
        status=None,
        error="",
        message="",
        retry_after_s=None,
        ns=0,
        input_tokens=0,
        output_tokens=0,
        cost_usd=None,
        at=stamp,
    )


def tried_in_vain(attempt: Attempt, failure: UpstreamError, began: int) -> Attempt:
    """The attempt as it failed."""
    return replace(
        attempt,
        status=failure.status,
        error=failure.kind,
        message=failure.message,
        retry_after_s=failure.retry_after_s,
        ns=time.monotonic_ns() - began,
    )


def charged(attempt: Attempt, reply: WireReply, cost_usd: float | None) -> Attempt:
    """The attempt that brought the reply, with what it took."""
    return replace(
        attempt,
        input_tokens=reply.input_tokens,
        output_tokens=reply.output_tokens,
        cost_usd=cost_usd,
    )
