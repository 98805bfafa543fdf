"""What is answered over one trial's socket: the endpoints that unmodified SDKs speak to."""

import asyncio
from collections.abc import Awaitable, Callable

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from memrig.errors import InfrastructureError
from memrig.gateway.bounds import Bounds
from memrig.gateway.call import Call, CallError
from memrig.gateway.calls import Calls
from memrig.gateway.identity import Injected, TrialIdentity
from memrig.gateway.jsons import dump, load_object
from memrig.gateway.wire.base import Refusal, Wire
from memrig.gateway.wire.formats import ANTHROPIC_MESSAGES, OPENAI_CHAT, WIRES

#: What `base_url` ends in differs between the SDKs, and so does what they add to it.
_PREFIXES = ("", "/v1", "/v1/v1")
#: Request headers that a reply depends on. No other header is read.
_TELLING = ("anthropic-beta",)
#: The gateway has tried as often as it makes sense; an SDK would only multiply that.
_FINAL = {"x-should-retry": "false"}
_JSON = "application/json"
_STREAM = "text/event-stream"

Endpoint = Callable[[Request], Awaitable[Response]]


def app_for(calls: Calls, identity: TrialIdentity) -> ASGIApp:
    """The endpoints, for one trial."""
    bounds = Bounds(calls.config)
    routes = [Route(f"{prefix}/models", _models(calls, identity)) for prefix in _PREFIXES]
    for wire in WIRES.values():
        endpoint = _answering(wire, calls, identity, bounds)
        routes += [Route(f"{p}{wire.path}", endpoint, methods=["POST"]) for p in _PREFIXES]
    routes.append(Route("/{path:path}", _unknown, methods=["GET", "POST"]))
    return Starlette(routes=routes)


def _answering(wire: Wire, calls: Calls, identity: TrialIdentity, bounds: Bounds) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        # The phase is that of the call's arrival, however long its body takes.
        context, injected = identity.context(), identity.injected
        headers = {name: request.headers[name] for name in _TELLING if name in request.headers}
        try:
            async with bounds.body(request) as data:
                body = _object(data)
                if injected and (refusal := await _befallen(wire, injected)):
                    return refusal
                answer = await calls.make(Call(wire, body, headers, context, identity.models))
        except CallError as error:
            _note(identity, error)
            return _refused(wire, error)
        except InfrastructureError as error:
            failure = CallError(error.message, kind="provider", where=error.where, status=500)
            _note(identity, failure)
            return _refused(wire, failure)
        streams = body.get("stream") is True and wire in {ANTHROPIC_MESSAGES, OPENAI_CHAT}
        if streams:
            return Response(wire.stream(answer.reply, body), media_type=_STREAM)
        return Response(answer.reply.body, media_type=_JSON)

    return endpoint


def _object(data: bytes) -> dict[str, object]:
    """The request's object."""
    body = load_object(data)
    if body is None:
        raise CallError("the request's body is no JSON object", kind="rejected")
    if not isinstance(body.get("model"), str):
        raise CallError("the request names no model", kind="rejected")
    return body


async def _befallen(wire: Wire, injected: Injected) -> Response | None:
    """What a call meets on purpose: as a provider would say it, and for good. None: it goes on.

    It is no fault of a provider's, and none was asked: nothing is noted, charged or recorded.
    """
    injected.met += 1
    if injected.fault == "slow":
        await asyncio.sleep(injected.delay_s)
        return None
    if injected.fault == "refuses":
        refusal = wire.refusal("rejected", 400, "this request is against the usage policy")
    else:
        refusal = wire.refusal("provider", 503, "the service is unavailable")
    return Response(refusal.body, refusal.status, headers=_FINAL, media_type=_JSON)


def _note(identity: TrialIdentity, error: CallError) -> None:
    """Asking for what is not there is the memory system's own doing; the rest is not."""
    if identity.fault is None and error.kind not in {"rejected", "not_allowed"}:
        identity.fault = error


def _refused(wire: Wire, error: CallError) -> Response:
    refusal = Refusal(error.status or 400, error.body)
    if not error.body or load_object(error.body) is None:
        refusal = wire.refusal(error.kind, error.status, error.message)
    return Response(refusal.body, refusal.status, headers=_FINAL, media_type=_JSON)


def _models(calls: Calls, identity: TrialIdentity) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        names = sorted((identity.models or calls.config.models) & calls.config.models)
        shape = _anthropic_models if "anthropic-version" in request.headers else _openai_models
        return Response(dump(shape(names)), media_type=_JSON)

    return endpoint


def _openai_models(names: list[str]) -> dict[str, object]:
    rows = [{"id": n, "object": "model", "created": 0, "owned_by": "memrig"} for n in names]
    return {"object": "list", "data": rows}


def _anthropic_models(names: list[str]) -> dict[str, object]:
    stamp = "1970-01-01T00:00:00Z"
    rows = [{"type": "model", "id": n, "display_name": n, "created_at": stamp} for n in names]
    ends = {"first_id": names[0], "last_id": names[-1]} if names else {}
    return {"data": rows, "has_more": False, "first_id": None, "last_id": None, **ends}


async def _unknown(request: Request) -> Response:
    wire = ANTHROPIC_MESSAGES if "anthropic-version" in request.headers else OPENAI_CHAT
    served = ", ".join(f"/v1{one.path}" for one in WIRES.values())
    message = f"the gateway serves {served} and /v1/models, not {request.url.path}"
    refusal = wire.refusal("rejected", 404, message)
    return Response(refusal.body, refusal.status, headers=_FINAL, media_type=_JSON)
