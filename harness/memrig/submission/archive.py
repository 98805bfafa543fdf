"""A submission's archive: written the same way every time, read as if a thief had written it.

Nothing that is wrong with an archive raises: it is a finding under one of seven checks, and where a
check fails, those that stand on it are left out. What is in the folder of an `OpenedArchive` that
is sound has exactly the manifest's files, with its hashes, under its signature; what these files
say is still only claimed.
"""

import errno
import hashlib
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO, TypeVar

from pydantic import BaseModel, ValidationError

from memrig.errors import PrerequisiteError, UsageError
from memrig.model.canonical import canonical_json, digest_bytes
from memrig.submission.keys import verify_signature
from memrig.submission.layout import Limits, in_order, missing, most_bytes, runs_of
from memrig.submission.model import (
    CONTRACT,
    IMAGES,
    MANIFEST,
    SIGNATURE,
    CheckResult,
    FileEntry,
    Found,
    Manifest,
    Signature,
)
from memrig.submission.savedimage import saved_images
from memrig.submission.writing import write_archive
from memrig.submission.zips import Member, ZipFault, content, read_directory, too_dense

FORMAT, PATHS, SIZE = "archive.format", "archive.paths", "archive.size"
NAMES, HASHES, SIGNED = "archive.manifest", "archive.hashes", "archive.signature"
SAVED = "archive.images"
#: id → what holds where it passes, and what could be done without it. In the order of making.
CHECKS: Mapping[str, tuple[str, str]] = {
    FORMAT: (
        "the file is a ZIP as memrig writes it, to the byte",
        "two readers could see different files in it, or something could be hidden in it",
    ),
    PATHS: (
        "it holds only plain files that a submission has",
        "unpacking could write elsewhere, or a file could stand in for another",
    ),
    SIZE: (
        "it unpacks to what it declares, within the limits",
        "verifying could be made to fill a disk",
    ),
    NAMES: (
        "its manifest is canonical, and nothing of a run is missing",
        "what is hashed and signed could be read in two ways, or leave something out",
    ),
    HASHES: (
        "each file is the one that the manifest names by sha256",
        "a file could be changed, added or taken away after signing",
    ),
    SIGNED: (
        "the manifest is signed by the key that it comes with",
        "anybody could change it in the name of the submitter",
    ),
    SAVED: (
        "each image in it is the one that the manifest names by digest",
        "an organiser would run another system than the one that was measured",
    ),
}
_SHOWN = 20
__all__ = ["CHECKS", "Finding", "Limits", "OpenedArchive", "read_archive", "write_archive"]

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong with an archive. `check` is one of `CHECKS`."""

    check: str
    where: str
    message: str


@dataclass(frozen=True, slots=True)
class OpenedArchive:
    """What could be read of an archive. Its files lie below `folder` as they do in it."""

    folder: Path
    manifest: Manifest | None
    manifest_bytes: bytes
    signature: Signature | None
    findings: tuple[Finding, ...]
    made: frozenset[str]

    @property
    def manifest_digest(self) -> str:
        """The sha256 of the manifest's bytes, which names the submission; empty without one."""
        return digest_bytes(self.manifest_bytes) if self.manifest_bytes else ""

    @property
    def sound(self) -> bool:
        """Every check was made, and none objects."""
        return not self.findings and self.made == CHECKS.keys()

    def results(self) -> tuple[CheckResult, ...]:
        """The checks in the order of making."""
        failed = next((name for name in CHECKS if self._found(name)), "")
        return tuple(self._result(name, failed) for name in CHECKS)

    def _found(self, check: str) -> list[Found]:
        found = (finding for finding in self.findings if finding.check == check)
        return [Found(where=finding.where, message=finding.message) for finding in found]

    def _result(self, check: str, failed: str) -> CheckResult:
        found = self._found(check)
        title, reason = CHECKS[check]
        return CheckResult(
            id=check,
            title=title,
            reason=reason,
            severity="error",
            count=len(found),
            found=tuple(found[:_SHOWN]),
            skipped="" if found or check in self.made else f"{failed} failed",
        )


