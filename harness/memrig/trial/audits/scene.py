"""One memory under audit: filled, asked, and what came of it written down."""

from collections.abc import AsyncIterator, Iterable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from time import monotonic_ns

from memrig.answering import mode_of
from memrig.answering.base import Access, Trace
from memrig.client import Pseudonyms
from memrig.errors import (
    AdapterCrashedError,
    AdapterError,
    AdapterTimeoutError,
    ContractError,
    GatewayError,
)
from memrig.model.chat import CallContext, Phase
from memrig.model.scenario import Episode
from memrig.model.transcript import AuditAskRecord, IngestRecord, StreamRecord
from memrig.model.trial import Mode, Outcome
from memrig.trial.audits.plan import PlannedAsk
from memrig.trial.session import Session
from memrig.trial.tally import Tally, unseen
from memrig.trial.timeline import HANG_AFTER, outcome_of, outcome_of_fault
from memrig.trial.walltime import WallTime


@dataclass(slots=True)
class AuditScene:
    """A session, and what has gone into its memory.

    Args:
        session: the live adapter.
        scenario_id: whose episodes it holds.
        ids: of everything that is told.
        dates: when that was, filled as it goes by.
    """

    session: Session
    scenario_id: str
    ids: Pseudonyms
    dates: dict[str, datetime] = field(default_factory=dict)
    _clock: WallTime = field(default_factory=WallTime)
    _timeouts: int = 0

    @property
    def searchable(self) -> bool:
        """Whether it can be searched, and not only asked."""
        return bool(self.session.capabilities.search_modes)

    async def fill(self, episodes: Iterable[Episode], part: str) -> None:
        """Tells it something, and passes the barrier.

        Raises:
            AdapterError: it could not take it, or died over it.
            GatewayError: a model of its own could not be had.
        """
        scope = f"{self.scenario_id}/audits/{part}#{self.session.spec.repeat}"
        async with self._charged("ingest", scope):
            try:
                with self.session.models_first():
                    await self._stream(Tally(episodes, self.dates, unseen))
            except AdapterError as error:
                raise await self.session.crash_of(error) or error from error

    async def _stream(self, sent: Tally) -> None:
        started = monotonic_ns()
        async for acks in self.session.client.ingest(sent, self.ids):
            self.session.log.append(IngestRecord(scenario_id=self.scenario_id, acks=acks))
        self.session.log.append(
            StreamRecord(
                scenario_id=self.scenario_id,
                episodes=sent.episodes,
                text_bytes=sent.text_bytes,
                ns=monotonic_ns() - started,
            )
        )
        self.session.log.append(await self.session.client.flush(self.scenario_id), sync=True)

    async def ask_all(self, asks: Iterable[PlannedAsk]) -> None:
        """Asks one after the other; a failure is what came of it.

        Raises:
            AdapterCrashedError: the adapter is gone.
            GatewayError: a model could not be had, and may be later.
        """
        for ask in asks:
            await self._ask(ask)

    async def _ask(self, ask: PlannedAsk) -> None:
        spec = self.session.spec
        mode: Mode = "retrieval" if self.searchable and not ask.answered else spec.mode
        trace, self._clock = Trace(), WallTime()
        crash: AdapterCrashedError | None = None
        try:
            outcome = await self._outcome(ask, mode, trace)
        except AdapterCrashedError as error:
            crash, outcome = error, outcome_of(error)
        self.session.log.append(
            AuditAskRecord(
                scenario_id=self.scenario_id,
                audit=ask.audit,
                part=ask.part,
                question_id=ask.question.question_id,
                text=ask.question.text,
                outcome=outcome,
                ns=self._clock.ns,
                memory_ns=trace.memory_ns,
                searches=tuple(trace.searches),
                answer=trace.answer,
                model_calls=tuple(trace.model_calls),
                tool_uses=tuple(trace.tool_uses),
            ),
            sync=True,
        )
        if crash is not None:
            raise crash

    async def _outcome(self, ask: PlannedAsk, mode: Mode, trace: Trace) -> Outcome:
        """How it ended; a model that could not be had comes before all else.

        Raises:
            AdapterCrashedError: the adapter is gone.
            GatewayError: asking again later may help.
        """
        wall_time = self.session.spec.budget.wall_time_s
        try:
            async with self._clock.limited(wall_time):
                outcome = await mode_of(mode)(ask.question, self._access(ask, mode), trace)
            self.session.raise_model_fault()
        except TimeoutError:
            self.session.raise_model_fault()
            return await self._failed(AdapterTimeoutError(wall_time, where="question"))
        except AdapterError as error:
            self.session.raise_model_fault()
            return await self._failed(error)
        except GatewayError as error:
            self.session.forget_model_fault()
            return outcome_of_fault(error)
        self._timeouts = 0
        return outcome

    async def _failed(self, error: AdapterError) -> Outcome:
        """What an error gives to the question that it met.

        Raises:
            AdapterCrashedError: the adapter is gone, or has not answered for long.
        """
        if not isinstance(error, ContractError) and (crash := await self.session.crash_of(error)):
            raise crash from error
        self._timeouts = self._timeouts + 1 if isinstance(error, AdapterTimeoutError) else 0
        if self._timeouts >= HANG_AFTER:
            message = f"{self._timeouts} calls in a row went unanswered"
            raise AdapterCrashedError("hang", message, where="an audit") from error
        return outcome_of(error)

    def _access(self, ask: PlannedAsk, mode: Mode) -> Access:
        spec = self.session.spec
        scope = (
            f"{self.scenario_id}/audits/{ask.audit}/{ask.part}/{ask.question.question_id}"
            f"#{spec.repeat}"
        )

        def charged(phase: Phase) -> AbstractAsyncContextManager[None]:
            return self._charged(phase, scope)

        return Access(
            spec=spec,
            memory=self.session.memory(self.ids, self.dates, None, charged),
            chat=self.session.chat,
            context=CallContext(
                phase="answer",
                purpose=mode,
                trial_id=spec.trial_id,
                scope=scope,
                seed=spec.seed,
                clock=self._clock,
            ),
        )

    @asynccontextmanager
    async def _charged(self, phase: Phase, scope: str) -> AsyncIterator[None]:
        """Holds the slot in which calls are timed; the memory's model calls are charged to it."""
        async with AsyncExitStack() as slot:
            with self._clock.standing_still():
                await slot.enter_async_context(self.session.measured())
            self.session.enter(phase, scope)
            yield
