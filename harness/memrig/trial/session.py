"""A live adapter: pod, client and transcript together, and what to conclude when it fails."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from memrig.client import MemoryClient, Pseudonyms
from memrig.client.base import AdapterClient
from memrig.client.host import BaselineClient, GivenClient, HostClient
from memrig.errors import (
    AdapterCrashedError,
    AdapterError,
    AdapterRpcError,
    HarnessError,
    InfrastructureError,
    UsageError,
)
from memrig.model.chat import Chat, Phase
from memrig.model.gold import Gold
from memrig.model.manifest import BASELINE_PREFIX, BASELINES
from memrig.model.transcript import CapabilitiesRecord, PodRecord, TeardownRecord, UsageRecord
from memrig.model.trial import TrialSpec
from memrig.pod.base import Fate, Pod, PodProvider, PodRequest
from memrig.suites.given import read_given
from memrig.trial.memory import AdapterMemory, Charged, HostMemory, Memory
from memrig.trial.models import NO_MODELS, TrialModels
from memrig.trial.transcript import TranscriptWriter

#: How long a lost connection may take to come back before the adapter counts as hung, seconds.
RECONNECT_S = 5.0
#: How long the engine may take to notice that a process has ended, seconds.
NOTICE_S = 1.0
_DEFAULT_START_S = 30.0


@dataclass(slots=True)
class Session:
    """What the steps of a trial work with.

    Args:
        spec: the trial.
        pod: what runs.
        client: who speaks to it.
        log: the transcript.
        models: the trial's models; None: there are none.
        measured: entered while calls are timed.
    """

    spec: TrialSpec
    pod: Pod
    client: MemoryClient | HostClient
    log: TranscriptWriter
    models: TrialModels | None = None
    measured: Callable[[], AbstractAsyncContextManager[object]] = contextlib.nullcontext
    capabilities: CapabilitiesRecord = field(init=False)

    @property
    def needs_gold(self) -> bool:
        """Whether this is the oracle; gold is read for nothing else."""
        return isinstance(self.client, HostClient) and self.client.needs_gold

    @property
    def adapter(self) -> MemoryClient:
        """The client of an adapter that is one.

        Raises:
            HarnessError: what answers here lives in the rig itself.
        """
        if isinstance(self.client, MemoryClient):
            return self.client
        raise HarnessError("there is no adapter to call", where=f"trial={self.spec.trial_id}")

    @property
    def chat(self) -> Chat:
        """The rig's own way to models."""
        return self.models.chat if self.models else NO_MODELS

    def enter(self, phase: Phase, scope: str) -> None:
        """From here on, the memory system's own model calls are charged to this phase."""
        if self.models:
            self.models.identity.enter(phase, scope)

    def raise_model_fault(self) -> None:
        """Raises what kept the memory system from a model: its results are not its own fault then.

        Raises:
            GatewayError: the provider failed it, or the run's money is spent.
        """
        if self.models and (fault := self.models.identity.fault):
            raise fault

    @contextmanager
    def models_first(self) -> Iterator[None]:
        """A model that could not be had comes before whatever the memory made of it.

        Raises:
            GatewayError: in the place of an AdapterError, and of what looks like success.
        """
        try:
            yield
        except AdapterError:
            self.raise_model_fault()
            raise
        self.raise_model_fault()

    def forget_model_fault(self) -> None:
        """What follows is another question's."""
        if self.models:
            self.models.identity.fault = None

    def memory(
        self,
        ids: Pseudonyms,
        dates: Mapping[str, datetime],
        gold: Gold | None,
        charged: Charged,
    ) -> Memory:
        """The memory as one question sees it."""
        if isinstance(self.client, HostClient):
            return HostMemory(self.client, self.capabilities, dates, gold)
        return AdapterMemory(self.client, self.capabilities, dates, ids, charged)

    async def handshake(self) -> None:
        """Shakes hands; from here on, another process than this one is a crash.

        Raises:
            AdapterCrashedError: it died over it.
            ContractError: the handshake broke the contract.
            UsageError: it cannot search, and the mode needs that.
        """
        try:
            self.capabilities = await self.client.capabilities()
        except AdapterError as error:
            raise await self.crash_of(error) or error from error
        self.log.append(self.capabilities)
        self._require_search()

    def _require_search(self) -> None:
        # Before anything is ingested: what cannot be searched has nothing to show after hours.
        searches = self.capabilities.search_modes or isinstance(self.client, HostClient)
        if not searches and self.spec.mode != "native":
            raise UsageError(
                f"{self.capabilities.name} cannot be searched: it declares no search mode",
                where=f"--mode {self.spec.mode}",
                fix="use --mode native: it answers by itself",
            )

    async def reset(self) -> None:
        """Empties the memory.

        Raises:
            AdapterError: it could not, or died over it.
        """
        self.enter("ingest", "")  # what prepares the next memory is no question's
        try:
            self.log.append(await self.client.reset())
        except AdapterError as error:
            raise await self.crash_of(error) or error from error

    async def crash_of(self, error: AdapterError) -> AdapterCrashedError | None:
        """Decides whether a failed call means that the adapter is gone.

        The status alone does not tell (docs/protocol.md, Status codes): the pod's state does, and
        where the process lives, whether it still serves, as the same process.
        """
        if isinstance(error, AdapterCrashedError):
            return await self._with_logs(error)
        fate = await self._settled_fate(error)
        if crash := _crash_from(fate, error.where):
            return await self._with_logs(crash)
        if not isinstance(error, AdapterRpcError) or error.code != "UNAVAILABLE":
            return None
        try:
            await self.client.wait_ready(RECONNECT_S, self.raise_if_dead)
            await self.client.check_same_process(error.where)
        except AdapterCrashedError as crash:
            return await self._with_logs(crash)
        except AdapterError as other:
            message = f"serves no more: {other.message}"
            return await self._with_logs(AdapterCrashedError("hang", message, where=error.where))
        return None

    async def _settled_fate(self, error: AdapterError) -> Fate:
        give_up = time.monotonic() + NOTICE_S
        fate = await self.pod.fate()
        suspicious = isinstance(error, AdapterRpcError) and error.code in {
            "UNAVAILABLE",
            "CANCELLED",
        }
        while suspicious and fate.state == "running" and time.monotonic() < give_up:
            await asyncio.sleep(0.05)
            fate = await self.pod.fate()
            if await self.client.serving():
                break
        return fate

    async def raise_if_dead(self) -> None:
        """Looks at the pod.

        Raises:
            AdapterCrashedError: one of its processes has ended.
        """
        if crash := _crash_from(await self.pod.fate(), "health check"):
            raise crash

    async def _with_logs(self, crash: AdapterCrashedError) -> AdapterCrashedError:
        if not crash.log_tail:
            crash.log_tail = await tail(self.pod)
        return crash

    async def record_usage(self) -> None:
        """Notes what the memory system used so far."""
        usage = await self.pod.usage()
        self.log.append(
            UsageRecord(
                cpu_s=usage.cpu_s,
                peak_memory_bytes=usage.peak_memory_bytes,
                memory_bytes=usage.memory_bytes,
                file_bytes=usage.file_bytes,
            )
        )


