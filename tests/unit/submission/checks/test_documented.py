"""The docs list the checks as they are."""

import pytest

from memrig.submission.checks import (
    adapter,
    audits,
    budgets,
    cells,
    chain,
    config,
    executions,
    grades,
    models,
    played,
    profiles,
    record,
    seeds,
    sources,
    timeline,
    times,
    verdicts,
)
from support.source import ROOT

LISTS = (
    *(config.ARCHIVE_CHECKS, adapter.ARCHIVE_CHECKS, profiles.ARCHIVE_CHECKS),
    *(cells.RUN_CHECKS, seeds.RUN_CHECKS, config.RUN_CHECKS, adapter.RUN_CHECKS),
    *(executions.RUN_CHECKS, chain.TRIAL_CHECKS, cells.TRIAL_CHECKS, adapter.TRIAL_CHECKS),
    *(times.TRIAL_CHECKS, times.GRADES_CHECKS, grades.GRADES_CHECKS),
    *(timeline.TRIAL_CHECKS, budgets.TRIAL_CHECKS, sources.TRIAL_CHECKS, played.TRIAL_CHECKS),
    *(models.TRIAL_CHECKS, record.RUN_CHECKS, verdicts.TRIAL_CHECKS, audits.TRIAL_CHECKS),
)
CHECKS = [check for checks in LISTS for check in checks]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
def test_a_check_is_documented_as_it_is(check):
    """Id, title, severity and reason, in a row of docs/submissions.md."""
    warns = " *(a warning)*" if check.severity == "warning" else ""
    row = f"| `{check.id}` | {check.title}{warns} | {check.reason} |"
    assert row in (ROOT / "docs" / "submissions.md").read_text("utf-8").splitlines()


def test_no_two_checks_have_one_name():
    """A result is found by it."""
    names = [check.id for check in CHECKS]
    assert len(set(names)) == len(names) > 40
