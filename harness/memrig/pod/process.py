"""A pod without an engine: a local subprocess on a Unix socket, with a scratch home and rlimits.

It shares the host's network and file system. For quick work; never leaderboard-eligible.
"""

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

from memrig.errors import PrerequisiteError, UsageError
from memrig.model.manifest import ADAPTER_SERVICE, AdapterManifest, ProcessCommand
from memrig.pod import launcher
from memrig.pod.base import GATEWAY_VARIABLE, LISTEN_VARIABLE, Fate, PodRequest, Usage
from memrig.pod.forward import forward_to
from memrig.pod.logfile import CappedLog, tail
from memrig.pod.owner import process_token, this_process
from memrig.pod.proctable import POD_VARIABLE, end_marked, kill, session_members, usage_of
from memrig.pod.runtime import PROCESS_FILE, PodFolder, create_folder
from memrig.pod.waiting import finish

TEARDOWN_S = 10.0
_KILL_S = 5.0
_NOFILE = 16384
_APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND
_FILE_BYTES = 2 * 1024**3
#: RLIMIT_DATA counts what is reserved, thread stacks included, not what is used.
_DATA_HEADROOM = 2 * 1024**3


class ProcessPod:
    """Implements `Pod`."""

    def __init__(
        self, folder: PodFolder, command: list[str], environment: dict[str, str], *, keep: bool
    ) -> None:
        self._folder = folder
        self._command = command
        self._environment = environment
        self._keep = keep
        self._used = Usage()
        self._cpu_before_s = 0.0
        self._process, self._log = self._spawn()

    @property
    def target(self) -> str:
        """See `Pod`."""
        return f"unix:{self._folder.adapter_socket}"

    @property
    def description(self) -> dict[str, str]:
        """See `Pod`."""
        command = " ".join(self._command[_LAUNCHER_ARGUMENTS:])
        return {"pod": "process", "command": command, "pid": str(self._process.pid)}

    async def fate(self) -> Fate:
        """See `Pod`. An exit code over 128 is a signal's number plus 128, as in a container."""
        code = self._process.poll()
        if code is None:
            return Fate("running")
        return Fate("exited", exit_code=code if code >= 0 else 128 - code)

    async def usage(self) -> Usage:
        """See `Pod`. From /proc over the session's processes; the last known once they ended."""
        found = usage_of(session_members(self._process.pid))
        if found is not None:
            self._used = Usage(
                cpu_s=self._cpu_before_s + found.cpu_s,
                peak_memory_bytes=max(found.peak_bytes, self._used.peak_memory_bytes or 0),
                memory_bytes=found.memory_bytes,
            )
        return self._used

    async def logs(self, lines: int = 200) -> str:
        """See `Pod`."""
        return await asyncio.to_thread(tail, self._folder.path / "log", lines)

    @property
    def services(self) -> tuple[str, ...]:
        """See `Pod`: there is the adapter alone."""
        return (ADAPTER_SERVICE,)

    async def restart(self, service: str, *, kill: bool = False) -> None:  # noqa: ARG002
        """See `Pod`: killed in any case, and started again with the same home.

        Raises:
            PrerequisiteError: a process pod has no companions.
        """
        if service != ADAPTER_SERVICE:
            raise PrerequisiteError(
                f"a process pod has no service {service!r}", fix="use --pod docker"
            )
        self._cpu_before_s = (await self.usage()).cpu_s or 0.0
        await self.stop()
        self._folder.adapter_socket.unlink(missing_ok=True)
        self._process, self._log = self._spawn()

    async def stop(self) -> None:
        """Kills everything that the pod started, also what left its session."""
        kill(session_members(self._process.pid))
        self._process.kill()
        await asyncio.to_thread(self._process.wait, _KILL_S)
        await asyncio.to_thread(end_marked, self._folder.id, _KILL_S)
        if self._log is not None:
            await asyncio.to_thread(self._log.close)

    def _spawn(self) -> tuple[subprocess.Popen[bytes], CappedLog | None]:
        """Starts the command. On the loop's own thread: the kernel ties its life to this thread."""
        path = self._folder.path / "log"
        # A kept pod outlives the rig, and with it any pipe: it writes to its file itself.
        log = None if self._keep else CappedLog(path)
        output = log.write_end if log else os.open(path, _APPEND, 0o600)
        process = subprocess.Popen(
            self._command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=self._environment,
            cwd=self._folder.path / "home",
            start_new_session=True,
        )
        if log is None:
            os.close(output)
        else:
            log.handed_over()
        note = {"pid": process.pid, "token": process_token(process.pid)}
        (self._folder.path / PROCESS_FILE).write_text(json.dumps(note), "utf-8")
        return process, log


