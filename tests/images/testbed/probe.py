"""Tries to get out of a pod. Prints one JSON object a line for each attempt, then "end".

Each attempt is a subcommand, so that a test can also run it on the host as its control.
"""

import ctypes
import errno
import json
import os
import signal
import socket
import sys
import time
from pathlib import Path


def tell(**facts: object) -> None:
    """One attempt's result."""
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


def name_of(error: OSError) -> str:
    """The error's name, such as ENETUNREACH."""
    return errno.errorcode.get(error.errno or 0, type(error).__name__)


def connect(*targets: str) -> None:
    """TCP to each host:port; abstract Unix sockets as @name."""
    for target in targets:
        started = time.monotonic()
        try:
            if target.startswith("@"):
                with socket.socket(socket.AF_UNIX) as unix:
                    unix.settimeout(2)
                    unix.connect("\0" + target[1:])
            else:
                host, _, port = target.rpartition(":")
                socket.create_connection((host, int(port)), timeout=2).close()
            result = "connected"
        except OSError as error:
            result = name_of(error)
        tell(target=target, result=result, seconds=round(time.monotonic() - started, 3))


def send(*targets: str) -> None:
    """UDP to each host:port."""
    for target in targets:
        host, _, port = target.rpartition(":")
        try:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
                udp.sendto(b"x", (host, int(port)))
            result = "sent"
        except OSError as error:
            result = name_of(error)
        tell(target=target, result=result)


def resolve(*names: str) -> None:
    """DNS."""
    for name in names:
        try:
            result = str(socket.getaddrinfo(name, 80)[0][4][0])
        except OSError as error:
            result = type(error).__name__
        tell(name=name, result=result)


def interfaces() -> None:
    """Network interfaces that are up, and routes."""
    up = [
        p.name for p in Path("/sys/class/net").iterdir() if int((p / "flags").read_text(), 16) & 1
    ]
    tell(up=sorted(up), routes=len(Path("/proc/net/route").read_text().splitlines()) - 1)


def write(*paths: str) -> None:
    """Creates a file in each folder."""
    for path in paths:
        try:
            (Path(path) / "probe").write_text("x")
            result = "written"
        except OSError as error:
            result = name_of(error)
        tell(path=path, result=result)


def look(*paths: str) -> None:
    """Tells which paths exist."""
    for path in paths:
        tell(path=path, there=os.path.exists(path))  # noqa: PTH110


def fill(path: str, limit: str) -> None:
    """Writes to one file until an error or the limit."""
    written, result = 0, "limit"
    block = b"x" * (1 << 18)
    try:
        with (Path(path) / "fill").open("wb", buffering=0) as file:
            while written < int(limit):
                written += file.write(block)
    except OSError as error:
        result = name_of(error)
    tell(path=path, written=written, result=result)


def privileges() -> None:
    """What the kernel says of this process, and attempts to get more."""
    lines = Path("/proc/self/status").read_text().splitlines()
    status = {k: v.strip() for k, _, v in (line.partition(":") for line in lines)}
    keys = ("CapEff", "CapPrm", "CapBnd", "NoNewPrivs", "Seccomp")
    tell(uid=os.getuid(), gid=os.getgid(), **{k: status[k] for k in keys})
    libc = ctypes.CDLL(None, use_errno=True)
    attempts = {
        "setuid": lambda: libc.setuid(0),
        "setgid": lambda: libc.setgid(0),
        "mount": lambda: libc.mount(b"none", b"/tmp", b"tmpfs", 0, None),
        "new user namespace": lambda: libc.unshare(0x10000000),
        "new network namespace": lambda: libc.unshare(0x40000000),
        "chroot": lambda: libc.chroot(b"/tmp"),
        "device": lambda: libc.mknod(b"/tmp/disk", 0o060666, 0x0800),
        "host name": lambda: libc.sethostname(b"x", 1),
        "clock": lambda: libc.settimeofday(ctypes.create_string_buffer(16), None),
    }
    if os.uname().machine == "x86_64":  # system calls without a wrapper, by number
        attempts["keyring"] = lambda: libc.syscall(250, 0, 0, 0, 0, 0)
        attempts["bpf"] = lambda: libc.syscall(321, 0, 0, 0)
    for name, attempt in attempts.items():
        ctypes.set_errno(0)
        outcome = attempt()
        failed = outcome == -1
        tell(attempt=name, result=errno.errorcode[ctypes.get_errno()] if failed else "allowed")


def set_user_id() -> None:
    """Runs a set-user-id program and looks whether it became root."""
    for path in ("/bin/su", "/usr/bin/passwd", "/bin/mount"):
        if not os.path.exists(path) or not os.stat(path).st_mode & 0o4000:  # noqa: PTH110, PTH116
            continue
        child = os.fork()
        if child == 0:
            os.close(0)
            read_end, _ = os.pipe()  # becomes stdin and never ends, so that it waits
            os.dup2(read_end, 0)
            os.execv(path, [path])  # noqa: S606
        time.sleep(0.3)
        try:
            uids = Path(f"/proc/{child}/status").read_text().split("Uid:")[1].split()[:4]
        except (OSError, IndexError):
            uids = ["gone"]
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        tell(program=path, uids=uids)


def execute(folder: str) -> None:
    """Runs a program that was just written."""
    path = Path(folder) / "program"
    path.write_text("#!/bin/sh\nexit 0\n")
    path.chmod(0o755)
    child = os.fork()
    if child == 0:
        try:
            os.execv(path, [str(path)])  # noqa: S606
        except OSError as error:
            os._exit(error.errno or 1)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    tell(folder=folder, result=errno.errorcode[code] if code else "ran")


def forks(most: str) -> None:
    """Forks sleeping children until it cannot."""
    children, result = [], "limit"
    for _ in range(int(most)):
        try:
            child = os.fork()
        except OSError as error:
            result = name_of(error)
            break
        if child == 0:
            signal.pause()
        children.append(child)
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    tell(children=len(children), result=result)


def memory(mebibytes: str) -> None:
    """Takes memory until it is killed or has all of it."""
    held = []
    for number in range(int(mebibytes)):
        held.append(os.urandom(1 << 20))
        if number % 16 == 0:
            tell(mebibytes=number)
    tell(mebibytes=len(held), result="limit")


def flood(mebibytes: str) -> None:
    """Writes that much to stdout."""
    line = "f" * 1023 + "\n"
    for _ in range(int(mebibytes) * 1024):
        sys.stdout.write(line)


def environment() -> None:
    """Every environment variable that this process and the container's first one got."""
    first = Path("/proc/1/environ").read_bytes().decode().split("\0")
    tell(own=dict(os.environ), first=[entry for entry in first if entry])


def listen(port: str) -> None:
    """Listens on all addresses of this pod and stays."""
    server = socket.create_server(("0.0.0.0", int(port)))
    tell(listening=server.getsockname()[1])
    connect(f"127.0.0.1:{port}")
    signal.pause()


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
    sys.stdout.write("end\n")
    sys.stdout.flush()
