"""Every check that is made on what was read of an archive, by what it looks at.

The lists are in the order of a verification: what is wrong with a run's frame is said before what
is wrong in it.
"""

from memrig.submission.checks import (
    adapter,
    auditplay,
    audits,
    budgets,
    cells,
    chain,
    config,
    declared,
    executions,
    grades,
    models,
    played,
    probes,
    profiles,
    record,
    replies,
    seeds,
    sources,
    timeline,
    times,
    usage,
    verdicts,
)
from memrig.submission.checks.base import (
    ArchiveEvidence,
    Check,
    GradesEvidence,
    RunEvidence,
    TrialEvidence,
)

ARCHIVE: tuple[Check[ArchiveEvidence], ...] = (
    *config.ARCHIVE_CHECKS,
    *adapter.ARCHIVE_CHECKS,
    *profiles.ARCHIVE_CHECKS,
)
RUN: tuple[Check[RunEvidence], ...] = (
    *cells.RUN_CHECKS,
    *seeds.RUN_CHECKS,
    *config.RUN_CHECKS,
    *adapter.RUN_CHECKS,
    *executions.RUN_CHECKS,
    *record.RUN_CHECKS,
)
TRIAL: tuple[Check[TrialEvidence], ...] = (
    *chain.TRIAL_CHECKS,
    *cells.TRIAL_CHECKS,
    *adapter.TRIAL_CHECKS,
    *times.TRIAL_CHECKS,
    *usage.TRIAL_CHECKS,
    *timeline.TRIAL_CHECKS,
    *probes.TRIAL_CHECKS,
    *budgets.TRIAL_CHECKS,
    *sources.TRIAL_CHECKS,
    *played.TRIAL_CHECKS,
    *models.TRIAL_CHECKS,
    *replies.TRIAL_CHECKS,
    *verdicts.TRIAL_CHECKS,
    *audits.TRIAL_CHECKS,
    *auditplay.TRIAL_CHECKS,
)
GRADES: tuple[Check[GradesEvidence], ...] = (
    *grades.GRADES_CHECKS,
    *times.GRADES_CHECKS,
    *declared.GRADES_CHECKS,
)
