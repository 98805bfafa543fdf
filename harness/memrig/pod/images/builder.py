"""One `docker build` by the classic builder, without a network. It blocks: run it in a thread."""

import threading
from collections.abc import Mapping
from typing import IO, Any

import requests
from docker import APIClient
from docker.errors import APIError
from docker.utils import kwargs_from_env

from memrig.errors import InfrastructureError
from memrig.pod.images.buildlog import BuildLog
from memrig.pod.images.faults import faults
from memrig.pod.images.types import Progress

#: A step may be silent for long (a compiler); no word for this long is a fault.
_SILENCE_S = 900


class BuildStoppedError(Exception):
    """The caller was cancelled while the daemon built."""


class _Client(APIClient):
    """A client that keeps its last response, so that a build can be hung up on.

    The SDK hands out a stream and keeps the connection to itself, and the daemon builds on for as
    long as that connection is open.
    """

    _last: requests.Response | None = None

    # Any: the keyword arguments of requests.Session.send.
    def send(self, request: requests.PreparedRequest, **kwargs: Any) -> requests.Response:
        self._last = super().send(request, **kwargs)
        return self._last

    def hang_up(self) -> None:
        if self._last is not None:
            self._last.close()
        self.close()


def run_build(
    context: IO[bytes],
    *,
    labels: Mapping[str, str],
    buildargs: Mapping[str, str],
    fresh: bool,
    where: str,
    say: Progress,
    stop: threading.Event,
) -> str:
    """Builds a context (a tar); returns the image id.

    Args:
        context: the tar, with its Dockerfile.
        labels: what the image is labelled with.
        buildargs: values for the Dockerfile's ARGs.
        fresh: use none of the daemon's cached layers.
        where: the Dockerfile, for messages.
        say: takes the build's lines.
        stop: set by another thread to end the build at its next line.

    Raises:
        DataError, PrerequisiteError: see `BuildLog.failure`.
        InfrastructureError: the daemon failed.
        BuildStoppedError: `stop` was set.
    """
    log = BuildLog()
    digest = ""
    with faults(f"building {where}"):
        client = _Client(version="auto", timeout=_SILENCE_S, **kwargs_from_env())
        try:
            for item in client.build(
                fileobj=context, custom_context=True, decode=True, rm=True, forcerm=True,
                nocache=fresh, network_mode="none", labels=dict(labels), buildargs=dict(buildargs),
            ):  # fmt: skip
                if stop.is_set():
                    raise BuildStoppedError
                if "error" in item:
                    raise log.failure(str(item["error"]), where=where)
                digest = item.get("aux", {}).get("ID", digest)
                for line in log.add(str(item.get("stream", ""))):
                    say(line)
        except APIError as error:
            if error.is_client_error():
                raise log.failure(str(error.explanation), where=where) from error
            raise
        finally:
            client.hang_up()
    if not digest:
        raise InfrastructureError("the build ended without an image id", where=where)
    return digest
