"""Where a run is planned: a folder beside the run's, which becomes it in one rename.

A kill leaves either a whole run or a folder that the next plan sweeps away.
"""

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from memrig.errors import InfrastructureError, UsageError

_PREFIX = ".planning-"
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


@contextmanager
def staging(parent: Path) -> Iterator[Path]:
    """A new folder in `parent`, gone at the end unless `promote` renamed it.

    Raises:
        UsageError: `parent` cannot be written.
        InfrastructureError: the disk filled up meanwhile.
    """
    new = not parent.exists()
    try:
        parent.mkdir(parents=True, exist_ok=True)
        _sweep(parent)
        folder = Path(tempfile.mkdtemp(dir=parent, prefix=f"{_PREFIX}{os.getpid()}-"))
    except OSError as error:
        raise _refused(parent, error) from error
    try:
        yield folder
    except OSError as error:
        if error.errno not in _FULL:
            raise
        message = f"the run's plan cannot be written: {error.strerror}"
        fix = "free some disk space, and repeat the command"
        raise InfrastructureError(message, where=str(parent), fix=fix) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if new:
            with suppress(OSError):  # a run is in it
                parent.rmdir()


def promote(folder: Path, root: Path) -> None:
    """Makes a planned folder the run's.

    Raises:
        UsageError: there is something else already.
    """
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise UsageError(
            "this folder is not empty and holds no run",
            where=f"--out {root}",
            fix="give a new or empty folder",
        )
    try:
        folder.chmod(0o755)
        folder.replace(root)
    except OSError as error:
        raise _refused(root, error) from error


def _refused(path: Path, error: OSError) -> UsageError:
    message = f"cannot be written: {error.strerror}"
    return UsageError(message, where=f"--out {path}", fix="give a folder that you may write")


def _sweep(parent: Path) -> None:
    for folder in parent.glob(f"{_PREFIX}*"):
        owner = folder.name.removeprefix(_PREFIX).partition("-")[0]
        if not (owner.isdigit() and Path(f"/proc/{owner}").exists()):
            shutil.rmtree(folder, ignore_errors=True)
