"""The one way in which memrig writes a ZIP, and a reader that takes no other.

A general reader must be lenient: it looks for the directory, skips what it does not know and
believes lengths. This one knows every byte of every header beforehand (fixed stamps, modes and
versions, no extra fields, members without gaps in the directory's order) and compares. So nothing
can lie before, between or behind the members, no two can share bytes, and no other reader can see
other files. The comment at the end is the sha256 of all that is before the closing record: it
catches what neither a checksum nor a hash of the contents does, such as the unused bits after the
last block of packed data.

Format: PKWARE's APPNOTE.TXT 6.3, sections 4.3.7 (local header), 4.3.12 (directory) and 4.3.16
(closing record).
"""

import hashlib
import stat
import struct
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Literal

STORED, DEFLATED = 0, 8
#: Above these, a ZIP needs the 64-bit records that this one does not have.
MOST_BYTES, MOST_FILES = 2**32 - 1, 2**16 - 1

_LOCAL = struct.Struct("<4s5H3I2H")
_ENTRY = struct.Struct("<4s6H3I5H2I")
_END = struct.Struct("<4s4H2IH")
_LOCAL_MARK, _ENTRY_MARK, _END_MARK = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"
_POINTER = b"version https://git-lfs"
_VERSION, _MADE_BY = 20, 3 << 8 | 20  # 2.0; made on Unix, so that modes count
_TIME, _DATE = 0, 1 << 5 | 1  # 1980-01-01 00:00, the first that a ZIP can say
_MODE = (stat.S_IFREG | 0o644) << 16
_COMMENT = len("sha256:") + 64
_CHUNK = 1 << 16
_PIECE = 1 << 20
_LEVEL = 6

Kind = Literal["format", "paths", "size"]


class ZipFault(Exception):  # noqa: N818 - never leaves the room: it becomes a finding
    """What is wrong with a ZIP. `kind` is the rule that it breaks."""

    def __init__(self, kind: Kind, where: str, message: str) -> None:
        self.kind: Kind = kind
        self.where = where
        self.message = message
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Member:
    """One file of a ZIP. `packed` and `size` in bytes, `offset` that of its local header."""

    name: str
    method: int
    crc: int
    packed: int
    size: int
    offset: int

    @property
    def data(self) -> int:
        """Where its packed bytes begin."""
        return self.offset + _LOCAL.size + len(self.name)

    @property
    def end(self) -> int:
        """The first byte behind it."""
        return self.data + self.packed

    def local(self) -> bytes:
        """Its header before its bytes."""
        return (
            _LOCAL.pack(
                *(_LOCAL_MARK, _VERSION, 0, self.method, _TIME, _DATE),
                *(self.crc, self.packed, self.size, len(self.name), 0),
            )
            + self.name.encode()
        )

    def entry(self) -> bytes:
        """Its entry in the directory."""
        return (
            _ENTRY.pack(
                *(_ENTRY_MARK, _MADE_BY, _VERSION, 0, self.method, _TIME, _DATE),
                *(self.crc, self.packed, self.size, len(self.name), 0, 0, 0, 0),
                *(_MODE, self.offset),
            )
            + self.name.encode()
        )


def write_zip(
    file: BinaryIO, contents: Iterable[tuple[str, Path | bytes]], ratio: int
) -> Iterator[tuple[Member, str]]:
    """Writes a ZIP; yields each member with the sha256 of what was put into it.

    What would be packed more than `ratio` times over is stored as it is: a reader that fears
    bombs would refuse it otherwise. `file` must be open for reading too.

    Raises:
        OverflowError: it needs the 64-bit form.
    """
    members: list[Member] = []
    for name, source in contents:
        member, digest = _add(file, name, source, DEFLATED)
        if too_dense(member, ratio):
            file.seek(member.offset)
            file.truncate()
            member, digest = _add(file, name, source, STORED)
        members.append(member)
        yield member, digest
    start = file.tell()
    directory = b"".join(member.entry() for member in members)
    end = start + len(directory)
    if end > MOST_BYTES or len(members) > MOST_FILES:
        raise OverflowError
    file.write(directory)
    file.write(_closing(len(members), len(directory), start))
    file.seek(0)
    digest = _digest(file, end)
    file.seek(end + _END.size)
    file.write(digest.encode())


