"""From a folder of archives to the entries of a board: each is verified before it is listed."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from shutil import copyfile

from memrig.errors import HarnessError, MissingDataError, UsageError
from memrig.leaderboard.model import AuditMark, BoardRun, Entry, Refused
from memrig.leaderboard.summary import board_run
from memrig.leaderboard.tables import RowKey
from memrig.model.canonical import digest_file, digest_of, short
from memrig.submission.model import Manifest, Tier
from memrig.submission.verify import Opened, OpenedRun

SUFFIX = ".memrig"
_TRANSCRIPT = "/transcript.jsonl"
#: What a comparison needs of a run.
_KEPT = ("lock.json", "grades.jsonl", "report.json")
#: How many objections of a refused archive are named.
_REASONS = 5

#: Opens an archive and verifies it, as `memrig.submission.verify.opened` does.
Opener = Callable[[Path, Sequence[Path]], AbstractContextManager[Opened]]
#: Told of each run of a listed submission while its files are there.
OnRun = Callable[[str, BoardRun, OpenedRun], None]
#: The organisers' reruns of an archive, by its manifest's digest.
Audits = Mapping[str, tuple[AuditMark, ...]]


@dataclass(slots=True)
class Gathered:
    """What a folder of archives came to.

    `repeats` names those of the refused that are copies of an entry; `kept` has what each run is
    compared by.
    """

    entries: list[Entry] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    repeats: set[str] = field(default_factory=set)
    kept: dict[RowKey, Path] = field(default_factory=dict)
    transcripts: dict[str, frozenset[str]] = field(default_factory=dict)

    def listed(self) -> tuple[Entry, ...]:
        """The entries, each with those that it shares a transcript with, by id."""
        return tuple(
            entry.model_copy(update={"shared": tuple(self._sharing(entry.id))})
            for entry in sorted(self.entries, key=lambda entry: entry.id)
        )

    def _sharing(self, entry_id: str) -> Iterator[str]:
        own = self.transcripts[entry_id]
        for other, theirs in sorted(self.transcripts.items()):
            if other != entry_id and not own.isdisjoint(theirs):
                yield other


def archives_of(folder: Path) -> list[Path]:
    """The archives below a folder, by path.

    Raises:
        UsageError: there is no such folder, or none in it.
    """
    if not folder.is_dir():
        raise UsageError(
            "there is no such folder", where=str(folder), fix="give the one they are in"
        )
    found = sorted(path for path in folder.rglob(f"*{SUFFIX}") if path.is_file())
    if not found:
        fix = f"put submissions there; their names end in {SUFFIX}"
        raise UsageError("this folder holds no submission", where=str(folder), fix=fix)
    return found


def gather(
    archives: Sequence[Path],
    *,
    root: Path,
    work: Path,
    opener: Opener,
    data: Sequence[Path],
    audits: Audits,
    on_run: OnRun,
    skip_unknown: bool = False,
) -> Gathered:
    """Verifies every archive, one at a time, and takes down what its pages need.

    Args:
        archives: the files.
        root: the folder that their names are shown relative to.
        work: where what comparisons need is kept.
        opener: opens an archive and verifies it.
        data: folders with data that does not ship.
        audits: organisers' reruns by manifest digest.
        on_run: told of each run while its files are there.
        skip_unknown: refuse what lacks data here, instead of stopping.

    Raises:
        MissingDataError: data that a verification needs is not on this machine.
    """
    gathered = Gathered()
    for path in archives:
        name, sha256 = path.relative_to(root).as_posix(), digest_file(path)
        try:
            with opener(path, data) as found:
                reasons = tuple(_reasons(found))
                if not reasons and (first := _same(found, gathered)):
                    reasons = (f"the same submission as {first}: equal manifest and key",)
                    gathered.repeats.add(name)
                if not reasons:
                    _take(gathered, name, sha256, found, work, audits, on_run)
        except MissingDataError as error:
            if not skip_unknown:
                where = f"{name}: {error.where}"
                raise MissingDataError(error.message, where=where, fix=error.fix) from error
            reasons = (f"cannot be verified here: {error.message}",)
        if reasons:
            gathered.refused.append(Refused(archive=name, archive_sha256=sha256, reasons=reasons))
    return gathered


def _reasons(found: Opened) -> Iterator[str]:
    """Why an archive is not valid; nothing where it is."""
    verification = found.verification
    if verification.passed:
        return
    failed = [c for c in verification.checks if c.severity == "error" and c.count]
    for check in failed[:_REASONS]:
        first = f": {check.found[0].where}: {check.found[0].message}" if check.found else ""
        yield f"{check.id}: fails: {check.title}{first}"
    if not failed or len(failed) > _REASONS:
        yield f"{max(0, len(failed) - _REASONS)} more checks failed or could not be made"


def _same(found: Opened, gathered: Gathered) -> str:
    """The archive that is listed already with this content and key; empty for none."""
    name = entry_id(found.verification.manifest_digest, found.verification.key)
    return next((entry.archive for entry in gathered.entries if entry.id == name), "")


def entry_id(manifest_digest: str, key: str) -> str:
    """Names a submission for good: the same content under the same key."""
    return short(digest_of([manifest_digest, key]), 16)


def _take(
    gathered: Gathered,
    name: str,
    sha256: str,
    found: Opened,
    work: Path,
    audits: Audits,
    on_run: OnRun,
) -> None:
    manifest = found.manifest
    if manifest is None:
        raise HarnessError("a submission without a manifest passed verification", where=name)
    own = entry_id(found.verification.manifest_digest, found.verification.key)
    runs = []
    for number, run in enumerate(found.runs, 1):
        row = board_run(number, run.lock, run.report, f"s/{own}/{number}/report.html")
        key = RowKey(own, number)
        gathered.kept[key] = _keep(run, work / own / str(number))
        on_run(own, row, run)
        runs.append(row)
    gathered.transcripts[own] = frozenset(
        file.sha256 for file in manifest.files if file.path.endswith(_TRANSCRIPT)
    )
    marks = audits.get(found.verification.manifest_digest, ())
    gathered.entries.append(_entry(name, sha256, found, manifest, tuple(runs), marks))


def _keep(run: OpenedRun, folder: Path) -> Path:
    folder.mkdir(parents=True)
    for name in _KEPT:
        copyfile(run.directory.root / name, folder / name)
    return folder


def _entry(
    name: str,
    sha256: str,
    found: Opened,
    manifest: Manifest,
    runs: tuple[BoardRun, ...],
    marks: tuple[AuditMark, ...],
) -> Entry:
    verification, said, where = found.verification, manifest.statement, manifest.disclosure
    return Entry(
        id=entry_id(verification.manifest_digest, verification.key),
        archive=name,
        archive_sha256=sha256,
        manifest_digest=verification.manifest_digest,
        key=verification.key,
        title=said.title,
        submitter=said.submitter,
        url=said.url,
        changed=said.changed,
        adapter=manifest.adapter.name,
        version=manifest.adapter.version,
        pod=manifest.adapter.pod,
        images={image.service: image.digest for image in manifest.images},
        memrig_version=manifest.memrig_version,
        profile=verification.profile,
        profile_digest=manifest.profile_digest,
        division=verification.division,
        differences=verification.differences,
        tier=tier_of(verification.tier, marks),
        audits=marks,
        checks=verification.checks,
        machine=where.machine,
        engine=where.engine,
        limits=where.limits,
        first=where.first,
        last=where.last,
        shared=(),
        runs=runs,
    )


def tier_of(tier: Tier, marks: tuple[AuditMark, ...]) -> Tier:
    """An organiser's rerun that passed lifts it; one that failed takes that away for good."""
    rerun = tier == "recomputed" and marks and all(mark.passed for mark in marks)
    return "organiser-rerun" if rerun else tier
