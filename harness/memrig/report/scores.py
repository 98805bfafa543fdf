"""Which of a protocol's metrics says how right an answer is."""

from collections.abc import Iterable

from memrig.grading.base import Grade

#: The first that a grade has.
SCORES = ("score", "accuracy", "f1", "fact_recall")


def score_of(grade: Grade) -> float | None:
    """How the answer did; None where only retrieval was graded."""
    return next((grade.scores[name] for name in SCORES if name in grade.scores), None)


def primary_of(headline: Iterable[str]) -> str:
    """The metric among a protocol's headlines that stands for a run where only one can.

    How right answers are, else the deepest recall of any evidence, else the first.
    """
    names = tuple(headline)
    answers = [name for name in SCORES if name in names]
    recalls = [name for name in names if "recall_any@" in name]
    return (answers[:1] or recalls[-1:] or [*names[:1], ""])[0]
