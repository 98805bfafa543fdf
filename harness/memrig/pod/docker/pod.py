"""A started Docker pod: its fate, usage, logs, and restarts."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from memrig.errors import AdapterCrashedError, InfrastructureError, UsageError
from memrig.model.manifest import ADAPTER_SERVICE, AdapterManifest, Health
from memrig.pod.base import Fate, Usage
from memrig.pod.docker.cgroups import Cgroup, Reading, find_cgroup, read_cgroup
from memrig.pod.docker.engine import Engine
from memrig.pod.docker.facts import ContainerFacts
from memrig.pod.docker.plan import DOORMAN
from memrig.pod.text import last_lines, plain_text
from memrig.pod.waiting import until

#: How long a container may take to end by itself when it is restarted.
_RESTART_GRACE_S = 3
#: The engine may set OOMKilled a moment after it reports exit code 137; longer on a busy machine.
_OOM_SETTLE_S = 1.5
_SIGKILL_EXIT = 137
_EXEC_POLL_S = 0.01
_ENDING_S = 2.0
_LOG_CHARACTERS = 256 * 1024

N = TypeVar("N", int, float)

_STAMP = re.compile(r"^(\d{4}-\d\d-\d\dT[\d:.]+Z) ?(.*)$")


@dataclass(slots=True)
class _Meter:
    """One container's counters, over restarts: each start gives it a new cgroup."""

    cgroup: Cgroup | None = None
    before: Reading = field(default_factory=lambda: Reading(cpu_s=0.0, peak_bytes=0, oom_kills=0))
    last: Reading = field(default_factory=Reading)

    def read(self) -> Reading:
        """The counters since the pod's start; the last known ones once the container has ended."""
        if self.cgroup is not None:
            now = read_cgroup(self.cgroup)
            if now != Reading():
                self.last = now
        return Reading(
            cpu_s=_plus(self.before.cpu_s, self.last.cpu_s),
            peak_bytes=_largest(self.before.peak_bytes, self.last.peak_bytes),
            memory_bytes=self.last.memory_bytes,
            file_bytes=self.last.file_bytes,
            oom_kills=_plus(self.before.oom_kills, self.last.oom_kills),
        )

    def settle(self) -> None:
        """Takes the counters over before a restart: the next cgroup has the same path."""
        if self.cgroup is not None:
            self.before, self.last, self.cgroup = self.read(), Reading(), None


