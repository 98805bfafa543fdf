"""What every request must be, and what every answer says of itself."""

from collections.abc import Iterable

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: Names that stand for this machine alone. Another name that leads here is a page elsewhere whose
#: address was made to point here, so that it may read what is shown (DNS rebinding).
_HOSTS = frozenset({"127.0.0.1", "localhost", "[::1]"})
_METHODS = frozenset({"GET", "HEAD"})
#: Each page allows its own style by hash on top of this, and both hold.
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class Guard:
    """Lets reading requests to this machine by its own name through, and hardens the answers.

    Args:
        app: what answers.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request; see `starlette.types.ASGIApp`."""
        if scope["type"] != "http":
            return  # nothing else is spoken here, and there is nothing to start or to end

        async def hardened(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        refusal = _refusal(scope)
        await (refusal or self._app)(scope, receive, hardened)


def _refusal(scope: Scope) -> PlainTextResponse | None:
    """Why a request is not answered; None where it is."""
    if not _ours(Headers(scope=scope).getlist("host")):
        return PlainTextResponse("this page is for 127.0.0.1 and localhost alone\n", 421)
    if scope["method"] not in _METHODS:
        return PlainTextResponse("nothing can be changed here\n", 405, {"allow": "GET, HEAD"})
    return None


def _ours(hosts: Iterable[str]) -> bool:
    """Whether the one Host header names this machine. Its port may be a tunnel's."""
    found = list(hosts)
    if len(found) != 1:
        return False
    name, colon, port = found[0].rpartition(":")
    if not colon or port.endswith("]"):
        name, port = found[0], "80"
    return name.lower() in _HOSTS and port.isdecimal()
