"""Verifies a submission: without a container, a network or a key, and trusting nothing in it.

First the archive itself (`archive`); then what is in it is parsed, its scenarios are made again
from the suite and its data, every check of `checks` is made on what was found, and all of it is
graded again. What stands on something that failed already is left out, and says so.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from memrig.errors import UsageError
from memrig.report.model import Report
from memrig.runs.directory import RunDirectory
from memrig.runs.lock import Lock, lock_version
from memrig.runs.profiles import differences, division_of, load_profile
from memrig.runs.replan import check_places
from memrig.submission.archive import OpenedArchive, read_archive, room_in
from memrig.submission.checks import ARCHIVE, RUN
from memrig.submission.checks.base import (
    ArchiveEvidence,
)
from memrig.submission.evidence import (
    FILES,
    RunFiles,
    Unreadable,
    models_of,
    read_run,
)
from memrig.submission.model import Division, Manifest, RunEntry, Signature, Verification
from memrig.submission.result import Ledger
from memrig.submission.runcheck import ALL, RunChecking


@dataclass(frozen=True, slots=True)
class OpenedRun:
    """A run that was verified.

    `directory` holds what the verifier made: scenarios, specs, grades and report; of the archive it
    holds the lock and the trials. It has no report.html.
    """

    entry: RunEntry
    directory: RunDirectory
    lock: Lock
    report: Report


@dataclass(frozen=True, slots=True)
class Opened:
    """An archive that was verified, open for as long as its `folder` is there.

    `manifest` and `signature` are None where they could not be read. There are no `runs` unless the
    verification passed.
    """

    verification: Verification
    manifest: Manifest | None
    signature: Signature | None
    folder: Path
    runs: tuple[OpenedRun, ...]


def verify(file: Path, data: Sequence[Path] = ()) -> Verification:
    """Verifies a submission; what `memrig submission verify` does.

    Args:
        file: the archive.
        data: folders with data that does not ship, beside what `memrig data fetch` got.

    Raises:
        UsageError: there is no such file or folder.
        PrerequisiteError: data is not on this machine; names it and how to get it.
    """
    with opened(file, data) as found:
        return found.verification


@contextmanager
def opened(file: Path, data: Sequence[Path] = ()) -> Iterator[Opened]:
    """As `verify`, with the runs to look into; they are gone at the end.

    Raises:
        UsageError: as `verify`.
        PrerequisiteError: as `verify`.
    """
    check_places(data)
    with read_archive(file) as archive:
        with room_in(archive.folder, "the runs cannot be verified"):
            found = _Verifying(file.name, archive, tuple(data)).run()
        yield found


@dataclass(slots=True)
class _Verifying:
    """One verification."""

    name: str
    archive: OpenedArchive
    data: tuple[Path, ...]
    ledger: Ledger = field(default_factory=lambda: Ledger(ALL))

    def run(self) -> Opened:
        manifest = self.archive.manifest
        files: dict[str, RunFiles] = {}
        runs: list[OpenedRun] = []
        if manifest is None or not self.archive.sound:
            failed = next(check.id for check in self.archive.results() if not check.passed)
            self.ledger.skip(ALL, f"{failed} failed")
        else:
            files = dict(self._read(manifest))
            self._check_archive(manifest, files)
            for entry in manifest.runs:
                if entry.run_id in files:
                    runs += self._check_run(entry, files[entry.run_id])
        verification = self._verification(manifest, files.values())
        return Opened(
            verification=verification,
            manifest=manifest,
            signature=self.archive.signature,
            folder=self.archive.folder,
            runs=tuple(runs) if verification.passed else (),
        )

    def _read(self, manifest: Manifest) -> Iterator[tuple[str, RunFiles]]:
        for entry in manifest.runs:
            try:
                yield entry.run_id, read_run(self.archive.folder / "runs" / entry.run_id)
            except Unreadable as error:
                self._unreadable(error)
            else:
                self.ledger.passed(FILES)

    def _unreadable(self, error: Unreadable) -> None:
        self.ledger.object(error.check, error.where, error.message)

    def _check_archive(self, manifest: Manifest, files: Mapping[str, RunFiles]) -> None:
        if len(files) < len(manifest.runs):
            self.ledger.skip(ALL[1:], f"{FILES.id} failed")
            return
        evidence = ArchiveEvidence(
            manifest=manifest,
            locks={name: run.lock for name, run in files.items()},
            executions={name: run.executions for name, run in files.items()},
        )
        for check in ARCHIVE:
            self.ledger.make(check, evidence)

    def _check_run(self, entry: RunEntry, files: RunFiles) -> Iterator[OpenedRun]:
        """Checks a run; yields it if it could be graded."""
        checking = RunChecking(entry.run_id, files, self.ledger)
        replanned = checking.respool(self.data)
        if replanned is None:
            return
        try:
            with models_of(files) as models:
                report = checking.run(replanned, models)
        except Unreadable as error:
            self._unreadable(error)
            checking.skip_from(RUN, error.check.id)
            return
        if report is not None:
            yield OpenedRun(entry, files.directory, files.lock, report)

    def _verification(self, manifest: Manifest | None, files: Collection[RunFiles]) -> Verification:
        checks = (*self.archive.results(), *self.ledger.results())
        sound = all(check.passed or check.severity != "error" for check in checks)
        profile = manifest.profile if manifest else ""
        signature = self.archive.signature
        return Verification(
            archive=self.name,
            manifest_digest=self.archive.manifest_digest,
            key=signature.key if signature else "",
            memrig_version=lock_version(),
            profile=profile,
            division=_division(profile, files) if sound else "open",
            differences=tuple(_differences(profile, files)),
            tier="recomputed" if sound else "self-reported",
            checks=checks,
        )


def _division(profile: str, files: Collection[RunFiles]) -> Division:
    """Closed only where every run is, under the profile that the manifest names."""
    ours = all(run.lock.profile == profile for run in files)
    closed = all(division_of(run.lock, run.executions) == "closed" for run in files)
    return "closed" if profile and ours and closed else "open"


def _differences(profile: str, files: Iterable[RunFiles]) -> Iterator[str]:
    """In what the runs are not the profile's, as ``suite: field: profile → run``."""
    if not profile:
        return
    try:
        known = load_profile(profile)
    except UsageError as error:
        yield error.message
        return
    for run in files:
        found = differences(run.lock, known, run.executions)
        yield from (f"{run.lock.suite}: {line}" for line in found)
