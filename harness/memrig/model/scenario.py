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


Event = Annotated[Episode | Question, Field(discriminator="type")]
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


def episodes_of(events: Iterable[Event]) -> Iterator[Episode]:
    """The episodes of a timeline."""
    return (event for event in events if isinstance(event, Episode))


def questions_of(events: Iterable[Event]) -> Iterator[Question]:
    """The questions of a timeline."""
    return (event for event in events if isinstance(event, Question))
