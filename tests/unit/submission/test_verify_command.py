"""`memrig submission verify`, as a user runs it."""

import json

from memrig.submission.model import Verification
from support.command import memrig
from support.submissions import Forgery, Submissions, forged, own_data, submissions

__all__ = ["submissions"]


def test_a_good_one_ends_with_0(submissions: Submissions, tmp_path):
    """The table says what was checked."""
    done = memrig("submission", "verify", submissions("repeats"), cwd=tmp_path)
    assert done.code == 0
    assert done.err.startswith("verifying ")
    assert "system     baseline:full-context " in done.out
    assert "run        run-repeats: practical, R@10 16.7 %" in done.out
    assert "Every number was made again (recomputed)" in done.out


def test_a_forged_one_ends_with_6_and_says_why_as_json(submissions: Submissions, tmp_path):
    """What a program reads is what verifying gives."""

    def change(forgery: Forgery) -> None:
        forgery.files[f"{forgery.run}/grades.jsonl"] = b""

    file = forged(submissions("repeats"), tmp_path / "x.memrig", change)
    done = memrig("submission", "verify", file, "--json", cwd=tmp_path)
    assert done.code == 6
    found = Verification.model_validate_json(done.out)
    assert [check.id for check in found.checks if check.count] == ["grades.recomputed"]
    assert json.loads(done.out)["tier"] == "self-reported"


def test_data_that_is_not_here_ends_with_3_and_the_way_out(submissions: Submissions, tmp_path):
    """Which is taken at its word."""
    done = memrig("submission", "verify", submissions("own"), cwd=tmp_path)
    assert done.code == 3
    assert "--data FOLDER" in done.err
    folder = own_data(submissions.base)
    assert (
        memrig("submission", "verify", submissions("own"), "--data", folder, cwd=tmp_path).code == 0
    )


def test_a_file_that_is_not_there_ends_with_2(tmp_path):
    """It is no verdict on anybody."""
    done = memrig("submission", "verify", "nothing.memrig", cwd=tmp_path)
    assert done.code == 2
    assert "Traceback" not in done.err
