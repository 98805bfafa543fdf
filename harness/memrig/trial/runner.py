"""One trial from start to seal. Everything that executes a trial calls `run_trial`."""

import contextlib
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from memrig._version import __version__
from memrig.errors import AdapterCrashedError, AdapterError
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
from memrig.trial.directory import LOG, Kept, TrialDirectory
from memrig.trial.session import Session, open_session
from memrig.trial.timeline import Timeline, outcome_of
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
        now: the clock for stamps.
    """

    provider: PodProvider
    run_id: str
    measured: Callable[[], AbstractAsyncContextManager[object]] = contextlib.nullcontext
    observer: Callable[[Progress], None] = lambda _: None
    keep_pod: bool = False
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

    def settle_open(self, scenarios: Iterable[SpooledScenario], outcome: Outcome) -> None:
        """Gives every open question of these scenarios the same outcome."""
        for scenario in scenarios:
            name = scenario.ref.scenario_id
            for question in questions_of(scenario.events()):
                if (name, question.question_id) not in self.answers:
                    record = QuestionRecord(
                        scenario_id=name, question_id=question.question_id, outcome=outcome, ns=0
                    )
                    self.log.append(record)
                    self.settled(record)

    def fault(self, error: AdapterError) -> None:
        outcome = outcome_of(error)
        self.log.append(
            FaultRecord(
                error=f"{outcome.status}({outcome.kind})",
                message=str(error),
                log_tail=error.log_tail if isinstance(error, AdapterCrashedError) else "",
            ),
            sync=True,
        )

    def session(self) -> AbstractAsyncContextManager[Session]:
        request = PodRequest(
            adapter=self.spec.adapter,
            run_id=self.services.run_id,
            trial_id=self.spec.trial_id,
            keep=self.services.keep_pod,
        )
        provider = self.services.provider
        return open_session(self.spec, provider, request, self.log, self.saved_logs.append)


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
        VerificationError: a scenario or an unfinished transcript was changed.
    """
    directory = TrialDirectory(out, spec)
    if done := directory.finished():
        return done
    loaded = tuple(SpooledScenario(scenarios, ref) for ref in spec.scenarios)
    for scenario in loaded:
        scenario.verify()
    kept = directory.open()
    with directory.writer(kept) as log:
        attempt = _Attempt(spec, services, loaded, directory, log, dict(kept.answers))
        await _run_attempt(attempt, kept)
        chain = log.chain
    _save_logs(attempt)
    statuses: Counter[str] = Counter(record.outcome.status for record in attempt.answers.values())
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
    steps = _audit if attempt.spec.kind == "isolation-audit" else _score
    try:
        await steps(attempt)
    except AdapterError as error:
        attempt.fault(error)
        if attempt.spec.kind == "isolation-audit":
            attempt.log.append(AuditRecord(verdict="n/a", detail=str(error)))
        else:
            attempt.settle_open(attempt.scenarios, outcome_of(error))
    finally:
        _save_logs(attempt)
    attempt.log.append(CloseRecord(), sync=True)


def _save_logs(attempt: _Attempt) -> None:
    folder = attempt.directory.partial
    if folder.is_dir():
        (folder / LOG).write_text("\n".join(attempt.saved_logs), "utf-8")


async def _score(attempt: _Attempt) -> None:
    async with attempt.session() as session, attempt.services.measured():
        for number, scenario in enumerate(attempt.scenarios):
            if number:
                attempt.log.append(await session.client.reset())
            await _play(attempt, session, scenario)
        await session.record_usage()


async def _play(attempt: _Attempt, session: Session, scenario: SpooledScenario) -> None:
    def counted(episodes: int) -> None:
        attempt.counted(scenario.ref.scenario_id, episodes)

    timeline = Timeline(session, scenario, attempt.answers, attempt.settled, counted)
    try:
        await timeline.play()
    except AdapterCrashedError:
        raise
    except AdapterError as error:
        attempt.fault(error)
        attempt.settle_open([scenario], outcome_of(error))


async def _audit(attempt: _Attempt) -> None:
    speaker = _a_speaker(attempt.scenarios[0])
    canary = make_canary(attempt.spec, speaker)
    async with attempt.session() as first:
        if attempt.spec.isolation == "reset":
            record = await audit_reset(first, canary, speaker)
        else:
            before = await plant(first, canary, speaker)
            async with attempt.session() as second:
                record = verdict(before, await found(second, canary), "a fresh pod")
    attempt.log.append(record)


def _a_speaker(scenario: SpooledScenario) -> str:
    for episode in episodes_of(scenario.events()):
        head, colon, _ = episode.text.partition(":")
        if colon and len(head) <= 40 and "\n" not in head:
            return head
    return "Robin"


__all__ = ["Progress", "TrialServices", "run_trial"]
