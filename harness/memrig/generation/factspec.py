"""Facts and questions of a spec: what is asked, and what is to be computed for the answer.

An episode of the story is named by ``phase:K`` (from 1; beyond the end it is the last one),
``phase:first``, ``phase:last``, ``phase:50%`` (of the way through), the same of the whole
``story``, or ``now``: the episode after which the question is asked. One fact can so serve
questions at several checkpoints.
"""

from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)

from memrig.generation.formulas import LARGEST
from memrig.model.longitudinal import QuestionType

Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]{0,47}$")]


def _one_line(text: str) -> str:
    if text.splitlines() != [text.strip()]:
        raise ValueError("give one line of text, without blanks around it")
    return text


#: What stands in a document or prompt: a renderer lays lines out, and validators look at lines.
Line = Annotated[str, AfterValidator(_one_line)]
#: A number that a document may show: not beyond what a formula may come to.
Measured = Annotated[float, Field(ge=-float(LARGEST), le=float(LARGEST))]
REFERENCE = r"^(now|[a-z][a-z0-9_-]*:(first|last|[1-9]\d{0,3}|\d{1,3}%))$"
Ref = Annotated[str, StringConstraints(pattern=REFERENCE)]


class Strict(BaseModel):
    """A part of a spec: unknown keys are refused, and numbers without end."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Level(Strict):
    """A signal beyond a threshold: above it, or below it, and from then on for good."""

    signal: Name
    above: Measured | None = None
    below: Measured | None = None

    @model_validator(mode="after")
    def _one_side(self) -> Self:
        if (self.above is None) == (self.below is None):
            raise ValueError("give one of above and below")
        return self


class _Fact(Strict):
    id: Name


class _Span(_Fact):
    """What is looked for between two episodes."""

    signal: Name
    start: Ref = "story:first"
    end: Ref = "now"


class ValueFact(_Fact):
    """A signal's value in one episode."""

    kind: Literal["value"]
    signal: Name
    at: Ref


class LimitFact(_Fact):
    """A signal's value in one episode against the limit that the documents give."""

    kind: Literal["limit"]
    signal: Name
    at: Ref = "now"


class ChangeFact(_Span):
    """From one value to another."""

    kind: Literal["change"]


class RatioFact(_Span):
    """How many times, or by how many percent."""

    kind: Literal["ratio"]


class ExtremeFact(_Span):
    """The highest or the lowest value, and its date."""

    kind: Literal["extreme"]
    which: Literal["highest", "lowest"]


class RecoveryFact(_Span):
    """Away from where it was (up or down, whichever is farther), and back."""

    kind: Literal["recovery"]


class SteadyFact(_Span):
    """All values within a range."""

    kind: Literal["steady"]


class OnsetFact(_Fact, Level):
    """The first episode from which on a signal is beyond a threshold."""

    kind: Literal["onset"]


class _Two(_Fact):
    first: Level
    then: Level


class OrderFact(_Two):
    """One onset before another."""

    kind: Literal["order"]


class GapFact(_Two):
    """The days from one onset to another."""

    kind: Literal["gap"]


class CoincidenceFact(_Two):
    """Two onsets in the same episode."""

    kind: Literal["coincidence"]


class MostFact(_Fact):
    """Which of several signals changed most, in percent of what it was."""

    kind: Literal["most"]
    signals: tuple[Name, ...] = Field(min_length=2)
    start: Ref = "story:first"
    end: Ref = "now"


FactSpec = Annotated[
    ValueFact
    | LimitFact
    | ChangeFact
    | RatioFact
    | ExtremeFact
    | RecoveryFact
    | SteadyFact
    | OnsetFact
    | OrderFact
    | GapFact
    | CoincidenceFact
    | MostFact,
    Field(discriminator="kind"),
]


def levels_of(fact: FactSpec) -> tuple[Level, ...]:
    """The thresholds that a fact rests on: those of its onsets."""
    match fact:
        case OnsetFact():
            return (fact,)
        case OrderFact() | GapFact() | CoincidenceFact():
            return (fact.first, fact.then)
    return ()


class QuestionSpec(Strict):
    """One question.

    Args:
        id: within the spec.
        type: one of the ten.
        after: the episode of the story after which it is asked.
        prompt: ``{phase:K}`` and the like become that episode's date.
        lead: what the canonical answer says before its facts; no number, no finding by itself.
        facts: by id; their ``now`` is `after`.
    """

    id: Name
    type: QuestionType
    after: Ref
    prompt: Line
    lead: str = ""
    facts: tuple[Name, ...] = Field(min_length=1)
