"""What every probe works with: the memory as it stands, its errors noted instead of raised."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Self

from memrig.client import Pseudonyms
from memrig.errors import AdapterError
from memrig.model.chat import Phase
from memrig.model.scenario import Episode, LookFor, Probe
from memrig.model.transcript import HitRecord, ProbeRecord
from memrig.trial.session import Session


@dataclass(frozen=True, slots=True)
class Found:
    """One search that came back: how long it took, and whether it holds what was looked for."""

    ns: int
    found: bool
    hits: tuple[HitRecord, ...]


@dataclass(slots=True)
class Scene:
    """One scenario's memory, as its probes meet it.

    Args:
        session: the live adapter.
        scenario_id: the scenario's.
        ids: of all its episodes, those of probes included.
        episodes: how many were ingested so far, by the timeline and by probes.
        items: how many items the memory last said it holds.
        scope: what identical model calls are counted within now.
        errors: what the adapter did wrong within the probe that is under way.
    """

    session: Session
    scenario_id: str
    ids: Pseudonyms
    episodes: int = 0
    items: int | None = None
    scope: str = ""
    errors: list[AdapterError] = field(default_factory=list)

    def at(self, scope: str) -> Self:
        """Another probe begins."""
        self.scope = scope
        self.errors.clear()
        return self

    def filled(self, episodes: int, items: int | None) -> None:
        """So many more episodes are in, and the memory says that it holds so many items."""
        self.episodes += episodes
        self.items = items

    def enter(self, phase: Phase) -> None:
        """The memory system's model calls are charged to this phase from here on."""
        self.session.enter(phase, self.scope)

    async def attempt(self, look: LookFor) -> Found | AdapterError:
        """Searches once; an error is returned, and not noted."""
        limit = min(self.session.spec.top_k, self.session.capabilities.max_results)
        try:
            record = await self.session.adapter.search(look.query, limit, self.ids)
        except AdapterError as error:
            return error
        wanted = frozenset(look.episode_ids)
        found = any(wanted.intersection(hit.episodes) for hit in record.hits)
        return Found(record.ns, found, record.hits)

    async def search(self, look: LookFor) -> Found | None:
        """Searches once; None where that failed, which is noted."""
        found = await self.attempt(look)
        if isinstance(found, Found):
            return found
        self.errors.append(found)
        return None

    async def recall(self, searches: Sequence[LookFor]) -> float | None:
        """The share of searches that found what they look for, one after the other.

        A search that failed found nothing. None: there is none.
        """
        self.enter("search")
        found = [await self.search(look) for look in searches]
        if not found:
            return None
        return sum(one is not None and one.found for one in found) / len(found)

    async def ingest(self, episodes: Iterable[Episode]) -> Counter[str]:
        """Streams episodes; counts acknowledgements by status. A failure is noted, not raised."""
        self.enter("ingest")
        acks: Counter[str] = Counter()
        try:
            async for some in self.session.client.ingest(episodes, self.ids):
                acks.update(ack.status for ack in some)
        except AdapterError as error:
            self.errors.append(error)
        self.episodes += acks.total()
        return acks

    async def flush(self) -> bool:
        """Passes the barrier; False where that failed."""
        self.enter("ingest")
        try:
            self.items = (await self.session.client.flush(self.scenario_id)).total_items
        except AdapterError as error:
            self.errors.append(error)
            return False
        return True

    @property
    def failure(self) -> str:
        """How many calls failed, and the different ways they did; empty: none."""
        if not self.errors:
            return ""
        kinds = Counter(f"{error.where}: {error.message}"[:200] for error in self.errors)
        shown = "; ".join(f"{count} × {text}" for text, count in kinds.most_common(3))
        more = f"; and {len(kinds) - 3} other ways" if len(kinds) > 3 else ""
        return f"{len(self.errors)} calls failed: {shown}{more}"

    def record(
        self,
        probe: Probe,
        values: dict[str, float | None],
        samples_ns: dict[str, tuple[int, ...]] | None = None,
        *,
        subject: str = "",
        failure: str | None = None,
    ) -> ProbeRecord:
        """What a probe measured here; values that could not be had are left out."""
        return ProbeRecord(
            scenario_id=self.scenario_id,
            probe_id=probe.probe_id,
            probe=probe.kind,
            subject=subject,
            episodes=self.episodes,
            items=self.items,
            values={name: float(value) for name, value in values.items() if value is not None},
            samples_ns=samples_ns or {},
            failure=self.failure if failure is None else failure,
        )

    def skipped(self, probe: Probe, why: str, *, subject: str = "") -> list[ProbeRecord]:
        """The record of a probe that says nothing here."""
        record = self.record(probe, {}, subject=subject)
        return [record.model_copy(update={"skipped": why})]

    async def raise_if_gone(self) -> None:
        """Ends the trial where the adapter is gone since the probe began.

        Raises:
            AdapterCrashedError: it is.
        """
        if self.errors and (crash := await self.session.crash_of(self.errors[-1])):
            raise crash
