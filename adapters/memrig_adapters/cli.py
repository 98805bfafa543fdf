"""`memrig-adapter`: serves an adapter from the command line."""

import argparse
import importlib
import logging
import os
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from memrig_adapters import Adapter, __version__
from memrig_adapters.server import AdapterServer, AddressError

DEFAULT_ADDRESS = "127.0.0.1:50051"
LISTEN_VARIABLE = "MEMRIG_LISTEN"

log = logging.getLogger("memrig_adapters")


class TargetError(Exception):
    """The command line names no adapter that can be served."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Parses the command line and serves until SIGTERM or SIGINT.

    Exit codes: 0 after a graceful end, 1 if the adapter failed to start or did not end in time,
    2 for a wrong command line.
    """
    options = _parse(arguments)
    logging.basicConfig(
        stream=sys.stderr, level=options.log_level.upper(), format="%(levelname)s %(message)s"
    )
    try:
        adapter = load(options.target)
        server = AdapterServer(adapter, options.listen)
    except (TargetError, AddressError) as error:
        sys.stderr.write(f"memrig-adapter: {error}\n")
        sys.exit(2)
    code = _serve(server, options.target)
    # Not sys.exit: the interpreter would wait for the pool's threads, and a hung call is one.
    logging.shutdown()
    os._exit(code)


def load(target: str) -> Adapter:
    """Makes the adapter that ``module:Class`` names. Modules of the working directory are found.

    Raises:
        TargetError: there is no such class, or it is no `Adapter`.
    """
    module_name, _, class_name = target.partition(":")
    if not module_name or not class_name:
        raise TargetError(f"{target!r} is not of the form module:Class")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise TargetError(f"{module_name} needs {error.name!r}, not installed") from error
        raise TargetError(f"no module {error.name!r}, here or installed") from error
    found = getattr(module, class_name, None)
    if not (isinstance(found, type) and issubclass(found, Adapter)):
        raise TargetError(f"{module_name}.{class_name} is {found!r}, not a subclass of Adapter")
    return found()


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="memrig-adapter", description="Serves a memory adapter over the memrig contract."
    )
    parser.add_argument("--version", action="version", version=f"memrig-adapter {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    serve = commands.add_parser("serve", help="serve an adapter until SIGTERM")
    serve.add_argument("target", metavar="MODULE:CLASS", help="the adapter's class")
    serve.add_argument(
        "--listen",
        metavar="ADDRESS",
        default=os.environ.get(LISTEN_VARIABLE) or DEFAULT_ADDRESS,
        help=f"host:port or unix:/path (default: ${LISTEN_VARIABLE}, else {DEFAULT_ADDRESS})",
    )
    serve.add_argument(
        "--log-level",
        default="info",
        choices=["debug", "info", "warning", "error"],
        help="what goes to standard error (default: info)",
    )
    return parser.parse_args(arguments)


def _serve(server: AdapterServer, target: str) -> int:
    wake = threading.Event()
    failed: list[BaseException] = []
    signals = 0

    def on_signal(*_: object) -> None:
        nonlocal signals
        signals += 1
        if signals > 1:
            os._exit(1)  # asked twice: now
        wake.set()

    def start() -> None:
        try:
            server.start()
        except (Exception, SystemExit) as error:  # noqa: BLE001 - reported by the main thread
            failed.append(error)
            wake.set()
        else:
            log.info("serving %s on %s (boot %s)", target, server.address, server.boot_id)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, on_signal)
    # In a thread of its own, so that a start() that hangs does not keep a signal from ending it.
    threading.Thread(target=start, name="adapter-start", daemon=True).start()
    wake.wait()
    if failed:
        log.error("%s did not start", target, exc_info=failed[0])
        server.stop(within_s=0.5)
        return 1
    clean = server.stop()
    if not clean:
        log.error("not every call ended in time")
    return 0 if clean else 1