def too_dense(member: Member, ratio: int) -> bool:
    """Whether a member unpacks to more than `ratio` times its bytes; small ones may."""
    return member.size > _PIECE and member.size > member.packed * ratio


def _add(file: BinaryIO, name: str, source: Path | bytes, method: int) -> tuple[Member, str]:
    offset = file.tell()
    file.write(bytes(_LOCAL.size + len(name)))  # filled in below, once it is known
    digest, crc, size = hashlib.sha256(), 0, 0
    squeeze = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    with source.open("rb") if isinstance(source, Path) else BytesIO(source) as given:
        while piece := given.read(_PIECE):
            digest.update(piece)
            crc = zlib.crc32(piece, crc)
            size += len(piece)
            file.write(squeeze.compress(piece) if method == DEFLATED else piece)
    if method == DEFLATED:
        file.write(squeeze.flush())
    end = file.tell()
    packed = end - offset - _LOCAL.size - len(name)
    if max(size, end) > MOST_BYTES:
        raise OverflowError
    member = Member(name, method, crc, packed, size, offset)
    file.seek(offset)
    file.write(member.local())
    file.seek(end)
    return member, f"sha256:{digest.hexdigest()}"


def _closing(count: int, length: int, start: int) -> bytes:
    return _END.pack(_END_MARK, 0, 0, count, count, length, start, _COMMENT)


def _digest(file: BinaryIO, length: int) -> str:
    total = hashlib.sha256()
    while length and (piece := file.read(min(_PIECE, length))):
        total.update(piece)
        length -= len(piece)
    return f"sha256:{total.hexdigest()}"


def read_directory(file: BinaryIO, most_files: int) -> tuple[Member, ...]:
    """The members of a ZIP that `write_zip` wrote, in order, their headers compared to the byte.

    Raises:
        ZipFault: it is anything else.
    """
    size = file.seek(0, 2)
    end = size - _END.size - _COMMENT
    file.seek(max(end, 0))
    closing = file.read(_END.size)
    if end < 0 or closing[:4] != _END_MARK:
        raise ZipFault("format", "archive", _no_archive(file, size))
    _, _, _, count, _, length, start, _ = _END.unpack(closing)
    if count > most_files:
        raise ZipFault("size", "archive", f"has {count} files, at most {most_files} are taken")
    if start + length != end or closing != _closing(count, length, start):
        message = "its closing record does not fit: bytes lie before, behind or between"
        raise ZipFault("format", "archive", message)
    said = file.read(_COMMENT).decode("ascii", "replace")
    file.seek(0)
    if (found := _digest(file, end)) != said:
        raise ZipFault("format", "archive", f"has {found}, it was closed with {said}")
    file.seek(start)
    members = tuple(_entries(file.read(length), count))
    _check_places(file, members, start)
    return members


def _no_archive(file: BinaryIO, size: int) -> str:
    """What a file is that does not end as an archive does; what to do about it."""
    file.seek(0)
    begin = file.read(len(_POINTER))
    if begin == _POINTER:
        return "is a pointer of Git LFS, not the file that it stands for: `git lfs pull` gets that"
    if begin.startswith(_LOCAL_MARK):
        return f"is truncated after {size:,} bytes, or a ZIP of another program: get it again"
    return f"is no .memrig archive (it has {size:,} bytes): name one, or get it again"


