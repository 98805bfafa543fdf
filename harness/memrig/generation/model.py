"""What passes between planner, renderer and validators. Nothing here knows how it is made."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field

from memrig.generation.spec import DocumentStyle, Spec
from memrig.model.longitudinal import QuestionType

#: Whether an episode belongs to the story or to something else; never leaves the host.
EpisodeKind = Literal["signal", "distractor"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Reading(_Frozen):
    """One measured value as it stands in a document: ``label: value unit``."""

    label: str = Field(min_length=1)
    value: str = Field(min_length=1)
    unit: str = ""


class Section(_Frozen):
    """Readings that belong together."""

    title: str = Field(min_length=1)
    readings: tuple[Reading, ...]


class Sheet(_Frozen):
    """All that a renderer gets to know of an episode. It holds no word of what it is there for.

    Args:
        heading: the document's, the same kind for signal and distractor.
        day: the date that the document is about.
        sections: measured values.
        events: what happened that day, each a plain sentence.
    """

    heading: str
    day: date
    sections: tuple[Section, ...]
    events: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PlannedEpisode:
    """A sheet's place in the merged stream. `number` counts within its own kind from 1.

    `phase` is the story's (signal), or the distractor's theme.
    """

    kind: EpisodeKind
    number: int
    phase: str
    episode_id: str
    timestamp: datetime
    sheet: Sheet


@dataclass(frozen=True, slots=True)
class KeyFact:
    """One fact, computed from the sheets.

    Args:
        fact_id: the spec's.
        text: what is graded; may name alternatives, ``a | b``.
        answer: the same as a whole sentence, from which canonical answers are made.
        evidence: the numbers of the signal episodes that together show it.
        values: the value texts in the evidence that it rests on, each of which must be in it.
    """

    fact_id: str
    text: str
    answer: str
    evidence: tuple[int, ...]
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PlannedQuestion:
    """One question. `after` counts signal episodes, `checkpoint_after` all of the stream."""

    question_id: str
    type: QuestionType
    prompt: str
    after: int
    checkpoint_after: int
    facts: tuple[KeyFact, ...]
    canonical_answer: str
    evidence: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """A scope before it is rendered: the merged stream in time order, and its questions."""

    spec: Spec
    episodes: tuple[PlannedEpisode, ...]
    questions: tuple[PlannedQuestion, ...]


@dataclass(frozen=True, slots=True)
class Draft:
    """A rendered scope, as the validators see it. `texts` are by episode id."""

    plan: Plan
    texts: Mapping[str, str]


class Planner(Protocol):
    """Sees the storyline, and leaves nothing of it but values."""

    async def plan(self, spec: Spec) -> Plan:
        """Plans one scope. The same spec gives the same plan where no model is involved."""


class Renderer(Protocol):
    """Turns one sheet into a document."""

    async def render(self, sheet: Sheet, style: DocumentStyle, seed: int) -> str:
        """The document's text. It must hold every reading's value.

        Args:
            sheet: all that may be known.
            style: form, voice and length; the same for every episode of the scope.
            seed: of this episode's own choices; it says nothing of its place.
        """


@dataclass(frozen=True, slots=True)
class Finding:
    """One way in which a draft fails a validator: which, where, what, and against what limit."""

    validator: str
    where: str
    message: str
    fix: str


#: A context-stuffed answer to a question from the texts up to its checkpoint, newest first.
Stuffed = Callable[[PlannedQuestion, tuple[str, ...]], Awaitable[str]]
