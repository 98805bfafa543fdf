"""What all bridges do alike: tell episodes, count them, ask, and empty."""

import asyncio
import logging
from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from memrig_adapters.adapter import Adapter
from memrig_adapters.bridges.reply import answer_of
from memrig_adapters.bridges.settings import Settings, settings
from memrig_adapters.bridges.telling import asked, told
from memrig_adapters.types import Answer, Capabilities, Duplicate, Episode, Json, Question

log = logging.getLogger("memrig_adapters")

_SAY_EVERY_S = 5.0


class Bridge(Adapter):
    """An agent that learns texts and answers questions, behind the contract.

    An item is an episode: what the agent makes of one is not known. An episode counts as stored
    when the agent has taken it without an error, and is told to it once.
    """

    usual_name: ClassVar[str]

    settings: Settings
    #: What a start that takes long is waiting for.
    waiting: str = "it has not ended its first reset"

    def __init__(self) -> None:
        self._known: set[str] = set()

    @abstractmethod
    async def open(self) -> None:
        """Reaches the agent and empties it, which also shows that it is there.

        Raises:
            AgentError: it cannot be reached, or failed.
        """

    @abstractmethod
    async def close(self) -> None:
        """Lets go of the agent; also of one that was opened halfway."""

    @abstractmethod
    async def learn(self, text: str) -> None:
        """Tells the agent a text.

        Raises:
            Rejected: it does not want this one.
            AgentError: it failed.
        """

    @abstractmethod
    async def ask(self, question: str) -> Mapping[str, Json]:
        """Asks the agent.

        Raises:
            AgentError: it failed, or its reply cannot be read.
        """

    @abstractmethod
    async def empty(self) -> None:
        """Has the agent forget everything.

        Raises:
            AgentError: it failed.
        """

    async def start(self) -> None:
        """Reads the settings and opens the agent. A memory begins empty.

        Raises:
            AdapterBug: a setting has a value that it cannot have.
            AgentError: the agent cannot be reached, or failed.
        """
        self.settings = settings(self.usual_name)
        self.capabilities = Capabilities(
            name=self.settings.name,
            version=self.settings.version,
            search_modes=(),
            questions_change_memory=not self.settings.steady,
        )
        saying = asyncio.create_task(self._say_while_waiting())
        try:
            await self.open()
        except BaseException:
            await self.close()  # nobody closes what never started
            raise
        finally:
            saying.cancel()

    async def ingest(self, episode: Episode) -> int | Duplicate:
        """Tells an episode, unless the agent was told it before."""
        if episode.episode_id in self._known:
            return Duplicate()
        await self.learn(told(episode, self.settings.telling))
        self._known.add(episode.episode_id)
        return 1

    async def flush(self) -> int:
        """Has nothing to wait for: the agent has taken each episode before it was acknowledged."""
        return len(self._known)

    async def answer(self, question: Question) -> Answer:
        """Asks the agent."""
        return answer_of(await self.ask(asked(question, self.settings.telling)))

    async def reset(self) -> None:
        """Empties the agent."""
        await self.empty()
        self._known.clear()

    async def _say_while_waiting(self) -> None:
        while True:
            await asyncio.sleep(_SAY_EVERY_S)
            log.warning("waiting for the agent: %s", self.waiting)
