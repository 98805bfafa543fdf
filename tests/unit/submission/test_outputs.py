"""What cannot be written at the end is refused at the beginning."""

from pathlib import Path

import pytest

from memrig.errors import UsageError
from memrig.submission.outputs import check_out, workplace

#: A folder that takes no file from anybody, root included.
SEALED = Path("/proc/self")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("x.zip", "is no name"),
        (".memrig", "is no name"),
        ("d.memrig", "is a folder"),
        ("f.memrig", "is there"),
        ("l.memrig", "is there"),
        ("none/x.memrig", "folder that is not there"),
        ("f.memrig/x.memrig", "folder that is not there"),
        (SEALED / "x.memrig", "nothing can be written there"),
    ],
)
def test_a_file_that_cannot_be_written_is_refused(tmp_path, name, told):
    """With the flag, and a way out."""
    (tmp_path / "d.memrig").mkdir()
    (tmp_path / "f.memrig").write_text("mine", "utf-8")
    (tmp_path / "l.memrig").symlink_to("nowhere")
    with pytest.raises(UsageError, match=told) as caught:
        check_out(tmp_path / name, ".memrig", "a submission", "is there")
    assert caught.value.where == f"--out {tmp_path / name}"
    assert caught.value.fix


def test_a_file_that_can_be_written_leaves_no_trace(tmp_path):
    """It was only looked at."""
    check_out(tmp_path / "x.memrig", ".memrig", "a submission", "is there")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("file", "is a file"),
        ("file/x", "cannot be made"),
        ("full", "is not empty"),
        (SEALED / "x", "cannot be made"),
        (SEALED / "task", "is not empty"),
    ],
)
def test_a_folder_that_cannot_hold_runs_is_refused(tmp_path, name, told):
    """A file is said to be one."""
    (tmp_path / "file").write_text("", "utf-8")
    (tmp_path / "full" / "x").mkdir(parents=True)
    with pytest.raises(UsageError, match=told), workplace(tmp_path / name):
        pytest.fail("it was taken")


def test_a_folder_is_kept_where_something_came_into_it(tmp_path):
    """An empty one that was there stays; one that was made for nothing goes."""
    (tmp_path / "old").mkdir()
    for name in ("old", "new", "used/deep"):
        with workplace(tmp_path / name) as folder:
            assert folder.is_dir()
            if name.startswith("used"):
                (folder / "run").mkdir()
    left = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")}
    assert left == {"old", "used", "used/deep", "used/deep/run"}
    with workplace(None) as passing:
        assert passing.is_dir()
    assert not passing.exists()
