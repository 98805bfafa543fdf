"""What several tasks of a judge come to together, or why they come to nothing."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from memrig.grading.judges.base import NO_VERDICT, UNDECIDED
from memrig.model.judgement import Verdict


def mean_score(verdicts: Mapping[str, Verdict], names: Sequence[str], grader: str) -> float | str:
    """The mean over all tasks, or why one of them is not decided.

    A failed vote is never a 0, and never left out either: answers would be scored by what the judge
    happened to manage, and of two orders one would remain.

    Args:
        verdicts: by task.
        names: the tasks, at least one.
        grader: on whose terms they must have been given.
    """
    scores = []
    for name in names:
        verdict = verdicts.get(name)
        if verdict is None:
            return NO_VERDICT
        if verdict.grader != grader:
            return f"{NO_VERDICT} by {grader}: the verdict is on the terms of {verdict.grader}"
        if verdict.score is None:
            return f"{UNDECIDED}: {verdict.reason}"
        scores.append(verdict.score)
    return fmean(scores)
