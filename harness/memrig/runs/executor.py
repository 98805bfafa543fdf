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

from memrig.errors import (
    GatewayError,
    HarnessError,
    InfrastructureError,
    MemrigError,
    UsageError,
)
from memrig.model.trial import TrialOutcome, TrialSpec
from memrig.pod.base import PodProvider
from memrig.runs.directory import Execution, RunDirectory
from memrig.runs.judge import Judged, TrialJudge
from memrig.runs.plan import Plan
from memrig.trial import Progress, TrialServices, run_trial
from memrig.trial.models import ModelService

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
    judged: Callable[[Judged], None] = lambda _judged: None


#: As many trials in a row failing for a provider end a run: the rest would fail likewise.
_GIVE_UP_AFTER = 3
#: Trials under way at a time where models answer: most of a question is waiting for them.
_WAITING = 4


@dataclass(frozen=True, slots=True)
class Services:
    """What an executor works with.

    Args:
        provider: starts pods.
        models: the gateway; None: the run calls no model.
        judge: judges and grades sealed trials; None: grading waits for the end of the run.
        keep_pod: leave every pod running.
    """

    provider: PodProvider
    models: ModelService | None = None
    judge: TrialJudge | None = None
    keep_pod: bool = False


class LocalExecutor:
    """An asyncio pool.

    Args:
        services: pods, models, the judge.
        jobs: trials measured at the same time.
        llm: the gateway's mode, noted in the run's folder.
        elsewhere: the models that no provider serves, noted likewise.
    """

    def __init__(
        self, services: Services, jobs: int, llm: str = "", elsewhere: tuple[str, ...] = ()
    ) -> None:
        self._services = services
        self._jobs = jobs
        self._llm, self._elsewhere = llm, elsewhere
        # A running endpoint is one memory: nothing else may touch it during a trial.
        alone = services.provider.kind == "endpoint"
        most = max(jobs + 1, _WAITING if services.models else 0)
        self._alive = asyncio.Semaphore(1 if alone else most)
        self._measured = asyncio.Semaphore(jobs)
        self._stopped: MemrigError | None = None
        self._unlucky = 0

    async def execute(self, plan: Plan, observer: Observer) -> Executed:
        """Runs what is left of a plan; notes the invocation in the run's folder."""
        started, began = datetime.now(UTC), time.monotonic()
        executed = Executed()
        left = [spec for spec in plan.specs if self._is_open(plan.directory, spec)]
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
                        llm=self._llm,
                        elsewhere=self._elsewhere,
                        rig_peak_memory_bytes=_peak_memory_bytes(),
                    )
                )
        return executed

    def _is_open(self, directory: RunDirectory, spec: TrialSpec) -> bool:
        if directory.finished(spec) is None:
            return True
        return self._services.judge is not None and self._services.judge.open(spec)

    async def _one(
        self, directory: RunDirectory, spec: TrialSpec, observer: Observer, executed: Executed
    ) -> None:
        async with self._alive:
            try:
                self._raise_if_stopped()
                outcome = await self._with_retries(directory, spec, observer, executed)
                await self._judged(spec, observer)
            except MemrigError as error:
                self._note(error)
                executed.failures[spec.trial_id] = error
                observer.failed(spec, error)
            except Exception as error:  # noqa: BLE001 - a defect of ours fails one trial, not all
                defect = _defect(spec, error)
                executed.failures[spec.trial_id] = defect
                observer.failed(spec, defect)
            else:
                self._unlucky = 0
                executed.outcomes[spec.trial_id] = outcome
                observer.finished(spec, outcome)

    def _raise_if_stopped(self) -> None:
        if self._stopped:
            raise self._stopped

    def _note(self, error: MemrigError) -> None:
        """Stops a run that cannot go on: no key, no money left, nothing recorded, no provider.

        So does a mode that the memory system does not have: every trial would say the same.
        """
        if isinstance(error, UsageError):
            self._stopped = self._stopped or error
        if not isinstance(error, GatewayError) or self._stopped:
            return
        self._unlucky += 1
        if error.kind != "provider" or self._unlucky >= _GIVE_UP_AFTER:
            self._stopped = error

    async def _judged(self, spec: TrialSpec, observer: Observer) -> None:
        if self._services.judge is not None and spec.kind != "isolation-audit":
            for judged in await self._services.judge.settle(spec):
                observer.judged(judged)

    async def _with_retries(
        self, directory: RunDirectory, spec: TrialSpec, observer: Observer, executed: Executed
    ) -> TrialOutcome:
        """Only faults of the engine or the machine are retried: a rerun must not re-roll luck."""
        services = TrialServices(
            provider=self._services.provider,
            run_id=directory.root.name,
            measured=self._slot,
            observer=observer.progress,
            keep_pod=self._services.keep_pod,
            models=self._services.models,
        )
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
