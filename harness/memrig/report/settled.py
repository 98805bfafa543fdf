"""What the report's sections on depth, operations and calibration need of each settled question."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from memrig.grading.base import Asked, Grade
from memrig.grading.dimensions import ACCURACY, silent
from memrig.model.gold import (
    AbstentionGold,
    Gold,
    MappingGold,
    Operation,
    OrderedListGold,
    SetGold,
    TextGold,
)
from memrig.report.scores import SCORES, score_of


@dataclass(frozen=True, slots=True)
class Settled:
    """A question once it is graded.

    Args:
        grade: its grade.
        episodes: how many its whole scenario has.
        before: how many of them come before the question.
        evidence: the place, from 0, of its last evidence among these; None without any.
        operation: what it takes to answer; empty: the data does not tell.
        several: whether the right answer puts several statements together.
        confidence: the answer's, from 0 to 1; None where none was given.
        abstained: whether the answer was that there is none.
        answerable: whether there is one.
    """

    grade: Grade
    episodes: int
    before: int
    evidence: int | None
    operation: Operation | Literal[""]
    several: bool
    confidence: float | None
    abstained: bool
    answerable: bool

    @property
    def graded(self) -> bool:
        """Whether it counts in means."""
        return self.grade.status == "graded"

    @property
    def accuracy(self) -> float | None:
        """How right the answer was: what its confidence is held against."""
        return self.grade.scores.get(ACCURACY, score_of(self.grade))


class Settling:
    """Turns questions into `Settled`; keeps the episodes' places of one scenario at a time."""

    def __init__(self) -> None:
        self._texts: Mapping[str, str] = {}
        self._places: dict[str, int] = {}

    def settle(self, asked: Asked, grade: Grade) -> Settled:
        """What is kept of a question."""
        answer = asked.record.answer
        return Settled(
            grade=grade,
            episodes=len(asked.texts),
            before=asked.position,
            evidence=self._last_evidence(asked),
            operation=asked.gold.operation,
            several=_several(asked.gold),
            confidence=answer.confidence if answer else None,
            abstained=_abstained(asked),
            answerable=not isinstance(asked.gold.answer, AbstentionGold),
        )

    def _last_evidence(self, asked: Asked) -> int | None:
        if asked.texts is not self._texts:
            self._texts = asked.texts
            self._places = {name: place for place, name in enumerate(asked.texts)}
        places = (self._places.get(name) for name in asked.gold.evidence)
        told = [place for place in places if place is not None and place < asked.position]
        return max(told, default=None)


def _several(gold: Gold) -> bool:
    match gold.answer:
        case SetGold(items=parts) | OrderedListGold(items=parts) | MappingGold(entries=parts):
            return len(parts) > 1 and len(gold.evidence) > 1
        case TextGold():
            return len(gold.evidence) > 1
        case _:
            return False


def _abstained(asked: Asked) -> bool:
    """An answer that declines. A fault that left none is no abstention."""
    if asked.record.answer is None:
        return asked.record.outcome.status == "abstained"
    return silent(asked)


def score_name(found: list[Settled]) -> str:
    """The metric that says how right this run's answers are; empty where only ranks were graded."""
    scored = {name for row in found for name in row.grade.scores}
    return next((name for name in SCORES if name in scored), "")


def recall_name(found: list[Settled]) -> str:
    """`recall_any@k` at the run's deepest k; empty where none was measured."""
    prefix = "recall_any@"
    names = {name for row in found for name in row.grade.scores if name.startswith(prefix)}
    return max(names, key=lambda name: int(name.removeprefix(prefix)), default="")
