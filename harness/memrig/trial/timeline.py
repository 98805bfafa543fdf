"""Drives one scenario's timeline: ingest, barrier, ask, in the order of the data."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from datetime import datetime
from itertools import groupby
from typing import cast

from memrig.answering import mode_of
from memrig.answering.base import Access, Trace
from memrig.client import Pseudonyms
from memrig.errors import (
    AdapterCrashedError,
    AdapterError,
    AdapterRpcError,
    AdapterTimeoutError,
    ContractError,
    GatewayError,
)
from memrig.model.chat import CallContext, Phase
from memrig.model.scenario import Episode, Probe, Question
from memrig.model.transcript import IngestRecord, NaiveRecord, QuestionRecord, StreamRecord
from memrig.model.trial import Outcome
from memrig.suites.spool import SpooledScenario
from memrig.trial.naive import Naive
from memrig.trial.probes import Scene, measure
from memrig.trial.session import Session
from memrig.trial.tally import Tally, unseen
from memrig.trial.walltime import WallTime

#: After this many time-outs in a row an adapter is alive, but no longer serving.
HANG_AFTER = 3
#: Seconds for the reserved final turn of a question whose time is up.
LAST_TURN_S = 60.0
_ACKS_PER_RECORD = 256

Settled = Callable[[QuestionRecord], None]
Counted = Callable[[int], None]


def outcome_of(error: AdapterError) -> Outcome:
    """The outcome that an error of the adapter gives to the question it met."""
    if isinstance(error, AdapterCrashedError):
        return Outcome(status="adapter_crashed", kind=error.kind, message=error.message)
    if isinstance(error, AdapterTimeoutError):
        return Outcome(status="timeout", kind=error.where, message=error.message)
    kind = error.code if isinstance(error, AdapterRpcError) else "CONTRACT"
    return Outcome(status="adapter_error", kind=kind, message=error.message)


def outcome_of_fault(error: GatewayError) -> Outcome:
    """The outcome of a question whose model will never answer: ungraded, not wrong.

    Raises:
        GatewayError: the one given, where asking again may help.
    """
    if not error.settles:
        raise error
    return Outcome(status="harness_error", kind=error.kind, message=error.message)


class Timeline:
    """One scenario against one session.

    Args:
        session: the live adapter.
        scenario: what to play.
        answered: questions that an earlier attempt settled; they are not asked again.
        settled: told of each question that is settled here.
        counted: told how many episodes were acknowledged since the last time.
    """

    def __init__(
        self,
        session: Session,
        scenario: SpooledScenario,
        answered: Mapping[tuple[str, str], QuestionRecord],
        settled: Settled,
        counted: Counted,
    ) -> None:
        self._session = session
        self._scenario = scenario
        self._id = scenario.ref.scenario_id
        self._answered = answered
        self._settled = settled
        self._counted = counted
        self._ids = Pseudonyms(session.spec.seed, scenario.ref.digest)
        self._mode = mode_of(session.spec.mode)
        self._gold = scenario.gold() if session.needs_gold else {}
        self._dates: dict[str, datetime] = {}
        self._naive = Naive(self._dates) if session.spec.naive else None
        self._timeouts = 0
        self._in_memory = False
        self._time = WallTime()
        self._crashed: AdapterCrashedError | None = None
        self._scene = Scene(session, self._id, self._ids)

    async def play(self) -> None:
        """Plays the timeline up to its last open question, or to its end where it has probes.

        Raises:
            AdapterCrashedError: the adapter is gone; the open questions are not settled.
            AdapterError: ingest or flush failed; likewise.
            GatewayError: a model could not be had; what is open may be asked again later.
        """
        open_questions = self._count_open()
        for kind, events in groupby(self._scenario.events(), key=lambda event: event.type):
            if open_questions == 0 and not self._scenario.has_probes:
                return
            if kind == "question":
                for question in cast("Iterator[Question]", events):
                    open_questions -= await self._ask_if_open(question)
            elif kind == "probe":
                for probe in cast("Iterator[Probe]", events):
                    await self._measure(probe)
            else:
                await self._ingest(cast("Iterator[Episode]", events))

    def _count_open(self) -> int:
        done = sum(scenario == self._id for scenario, _ in self._answered)
        return self._scenario.ref.questions - done

    async def _ingest(self, episodes: Iterable[Episode]) -> None:
        # With the repeat: two of them may run at once, and must not share what was recorded.
        async with self._charged("ingest", f"{self._id}#{self._session.spec.repeat}"):
            seen = self._naive.saw if self._naive else unseen
            await self._stream(Tally(episodes, self._dates, seen))

    async def _stream(self, sent: Tally) -> None:
        try:
            with self._session.models_first():
                await self._fill(sent)
        except AdapterError as error:
            raise await self._session.crash_of(error) or error from error

    async def _fill(self, sent: Tally) -> None:
        started = time.monotonic_ns()
        async for acks in self._session.client.ingest(sent, self._ids):
            for first in range(0, len(acks), _ACKS_PER_RECORD):
                part = acks[first : first + _ACKS_PER_RECORD]
                self._session.log.append(IngestRecord(scenario_id=self._id, acks=part))
            self._counted(len(acks))
        self._session.log.append(
            StreamRecord(
                scenario_id=self._id,
                episodes=sent.episodes,
                text_bytes=sent.text_bytes,
                ns=time.monotonic_ns() - started,
            )
        )
        flushed = await self._session.client.flush(self._id)
        self._session.log.append(flushed, sync=True)
        self._scene.filled(sent.episodes, flushed.total_items)

    async def _measure(self, probe: Probe) -> None:
        """Measures at this place. What fails within a probe is its result.

        Raises:
            AdapterCrashedError: the adapter is gone since.
        """
        scope = f"{self._id}/{probe.probe_id}#{self._session.spec.repeat}"
        async with self._charged("search", scope):
            with self._session.models_first():
                records = await measure(probe, self._scene.at(scope))
        for record in records:
            self._session.log.append(record, sync=record is records[-1])
        await self._scene.raise_if_gone()

    @asynccontextmanager
    async def _charged(self, phase: Phase, scope: str) -> AsyncIterator[None]:
        """Holds the slot in which calls are timed; the memory's model calls are charged to it."""
        async with AsyncExitStack() as slot:
            with self._time.standing_still():
                await slot.enter_async_context(self._session.measured())
            self._session.enter(phase, scope)
            self._in_memory = True  # and stays so if this is cancelled: it was waited for
            yield
            self._in_memory = False

    async def _ask_if_open(self, question: Question) -> int:
        if (self._id, question.question_id) in self._answered:
            return 0
        trace = Trace()
        self._time = WallTime()
        outcome = await self._outcome(question, trace)
        ns = self._time.ns  # before the opponent is asked, whose time is its own
        record = QuestionRecord(
            scenario_id=self._id,
            question_id=question.question_id,
            outcome=outcome,
            ns=ns,
            memory_ns=trace.memory_ns,
            searches=tuple(trace.searches),
            answer=trace.answer,
            model_calls=tuple(trace.model_calls),
            tool_uses=tuple(trace.tool_uses),
            naive=await self._opposed(question, outcome),
        )
        self._session.log.append(record, sync=True)
        self._settled(record)
        if self._crashed:
            raise self._crashed
        return 1

    async def _opposed(self, question: Question, outcome: Outcome) -> NaiveRecord | None:
        """What the naive opponent says; it is not asked where nothing will be graded.

        Nor after a crash, which is settled before anything else can go wrong: it would be rolled
        again otherwise.

        Raises:
            GatewayError: asking again later may help; the question is settled with it then.
        """
        if self._naive is None or self._crashed or outcome.status == "harness_error":
            return None
        return await self._naive.answer(question, self._access(question))

    def _access(self, question: Question) -> Access:
        spec = self._session.spec
        scope = f"{self._id}/{question.question_id}#{spec.repeat}"

        def charged(phase: Phase) -> AbstractAsyncContextManager[None]:
            return self._charged(phase, scope)

        gold = self._gold.get(question.question_id)
        return Access(
            spec=spec,
            memory=self._session.memory(self._ids, self._dates, gold, charged),
            chat=self._session.chat,
            context=CallContext(
                phase="answer",
                purpose=spec.mode,
                trial_id=spec.trial_id,
                scope=scope,
                seed=spec.seed,
                clock=self._time,
            ),
        )

    async def _outcome(self, question: Question, trace: Trace) -> Outcome:
        try:
            return await self._asked(question, trace)
        except GatewayError as error:
            self._session.forget_model_fault()
            return outcome_of_fault(error)

    async def _asked(self, question: Question, trace: Trace) -> Outcome:
        """How the question ended; a model that could not be had comes before all else."""
        wall_time = self._session.spec.budget.wall_time_s
        self._in_memory = False
        try:
            async with self._time.limited(wall_time):
                outcome = await self._mode(question, self._access(question), trace)
        except TimeoutError:
            self._session.raise_model_fault()
            return await self._out_of_time(trace)
        except GatewayError as error:
            if error.kind != "cut_off":
                raise
            # A replay: when it was made, the question's time was up during this call.
            return await self._out_of_time(trace)
        except AdapterTimeoutError as error:
            self._session.raise_model_fault()
            return await self._late(outcome_of(error), error)
        except AdapterError as error:
            self._session.raise_model_fault()
            self._timeouts = 0
            return outcome_of(await self._crash(error) or error)
        self._timeouts = 0
        self._session.raise_model_fault()
        return outcome

    async def _out_of_time(self, trace: Trace) -> Outcome:
        wall_time = self._session.spec.budget.wall_time_s
        message = f"the question took longer than its {wall_time:g} s"
        outcome = Outcome(status="budget_exceeded", kind="wall_time", message=message)
        if self._in_memory:
            outcome = await self._late(outcome)
        return outcome if self._crashed else await self._last_turn(trace, outcome)

    async def _last_turn(self, trace: Trace, outcome: Outcome) -> Outcome:
        """The reserved turn of a mode that has one, in time of its own."""
        if trace.last_turn is None:
            return outcome
        try:
            async with asyncio.timeout(LAST_TURN_S):
                await trace.last_turn("wall_time")
        except TimeoutError:
            pass  # what was found stays without an answer
        except GatewayError as error:
            if error.kind != "cut_off":
                raise
        return outcome

    async def _late(self, outcome: Outcome, error: AdapterTimeoutError | None = None) -> Outcome:
        self._timeouts += 1
        late = error or AdapterTimeoutError(self._session.spec.budget.wall_time_s, where="question")
        if crash := await self._crash(late):
            return outcome_of(crash)
        if self._timeouts < HANG_AFTER:
            return outcome
        message = f"{self._timeouts} calls in a row went unanswered"
        crash = await self._crash(AdapterCrashedError("hang", message, where="rpc=Search"))
        return outcome_of(crash) if crash else outcome

    async def _crash(self, error: AdapterError) -> AdapterCrashedError | None:
        if not isinstance(error, ContractError):
            self._crashed = await self._session.crash_of(error)
        return self._crashed