def _entries(directory: bytes, count: int) -> Iterator[Member]:
    at = 0
    for number in range(count):
        where = f"file {number + 1} of {count}"
        if len(directory) - at < _ENTRY.size:
            raise ZipFault("format", where, "the directory ends before it")
        fields = _ENTRY.unpack_from(directory, at)
        raw = directory[at + _ENTRY.size : at + _ENTRY.size + fields[10]]
        try:
            name = raw.decode("ascii")
        except UnicodeDecodeError as error:
            raise ZipFault("paths", where, f"its name is not plain ASCII: {raw!r}") from error
        member = Member(name, fields[4], fields[7], fields[8], fields[9], fields[16])
        entry = member.entry()
        if directory[at : at + len(entry)] != entry:
            raise _strange(name, fields)
        if member.method not in {STORED, DEFLATED}:
            message = f"is packed by method {member.method}, not stored (0) or deflated (8)"
            raise ZipFault("format", name, message)
        at += len(entry)
        yield member
    if at != len(directory):
        raise ZipFault("format", "archive", f"{len(directory) - at} bytes behind the directory")


def _strange(name: str, fields: tuple[int, ...]) -> ZipFault:
    """Why an entry is not as this rig writes it; the telling reasons first."""
    flags, mode = fields[3], fields[15] >> 16
    if stat.S_IFMT(mode) != stat.S_IFREG:
        return ZipFault("paths", name, f"is not a plain file (mode {mode:o})")
    if flags & 1:
        return ZipFault("format", name, "is encrypted")
    if fields[11] or fields[12]:
        return ZipFault("format", name, "has extra fields or a comment")
    return ZipFault("format", name, "its entry has flags, versions, stamps or a mode of its own")


def _check_places(file: BinaryIO, members: tuple[Member, ...], end: int) -> None:
    """Members lie one behind the other, from the first byte up to the directory.

    Raises:
        ZipFault: a gap, an overlap, or a header that says other than the directory.
    """
    expected = 0
    for member in members:
        if member.offset != expected:
            message = f"begins at byte {member.offset}, where {expected} is the next free one"
            raise ZipFault("format", member.name, message)
        file.seek(member.offset)
        local = member.local()
        if file.read(len(local)) != local:
            message = "its own header says other than the directory"
            raise ZipFault("format", member.name, message)
        expected = member.end
    if expected != end:
        message = f"its files end at byte {expected}, its directory begins at {end}"
        raise ZipFault("format", "archive", message)


def content(file: BinaryIO, member: Member) -> Iterator[bytes]:
    """The unpacked bytes of a member, a piece at a time, never more than it declares.

    Raises:
        ZipFault: it unpacks to another length or checksum, or not at all.
    """
    crc, size = 0, 0
    for piece in _unpacked(file, member):
        size += len(piece)
        if size > member.size:
            message = f"unpacks to more than the {member.size} bytes that it declares"
            raise ZipFault("size", member.name, message)
        crc = zlib.crc32(piece, crc)
        yield piece
    if (size, crc) != (member.size, member.crc):
        message = f"unpacks to {size} bytes with checksum {crc:08x}, it declares {member.size} "
        raise ZipFault("format", member.name, f"{message}with {member.crc:08x}")


def _unpacked(file: BinaryIO, member: Member) -> Iterator[bytes]:
    file.seek(member.data)
    packed = (file.read(min(_CHUNK, member.packed - at)) for at in range(0, member.packed, _CHUNK))
    if member.method == STORED:
        yield from packed
        return
    stretch = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        for chunk in packed:
            if stretch.eof:
                raise ZipFault("format", member.name, "bytes lie behind its packed data")
            waiting = chunk
            while piece := stretch.decompress(waiting, _PIECE):
                yield piece
                waiting = stretch.unconsumed_tail
    except zlib.error as error:
        raise ZipFault("format", member.name, f"cannot be unpacked: {error}") from error
    if not stretch.eof or stretch.unused_data:
        raise ZipFault("format", member.name, "its packed data does not end where it says")
