"""`spec.yaml`: the whole storyline of one scope, as its author writes it."""

from datetime import date
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from memrig.generation.factspec import FactSpec, Line, Measured, Name, QuestionSpec, Strict
from memrig.model.longitudinal import QuestionType

SPEC_FORMAT = "memrig.longitudinal-spec/1"
Share = Annotated[float, Field(ge=0, le=1)]
Formula = Annotated[str, StringConstraints(min_length=1, max_length=200)]
#: The one phase of a distractor's series.
WHOLE = "all"


class DocumentStyle(Strict):
    """Form, voice and length of every document of the scope, signal and distractor alike."""

    title: Line
    voice: str = Field(min_length=1)
    words: tuple[int, int] = (200, 450)


class Timeline(Strict):
    """When episodes happen. `episodes` counts those of the story; distractors come on top."""

    start: date
    interval_days: int = Field(default=1, ge=1, le=366)
    episodes: int = Field(default=20, ge=5, le=500)


class Phase(Strict):
    """A stretch of the story; `share` is its part of the episodes (they are scaled to 1)."""

    name: Name
    share: float = Field(gt=0)


class Signal(Strict):
    """A measured series.

    Args:
        name: what facts call it by.
        label: as it stands in documents.
        unit: likewise.
        section: the title of the section that it stands in.
        decimals: of its values.
        formulas: by phase, an arithmetic expression of `t` (0 to 1 within the phase), `n` (the
            episode's number from 1) and `last` (its value at the end of the phase before, without
            the noise). The name ``all`` stands for the phases that have none of their own.
        noise: the half-width of the even noise that is added to every value.
        limit: a standing limit, given beside the value in every document.
    """

    name: Name
    label: Line
    unit: Line | Literal[""] = ""
    section: Line
    decimals: int = Field(default=0, ge=0, le=4)
    formulas: dict[Name, Formula]
    noise: Measured = Field(default=0, ge=0)
    limit: Measured | None = None


class Theme(Strict):
    """Something else that goes on at the same place, with series and happenings of its own.

    Args:
        name: of the theme.
        share: its part of the distractors (they are scaled to 1).
        signals: its series; their formulas have one phase, ``all``.
        events: happenings to draw from.
    """

    name: Name
    share: float = Field(default=1, gt=0)
    signals: tuple[Signal, ...] = Field(min_length=2)
    events: tuple[Line, ...] = Field(min_length=3)


class Distractors(Strict):
    """How many episodes that have nothing to do with the story come for each one that has."""

    ratio: float = Field(default=1, ge=0, le=20)
    themes: tuple[Theme, ...] = ()


class Thresholds(Strict):
    """What the validators demand."""

    single_episode_coverage: Share = 0.5
    distractor_overlap: Share = 0.3
    separability: Share = 0.7
    stuffed: dict[QuestionType, tuple[Share, Share]] = Field(default_factory=dict)


class Spec(Strict):
    """A whole file. `storyline` and `forbidden` are for planner and validators only.

    `routine` are happenings of any day of the story; `forbidden` the words that would give the
    finding away. What the parts say of each other is checked by `memrig.generation.specfile`.
    """

    format: Literal["memrig.longitudinal-spec/1"]
    name: Name
    domain: str = Field(min_length=1)
    description: str = ""
    version: str = "1"
    seed: int = Field(default=1, ge=0, lt=2**53)
    storyline: str = Field(min_length=1)
    document: DocumentStyle
    timeline: Timeline
    phases: tuple[Phase, ...] = Field(min_length=2)
    signals: tuple[Signal, ...] = Field(min_length=2)
    routine: tuple[Line, ...] = Field(min_length=3)
    distractors: Distractors = Distractors()
    forbidden: tuple[Line, ...] = Field(min_length=1)
    facts: tuple[FactSpec, ...] = Field(min_length=1)
    questions: tuple[QuestionSpec, ...] = Field(min_length=1)
    thresholds: Thresholds = Thresholds()

    def signal(self, name: str) -> Signal:
        """The story's signal of this name, which must exist."""
        return next(signal for signal in self.signals if signal.name == name)
