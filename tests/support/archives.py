"""Small archives by hand: a good one, and what a forger would make of it, byte by byte."""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

from memrig.model.canonical import canonical_json, digest_bytes
from memrig.model.manifest import AdapterRef
from memrig.runs.lock import Machine
from memrig.submission.archive import OpenedArchive, read_archive
from memrig.submission.keys import ephemeral_key
from memrig.submission.layout import Limits, in_order
from memrig.submission.model import (
    CONTRACT,
    MANIFEST,
    SIGNATURE,
    Disclosure,
    FileEntry,
    Manifest,
    RunEntry,
)
from memrig.submission.zips import Member, write_zip

KEY = ephemeral_key()
MACHINE = Machine(
    system="Linux",
    kernel="6.1",
    architecture="x86_64",
    cpu="a CPU",
    cores=2,
    memory_bytes=2**33,
    python="3.11.2",
)
_WHEN = datetime(2026, 11, 22, 3, 4, 5, 678, tzinfo=UTC)
_TRIAL = "runs/r/trials/t-s1-r0-0123456789ab"
FILES: Mapping[str, bytes] = {
    CONTRACT: b"contract",
    "runs/r/executions.jsonl": b"{}\n",
    "runs/r/grades.jsonl": b"{}\n" * 40,
    "runs/r/lock.json": b"{}",
    "runs/r/report.json": b"{}",
    f"{_TRIAL}/outcome.json": b"{}",
    f"{_TRIAL}/spec.json": b"{}",
    f"{_TRIAL}/transcript.jsonl": b"{}\n",
}
DRAFT = Manifest(
    memrig_version="0.1.0",
    contract=digest_bytes(b"contract"),
    adapter=AdapterRef(name="x", version="1", pod="process"),
    runs=(RunEntry(run_id="r", lock_digest="sha256:00", suite="s", protocol="p"),),
    disclosure=Disclosure(machine=MACHINE, first=_WHEN, last=_WHEN),
    files=(),
)


def manifest_of(files: Mapping[str, bytes] = FILES, **changes: object) -> Manifest:
    """The manifest that goes with these files."""
    entries = tuple(
        FileEntry(path=path, size=len(data), sha256=digest_bytes(data))
        for path, data in sorted(files.items())
    )
    return DRAFT.model_copy(update={"files": entries, **changes})


def contents(manifest: bytes | None = None, files: Mapping[str, bytes] = FILES) -> dict[str, bytes]:
    """All that an archive holds; the manifest as given, signed whatever it says."""
    raw = canonical_json(manifest_of(files)) if manifest is None else manifest
    held = {MANIFEST: raw, SIGNATURE: canonical_json(KEY.sign(raw)), **files}
    return {path: held[path] for path in in_order(held)}


def zipped(members: Mapping[str, bytes] | Sequence[tuple[str, bytes]]) -> bytes:
    """A ZIP as memrig writes it, of whatever it is given."""
    pairs = list(members.items()) if isinstance(members, Mapping) else list(members)
    file = BytesIO()
    list(write_zip(file, pairs, Limits().ratio))
    return file.getvalue()


def members_of(members: Mapping[str, bytes]) -> list[Member]:
    """Where each member of `zipped` lies."""
    return [member for member, _ in write_zip(BytesIO(), members.items(), Limits().ratio)]


def closed(raw: bytes) -> bytes:
    """The same file with the digest at its end made right again."""
    comment = len("sha256:") + 64
    body = raw[: -22 - comment]
    return raw[:-comment] + f"sha256:{hashlib.sha256(body).hexdigest()}".encode()


def assembled(bodies: Sequence[bytes], entries: Sequence[bytes], *, shift: int = 0) -> bytes:
    """A ZIP from its parts: members with their headers, then the directory's entries."""
    data, directory = b"".join(bodies), b"".join(entries)
    count = len(entries).to_bytes(2, "little")
    place = len(directory).to_bytes(4, "little") + (len(data) + shift).to_bytes(4, "little")
    end = b"PK\x05\x06" + bytes(4) + count + count + place + (71).to_bytes(2, "little")
    return closed(data + directory + end + b"sha256:" + b"0" * 64)


def read(path: Path, raw: bytes, limits: Limits | None = None) -> OpenedArchive:
    """Writes bytes and opens them; the folder is gone when this returns."""
    path.write_bytes(raw)
    with read_archive(path, limits) as opened:
        return opened


def failing(opened: OpenedArchive) -> set[str]:
    """The checks that object."""
    return {result.id for result in opened.results() if result.count}
