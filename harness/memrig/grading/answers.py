"""Graders of answers that need no judge: what they have in common, and the typed one."""

from collections.abc import Sequence

from memrig.grading.base import Asked, JudgeUse, Marks, Metric
from memrig.grading.beside import (
    BESIDE_KS,
    beside,
    beside_metrics,
    derived_hits,
    evidence_rank,
)
from memrig.grading.typed import VERSION, grade_text
from memrig.model.gold import AbstentionGold, Gold, GoldAnswer
from memrig.model.judgement import JudgeTask
from memrig.model.trial import Mode

_CALIBRATION = "calibration"


class AnswerGrader:
    """Scores the text of an answer, and beside it whether the evidence was found and cited.

    A subclass says how: `score`. A question that ended without an answer scores 0, whatever the
    reason, unless not to answer is right and the system declared it.

    Args:
        protocol: the protocol's name.
        metric: the headline metric's name.
        version: the grader's.
        retrieval_ks: depths of the retrieval metrics beside it.
    """

    modes: tuple[Mode, ...] = ("reader", "agent", "native")
    judge: JudgeUse = "none"

    def __init__(
        self, protocol: str, metric: str, version: str, retrieval_ks: Sequence[int] = BESIDE_KS
    ) -> None:
        self.protocol = protocol
        self.version = version
        self._metric = metric
        self._ks = tuple(retrieval_ks)
        self.metrics: tuple[Metric, ...] = (
            Metric(metric, binary=False, headline=True),
            *beside_metrics(self._ks),
        )

    def tasks(self, asked: Asked) -> tuple[JudgeTask, ...]:
        """Nothing: no judge is needed."""
        del asked
        return ()

    def grade(self, asked: Asked) -> Marks:
        """Scores one question."""
        found = derived_hits(asked)
        reason = self.ungraded(asked.gold)
        answer = asked.gold.answer
        if reason or answer is None:
            return Marks({}, derived_hits=found, ungraded=reason or "the data has no answer")
        value = self._value(asked, answer)
        return Marks(
            scores={self._metric: value} | beside(asked, self._ks) | self.more(asked, value),
            rank=evidence_rank(asked),
            derived_hits=found,
        )

    def _value(self, asked: Asked, answer: GoldAnswer) -> float:
        declared = asked.record.outcome.status == "abstained"
        said = asked.record.answer
        if said is None:
            return float(declared and isinstance(answer, AbstentionGold))
        return self.score(asked, answer, said.text, said.abstained or declared)

    def ungraded(self, gold: Gold) -> str:
        """Why answers to this question cannot be graded; empty: they can."""
        del gold
        return ""

    def score(self, asked: Asked, answer: GoldAnswer, text: str, abstained: bool) -> float:
        """How right a text is, from 0 to 1."""
        raise NotImplementedError

    def more(self, asked: Asked, value: float) -> dict[str, float]:
        """Further metrics of the protocol."""
        del asked, value
        return {}


class TypedAnswerGrader(AnswerGrader):
    """`accuracy` by the typed graders, and `calibration` where the answer tells its confidence.

    `calibration` is 1 minus the Brier score of the answer, (confidence - accuracy)²: higher is
    better as of every metric, and the Brier score of a run is 1 minus its mean.

    Args:
        protocol: the protocol's name.
        rubrics: categories whose gold is a rubric, which only a judge can apply.
        retrieval_ks: depths of the retrieval metrics beside the accuracy.
    """

    def __init__(
        self,
        protocol: str,
        *,
        rubrics: frozenset[str] = frozenset(),
        retrieval_ks: Sequence[int] = BESIDE_KS,
    ) -> None:
        super().__init__(protocol, "accuracy", VERSION, retrieval_ks)
        self._rubrics = rubrics
        self.metrics = (*self.metrics, Metric(_CALIBRATION, binary=False))

    def ungraded(self, gold: Gold) -> str:
        """A rubric needs a judge; that a question has no answer does not."""
        if gold.category in self._rubrics and not isinstance(gold.answer, AbstentionGold):
            return "needs a judge: the gold is a rubric"
        return ""

    def score(self, asked: Asked, answer: GoldAnswer, text: str, abstained: bool) -> float:
        """By the type of the gold answer."""
        return grade_text(text, answer, asked.question.text, abstained)

    def more(self, asked: Asked, value: float) -> dict[str, float]:
        """How well the confidence foretold the accuracy."""
        said = asked.record.answer
        if said is None or said.confidence is None:
            return {}
        return {_CALIBRATION: 1 - (said.confidence - value) ** 2}
