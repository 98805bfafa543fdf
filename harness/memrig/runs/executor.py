"""Runs trials on this machine: a pool of pods, and fewer slots in which calls are timed.

Pods are started and removed beside a measured trial, never two measured ones in one CPU slot.
"""

import asyncio
import contextlib
import resource
import time
import traceback
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

from memrig.errors import HarnessError, InfrastructureError, MemrigError
from memrig.model.trial import TrialOutcome, TrialSpec
from memrig.pod.base import PodProvider
from memrig.runs.directory import Execution, RunDirectory
from memrig.runs.plan import Plan
from memrig.trial import Progress, TrialServices, run_trial

_ATTEMPTS = 3
_PAUSE_S = 0.5


@dataclass(slots=True)
class Executed:
    """What an invocation did: outcomes by trial, and what stopped the others."""

    outcomes: dict[str, TrialOutcome] = field(default_factory=dict)
    failures: dict[str, MemrigError] = field(default_factory=dict)
    retries: int = 0


@dataclass(frozen=True, slots=True)
class Observer:
    """Who watches a run. Called in the event loop; must not block."""

    progress: Callable[[Progress], None] = lambda _: None
    finished: Callable[[TrialSpec, TrialOutcome], None] = lambda _spec, _outcome: None
    failed: Callable[[TrialSpec, MemrigError], None] = lambda _spec, _error: None


class LocalExecutor:
    """An asyncio pool.

    Args:
        provider: starts pods.
        jobs: trials measured at the same time.
        keep_pod: leave every pod running.
    """

    def __init__(self, provider: PodProvider, jobs: int, *, keep_pod: bool = False) -> None:
        self._provider = provider
        self._jobs = jobs
        self._keep_pod = keep_pod
        # A running endpoint is one memory: nothing else may touch it during a trial.
        self._alive = asyncio.Semaphore(1 if provider.kind == "endpoint" else jobs + 1)
        self._measured = asyncio.Semaphore(jobs)

    async def execute(self, plan: Plan, observer: Observer) -> Executed:
        """Runs what is left of a plan; notes the invocation in the run's folder."""
        started, began = datetime.now(UTC), time.monotonic()
        executed = Executed()
        left = [spec for spec in plan.specs if plan.directory.finished(spec) is None]
        try:
            async with asyncio.TaskGroup() as group:
                for spec in left:
                    group.create_task(self._one(plan.directory, spec, observer, executed))
        finally:
            if left:
                plan.directory.add_execution(
                    Execution(
                        started_at=started,
                        wall_s=time.monotonic() - began,
                        jobs=self._jobs,
                        pod=plan.lock.adapter.pod,
                        pod_reason=plan.pod_reason,
                        trials_run=len(executed.outcomes),
                        retries=executed.retries,
                        rig_peak_memory_bytes=_peak_memory_bytes(),
                    )
                )
        return executed

    async def _one(
        self, directory: RunDirectory, spec: TrialSpec, observer: Observer, executed: Executed
    ) -> None:
        services = TrialServices(
            provider=self._provider,
            run_id=directory.root.name,
            measured=self._slot,
            observer=observer.progress,
            keep_pod=self._keep_pod,
        )
        async with self._alive:
            try:
                outcome = await self._with_retries(directory, spec, services, executed)
            except MemrigError as error:
                executed.failures[spec.trial_id] = error
                observer.failed(spec, error)
            except Exception as error:  # noqa: BLE001 - a defect of ours fails one trial, not all
                defect = _defect(spec, error)
                executed.failures[spec.trial_id] = defect
                observer.failed(spec, defect)
            else:
                executed.outcomes[spec.trial_id] = outcome
                observer.finished(spec, outcome)

    async def _with_retries(
        self,
        directory: RunDirectory,
        spec: TrialSpec,
        services: TrialServices,
        executed: Executed,
    ) -> TrialOutcome:
        """Only faults of the engine or the machine are retried: a rerun must not re-roll luck."""
        for attempt in range(1, _ATTEMPTS):
            try:
                return await run_trial(spec, directory.scenarios, directory.trials, services)
            except InfrastructureError:
                executed.retries += 1
                await asyncio.sleep(_PAUSE_S * attempt)
        return await run_trial(spec, directory.scenarios, directory.trials, services)

    @asynccontextmanager
    async def _slot(self) -> AsyncIterator[None]:
        async with self._measured:
            yield


def _defect(spec: TrialSpec, error: Exception) -> HarnessError:
    trace = "".join(traceback.format_exception(error)[-3:])
    return HarnessError(f"a defect of memrig: {error!r}\n{trace}", where=f"trial={spec.trial_id}")


def _peak_memory_bytes() -> int:
    with contextlib.suppress(OSError):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return 0
