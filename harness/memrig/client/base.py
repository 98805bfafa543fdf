"""What a trial needs of a client, whether an adapter or one of the rig's baselines is behind it."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import Protocol

from memrig.client.ids import Pseudonyms
from memrig.model.scenario import Episode
from memrig.model.transcript import Ack, CapabilitiesRecord, FlushRecord, ResetRecord


class AdapterClient(Protocol):
    """Filling and emptying a memory. How it is questioned is `answering.base.Memory`."""

    async def serving(self) -> bool:
        """Whether it would take a call now."""

    async def wait_ready(
        self, deadline_s: float, still_alive: Callable[[], Awaitable[None]]
    ) -> None:
        """Waits until it serves."""

    async def check_same_process(self, where: str) -> None:
        """Makes sure that it is the process of the handshake."""

    async def capabilities(self) -> CapabilitiesRecord:
        """The handshake."""

    async def reset(self) -> ResetRecord:
        """Empties the memory."""

    def ingest(
        self, episodes: Iterable[Episode], ids: Pseudonyms
    ) -> AsyncIterator[tuple[Ack, ...]]:
        """Streams episodes in order; yields acknowledgements as they come."""

    async def flush(self, scenario_id: str) -> FlushRecord:
        """Passes the barrier."""
