"""The memory under test as one question sees it: an adapter behind its client, or a baseline."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Protocol

from memrig.answering.base import Memory
from memrig.answering.handles import minute
from memrig.client import MemoryClient, Pseudonyms
from memrig.client.host import HostClient
from memrig.errors import UsageError
from memrig.model.chat import Phase
from memrig.model.gold import Gold
from memrig.model.scenario import Question
from memrig.model.transcript import (
    CapabilitiesRecord,
    DocumentRecord,
    FilterUse,
    NativeRecord,
    SearchRecord,
    ToolResultRecord,
)


class Charged(Protocol):
    """Enters a phase, so that the memory system's own model calls are charged to it."""

    def __call__(self, phase: Phase) -> AbstractAsyncContextManager[object]:
        """Until the context ends."""


class _Dated:
    """Knows when each episode happened, from its own passing by."""

    def __init__(self, capabilities: CapabilitiesRecord, dates: Mapping[str, datetime]) -> None:
        self.capabilities = capabilities
        self._dates = dates

    def date_of(self, episode_id: str) -> str:
        """See `Memory`."""
        return minute(self._dates.get(episode_id))


class AdapterMemory(_Dated):
    """Implements `Memory` over the contract."""

    whole = False

    def __init__(
        self,
        client: MemoryClient,
        capabilities: CapabilitiesRecord,
        dates: Mapping[str, datetime],
        ids: Pseudonyms,
        charged: Charged,
    ) -> None:
        super().__init__(capabilities, dates)
        self._client = client
        self._ids = ids
        self._charged = charged

    async def search(
        self, query: str, limit: int, mode: str = "", filters: Sequence[FilterUse] = ()
    ) -> SearchRecord:
        """See `Memory`."""
        async with self._charged("search"):
            return await self._client.search(query, limit, self._ids, mode=mode, filters=filters)

    async def retrieve(self, ref_id: str) -> DocumentRecord | None:
        """See `Memory`."""
        async with self._charged("search"):
            return await self._client.retrieve(ref_id, self._ids)

    async def answer(self, question: Question, limit: int) -> NativeRecord:
        """See `Memory`."""
        async with self._charged("answer"):
            return await self._client.answer(question, limit, self._ids)

    async def call_tool(self, name: str, arguments_json: str) -> ToolResultRecord:
        """See `Memory`."""
        async with self._charged("search"):
            return await self._client.call_tool(name, arguments_json, self._ids)


class HostMemory(_Dated):
    """Implements `Memory` over what lives in the rig itself, for one question."""

    def __init__(
        self,
        client: HostClient,
        capabilities: CapabilitiesRecord,
        dates: Mapping[str, datetime],
        gold: Gold | None,
    ) -> None:
        super().__init__(capabilities, dates)
        self._client = client
        self._gold = gold

    @property
    def whole(self) -> bool:
        """See `Memory`: a baseline shows all it has; an oracle has the evidence alone."""
        return True

    async def search(
        self, query: str, limit: int, mode: str = "", filters: Sequence[FilterUse] = ()
    ) -> SearchRecord:
        """See `Memory`."""
        del mode, filters
        return self._client.search(query, limit, self._gold)

    async def retrieve(self, ref_id: str) -> DocumentRecord | None:
        """See `Memory`: whole again, though a result may have been cut."""
        return self._client.retrieve(ref_id)

    async def answer(self, question: Question, limit: int) -> NativeRecord:
        """See `Memory`."""
        del limit
        return self._client.answer(question)

    async def call_tool(self, name: str, arguments_json: str) -> ToolResultRecord:
        """See `Memory`.

        Raises:
            UsageError: nothing here declares a tool.
        """
        raise UsageError(f"{self.capabilities.name} has no tool {name!r} ({arguments_json:.40})")


__all__ = ["AdapterMemory", "Charged", "HostMemory", "Memory"]