@contextmanager
def read_archive(path: Path, limits: Limits | None = None) -> Iterator[OpenedArchive]:
    """Opens an archive into a folder of its own, which is gone at the end.

    Raises:
        UsageError: there is no such file.
        PrerequisiteError: the disk has no room for what the archive declares.
    """
    with TemporaryDirectory(prefix="memrig-archive-") as folder:
        with _opened(path) as file, room_in(Path(folder), "the archive cannot be unpacked"):
            reading = _Reading(file, Path(folder), limits or Limits())
            opened = reading.run()
        yield opened


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    if path.exists() and not path.is_file():
        raise UsageError("is not a file", where=str(path), fix="name a .memrig file")
    try:
        file = path.open("rb")
    except OSError as error:
        message = f"cannot be read ({error.strerror})"
        raise UsageError(message, where=str(path), fix="name a .memrig file") from error
    with file:
        yield file


@contextmanager
def room_in(folder: Path, what: str) -> Iterator[None]:
    """Names the folder where the disk is full: that is no fault of the archive's.

    Args:
        folder: what is being written into.
        what: cannot be done, as a sentence's first part.

    Raises:
        PrerequisiteError: instead of OSError.
    """
    try:
        yield
    except OSError as error:
        if error.errno not in {errno.ENOSPC, errno.EDQUOT}:
            raise
        message = f"{what}: {error.strerror}"
        fix = "free some space there, or set TMPDIR to a folder that has it"
        raise PrerequisiteError(message, where=str(folder.parent), fix=fix) from error


@dataclass(slots=True)
class _Reading:
    """One reading of an archive, check by check."""

    file: BinaryIO
    folder: Path
    limits: Limits
    findings: list[Finding] = field(default_factory=list)
    made: set[str] = field(default_factory=set)
    files: dict[str, FileEntry] = field(default_factory=dict)

    def run(self) -> OpenedArchive:
        manifest: Manifest | None = None
        signature: Signature | None = None
        raw = b""
        if self._unpacked():
            self.made |= {FORMAT, PATHS, SIZE}
            raw = self._read(MANIFEST)
            manifest = self._manifest(raw)
            if manifest is not None:
                self.made.add(NAMES)
                if not self.findings:
                    self._compare(manifest)
                    self._check_images(manifest)
                signature = self._signature(raw)
        return OpenedArchive(
            folder=self.folder,
            manifest=manifest,
            manifest_bytes=raw,
            signature=signature,
            findings=tuple(self.findings),
            made=frozenset(self.made),
        )

    def _say(self, check: str, where: str, message: str) -> None:
        self.findings.append(Finding(check, where, message))

    def _unpacked(self) -> bool:
        try:
            size = os.fstat(self.file.fileno()).st_size
            if size > self.limits.archive_bytes:
                message = f"has {size} bytes, at most {self.limits.archive_bytes} are taken"
                raise ZipFault("size", "archive", message)  # noqa: TRY301 - one way out for all
            members = read_directory(self.file, self.limits.files)
            self._check_paths(members)
            self._check_sizes(members)
            if not self.findings:
                for member in members:
                    self._extract(member)
        except ZipFault as fault:
            self._say(f"archive.{fault.kind}", fault.where, fault.message)
        return not self.findings

    def _check_paths(self, members: tuple[Member, ...]) -> None:
        names = [member.name for member in members]
        seen: dict[str, str] = {}
        for name in names:
            if most_bytes(name) is None:
                self._say(PATHS, repr(name)[:200], "no file of a submission has such a path")
            elif (earlier := seen.setdefault(name.casefold(), name)) != name:
                self._say(PATHS, name, f"differs from {earlier} by the size of letters alone")
        for name, times in Counter(names).items():
            if times > 1:
                self._say(PATHS, repr(name)[:200], f"is there {times} times")
        if not self.findings and names != in_order(dict.fromkeys(names)):
            self._say(PATHS, "archive", "its files are not in order, each once")

    def _check_sizes(self, members: tuple[Member, ...]) -> None:
        for member in members:
            most = most_bytes(member.name)
            if most is not None and member.size > most:
                self._say(SIZE, member.name, f"has {member.size} bytes, at most {most} are taken")
            elif too_dense(member, self.limits.ratio):
                message = f"unpacks {member.packed} bytes to {member.size}: a bomb"
                self._say(SIZE, member.name, message)
        total = sum(member.size for member in members)
        if total > self.limits.total_bytes:
            message = f"unpacks to {total} bytes, at most {self.limits.total_bytes} are taken"
            self._say(SIZE, "archive", message)

    def _extract(self, member: Member) -> None:
        """Unpacks a member; its path was found to be one of a submission's."""
        path = self.folder / member.name
        path.parent.mkdir(parents=True, exist_ok=True)
        digest = hashlib.sha256()
        with path.open("xb") as out:
            for piece in content(self.file, member):
                digest.update(piece)
                out.write(piece)
        sha256 = f"sha256:{digest.hexdigest()}"
        self.files[member.name] = FileEntry(path=member.name, size=member.size, sha256=sha256)

    def _read(self, name: str) -> bytes:
        return (self.folder / name).read_bytes() if name in self.files else b""

    def _manifest(self, raw: bytes) -> Manifest | None:
        manifest = self._parsed(Manifest, raw, NAMES, MANIFEST)
        if manifest is not None:
            for where, message in _contradictions(manifest, self.files):
                self._say(NAMES, where, message)
        return manifest

    def _signature(self, manifest: bytes) -> Signature | None:
        signature = self._parsed(Signature, self._read(SIGNATURE), SIGNED, SIGNATURE)
        if signature is not None and not verify_signature(signature, manifest):
            message = f"key {signature.key} did not sign this {MANIFEST}"
            self._say(SIGNED, SIGNATURE, message)
        self.made.add(SIGNED)
        return signature

    def _compare(self, manifest: Manifest) -> None:
        """Each file that the manifest names is there as it says, and no other."""
        named = {entry.path: entry for entry in manifest.files}
        held = {path: entry for path, entry in self.files.items() if path not in _UNNAMED}
        for path in sorted(named.keys() | held.keys()):
            if path not in held:
                self._say(HASHES, path, "the manifest names it, the archive does not hold it")
            elif path not in named:
                self._say(HASHES, path, "the archive holds it, the manifest does not name it")
            elif named[path] != held[path]:
                self._say(HASHES, path, _differs(named[path], held[path]))
        self.made.add(HASHES)

    def _check_images(self, manifest: Manifest) -> None:
        for image in manifest.images:
            if image.file and image.digest not in saved_images(self.folder / image.file):
                self._say(SAVED, image.file, f"holds no image {image.digest}")
        self.made.add(SAVED)

    def _parsed(self, model: type[M], raw: bytes, check: str, where: str) -> M | None:
        """A file of the archive's own, which must be in canonical form; else a finding."""
        if not raw:
            self._say(check, where, "is missing or empty")
            return None
        try:
            parsed = model.model_validate_json(raw)
            canonical = canonical_json(parsed)
        except ValidationError as error:
            self._say(check, where, f"cannot be read: {_first(error)}")
            return None
        except (TypeError, ValueError) as error:
            self._say(check, where, f"has no canonical form: {error}")
            return None
        if canonical != raw:
            self._say(check, where, "is not canonical JSON (RFC 8785) of these values")
            return None
        return parsed


