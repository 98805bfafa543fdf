"""What an adapter may raise, and the gRPC status that each exception becomes.

::

    InvalidRequest        INVALID_ARGUMENT     a request breaks the contract
    NotFound              NOT_FOUND            no such ref
    NotImplementedError   UNIMPLEMENTED        no such method
    MemoryError           RESOURCE_EXHAUSTED   no room
    DeadlineExceeded      DEADLINE_EXCEEDED    no time left (raised by the SDK)
    anything else         INTERNAL             a defect of the adapter

Two more are results and not failures: `Rejected` (an episode that is not stored, on purpose) and
`ToolError` (a failure that the agent should read).
"""

import grpc

#: Details travel percent-encoded in a header of 8 KiB at most; 800 bytes stay under a third of it.
MAX_DETAILS_BYTES = 800


class InvalidRequest(Exception):  # noqa: N818 - reads as what happened, where it is raised
    """A request breaks the contract; the message names the field and its value."""


class NotFound(Exception):  # noqa: N818 - likewise
    """The memory holds no item of this name."""


class Rejected(Exception):  # noqa: N818 - likewise
    """An episode is not stored, on purpose; the message says why.

    `ingest` raises it; `ingest_batch` puts it in its list.
    """


class ToolError(Exception):
    """A tool failed in a way that the agent should read. The call itself succeeds."""


class DeadlineExceeded(Exception):  # noqa: N818 - likewise
    """The caller's deadline passed before the adapter was done."""


class AdapterBug(Exception):  # noqa: N818 - likewise
    """The adapter returned something that the contract forbids; the message cites it."""


_CODES: tuple[tuple[type[BaseException], grpc.StatusCode], ...] = (
    (InvalidRequest, grpc.StatusCode.INVALID_ARGUMENT),
    (NotFound, grpc.StatusCode.NOT_FOUND),
    (NotImplementedError, grpc.StatusCode.UNIMPLEMENTED),
    (MemoryError, grpc.StatusCode.RESOURCE_EXHAUSTED),
    (DeadlineExceeded, grpc.StatusCode.DEADLINE_EXCEEDED),
)


def status_of(error: BaseException) -> tuple[grpc.StatusCode, str]:
    """Maps an exception to its status and details.

    Details of an INTERNAL carry the type and the message, never the traceback: that goes to the
    log alone, since it may quote what the adapter holds.
    """
    for kind, code in _CODES:
        if isinstance(error, kind):
            return code, _shorten(str(error) or code.value[1])
    return grpc.StatusCode.INTERNAL, _shorten(f"{type(error).__name__}: {error}")


def _shorten(text: str) -> str:
    raw = text.encode("utf-8", "replace")
    if len(raw) <= MAX_DETAILS_BYTES:
        return raw.decode("utf-8")
    return raw[:MAX_DETAILS_BYTES].decode("utf-8", "ignore") + " …"
