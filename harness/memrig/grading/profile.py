"""Profiles: how several metrics become one number, as data (scoring §4)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from memrig.model.longitudinal import CONTROL, SYNTHESIS

#: From plain to deep; 0 stands beside a composite.
Tier = Literal[0, 1, 2, 3]
#: What differs by less differs by how floats are added up.
_DIGITS = 6


@dataclass(frozen=True, slots=True)
class Contrast:
    """What a metric comes to in some categories less what it comes to in others.

    Args:
        metric: the metric of single questions that both means are of.
        of: the categories of the first mean, and what people call them.
        less: those of the mean that is taken off.
    """

    metric: str
    of: tuple[str, frozenset[str]]
    less: tuple[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class Part:
    """A metric's part in a profile. With `contrast` it is one of the run, not of a question."""

    metric: str
    tier: Tier
    weight: float
    contrast: Contrast | None = None


@dataclass(frozen=True, slots=True)
class Gate:
    """The least that a metric must come to, or the whole is worth nothing."""

    metric: str
    least: float


@dataclass(frozen=True, slots=True)
class Composed:
    """What a profile makes of values.

    `ungated` is the weighted mean, `value` the same with the gates applied; both are None where
    nothing was measured. `measured` is the weight behind them, `hit` names the gates that closed.
    """

    value: float | None
    ungated: float | None
    measured: float
    hit: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Profile:
    """Weights and gates by name."""

    name: str
    parts: tuple[Part, ...]
    gates: tuple[Gate, ...]

    def compose(self, values: Mapping[str, float]) -> Composed:
        """Σ weight × value ÷ Σ weight over what was measured; 0 where a gate closed.

        A gate whose metric was not measured does not close.

        Args:
            values: by metric; those that were not measured are left out.
        """
        known = [(part.weight, values[part.metric]) for part in self.parts if part.metric in values]
        hit = tuple(
            gate.metric
            for gate in self.gates
            if round(values.get(gate.metric, gate.least), _DIGITS) < gate.least
        )
        measured = sum(weight for weight, _ in known)
        if not measured:
            return Composed(None, None, 0.0, hit)
        mean = sum(weight * value for weight, value in known) / measured
        return Composed(0.0 if hit else mean, mean, round(measured, _DIGITS), hit)


@runtime_checkable
class Composing(Protocol):
    """A grader whose metrics make up one number for a run."""

    @property
    def profile(self) -> Profile:
        """By which weights and gates."""


_ADVANTAGE = Contrast("fact_recall", ("synthesis", SYNTHESIS), ("control", CONTROL))

LENS_V1 = Profile(
    "lens-v1",
    (
        Part("evidence_grounding", 1, 0.10),
        Part("fact_recall", 1, 0.10),
        Part("evidence_coverage", 1, 0.10),
        Part("budget_compliance", 1, 0.10),
        Part("answer_quality", 2, 0.15),
        Part("insight_depth", 2, 0.15),
        Part("reasoning_quality", 2, 0.10),
        Part("longitudinal_advantage", 3, 0.15, _ADVANTAGE),
        Part("action_quality", 3, 0.05),
    ),
    (Gate("evidence_grounding", 0.5), Gate("budget_compliance", 0.5)),
)

#: The predecessor's later weights; what weighs nothing there is left out.
LENS_V3_4 = Profile(
    "lens-v3.4",
    (
        Part("evidence_grounding", 1, 0.09),
        Part("evidence_coverage", 1, 0.09),
        Part("budget_compliance", 1, 0.07),
        Part("citation_coverage", 1, 0.10),
        Part("answer_quality", 2, 0.22),
        Part("insight_depth", 2, 0.18),
        Part("reasoning_quality", 2, 0.10),
        Part("longitudinal_advantage", 3, 0.07, _ADVANTAGE),
        Part("action_quality", 3, 0.08),
    ),
    (Gate("evidence_grounding", 0.5),),
)