class ProcessProvider:
    """Implements `PodProvider`."""

    kind: Literal["process"] = "process"

    def close(self) -> None:
        """See `PodProvider`; there is nothing to let go of."""

    @asynccontextmanager
    async def start(self, request: PodRequest) -> AsyncIterator[ProcessPod]:
        """See `PodProvider`."""
        manifest, spec = process_command(request)
        program = find_program(spec.command[0])
        owner = this_process(request.run_id, request.trial_id, request.lease_s, keep=request.keep)
        folder = create_folder(owner)
        pod: ProcessPod | None = None
        kept = False
        try:
            for name in ("home", "tmp"):
                (folder.path / name).mkdir(mode=0o700)
            async with forward_to(request.gateway_socket) as gateway:
                command = [*launch(manifest, keep=request.keep), program, *spec.command[1:]]
                environment = clean_environment(folder, spec.environment, gateway)
                pod = ProcessPod(folder, command, environment, keep=request.keep)
                kept = request.keep
                yield pod
        finally:
            if not kept:
                await finish(_remove(folder, pod), TEARDOWN_S, f"pod {folder.id}")


def process_command(request: PodRequest) -> tuple[AdapterManifest, ProcessCommand]:
    """The adapter's manifest and its [process] section.

    Raises:
        UsageError: it has none.
    """
    manifest = request.adapter.manifest
    if manifest is None or manifest.process is None:
        raise UsageError(
            "has no [process] section, so it cannot be served without Docker",
            where=f"adapter {request.adapter.name}: adapter.toml",
            fix="use --pod docker, or add `[process] command = […]`",
        )
    return manifest, manifest.process


def find_program(name: str) -> str:
    """The absolute path of a command: the rig's own virtual environment first, then PATH.

    Raises:
        PrerequisiteError: it is nowhere.
    """
    found = shutil.which(name, path=_search_path())
    if found is None:
        raise PrerequisiteError(
            f"the command {name!r} is neither in {_own_bin()} nor on PATH",
            fix="install the adapter's package beside memrig, or use --pod docker",
        )
    return str(Path(found).absolute())


_LAUNCHER_ARGUMENTS = 8


def launch(manifest: AdapterManifest, *, keep: bool) -> list[str]:
    """The command line in front of the adapter's own command: the launcher and its limits."""
    memory = int(manifest.image.resources.memory)
    limits = (0 if keep else os.getpid(), memory + _DATA_HEADROOM, _NOFILE, _FILE_BYTES)
    return [sys.executable, "-I", "-S", launcher.__file__, *(str(value) for value in limits)]


def clean_environment(
    folder: PodFolder, wanted: Mapping[str, str], gateway: str | None
) -> dict[str, str]:
    """All that the adapter gets to see: never the rig's own environment, which may hold keys."""
    environment = {
        "PATH": _search_path(),
        "LANG": os.environ.get("LANG", "C.UTF-8"),
        "HOME": str(folder.path / "home"),
        "TMPDIR": str(folder.path / "tmp"),
        "PYTHONHASHSEED": "0",
        "VIRTUAL_ENV": sys.prefix,
        **wanted,
        LISTEN_VARIABLE: f"unix:{folder.adapter_socket}",
        POD_VARIABLE: folder.id,
    }
    if gateway is not None:
        environment[GATEWAY_VARIABLE] = gateway
    return environment


async def _remove(folder: PodFolder, pod: ProcessPod | None) -> None:
    if pod is not None:
        await pod.stop()
    await asyncio.to_thread(folder.remove)


def _own_bin() -> Path:
    return Path(sys.executable).parent


def _search_path() -> str:
    return os.pathsep.join([str(_own_bin()), os.environ.get("PATH", os.defpath)])
