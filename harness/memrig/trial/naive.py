"""The naive opponent: the same model, shown all episodes so far, as many as fit into its context.

It tells what a memory is worth: a question that a model answers as well from everything in its
context needs none.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from memrig.answering import mode_of
from memrig.answering.base import Access, Trace
from memrig.client.host import BaselineClient
from memrig.errors import GatewayError
from memrig.model.scenario import Episode, Question
from memrig.model.transcript import NaiveRecord
from memrig.model.trial import Budget
from memrig.trial.memory import HostMemory
from memrig.trial.walltime import WallTime

#: Seconds for one answer. Its time is its own: none of it is the question's.
LIMIT_S = 300.0
_PURPOSE = "naive"


class Naive:
    """One scenario's opponent. It keeps the texts of the scenario that is played, and no more.

    Args:
        dates: when each episode happened, filled as they go by.
    """

    def __init__(self, dates: Mapping[str, datetime]) -> None:
        self._memory = BaselineClient("full-context")
        self._dates = dates
        self._episodes = 0

    def saw(self, episode: Episode) -> None:
        """Takes in what the memory under test is given, as it goes by."""
        self._memory.keep(episode)
        self._episodes += 1

    async def answer(self, question: Question, access: Access) -> NaiveRecord:
        """Answers as a reader does that is shown everything, the newest kept.

        What it uses is charged to nobody's budget, and its own failures are in the record.

        Args:
            question: the one that was just settled.
            access: what that question's answer had.

        Raises:
            GatewayError: asking again later may help.
        """
        trace = Trace()
        failure = await self._failure(question, access, trace)
        answer = None if failure else trace.answer
        return NaiveRecord(
            answer=answer,
            failure=failure,
            episodes=self._episodes,
            shown=len(answer.memories) if answer else 0,
            model_calls=tuple(trace.model_calls),
        )

    async def _failure(self, question: Question, access: Access, trace: Trace) -> str:
        """Asks, and says why there is no answer; empty where there is one."""
        clock = WallTime()
        own = await self._own(access, clock)
        late = f"it took longer than {LIMIT_S:g} s"
        try:
            async with clock.limited(LIMIT_S):
                await mode_of("reader")(question, own, trace)
        except TimeoutError:
            return late
        except GatewayError as error:
            if error.kind == "cut_off":  # a replay: it was late when it was recorded
                return late
            if not error.settles:
                raise
            return f"{error.kind}: {error.message}"
        return _emptiness(trace)

    async def _own(self, access: Access, clock: WallTime) -> Access:
        """Its own memory, budget and time, and a scope in which it is asked first."""
        capabilities = await self._memory.capabilities()
        context = access.context
        return Access(
            spec=access.spec.model_copy(update={"budget": Budget(wall_time_s=LIMIT_S)}),
            memory=HostMemory(self._memory, capabilities, self._dates, None),
            chat=access.chat,
            context=replace(
                context, purpose=_PURPOSE, scope=f"{context.scope}/{_PURPOSE}", clock=clock
            ),
        )


def _emptiness(trace: Trace) -> str:
    """Why a reply is no answer: it says nothing, and does not mean to."""
    answer = trace.answer
    if answer and (answer.text or answer.abstained):
        return ""
    ended = trace.model_calls[-1].stop_reason if trace.model_calls else "none"
    return f"its reply has no text (stop reason {ended!r})"
