"""Verdicts of the official LongMemEval evaluator in the place of a judge's of ours.

The evaluator's file is read where its other files are (suites/longmemeval_files); this is what its
labels come to.
"""

from typing import Protocol

from memrig.grading.judges.base import ANSWER, OFFICIAL
from memrig.model.judgement import Verdict, Vote


class Label(Protocol):
    """An ``autoeval_label``."""

    @property
    def correct(self) -> bool:
        """Whether the evaluator's judge said yes."""

    @property
    def model(self) -> str:
        """The judge that it asked."""


def official_verdict(
    question_id: str, label: Label, trial_id: str, scenario_id: str, protocol: str
) -> Verdict:
    """The evaluator's verdict as one of ours: a single vote, whose reply its file does not hold."""
    score = float(label.correct)
    return Verdict(
        trial_id=trial_id,
        scenario_id=scenario_id,
        question_id=question_id,
        protocol=protocol,
        model=label.model,
        task=ANSWER,
        votes=(Vote(score=score, served_model=label.model, asked=0, cost_usd=0.0),),
        quorum=1,
        score=score,
        agreement=None,
        grader=OFFICIAL,
    )
