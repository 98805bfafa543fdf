"""Serves the viewer on this machine's loopback address, until it is interrupted."""

import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp

from memrig.errors import UsageError
from memrig.report.units import plural
from memrig.viewer.app import make_app
from memrig.viewer.shelf import Shelf

#: Nowhere else: what runs hold is for whoever made them.
LOOPBACK = "127.0.0.1"


def serve(root: Path, port: int, say: Callable[[str], None]) -> None:
    """Shows a folder of runs until Ctrl-C.

    Args:
        root: the folder, or one run's.
        port: to listen at; 0: any that is free.
        say: told the address.

    Raises:
        UsageError: the folder is not there, or the port is taken.
    """
    shelf = Shelf(root)
    found = plural(len(shelf.runs()), "run")
    with listening(port) as listener:
        address = f"http://{LOOPBACK}:{listener.getsockname()[1]}/"
        say(f"{address} shows {found} of {root}; Ctrl-C ends it")
        with suppress(KeyboardInterrupt):  # the usual way to end it, and no error
            server_of(make_app(shelf)).run(sockets=[listener])


def listening(port: int) -> socket.socket:
    """A socket on the loopback address.

    Raises:
        UsageError: the port is taken, or is none.
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((LOOPBACK, port))
        listener.listen()  # before the address is told: whoever asks at once is answered
    except (OSError, OverflowError) as error:
        listener.close()
        fix = "give another one, or 0 for any that is free"
        raise UsageError(
            f"cannot be listened at: {error}", where=f"--port {port}", fix=fix
        ) from error
    return listener


def server_of(app: ASGIApp) -> uvicorn.Server:
    """A server that says nothing of its own and names no software."""
    config = uvicorn.Config(
        app,
        http="h11",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=2,
    )
    return uvicorn.Server(config)
