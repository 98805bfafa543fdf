"""The runtime folder: one private folder a pod, for its sockets, its owner and its scratch files.

::

    <root>/                  0700, ours
      <pod id>/              0700, ours: nobody else passes
        owner.json           who owns the pod, so that an orphan is found without an engine
        s/                   0777: the doorman's user creates adapter.sock in it
        home/ tmp/ log       of a process pod
"""

import json
import os
import secrets
import shutil
import stat
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from memrig.errors import PrerequisiteError
from memrig.pod.owner import Owner

ROOT_VARIABLE = "MEMRIG_RUNTIME_DIR"
ADAPTER_SOCKET = "adapter.sock"
OWNER_FILE = "owner.json"
#: The leader of a process pod, for the reaper.
PROCESS_FILE = "process.json"

#: sun_path holds 108 bytes on Linux, 104 on macOS; 100 leaves room for a suffix.
MAX_SOCKET_PATH = 100


@dataclass(frozen=True, slots=True)
class PodFolder:
    """One pod's folder."""

    path: Path

    @property
    def id(self) -> str:
        """The pod's id, part of the names of its containers and volumes."""
        return self.path.name

    @property
    def sockets(self) -> Path:
        """The inner folder, which others may write to."""
        return self.path / "s"

    @property
    def adapter_socket(self) -> Path:
        """Where the adapter is reached."""
        return self.sockets / ADAPTER_SOCKET

    def owner(self) -> Owner | None:
        """Its owner; None where the file is missing or broken."""
        try:
            return Owner(**json.loads((self.path / OWNER_FILE).read_text("utf-8")))
        except (OSError, ValueError, TypeError):
            return None

    def age_s(self) -> float:
        """Seconds since it was last changed."""
        try:
            return time.time() - self.path.stat().st_mtime
        except OSError:
            return 0.0

    def remove(self) -> None:
        """Removes it with all it holds; its not being there is no error."""
        shutil.rmtree(self.path, onerror=_make_removable)


def runtime_root() -> Path:
    """The folder of all pods' folders: MEMRIG_RUNTIME_DIR, else one in /tmp.

    Not XDG_RUNTIME_DIR: that one goes with the login session, and a run may outlive it (nohup).
    Not TMPDIR: it is often long, and a socket's path must be short.
    """
    if chosen := os.environ.get(ROOT_VARIABLE):
        return Path(chosen)
    return Path(f"/tmp/memrig-{os.getuid()}")  # noqa: S108 - checked to be ours and 0700 before use


def socket_path_bytes(root: Path) -> int:
    """The length of the longest socket path below `root`."""
    return len(os.fsencode(root / ("0" * 8) / "s" / ADAPTER_SOCKET))


def create_folder(owner: Owner) -> PodFolder:
    """Makes a new pod folder and writes its owner down.

    Raises:
        PrerequisiteError: the root's path is too long for a Unix socket, not ours, or not writable.
    """
    root = runtime_root().absolute()
    length = socket_path_bytes(root)
    if length >= MAX_SOCKET_PATH:
        raise PrerequisiteError(
            f"socket paths below it would have {length} bytes; under {MAX_SOCKET_PATH} are needed",
            where=str(root),
            fix=f"set {ROOT_VARIABLE} to a short folder, such as /tmp/mr",
        )
    check_root(root)
    folder = PodFolder(root / secrets.token_hex(4))
    folder.path.mkdir(mode=0o700)
    # The owner comes first: a folder without one is only removed once it is old.
    (folder.path / OWNER_FILE).write_text(json.dumps(asdict(owner)), "utf-8")
    folder.sockets.mkdir()
    folder.sockets.chmod(0o777)  # the outer 0700 keeps everyone else out
    return folder


def list_folders() -> tuple[PodFolder, ...]:
    """Every pod folder of this user."""
    root = runtime_root()
    if not root.is_dir():
        return ()
    return tuple(PodFolder(p) for p in sorted(root.iterdir()) if p.is_dir() and not p.is_symlink())


def check_root(root: Path) -> None:
    """Makes the root, or checks that it is a folder of ours that nobody else can enter.

    Raises:
        PrerequisiteError: it is not, or cannot be made.
    """
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        state = root.lstat()
    except OSError as error:
        raise PrerequisiteError(
            f"cannot be made ({error.strerror})",
            where=str(root),
            fix=f"set {ROOT_VARIABLE} to a short folder that you can write to",
        ) from error
    ours = stat.S_ISDIR(state.st_mode) and state.st_uid == os.getuid()
    if not ours or state.st_mode & 0o077:
        raise PrerequisiteError(
            "must be a folder of yours with mode 0700, or others could reach your pods",
            where=str(root),
            fix=f"chmod 700 it if it is yours, or set {ROOT_VARIABLE} to another folder",
        )


def _make_removable(_function: object, path: str, _error: object) -> None:
    """A process pod may have taken its own folders' write bit away; give it back once, go on."""
    target = Path(path)
    try:
        target.parent.chmod(0o700)
        if target.is_dir() and not target.is_symlink():
            target.chmod(0o700)
            shutil.rmtree(target, ignore_errors=True)
        else:
            target.unlink(missing_ok=True)
    except OSError:
        return  # the reaper tries again
