"""Where a command's file or folder is to go, looked at before anything is done for it."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile

from memrig.errors import UsageError


def check_out(out: Path, suffix: str, what: str, taken: str) -> None:
    """Refuses a file that could not be written at the end, or is there already.

    Args:
        out: the file.
        suffix: what its name must end with.
        what: what it is to be, as "a record".
        taken: why one that is there is not overwritten.

    Raises:
        UsageError: it cannot be this file.
    """
    where, elsewhere = f"--out {out}", "name a file in a folder that is there"
    if not out.name.endswith(suffix) or out.name == suffix:
        raise UsageError(f"is no name for {what}", where=where, fix=f"add {suffix}")
    if out.is_dir():
        raise UsageError("is a folder", where=where, fix=elsewhere)
    if out.exists() or out.is_symlink():
        raise UsageError(taken, where=where, fix="give another --out, or remove it")
    folder = out.absolute().parent
    if not folder.is_dir():
        raise UsageError("is in a folder that is not there", where=where, fix=elsewhere)
    _probe(folder, where)


def _probe(folder: Path, where: str) -> None:
    try:
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        message = f"nothing can be written there: {error.strerror}"
        fix = "name a place that you may write in"
        raise UsageError(message, where=where, fix=fix) from error


@contextmanager
def workplace(keep: Path | None) -> Iterator[Path]:
    """A folder for runs: a new one that is kept, unless nothing came into it; else a passing one.

    Raises:
        UsageError: it is no new or empty folder, or cannot be made.
    """
    if keep is None:
        with TemporaryDirectory(prefix="memrig-rerun-") as folder:
            yield Path(folder)
        return
    where, fix = f"--keep {keep}", "give a new or empty folder"
    try:
        if keep.exists() and not keep.is_dir():
            raise UsageError("is a file", where=where, fix=fix)
        if keep.exists() and any(keep.iterdir()):
            raise UsageError("is not empty", where=where, fix=fix)
        made = not keep.exists()
        keep.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot be made: {error.strerror}", where=where, fix=fix) from error
    _probe(keep, where)
    try:
        yield keep
    finally:
        if made:
            with suppress(OSError):  # it is not empty: there are runs in it
                keep.rmdir()
