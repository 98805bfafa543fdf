"""`memrig conformance` as a user runs it: what is said where, and when it is refused."""

import pytest

from memrig.api import check_conformance
from memrig.conformance import ConformanceReport
from memrig.errors import UsageError
from support.command import ROOT, memrig
from support.lying import lying


def test_failures_are_told_on_standard_error_and_json_stays_clean(tmp_path):
    """A line for each check that does not pass; standard output holds the report alone."""
    chosen = ("--pod", "process", "--only", "search.scores", "--only", "health.service")
    done = memrig("conformance", lying(tmp_path, "nan"), *chosen, "--json", cwd=tmp_path)
    assert done.code == 4, done.err
    report = ConformanceReport.model_validate_json(done.out)
    assert report.counts["failed"] == 1
    told = [line for line in done.err.splitlines() if line.startswith("failed: ")]
    assert len(told) == 1
    assert told[0].startswith("failed: search.scores: ")


def test_an_unknown_check_is_refused_before_anything_is_built(tmp_path):
    """And before the adapter is looked at."""
    with pytest.raises(UsageError, match="no check is called 'serach'"):
        check_conformance(str(tmp_path / "nowhere"), only=["serach"])


def test_a_file_that_cannot_be_written_is_refused_before_the_checks(tmp_path):
    """Exit code 2: the checks take minutes."""
    adapter = ROOT / "images" / "none"
    done = memrig("conformance", adapter, "--pod", "process", "--junit", "gone/a", cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert "--junit: there is no folder gone" in done.err
    assert "fix:" in done.err