class DockerPod:
    """Implements `Pod`."""

    def __init__(
        self,
        engine: Engine,
        manifest: AdapterManifest,
        containers: Mapping[str, str],
        target: str,
        description: dict[str, str],
    ) -> None:
        self._engine = engine
        self._manifest = manifest
        self._containers = dict(containers)
        self._services = [name for name in containers if name != DOORMAN]
        self._meters = {name: _Meter() for name in self._services}
        self._target = target
        self._description = description

    @property
    def target(self) -> str:
        """See `Pod`."""
        return self._target

    @property
    def description(self) -> dict[str, str]:
        """See `Pod`."""
        return dict(self._description)

    async def fate(self) -> Fate:
        """See `Pod`. A running pod with `oom` true lost a process inside that container to memory.

        Raises:
            InfrastructureError: the engine does not answer, or the doorman has ended.
        """
        names = list(self._containers)
        found = await asyncio.gather(*(self._engine.inspect(c) for c in self._containers.values()))
        states = dict(zip(names, found, strict=True))
        if not states[DOORMAN].running:
            tail = await self._logs_of([DOORMAN], 5)
            raise InfrastructureError(
                f"the pod's doorman ended with exit code {states[DOORMAN].exit_code}: {tail}",
                fix="`memrig doctor` checks the machine; the trial can be run again",
            )
        ended = [name for name in self._services if not states[name].running]
        if ended:
            first = min(ended, key=lambda name: states[name].finished)
            return await self._ended(first, states[first])
        for name, meter in self._meters.items():
            if meter.read().oom_kills:
                return Fate("running", oom=True, service=name)
        return Fate("running", oom=False)

    async def usage(self) -> Usage:
        """See `Pod`. From the host's cgroup files; page cache and tmpfs count as memory."""
        readings = [meter.read() for meter in self._meters.values()]
        return Usage(
            cpu_s=_total([r.cpu_s for r in readings], 0.0),
            peak_memory_bytes=_total([r.peak_bytes for r in readings], 0),
            memory_bytes=_total([r.memory_bytes for r in readings], 0),
            file_bytes=_total([r.file_bytes for r in readings], 0),
        )

    async def logs(self, lines: int = 200) -> str:
        """See `Pod`. With companions, each line starts with its container's name."""
        return await self._logs_of(self._services, lines)

    @property
    def services(self) -> tuple[str, ...]:
        """See `Pod`."""
        return tuple(sorted(self._services, key=lambda name: name == ADAPTER_SERVICE))

    async def restart(self, service: str, *, kill: bool = False) -> None:
        """See `Pod`. SIGTERM, then SIGKILL; named volumes keep their data, /tmp does not.

        Raises:
            UsageError: the pod has no such service.
            AdapterCrashedError: it did not come up again.
            InfrastructureError: the engine failed.
        """
        if service not in self._services:
            raise UsageError(f"the pod has no service {service!r}, only {self._services}")
        self._meters[service].settle()
        container = self._containers[service]
        if kill:
            await self._engine.kill(container, where=service)
            if not await self._ends(container):
                message = f"container {service!r} still runs {_ENDING_S:g} s after SIGKILL"
                raise InfrastructureError(message, fix="`memrig doctor` checks the daemon")
            await self._engine.start(container, where=service)
        else:
            await self._engine.restart(container, _RESTART_GRACE_S, where=service)
        await self.started(service)

    async def started(self, service: str) -> None:
        """Notes that a service was started, and waits until its health command succeeds.

        Raises:
            AdapterCrashedError: it ended, or did not get healthy in time.
        """
        container = self._containers[service]
        facts = await self._engine.inspect(container)
        if facts.running:
            self._meters[service].cgroup = find_cgroup(facts.pid, container)
        companion = self._manifest.services.get(service)
        if companion is not None and companion.health is not None:
            await self._healthy(service, companion.health)

    async def _healthy(self, service: str, health: Health) -> None:
        try:
            async with asyncio.timeout(health.timeout_s):
                await until(lambda: self._succeeds(service, health.command), health.interval_s)
        except TimeoutError:
            raise AdapterCrashedError(
                "hang",
                f"companion {service!r} did not get healthy within {health.timeout_s:g} s"
                f" (health command: {' '.join(health.command)})",
                log_tail=await self._logs_of([service], 50),
            ) from None

    async def _succeeds(self, service: str, command: tuple[str, ...]) -> bool:
        container = self._containers[service]
        facts = await self._engine.inspect(container)
        if not facts.running:
            fate = await self._ended(service, facts)
            raise AdapterCrashedError(
                "oom" if fate.oom else "exit",
                f"companion {service!r} ended before it was healthy: exit code {fate.exit_code}",
                log_tail=await self._logs_of([service], 50),
            )
        try:
            execution = await self._engine.execute(container, command)
        except InfrastructureError:
            # The engine has many words for a container that is just ending; its state is one.
            if not await self._ends(container):
                raise
            return False  # the next look finds how it ended
        codes: list[int] = []

        async def ended() -> bool:
            code = await self._engine.executed(execution)
            codes.extend([] if code is None else [code])
            return code is not None

        await until(ended, _EXEC_POLL_S)
        return codes == [0]

    async def _ends(self, container: str) -> bool:
        """Tells whether a container ends within a moment."""

        async def stopped() -> bool:
            return not (await self._engine.inspect(container)).running

        return await _within(stopped, _ENDING_S)

    async def _ended(self, service: str, facts: ContainerFacts) -> Fate:
        oom = facts.oom_killed or bool(self._meters[service].read().oom_kills)
        if not oom and facts.exit_code == _SIGKILL_EXIT:

            async def told() -> bool:
                return (await self._engine.inspect(facts.id)).oom_killed

            oom = await _within(told, _OOM_SETTLE_S)
        return Fate("exited", exit_code=facts.exit_code, oom=oom, service=service)

    async def _logs_of(self, services: list[str], lines: int) -> str:
        texts = await asyncio.gather(
            *(self._engine.logs(self._containers[name], lines) for name in services)
        )
        named = len(services) > 1
        merged = merge_logs(dict(zip(services, texts, strict=True)), named=named)
        return last_lines(plain_text(merged), lines)[-_LOG_CHARACTERS:]


async def _within(holds: Callable[[], Awaitable[bool]], seconds: float) -> bool:
    """Whether something comes to hold in so many seconds."""
    try:
        async with asyncio.timeout(seconds):
            await until(holds, _EXEC_POLL_S)
    except TimeoutError:
        return False
    return True


def merge_logs(texts: Mapping[str, str], *, named: bool) -> str:
    """Log lines of several containers in the order of their stamps, which are cut off.

    A line without a stamp is the rest of the one before it.
    """
    entries: list[tuple[str, str]] = []
    for name, text in texts.items():
        stamp = ""
        for line in text.splitlines():
            if match := _STAMP.match(line):
                stamp, line = match[1].ljust(40, "0"), match[2]  # noqa: PLW2901
            entries.append((stamp, f"{name} | {line}" if named else line))
    entries.sort(key=lambda entry: entry[0])
    return "\n".join(line for _, line in entries)


def _total(values: list[N | None], zero: N) -> N | None:
    known = [v for v in values if v is not None]
    return sum(known, zero) if len(known) == len(values) else None


def _plus(a: N | None, b: N | None) -> N | None:
    return None if a is None or b is None else a + b


def _largest(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else max(a, b)
