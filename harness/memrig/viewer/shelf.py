"""A folder of runs: which there are, and what stands in the files that sum them up.

Nothing is written, and nothing is held: a run may be going on in any of the folders.
"""

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeVar

from memrig.errors import UsageError, VerificationError
from memrig.grading.base import Grade
from memrig.model.trial import TrialSpec
from memrig.report.model import Report
from memrig.runs.directory import RunDirectory
from memrig.runs.lock import Lock
from memrig.viewer.kept import Kept, parsed

T = TypeVar("T")

#: Runs stand in the folder itself or up to so many below it.
_DEPTH = 3
_LOCK = "lock.json"
#: Between the folders of a run that does not stand in the folder itself.
_BETWEEN = "~"
#: What trials are called.
_NAME = re.compile(r"[A-Za-z0-9_-]{1,200}")


@dataclass(slots=True)
class Shelf:
    """The runs below a folder, by keys that are made of their folders' names.

    Args:
        root: the folder, or a single run's.
    """

    root: Path
    _kept: Kept = field(default_factory=lambda: Kept(4096))
    _graded: Kept = field(default_factory=lambda: Kept(8))  # the largest by far

    def runs(self) -> dict[str, RunDirectory]:
        """Every run that is there now.

        Raises:
            UsageError: there is no such folder.
        """
        if not self.root.is_dir():
            fix = "give the folder that `memrig run` writes to, such as runs"
            raise UsageError("there is no such folder", where=str(self.root), fix=fix)
        if (self.root / _LOCK).is_file():
            return {self.root.resolve().name: RunDirectory(self.root)}
        folders = sorted(_runs_below(self.root, _DEPTH))
        return {_key(self.root, folder): RunDirectory(folder) for folder in folders}

    def run(self, key: str) -> RunDirectory:
        """A run by its key: looked up, so that no key leads out of the folder.

        Raises:
            UsageError: there is none.
        """
        found = self.runs().get(key)
        if found is None:
            raise UsageError(f"there is no run {key!r}", where=str(self.root), fix="see the list")
        return found

    def lock(self, directory: RunDirectory) -> Lock:
        """A run's lock.

        Raises:
            VerificationError: it is none of this version.
        """
        return self._kept.get(directory.lock_path, partial(_lock, directory=directory))

    def report(self, directory: RunDirectory) -> Report | None:
        """A run's report as it stands on disk; None where there is none yet.

        Raises:
            VerificationError: it is none of this version.
        """
        read = partial(_report, directory=directory)
        return self._if_there(directory.report_json, read)

    def grades(self, directory: RunDirectory) -> list[Grade]:
        """A run's grades as they stand on disk.

        Raises:
            VerificationError: they are none of this version.
        """
        read = partial(_grades, directory=directory)
        return self._if_there(directory.grades, read, self._graded) or []

    def spec(self, directory: RunDirectory, trial_id: str) -> TrialSpec:
        """A planned trial.

        Raises:
            UsageError: there is none of this name.
        """
        # Its name is a file's: it must not lead elsewhere.
        path = directory.root / "specs" / f"{trial_id}.json" if _NAME.fullmatch(trial_id) else None
        found = self._if_there(path, _spec) if path is not None else None
        if found is None or found.trial_id != trial_id:
            raise UsageError(f"there is no trial {trial_id!r}", where=str(directory.root))
        return found

    def specs(self, directory: RunDirectory) -> list[TrialSpec]:
        """Every planned trial, by name. Those that cannot be read are left out."""
        paths = sorted((directory.root / "specs").glob("*.json"))
        found = (self._if_there(path, _spec) for path in paths)
        return [spec for spec in found if spec is not None]

    def _if_there(
        self, path: Path, read: Callable[[Path], T], kept: Kept | None = None
    ) -> T | None:
        try:
            return (kept or self._kept).get(path, read)
        except FileNotFoundError:
            return None


def _runs_below(folder: Path, depth: int) -> Iterator[Path]:
    """The folders with a lock. Nothing below a run is looked into, and no link is followed."""
    try:
        found = [entry for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return  # a folder that may not be read holds no run of ours
    for entry in map(Path, found):
        if entry.name.startswith("."):
            continue
        if (entry / _LOCK).is_file():
            yield entry
        elif depth > 1:
            yield from _runs_below(entry, depth - 1)


def _key(root: Path, folder: Path) -> str:
    return _BETWEEN.join(folder.relative_to(root).parts)


def ask_the_same(one: Lock, other: Lock) -> bool:
    """Whether two runs share scenarios, and those of one name are one thing in both.

    Questions of two runs are paired by name: see report/comparable.py.
    """
    left, right = (
        {(ref.scenario_id, ref.seed): (ref.digest, ref.gold_digest) for ref in lock.scenarios}
        for lock in (one, other)
    )
    both = left.keys() & right.keys()
    return bool(both) and all(left[name] == right[name] for name in both)


def _lock(path: Path, directory: RunDirectory) -> Lock:
    """It is there, as its folder would be no run without: what is wrong is its content."""
    try:
        return directory.lock()
    except UsageError as error:
        fix = error.fix or "look at it with the version of memrig that wrote it"
        raise VerificationError(error.message, where=str(path), fix=fix) from error


def _spec(path: Path) -> TrialSpec:
    return parsed(path, TrialSpec, "a trial's plan")


def _report(path: Path, directory: RunDirectory) -> Report:
    try:
        return Report.model_validate_json(path.read_bytes())
    except ValueError as error:
        raise _other_version("report", path, directory) from error


def _grades(path: Path, directory: RunDirectory) -> list[Grade]:
    try:
        return [Grade.model_validate_json(line) for line in path.read_bytes().splitlines()]
    except ValueError as error:
        raise _other_version("list of grades", path, directory) from error


def _other_version(what: str, path: Path, directory: RunDirectory) -> VerificationError:
    fix = f"`memrig score {directory.root}` writes it again"
    return VerificationError(f"is not a {what} of this version", where=str(path), fix=fix)
