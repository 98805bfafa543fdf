"""A scenario: one isolated memory and its timeline of episodes and questions (architecture §2)."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from memrig.model.gold import Gold


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Turn(_Frozen):
    """One turn of a conversation."""

    turn_id: str
    speaker: str
    text: str


class Episode(_Frozen):
    """One unit of experience, with its real ids; the client sends opaque ones.

    `text` is never empty; where `turns` is set it is their rendering.
    """

    type: Literal["episode"] = "episode"
    episode_id: str
    timestamp: datetime | None = None
    text: str = Field(min_length=1)
    turns: tuple[Turn, ...] = ()
    media_type: str = "text/plain"
    metadata: dict[str, str] = Field(default_factory=dict)


class Question(_Frozen):
    """What is asked, and nothing that would help to answer it."""

    type: Literal["question"] = "question"
    question_id: str
    text: str = Field(min_length=1)
    asked_at: datetime | None = None


#: What a memory system's own model calls can be made to meet: each waits, is refused by the
#: provider for good, or finds nobody there.
ModelFault = Literal["slow", "refuses", "down"]


class LookFor(_Frozen):
    """A search, and the episodes any of which must be among the sources of what it finds."""

    query: str = Field(min_length=1)
    episode_ids: tuple[str, ...] = Field(min_length=1)


class _Probe(_Frozen):
    """A measurement at a place of the timeline that is no question: see `trial/probes`."""

    type: Literal["probe"] = "probe"
    probe_id: str


class UsageProbe(_Probe):
    """What the pod uses now, after the barrier."""

    kind: Literal["usage"] = "usage"


class LoadProbe(_Probe):
    """Searches by so many clients at once, each of whom asks all queries in an order of its own."""

    kind: Literal["load"] = "load"
    clients: int = Field(ge=1, le=64)
    searches: tuple[LookFor, ...] = Field(min_length=1)


class FreshnessProbe(_Probe):
    """Each episode is ingested alone and looked for from its acknowledgement on, without a barrier.

    `searches` go with `episodes`, one each; what is not found within `patience_s` seconds is looked
    for once more after the barrier.
    """

    kind: Literal["freshness"] = "freshness"
    episodes: tuple[Episode, ...] = Field(min_length=1)
    searches: tuple[LookFor, ...]
    patience_s: float = Field(default=10.0, gt=0)


class RestartProbe(_Probe):
    """Each container in turn is killed and started again, and what the memory knew looked for."""

    kind: Literal["restart"] = "restart"
    searches: tuple[LookFor, ...] = Field(min_length=1)


class LeakProbe(_Probe):
    """Reset, then another scope's episodes; then what only the first scope held is looked for.

    `secrets` are words that none of `episodes` holds.
    """

    kind: Literal["leak"] = "leak"
    episodes: tuple[Episode, ...] = Field(min_length=1)
    searches: tuple[LookFor, ...] = Field(min_length=1)
    secrets: tuple[str, ...] = Field(min_length=1)


class OutageProbe(_Probe):
    """Episodes and searches while the memory's models are `fault`, and again once they are back.

    It says nothing of a memory that asked for no model.
    """

    kind: Literal["outage"] = "outage"
    fault: ModelFault
    delay_s: float = Field(default=2.0, gt=0)
    episodes: tuple[Episode, ...] = Field(min_length=1)
    searches: tuple[LookFor, ...] = Field(min_length=1)
    after: tuple[Episode, ...] = Field(min_length=1)
    searches_after: tuple[LookFor, ...] = Field(min_length=1)


Probe = UsageProbe | LoadProbe | FreshnessProbe | RestartProbe | LeakProbe | OutageProbe
Event = Annotated[
    Episode | Question | Annotated[Probe, Field(discriminator="kind")],
    Field(discriminator="type"),
]
EVENT: TypeAdapter[Event] = TypeAdapter(Event)


@dataclass(frozen=True, slots=True)
class Scenario:
    """A suite's product: an id, a timeline that may be a stream, and the gold of its questions."""

    scenario_id: str
    timeline: Iterable[Event]
    gold: Mapping[str, Gold]
    notes: tuple[str, ...] = field(default=())


class ScenarioRef(_Frozen):
    """A scenario that was spooled: its digest names the file beside the run.

    `text_bytes` counts its episodes' texts. `seed` is the one that it was made from; None: it is
    the same under every seed.
    """

    scenario_id: str
    digest: str
    gold_digest: str
    episodes: int
    questions: int
    text_bytes: int = 0
    seed: int | None = None


def event_id(event: Event) -> str:
    """The id of an event, unique among those of its type."""
    if isinstance(event, Episode):
        return event.episode_id
    return event.question_id if isinstance(event, Question) else event.probe_id


def episodes_of(events: Iterable[Event]) -> Iterator[Episode]:
    """The episodes of a timeline."""
    return (event for event in events if isinstance(event, Episode))


def questions_of(events: Iterable[Event]) -> Iterator[Question]:
    """The questions of a timeline."""
    return (event for event in events if isinstance(event, Question))
