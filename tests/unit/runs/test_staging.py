"""Where a run is planned."""

import errno
import os

import pytest

from memrig.errors import InfrastructureError
from memrig.runs.staging import promote, staging


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_disk_that_fills_up_is_named_and_leaves_nothing(tmp_path, number):
    """With the place that is full; exit code 4, as it may work later."""
    refused = pytest.raises(InfrastructureError, match="plan cannot be written")
    with refused as caught, staging(tmp_path) as folder:
        (folder / "half").write_text("a plan")
        raise OSError(number, os.strerror(number))
    assert (caught.value.where, caught.value.exit_code) == (str(tmp_path), 4)
    assert list(tmp_path.iterdir()) == []


def test_another_fault_is_not_called_a_full_disk(tmp_path):
    """It goes through as it is."""
    with pytest.raises(FileNotFoundError), staging(tmp_path):
        (tmp_path / "none").read_text()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_was_made_for_planning_alone_goes_with_it(tmp_path):
    """A dry run leaves nothing behind."""
    with staging(tmp_path / "runs"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_holds_a_run_stays(tmp_path):
    """What was promoted is in it."""
    with staging(tmp_path / "runs") as folder:
        promote(folder, tmp_path / "runs" / "mine")
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["mine"]
