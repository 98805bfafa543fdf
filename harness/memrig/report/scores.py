"""Which of a protocol's metrics says how right an answer is."""

from memrig.grading.base import Grade

#: The first that a grade has.
SCORES = ("score", "accuracy", "f1", "fact_recall")


def score_of(grade: Grade) -> float | None:
    """How the answer did; None where only retrieval was graded."""
    return next((grade.scores[name] for name in SCORES if name in grade.scores), None)