_UNNAMED = frozenset({MANIFEST, SIGNATURE})


def _contradictions(
    manifest: Manifest, files: Mapping[str, FileEntry]
) -> Iterator[tuple[str, str]]:
    """Where a manifest contradicts itself, or leaves something out."""
    paths = [entry.path for entry in manifest.files]
    if paths != sorted(set(paths)):
        yield MANIFEST, "its files are not in order, each once"
    runs = [run.run_id for run in manifest.runs]
    if len(set(runs)) != len(runs):
        yield MANIFEST, "it names a run twice"
    for stray in sorted(runs_of(files) - set(runs)):
        yield f"runs/{stray}", "the manifest names no such run"
    for path in missing(files, runs):
        yield path, "is missing"
    held = files.get(CONTRACT)
    if held is not None and held.sha256 != manifest.contract:
        yield CONTRACT, f"has {held.sha256}, the manifest names {manifest.contract}"
    images = [image.file for image in manifest.images if image.file]
    if sorted(images) != sorted(path for path in files if path.startswith(f"{IMAGES}/")):
        yield MANIFEST, "its images are not the files of the archive, each once"


def _differs(named: FileEntry, held: FileEntry) -> str:
    return f"has {held.size} bytes, {held.sha256}; the manifest: {named.size}, {named.sha256}"


def _first(error: ValidationError) -> str:
    found = error.errors(include_input=False, include_url=False)[0]
    place = ".".join(str(part) for part in found["loc"])
    return f"{place}: {found['msg']}" if place else found["msg"]