def _crash_from(fate: Fate, where: str) -> AdapterCrashedError | None:
    if fate.oom:
        message = f"container {fate.service!r} was killed for exceeding its memory limit"
        return AdapterCrashedError("oom", message, where=where)
    if fate.state == "exited":
        message = f"{fate.service!r} ended with exit code {fate.exit_code}"
        return AdapterCrashedError("exit", message, where=where)
    return None


async def tail(pod: Pod, lines: int = 40) -> str:
    """The adapter's last lines; never fails, so that it cannot hide the error it explains."""
    try:
        async with asyncio.timeout(5):
            return await pod.logs(lines)
    except (TimeoutError, InfrastructureError, OSError) as error:
        return f"(its log could not be read: {error})"


@asynccontextmanager
async def open_session(
    spec: TrialSpec,
    provider: PodProvider,
    request: PodRequest,
    log: TranscriptWriter,
    save_log: Callable[[str], None],
    models: TrialModels | None = None,
    measured: Callable[[], AbstractAsyncContextManager[object]] = contextlib.nullcontext,
) -> AsyncIterator[Session]:
    """Starts a pod and waits until the adapter serves.

    Raises:
        AdapterCrashedError: it ended, or was not ready in time; with its last lines.
    """
    started = time.monotonic_ns()
    async with provider.start(request) as pod:
        up = time.monotonic_ns()
        leaving = up
        try:
            async with _client_of(spec, pod) as client:
                await _wait_ready(spec, pod, client)
                ready = time.monotonic_ns()
                log.append(
                    PodRecord(
                        start_ns=up - started, ready_ns=ready - started, description=pod.description
                    )
                )
                yield Session(spec, pod, client, log, models, measured)
        finally:
            save_log(await tail(pod, 2000))
            leaving = time.monotonic_ns()
    log.append(TeardownRecord(ns=time.monotonic_ns() - leaving))


@asynccontextmanager
async def _client_of(spec: TrialSpec, pod: Pod) -> AsyncIterator[MemoryClient | HostClient]:
    if spec.adapter.pod == "baseline":
        name = spec.adapter.name.removeprefix(BASELINE_PREFIX)
        yield BaselineClient(next(kind for kind in BASELINES if kind == name))
        return
    if spec.adapter.pod == "given":
        path = Path(spec.adapter.endpoint or "")
        yield GivenClient(spec.adapter.name, await asyncio.to_thread(read_given, path))
        return
    async with MemoryClient(pod.target, spec.deadlines) as client:
        yield client


async def _wait_ready(spec: TrialSpec, pod: Pod, client: AdapterClient) -> None:
    async def still_alive() -> None:
        if crash := _crash_from(await pod.fate(), "start"):
            raise crash

    manifest = spec.adapter.manifest
    limit = manifest.start_timeout_s if manifest else _DEFAULT_START_S
    try:
        await client.wait_ready(limit, still_alive)
    except AdapterCrashedError as crash:
        crash.log_tail = crash.log_tail or await tail(pod)
        raise
