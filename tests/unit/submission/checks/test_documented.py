"""The docs list the checks as they are."""

import pytest

from memrig.submission.checks import ARCHIVE, GRADES, RUN, TRIAL
from support.source import ROOT

CHECKS = [check for checks in (ARCHIVE, RUN, TRIAL, GRADES) for check in checks]


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
