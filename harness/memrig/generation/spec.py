"""`spec.yaml`: the whole storyline of one scope, as its author writes it."""

from datetime import date
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from memrig.model.longitudinal import QuestionType

SPEC_FORMAT = "memrig.longitudinal-spec/1"
Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]{0,47}$")]
Share = Annotated[float, Field(ge=0, le=1)]


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class DocumentStyle(_Strict):
    """Form, voice and length of every document of the scope, signal and distractor alike."""

    title: str = Field(min_length=1)
    voice: str = Field(min_length=1)
    words: tuple[int, int] = (200, 450)


class Timeline(_Strict):
    """When episodes happen. `episodes` counts those of the story; distractors come on top."""

    start: date
    interval_days: float = Field(default=1, gt=0)
    episodes: int = Field(default=20, ge=5, le=500)


class Phase(_Strict):
    """A stretch of the story; `share` is its part of the episodes (they are scaled to 1)."""

    name: Name
    share: float = Field(gt=0)


class Signal(_Strict):
    """A measured series.

    Args:
        name: what facts call it by.
        label: as it stands in documents.
        unit: likewise.
        section: the title of the section that it stands in.
        decimals: of its values.
        formulas: by phase, an arithmetic expression of `t` (0 to 1 within the phase), `n` (the
            episode's number from 1) and `last` (its value at the end of the phase before).
        noise: the half-width of the even noise that is added to every value.
    """

    name: Name
    label: str = Field(min_length=1)
    unit: str = ""
    section: str = Field(min_length=1)
    decimals: int = Field(default=0, ge=0, le=4)
    formulas: dict[Name, str]
    noise: float = Field(default=0, ge=0)


class Theme(_Strict):
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
    events: tuple[str, ...] = Field(min_length=3)


class Distractors(_Strict):
    """How many episodes that have nothing to do with the story come for each one that has."""

    ratio: float = Field(default=1, ge=0, le=20)
    themes: tuple[Theme, ...] = ()


class Thresholds(_Strict):
    """What the validators demand."""

    single_episode_coverage: Share = 0.5
    distractor_overlap: Share = 0.3
    separability: Share = 0.7
    stuffed: dict[QuestionType, tuple[Share, Share]] = Field(default_factory=dict)


class _Root(_Strict):
    format: Literal["memrig.longitudinal-spec/1"]
    name: Name
    domain: str = Field(min_length=1)
    description: str = ""
    version: str = "1"
    seed: int = Field(default=1, ge=0)
    storyline: str = Field(min_length=1)
    document: DocumentStyle
    timeline: Timeline
    phases: tuple[Phase, ...] = Field(min_length=2)
    signals: tuple[Signal, ...] = Field(min_length=2)
    routine: tuple[str, ...] = Field(min_length=3)
    distractors: Distractors = Distractors()
    forbidden: tuple[str, ...] = Field(min_length=1)
    thresholds: Thresholds = Thresholds()


class Spec(_Root):
    """A whole file. `storyline` and `forbidden` are for planner and validators only.

    `routine` are happenings of any day of the story; `forbidden` the words that would give the
    finding away.
    """
