"""Judges at work: votes on tasks, verdicts on disk, and how good a judge is (docs/judges.md)."""

from memrig.judging.files import read_verdicts, write_verdicts
from memrig.judging.trial import judge_trial

__all__ = ["judge_trial", "read_verdicts", "write_verdicts"]
