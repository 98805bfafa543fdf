"""The doorman: owns a pod's network namespace and carries bytes between it and two Unix sockets.

    adapter socket (host side) -> 127.0.0.1:<port>      the gRPC contract
    127.0.0.1:4000             -> gateway socket        the rig's LLM gateway, where there is one

It knows no protocol. Blocking threads, one for each direction, are the quickest way for a small
message: no event loop sits between a read and its write. Standard library only: the image holds
nothing but Python and this file.
"""

import argparse
import os
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress

GATEWAY_PORT = 4000
BUFFER_BYTES = 1 << 16
#: Connections at a time and listener. More wait in the backlog: a pod cannot exhaust our threads.
MAX_CONNECTIONS = 256
#: How long a caller is held while the adapter has not opened its port yet. Refusing at once would
#: send a gRPC client into a back-off of a second and more.
STARTING_PATIENCE_S = 60.0
#: The same once the adapter has served: long enough for a restart's gap, short for a crash.
SERVING_PATIENCE_S = 1.0
RETRY_S = 0.004

EXIT_NETWORK = 3

Dial = Callable[[socket.socket], socket.socket | None]


class AdapterDial:
    """Connects to the adapter's port, waiting while it starts."""

    def __init__(self, port: int) -> None:
        self._address = ("127.0.0.1", port)
        self._patience_s = STARTING_PATIENCE_S

    def __call__(self, caller: socket.socket) -> socket.socket | None:
        """A connection, or None: the adapter does not listen, or the caller has left."""
        deadline = time.monotonic() + self._patience_s
        while True:
            server = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            try:
                server.connect(self._address)
            except OSError:
                server.close()
            else:
                server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._patience_s = SERVING_PATIENCE_S
                return server
            if has_left(caller) or time.monotonic() > deadline:
                return None
            time.sleep(RETRY_S)


class GatewayDial:
    """Connects to the gateway's Unix socket."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __call__(self, caller: socket.socket) -> socket.socket | None:
        """A connection, or None: the gateway is gone."""
        caller.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            server.connect(self._path)
        except OSError as error:
            server.close()
            say(f"the gateway does not answer: {error}")
            return None
        return server


def has_left(caller: socket.socket) -> bool:
    """Tells whether the caller closed its end, even with bytes of it still unread."""
    poll = select.poll()
    poll.register(caller, select.POLLRDHUP)
    return bool(poll.poll(0))


def pump(source: socket.socket, sink: socket.socket) -> None:
    """Carries bytes one way until the source ends; passes the end on."""
    view = memoryview(bytearray(BUFFER_BYTES))
    try:
        while count := source.recv_into(view):
            sink.sendall(view[:count])
    except OSError:
        # A broken side breaks both directions: neither peer may wait for the other in vain.
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        return
    with suppress(OSError):
        sink.shutdown(socket.SHUT_WR)


def carry(caller: socket.socket, dial: Dial, slots: threading.Semaphore) -> None:
    """Serves one connection to its end."""
    try:
        with caller:
            server = dial(caller)
            if server is None:
                return
            with server:
                back = threading.Thread(target=pump, args=(server, caller), daemon=True)
                back.start()
                pump(caller, server)
                back.join()
    finally:
        slots.release()


def accept(listener: socket.socket, dial: Dial) -> None:
    """Serves a listener for ever."""
    slots = threading.Semaphore(MAX_CONNECTIONS)
    while True:
        slots.acquire()
        caller, _ = listener.accept()
        threading.Thread(target=carry, args=(caller, dial, slots), daemon=True).start()


def routes(ipv4: str, ipv6: str) -> list[str]:
    """The interfaces other than loopback that have a route, from /proc/net's two tables."""
    names = [line.split()[0] for line in ipv4.splitlines()[1:] if line.strip()]
    names += [line.split()[-1] for line in ipv6.splitlines() if line.strip()]
    return sorted({name for name in names if name != "lo"})


def check_network() -> None:
    """Ends the doorman if this network namespace leads anywhere at all."""
    tables = []
    for path in ("/proc/net/route", "/proc/net/ipv6_route"):
        try:
            with open(path, encoding="ascii") as file:  # noqa: PTH123 - starts without pathlib
                tables.append(file.read())
        except FileNotFoundError:  # a kernel without IPv6
            tables.append("")
    if found := routes(*tables):
        say(f"refusing: the pod's network has a route by {', '.join(found)}")
        sys.exit(EXIT_NETWORK)


def listen_unix(path: str) -> socket.socket:
    """A listening Unix socket that the host's user can connect to, whatever its uid."""
    with suppress(FileNotFoundError):
        os.unlink(path)  # noqa: PTH108 - starts without pathlib
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    os.umask(0)
    listener.bind(path)
    listener.listen(128)
    return listener


def say(text: str) -> None:
    """One line for whoever reads the container's log."""
    sys.stdout.write(f"doorman: {text}\n")
    sys.stdout.flush()


def stop(_signal: int, _frame: object) -> None:
    """SIGTERM: nothing is kept here, so the end can be at once."""
    say("stopped")
    os._exit(0)


def main() -> None:
    """Opens both ends, then serves until SIGTERM."""
    parser = argparse.ArgumentParser(description="Carries bytes into and out of a pod.")
    parser.add_argument("--port", type=int, required=True, help="the adapter's port")
    parser.add_argument("--adapter", required=True, help="the Unix socket to listen on")
    parser.add_argument("--gateway", help="the gateway's Unix socket")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, stop)
    check_network()
    threading.stack_size(1 << 18)
    if options.gateway:
        gateway = socket.create_server(("127.0.0.1", GATEWAY_PORT), backlog=128)
        dial = GatewayDial(options.gateway)
        threading.Thread(target=accept, args=(gateway, dial), daemon=True).start()
    listener = listen_unix(options.adapter)
    say(f"ready, {options.adapter} -> 127.0.0.1:{options.port}")
    accept(listener, AdapterDial(options.port))


if __name__ == "__main__":
    main()
