"""What is said of a file that is no archive at all: what to do about it."""

import pytest

from memrig.submission.archive import read_archive
from support.submissions import Submissions, submissions

__all__ = ["submissions"]


@pytest.mark.parametrize("kept", [60, 500, -1, -100])
def test_a_download_that_broke_off_is_to_be_got_again(submissions: Submissions, tmp_path, kept):
    """Wherever it broke off."""
    path = tmp_path / "x.memrig"
    path.write_bytes(submissions("repeats").read_bytes()[:kept])
    with read_archive(path) as found:
        (finding,) = found.findings
    assert finding.check == "archive.format"
    size = path.stat().st_size
    assert finding.message.startswith(f"is truncated after {size:,} bytes")
    assert finding.message.endswith("get it again")


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", "`git lfs pull`"),
        (b"", "is no .memrig archive (it has 0 bytes)"),
        (b"hello " * 100, "is no .memrig archive (it has 600 bytes)"),
    ],
)
def test_another_file_is_said_to_be_one(tmp_path, raw, told):
    """A pointer of Git LFS is what a clone without it leaves in a file's place."""
    path = tmp_path / "x.memrig"
    path.write_bytes(raw)
    with read_archive(path) as found:
        (finding,) = found.findings
    assert told in finding.message
