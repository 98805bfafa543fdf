"""The runtime folder: private, short, and with its owner written down."""

import json
import os
import stat
from pathlib import Path

import pytest

from memrig.errors import PrerequisiteError
from memrig.pod.owner import this_process
from memrig.pod.runtime import create_folder, list_folders, socket_path_bytes

OWNER = this_process("run", "trial", 60)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "r"
    monkeypatch.setenv("MEMRIG_RUNTIME_DIR", str(folder))
    return folder


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_only_we_get_in_and_a_container_s_user_can_write_inside(root: Path) -> None:
    """0700 outside, 0777 inside, whatever the umask."""
    before = os.umask(0o077)
    try:
        folder = create_folder(OWNER)
    finally:
        os.umask(before)

    assert (mode(root), mode(folder.path), mode(folder.sockets)) == (0o700, 0o700, 0o777)


def test_the_owner_can_be_read_back(root: Path) -> None:
    """So that an orphan is found without an engine."""
    create_folder(OWNER)

    assert [f.owner() for f in list_folders()] == [OWNER]


@pytest.mark.parametrize("text", ["", "{", "[]", json.dumps({"pid": 1})])
def test_a_broken_owner_file_names_nobody(root: Path, text: str) -> None:
    """It is not an error: the reaper has to look at it."""
    folder = create_folder(OWNER)
    (folder.path / "owner.json").write_text(text)

    assert folder.owner() is None


def test_a_path_too_long_for_a_socket_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is made, and with the variable that helps."""
    monkeypatch.setenv("MEMRIG_RUNTIME_DIR", str(tmp_path / ("x" * 90)))

    with pytest.raises(PrerequisiteError, match="bytes") as failure:
        create_folder(OWNER)
    assert "MEMRIG_RUNTIME_DIR" in failure.value.fix


def test_the_length_counts_bytes_up_to_the_limit(root: Path) -> None:
    """It is the length of a real socket path below the root."""
    folder = create_folder(OWNER)

    assert socket_path_bytes(root) == len(os.fsencode(folder.adapter_socket))


def test_a_root_that_others_can_enter_is_refused(root: Path) -> None:
    """Somebody else could have made it first, in /tmp."""
    root.mkdir(mode=0o755)

    with pytest.raises(PrerequisiteError, match="mode 0700"):
        create_folder(OWNER)


def test_a_root_that_is_a_link_is_refused(root: Path, tmp_path: Path) -> None:
    """A link could lead anywhere."""
    (tmp_path / "real").mkdir(mode=0o700)
    root.symlink_to(tmp_path / "real")

    with pytest.raises(PrerequisiteError):
        create_folder(OWNER)


def test_a_folder_is_removed_with_all_it_holds(root: Path) -> None:
    """Also what its process took the write bit from; twice is no error."""
    folder = create_folder(OWNER)
    inner = folder.path / "home" / "inner"
    inner.mkdir(parents=True)
    (inner / "file").write_text("x")
    inner.chmod(0o500)

    folder.remove()
    folder.remove()

    assert not folder.path.exists()
