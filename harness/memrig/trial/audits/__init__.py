"""Audits in the manner of MLPerf, in trials of their own (docs/runs.md, Audits).

A trial asks and writes down; what it comes to is reckoned from its transcript alone, by the report
and by whoever checks it.
"""

from memrig.trial.audits.chunks import Chunk, can_rechunk, rechunked
from memrig.trial.audits.plan import AuditPlan, AuditWork, PlannedAsk, plan_of, work_of
from memrig.trial.audits.play import play_audits
from memrig.trial.audits.words import Canary, Poison, holds

__all__ = [
    "AuditPlan",
    "AuditWork",
    "Canary",
    "Chunk",
    "PlannedAsk",
    "Poison",
    "can_rechunk",
    "holds",
    "plan_of",
    "play_audits",
    "rechunked",
    "work_of",
]
