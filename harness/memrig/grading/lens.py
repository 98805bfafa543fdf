"""LENS: what a memory shows that builds up over many episodes (scoring §4)."""

from memrig.grading.base import Asked, JudgeUse, Marks, Metric
from memrig.grading.typed import VERSION, grade_text
from memrig.model.gold import TextGold
from memrig.model.judgement import JudgeTask
from memrig.model.trial import Mode


class LensGrader:
    """Scores one question of a longitudinal suite by LENS's metrics.

    Args:
        protocol: the protocol's name.
    """

    modes: tuple[Mode, ...] = ("agent", "reader", "native")
    judge: JudgeUse = "optional"

    def __init__(self, protocol: str) -> None:
        self.protocol = protocol
        self.version = f"1-{VERSION}"
        self.metrics: tuple[Metric, ...] = (Metric("fact_recall", binary=False, headline=True),)

    def tasks(self, asked: Asked) -> tuple[JudgeTask, ...]:
        """What a judge must decide."""
        del asked
        return ()

    def grade(self, asked: Asked) -> Marks:
        """Scores one question."""
        gold = asked.gold.answer
        if not isinstance(gold, TextGold) or not gold.key_facts:
            return Marks({}, missing={"fact_recall": "the question has no key facts"})
        said = asked.record.answer
        if said is None:
            return Marks({"fact_recall": 0.0})
        value = grade_text(said.text, gold, asked.question.text, said.abstained)
        return Marks({"fact_recall": value})


V1 = LensGrader("lens-v1")
V3_4 = LensGrader("lens-v3.4")
