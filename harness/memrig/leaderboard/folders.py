"""A folder that is there whole or not at all."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from memrig.errors import DataError
from memrig.trial.directory import disk_errors


def _never(_folder: Path) -> bool:
    return False


@contextmanager
def whole_folder(out: Path, ours: Callable[[Path], bool] = _never) -> Iterator[Path]:
    """Gives a folder to write into, and puts it in the place of `out` if nothing went wrong.

    Args:
        out: what is to be made.
        ours: whether a folder that is there already may be replaced; default: none may.

    Raises:
        DataError: there is something else already.
        InfrastructureError: the folder cannot be made or put in place.
    """
    if (out.exists() or out.is_symlink()) and not (out.is_dir() and (_empty(out) or ours(out))):
        raise DataError(
            "is there already, and nothing in it is overwritten",
            where=str(out),
            fix="name another folder, or remove it",
        )
    with disk_errors(out):
        out.parent.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
    try:
        yield aside
        with disk_errors(out):
            aside.chmod(0o755)  # mkdtemp keeps others out
            if out.exists():
                shutil.rmtree(out)
            aside.rename(out)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _empty(folder: Path) -> bool:
    return next(folder.iterdir(), None) is None
