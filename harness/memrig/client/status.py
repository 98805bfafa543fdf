"""From a gRPC status to an error of the rig (docs/protocol.md, Status codes)."""

import grpc

from memrig.errors import AdapterError, AdapterRpcError, AdapterTimeoutError

_MAX_DETAILS = 500


def map_error(error: grpc.aio.AioRpcError, deadline_s: float, where: str) -> AdapterError:
    """The error for a status: a passed deadline is a time-out, everything else keeps its code.

    Whether UNAVAILABLE means a crash is for the trial to find out: it can see the pod.
    """
    if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
        return AdapterTimeoutError(deadline_s, where=where)
    return AdapterRpcError(error.code().name, (error.details() or "")[:_MAX_DETAILS], where=where)
