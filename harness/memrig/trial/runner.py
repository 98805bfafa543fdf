"""One trial from start to seal. Everything that executes a trial calls `run_trial`."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from memrig._version import __version__
from memrig.errors import AdapterCrashedError, AdapterError, GatewayError, PrerequisiteError
from memrig.model.scenario import episodes_of, questions_of
from memrig.model.transcript import (
    AttemptRecord,
    AuditRecord,
    CloseRecord,
    FaultRecord,
    QuestionRecord,
)
from memrig.model.trial import Outcome, TrialOutcome, TrialSpec
from memrig.pod.base import PodProvider, PodRequest
from memrig.suites.spool import SpooledScenario
from memrig.trial.audit import audit_reset, found, make_canary, plant, verdict
from memrig.trial.audits import play_audits
from memrig.trial.directory import Kept, TrialDirectory
from memrig.trial.models import ModelService, trial_models
from memrig.trial.session import Session, open_session
from memrig.trial.timeline import Timeline, outcome_of, outcome_of_fault
from memrig.trial.transcript import TranscriptWriter


@dataclass(frozen=True, slots=True)
class Progress:
    """Something happened in a trial; counts are since its start, kept answers included."""

    trial_id: str
    scenario_id: str
    episodes: int
    questions: int
    last: QuestionRecord | None = None


def _utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class TrialServices:
    """What a trial gets from whoever runs it.

    Args:
        provider: starts pods.
        run_id: labels the pods.
        measured: entered while calls are timed, so that two timed trials never share a CPU slot;
            starting and removing pods happens outside it.
        observer: told of progress; must not block.
        keep_pod: leave the pod running.
        models: the gateway; None: nothing in the trial may call a model.
        now: the clock for stamps.
    """

    provider: PodProvider
    run_id: str
    measured: Callable[[], AbstractAsyncContextManager[object]] = contextlib.nullcontext
    observer: Callable[[Progress], None] = lambda _: None
    keep_pod: bool = False
    models: ModelService | None = None
    now: Callable[[], datetime] = _utc_now


@dataclass(slots=True)
class _Attempt:
    """The state of one attempt at a trial."""

    spec: TrialSpec
    services: TrialServices
    scenarios: tuple[SpooledScenario, ...]
    directory: TrialDirectory
    log: TranscriptWriter
    answers: dict[tuple[str, str], QuestionRecord]
    episodes: int = 0
    saved_logs: list[str] = field(default_factory=list)

    def settled(self, record: QuestionRecord) -> None:
        self.answers[record.scenario_id, record.question_id] = record
        self._report(record.scenario_id, record)

    def counted(self, scenario_id: str, episodes: int) -> None:
        self.episodes += episodes
        self._report(scenario_id, None)

    def _report(self, scenario_id: str, last: QuestionRecord | None) -> None:
        progress = Progress(self.spec.trial_id, scenario_id, self.episodes, len(self.answers), last)
        self.services.observer(progress)

    def settle_open(self, outcome: Outcome) -> None:
        """Gives every open question of the trial the same outcome."""
        for scenario in self.scenarios:
            name = scenario.ref.scenario_id
            for question in questions_of(scenario.events()):
                if (name, question.question_id) not in self.answers:
                    record = QuestionRecord(
                        scenario_id=name, question_id=question.question_id, outcome=outcome, ns=0
                    )
                    self.log.append(record)
                    self.settled(record)

    def fault(self, error: AdapterError | GatewayError) -> Outcome:
        """Notes what ended the trial.

        Raises:
            GatewayError: the one given, where asking the model again may help.
        """
        outcome = outcome_of_fault(error) if isinstance(error, GatewayError) else outcome_of(error)
        tail = error.log_tail if isinstance(error, AdapterCrashedError) else ""
        self.log.append(FaultRecord(outcome=outcome, message=str(error), log_tail=tail), sync=True)
        return outcome

    def end_by(self, error: AdapterError | GatewayError) -> None:
        """Notes what ended the trial, and settles what is open by it."""
        self.settle_open(self.fault(error))

    @asynccontextmanager
    async def session(self) -> AsyncIterator[Session]:
        """A started pod, with a way to models where it asked for any."""
        services, spec = self.services, self.spec
        async with trial_models(services.models, spec) as models:
            request = PodRequest(
                adapter=spec.adapter,
                run_id=services.run_id,
                trial_id=spec.trial_id,
                gateway_socket=models.socket if models else None,
                keep=services.keep_pod,
            )
            async with open_session(
                spec,
                services.provider,
                request,
                self.log,
                self.saved_logs.append,
                models,
                services.measured,
            ) as session:
                yield session

    def record_models(self) -> None:
        """Notes which models the memory system used for itself, and what they cost."""
        if self.services.models:
            for record in self.services.models.usage_of(self.spec.trial_id):
                self.log.append(record)


async def run_trial(
    spec: TrialSpec, scenarios: Path, out: Path, services: TrialServices
) -> TrialOutcome:
    """Runs a trial, or what is left of it, and seals it.

    A trial that is sealed already is returned as it is. Faults of the adapter are outcomes of
    questions, not errors.

    Args:
        spec: what to do.
        scenarios: the folder with the spooled scenarios.
        out: the folder that gets a directory named after the trial.
        services: pods, slots, observer.

    Raises:
        InfrastructureError: the engine failed; what was answered is kept for the next attempt.
        PrerequisiteError: the pod cannot be started on this machine.
        GatewayError: a model could not be had; what was answered is kept likewise.
        VerificationError: a scenario or an unfinished transcript was changed.
    """
    directory = TrialDirectory(out, spec)
    loaded = tuple(SpooledScenario(scenarios, ref) for ref in spec.scenarios)
    for scenario in loaded:  # hashing would hold up another trial's calls
        await asyncio.to_thread(scenario.verify)
    if done := directory.finished():
        return done
    with directory.exclusive():
        if done := directory.finished():  # sealed by another process while we came here
            return done
        kept = directory.open()
        with directory.writer(kept) as log:
            attempt = _Attempt(spec, services, loaded, directory, log, dict(kept.answers))
            try:
                await _run_attempt(attempt, kept)
            finally:
                directory.add_log(kept.attempts + 1, attempt.saved_logs)
            chain = log.chain
        statuses = Counter[str](record.outcome.status for record in attempt.answers.values())
        return directory.seal(chain, kept.attempts + 1, statuses)


async def _run_attempt(attempt: _Attempt, kept: Kept) -> None:
    attempt.log.append(
        AttemptRecord(
            number=kept.attempts + 1,
            spec_digest=attempt.directory.spec_digest,
            started_at=attempt.services.now(),
            memrig_version=__version__,
        ),
        sync=True,
    )
    if attempt.spec.kind == "isolation-audit":
        await _audited(attempt)
    elif attempt.spec.kind == "audits":
        if not kept.ended:  # a fault ends it once and for all: luck is not rolled again
            await _in_audits(attempt)
    elif kept.ended:
        attempt.settle_open(kept.ended)
    else:
        await _scored(attempt)
    attempt.log.append(CloseRecord(), sync=True)


async def _scored(attempt: _Attempt) -> None:
    """Plays all scenarios. A fault of the adapter ends the trial: what is open gets its outcome.

    It is settled before the pod is removed, so that an interrupt cannot re-roll a crash.
    """
    try:
        async with attempt.session() as session:
            try:
                with session.models_first():
                    await session.handshake()
                    await _play_all(attempt, session)
            except (AdapterError, GatewayError) as error:
                attempt.end_by(error)
            await session.record_usage()
            attempt.record_models()
    except AdapterError as error:  # it never came up
        if attempt.spec.adapter.pod == "endpoint":
            raise _nobody_there(attempt.spec) from error
        attempt.end_by(error)


def _nobody_there(spec: TrialSpec) -> PrerequisiteError:
    """An endpoint that does not answer is not ours to judge: it may not be started yet."""
    return PrerequisiteError(
        f"no adapter serves at grpc://{spec.adapter.endpoint}",
        where=f"trial={spec.trial_id}",
        fix="start it, then repeat the command",
    )


async def _play_all(attempt: _Attempt, session: Session) -> None:
    # A running endpoint holds whatever was there before; every other pod starts empty.
    dirty = attempt.spec.adapter.pod == "endpoint"
    for scenario in attempt.scenarios:
        if dirty:
            await session.reset()
        dirty = True
        name = scenario.ref.scenario_id
        timeline = Timeline(
            session, scenario, attempt.answers, attempt.settled, partial(attempt.counted, name)
        )
        await timeline.play()


async def _audited(attempt: _Attempt) -> None:
    try:
        record = await _audit(attempt)
    except (AdapterError, GatewayError) as error:
        attempt.fault(error)
        record = AuditRecord(verdict="n/a", detail=str(error))
    attempt.log.append(record)


async def _audit(attempt: _Attempt) -> AuditRecord:
    speaker = _a_speaker(attempt.scenarios[0])
    canary = make_canary(attempt.spec, speaker)
    async with attempt.session() as first:
        with first.models_first():
            await first.handshake()
            if attempt.spec.isolation == "reset":
                return await audit_reset(first, canary, speaker)
            before = await plant(first, canary, speaker)
        async with attempt.session() as second:
            with second.models_first():
                await second.handshake()
                return verdict(before, await found(second, canary), "a fresh pod")


async def _in_audits(attempt: _Attempt) -> None:
    """Plays the audits. A fault of the adapter ends them: what was asked until then stands."""
    try:
        await play_audits(attempt.spec, attempt.scenarios[0], attempt.session)
    except (AdapterError, GatewayError) as error:
        attempt.fault(error)
    attempt.record_models()


def _a_speaker(scenario: SpooledScenario) -> str:
    for episode in episodes_of(scenario.events()):
        head, colon, _ = episode.text.partition(":")
        if colon and len(head) <= 40 and "\n" not in head:
            return head
    return "Robin"


__all__ = ["Progress", "TrialServices", "run_trial"]
