"""Writes a submission's archive; `memrig.submission.archive` reads it."""

import hashlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import BinaryIO

from memrig.errors import UsageError
from memrig.model.canonical import canonical_json
from memrig.submission.keys import Key
from memrig.submission.layout import Limits
from memrig.submission.model import MANIFEST, SIGNATURE, FileEntry, Manifest
from memrig.submission.zips import write_zip
from memrig.trial.directory import disk_errors


def write_archive(
    out: Path, draft: Manifest, files: Mapping[str, Path | bytes], key: Key
) -> Manifest:
    """Writes an archive: the same manifest, files and key give the same bytes (under one zlib).

    Args:
        out: the file; it is there whole or not at all.
        draft: the manifest but for `files`, which are filled in.
        files: by path in the archive, without manifest and signature. What an archive must hold
            is not checked here.
        key: who signs.

    Raises:
        UsageError: it is too large for the format, or a file changed meanwhile.
        InfrastructureError: it cannot be written.
    """
    entries = tuple(_entry(path, files[path]) for path in sorted(files))
    manifest = draft.model_copy(update={"files": entries})
    raw = canonical_json(manifest)
    contents: dict[str, Path | bytes] = {MANIFEST: raw}
    contents[SIGNATURE] = canonical_json(key.sign(raw))
    contents |= {path: files[path] for path in sorted(files)}
    aside = out.with_name(f".{out.name}.{os.getpid()}")
    with disk_errors(out):
        try:
            with aside.open("w+b") as file:
                _write(file, contents, {entry.path: entry for entry in entries}, out)
                file.flush()
                os.fsync(file.fileno())
            aside.replace(out)
        finally:
            aside.unlink(missing_ok=True)
    return manifest


def _write(
    file: BinaryIO,
    contents: Mapping[str, Path | bytes],
    entries: Mapping[str, FileEntry],
    out: Path,
) -> None:
    try:
        for member, sha256 in write_zip(file, contents.items(), Limits().ratio):
            entry = entries.get(member.name)
            if entry is not None and (entry.size, entry.sha256) != (member.size, sha256):
                message = "changed while it was packed"
                raise UsageError(message, where=member.name, fix="pack again when nothing writes")
    except OverflowError as error:
        raise UsageError(
            "would be larger than 4 GiB or hold more than 65,535 files",
            where=str(out),
            fix="pack fewer runs, or leave --with-image out",
        ) from error


def _entry(path: str, source: Path | bytes) -> FileEntry:
    digest, size = hashlib.sha256(), 0
    for piece in _pieces(source):
        digest.update(piece)
        size += len(piece)
    return FileEntry(path=path, size=size, sha256=f"sha256:{digest.hexdigest()}")


def _pieces(source: Path | bytes) -> Iterable[bytes]:
    if isinstance(source, bytes):
        yield source
        return
    with source.open("rb") as file:
        while piece := file.read(1 << 20):
            yield piece
