"""What is said where a disk refuses a write, and where a folder is at work in."""

import pytest

from memrig.errors import InfrastructureError, UsageError
from memrig.trial.directory import RESUMES, disk_errors, hold, write_aside


def test_only_a_runs_files_say_that_the_run_resumes(tmp_path):
    """A key, an archive or a site is made anew."""
    told = []
    for fix in ((), (RESUMES,)):
        with pytest.raises(InfrastructureError) as caught:
            write_aside(tmp_path / "none" / "x", b"", *fix)
        told.append("resumes" in caught.value.fix)
        assert "writable" in caught.value.fix
        assert "No such file" in caught.value.message
    assert told == [False, True]


@pytest.mark.parametrize("place", ["file/x", "file/x/y", "file"])
def test_a_file_in_the_way_of_a_folder_is_named(tmp_path, place):
    """ "File exists" tells nobody which."""
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(InfrastructureError) as caught, disk_errors(tmp_path / place):
        (tmp_path / place).mkdir(parents=True, exist_ok=True)
    assert caught.value.message == f"cannot be written: {tmp_path / 'file'} is no folder"


def test_who_is_at_work_in_a_folder_can_be_waited_for_or_stopped(tmp_path):
    """Whoever packs a run has no other folder to name."""
    refused = pytest.raises(UsageError, match="at work in this folder")
    with hold(tmp_path), refused as caught, hold(tmp_path):
        pass
    assert caught.value.fix == "wait for it, or stop it"
