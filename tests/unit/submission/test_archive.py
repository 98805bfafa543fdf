"""An archive: written one way, and read so that no other way passes."""

import errno
import random
import zipfile
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memrig.errors import PrerequisiteError, UsageError
from memrig.model.canonical import canonical_json
from memrig.submission.archive import CHECKS, read_archive, room_in, write_archive
from memrig.submission.keys import ephemeral_key
from memrig.submission.layout import Limits
from memrig.submission.model import MANIFEST, SIGNATURE, ImageEntry, Statement
from memrig.submission.zips import write_zip
from support.archives import (
    DRAFT,
    FILES,
    KEY,
    assembled,
    closed,
    contents,
    failing,
    manifest_of,
    members_of,
    read,
    zipped,
)

GRADES = "runs/r/grades.jsonl"


@pytest.fixture
def place(tmp_path) -> Path:
    return tmp_path / "x.memrig"


def raw_of(place: Path) -> bytes:
    write_archive(place, DRAFT, FILES, KEY)
    return place.read_bytes()


def test_what_was_written_is_read(place):
    """Every file as it was, under the manifest that was signed; all checks were made."""
    written = write_archive(place, DRAFT, FILES, KEY)
    with read_archive(place) as opened:
        held = {path: (opened.folder / path).read_bytes() for path in FILES}
        assert opened.sound
        assert [result.id for result in opened.results()] == list(CHECKS)
        assert all(result.passed for result in opened.results())
    assert held == FILES
    assert opened.manifest == written == manifest_of()
    assert opened.signature
    assert opened.signature.key == KEY.public


def test_nothing_stays_behind(place):
    """What was unpacked is gone at the end, and was never readable by others."""
    raw_of(place)
    with read_archive(place) as opened:
        assert opened.folder.stat().st_mode & 0o077 == 0
    assert not opened.folder.exists()
    assert [path.name for path in place.parent.iterdir()] == [place.name]


def test_the_same_content_gives_the_same_bytes(place):
    """Whatever order it is given in, from memory or from files."""
    first = raw_of(place)
    mixed: dict[str, Path | bytes] = {}
    for number, (path, data) in enumerate(reversed(FILES.items())):
        source = place.parent / str(number)
        source.write_bytes(data)
        mixed[path] = source if number % 2 else data
    write_archive(place, DRAFT, mixed, KEY)
    assert place.read_bytes() == first == zipped(contents())


def test_any_zip_program_can_read_it(place):
    """The form is strict, not private."""
    raw_of(place)
    with zipfile.ZipFile(place) as archive:
        assert archive.testzip() is None
        assert archive.namelist()[:2] == [MANIFEST, SIGNATURE]
        assert archive.read(GRADES) == FILES[GRADES]


def test_what_looks_like_a_bomb_is_stored_as_it_is(place):
    """A log of one line a million times must not be refused by who verifies."""
    files = {**FILES, "runs/r/trials/t-s1-r0-0123456789ab/adapter.log": bytes(3_000_000)}
    write_archive(place, DRAFT, files, KEY)
    assert place.stat().st_size > 3_000_000
    with read_archive(place) as opened:
        assert opened.sound


def test_a_flipped_bit_is_caught_wherever_it_is(place):
    """Each byte of the file once, one bit of it at random."""
    raw, chance = raw_of(place), random.Random(7)  # noqa: S311 - which bit does not matter
    missed = []
    for at in range(len(raw)):
        flipped = bytearray(raw)
        flipped[at] ^= 1 << chance.randrange(8)
        if read(place, bytes(flipped)).sound:
            missed.append(at)
    assert missed == []


def test_a_file_that_ends_early_is_caught_wherever_it_ends(place):
    """A download that broke off is no submission."""
    raw = raw_of(place)
    ends = range(0, len(raw), 37)
    assert [end for end in ends if failing(read(place, raw[:end])) != {"archive.format"}] == []


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(junk=st.binary(max_size=300), at=st.integers(0, 1500), seal=st.booleans())
def test_no_bytes_make_it_raise(place, junk, at, seal):
    """Whatever is written over a good archive, there are findings, and no traceback."""
    good = zipped(contents())
    raw = good[:at] + junk + good[at + len(junk) :]
    opened = read(place, closed(raw) if seal and len(raw) > 93 else raw)
    assert opened.sound == (raw == good)


PATHS = {
    "parent": "../evil",
    "parent inside": "runs/r/../../evil",
    "absolute": "/evil",
    "drive": "C:/evil",
    "backslash": "runs\\r\\lock.json",
    "NUL": "runs/r/lock.json\0.png",
    "line end": "runs/r/lock.json\n",
    "overlong": f"runs/{'r' * 200}/lock.json",
    "stray": "runs/r/llm.sqlite",
    "gold": "runs/r/scenarios/0.gold.jsonl",
    "folder": "runs/r/trials/",
    "hidden": "runs/.r/lock.json",
    "option": "runs/-r/lock.json",
    "empty": "",
    "other letters": "runs/R/lock.json",
}


@pytest.mark.parametrize("name", PATHS.values(), ids=PATHS)
def test_a_path_that_no_submission_has_is_refused(place, name):
    """Its own manifest names it: the whitelist alone decides. Nothing is unpacked."""
    files = {**FILES, name: b"evil"}
    if name == "runs/R/lock.json":
        files["runs/r/lock.json"] = b"evil"
    opened = read(place, zipped(contents(files=files)))
    assert failing(opened) == {"archive.paths"}
    assert not list(place.parent.parent.rglob("evil*"))


def test_a_name_beyond_ascii_is_refused(place):
    """Two spellings of one letter would be two files or one."""
    members = members_of({"a": b"evil"})[0]
    entry = members.entry()[:-1] + b"\xff"
    raw = assembled([members.local() + b"evil"], [entry])
    assert failing(read(place, raw)) == {"archive.paths"}


def test_one_name_twice_is_refused(place):
    """Readers differ in which of them they take."""
    twice = [*contents().items(), (GRADES, b"other\n")]
    assert failing(read(place, zipped(twice))) == {"archive.paths"}


def test_another_order_is_refused(place):
    """There is one archive of a content."""
    shuffled = list(reversed(contents().items()))
    assert failing(read(place, zipped(shuffled))) == {"archive.paths"}


def parts() -> tuple[list[bytes], list[bytes]]:
    """A good archive's members with their headers, and its directory's entries."""
    raw, members = zipped(contents()), members_of(contents())
    return [raw[m.offset : m.end] for m in members], [m.entry() for m in members]


def changed_entry(at: int, value: bytes, *, local: int | None = None) -> bytes:
    """Bytes of the last entry set, and of its local header."""
    bodies, entries = parts()
    entries[-1] = entries[-1][:at] + value + entries[-1][at + len(value) :]
    if local is not None:
        bodies[-1] = bodies[-1][:local] + value + bodies[-1][local + len(value) :]
    return assembled(bodies, entries)


def with_gap() -> bytes:
    """A secret between the members and the directory."""
    bodies, entries = parts()
    return assembled([*bodies, b"secret"], entries)


def in_front() -> bytes:
    """A script in front, with every offset put right."""
    script = b"#!/bin/sh\nexit\n"
    bodies, _ = parts()
    moved = [replace(m, offset=m.offset + len(script)) for m in members_of(contents())]
    return assembled([script, *bodies], [member.entry() for member in moved])


def overlapping() -> bytes:
    """Two entries that share one member's bytes."""
    bodies, entries = parts()
    *_, before, last = members_of(contents())
    entries[-1] = replace(last, offset=before.offset).entry()
    return assembled(bodies, entries)


def hidden_member() -> bytes:
    """A member that the directory does not list."""
    bodies, entries = parts()
    return assembled(bodies, entries[:-1])


def other_name_inside() -> bytes:
    """A local header with another name than the directory's."""
    bodies, entries = parts()
    bodies[-1] = bodies[-1].replace(b"transcript", b"tranzcript")
    return assembled(bodies, entries)


def padded(data: bytes) -> bytes:
    """Bytes behind the packed data of the last member, which its header counts."""
    bodies, entries = parts()
    last = members_of(contents())[-1]
    longer = replace(last, packed=last.packed + len(data))
    bodies[-1] = longer.local() + bodies[-1][len(last.local()) :] + data
    return assembled(bodies, [*entries[:-1], longer.entry()])


ZIPS = {
    "in front of it": in_front,
    "in front of it, offsets unchanged": lambda: closed(b"#!" + zipped(contents())),
    "behind it": lambda: zipped(contents()) + b"more",
    "between": with_gap,
    "overlapping": overlapping,
    "not listed": hidden_member,
    "another name inside": other_name_inside,
    "behind packed data": lambda: padded(b"secret"),
    "a second packed stream": lambda: padded(b"\x03\x00"),
    "encrypted": lambda: changed_entry(8, b"\x01\x00", local=6),
    "lengths behind the data": lambda: changed_entry(8, b"\x08\x00", local=6),
    "packed by lzma": lambda: changed_entry(10, b"\x0e\x00", local=8),
    "a stamp": lambda: changed_entry(12, b"\x01\x00", local=10),
    "another checksum": lambda: changed_entry(16, b"\0\0\0\0", local=14),
    "a comment of a file": lambda: changed_entry(32, b"\x01\x00"),
    "64-bit sizes": lambda: changed_entry(20, b"\xff" * 8, local=18),
    "another disk": lambda: changed_entry(34, b"\x01\x00"),
}


@pytest.mark.parametrize("forge", ZIPS.values(), ids=ZIPS)
def test_a_zip_that_could_be_read_in_two_ways_is_refused(place, forge):
    """Nothing before, between or behind; each header as the directory says; no other features."""
    assert failing(read(place, forge())) == {"archive.format"}


def test_the_parts_make_a_good_archive(place):
    """So that what is refused above is refused for the one thing changed."""
    assert assembled(*parts()) == zipped(contents())
    assert read(place, assembled(*parts())).sound


@pytest.mark.parametrize("mode", [0o120777, 0o040755, 0o010644, 0o020644, 0])
def test_what_is_no_plain_file_is_refused(place, mode):
    """A link, a folder, a pipe, a device; and a mode that says nothing."""
    raw = changed_entry(38, (mode << 16).to_bytes(4, "little"))
    assert failing(read(place, raw)) == {"archive.paths"}


def test_plain_zips_and_other_files_are_refused(place):
    """Also an empty one, and one that some other program packed from good files."""
    other = BytesIO()
    with zipfile.ZipFile(other, "w") as archive:
        for path, data in contents().items():
            archive.writestr(path, data)
    for raw in (b"", b"PK", b"hello " * 100, other.getvalue()):
        assert failing(read(place, raw)) == {"archive.format"}


def bomb() -> bytes:
    """32 MiB of zeros in 32 KiB."""
    file = BytesIO()
    held = contents(files={**FILES, GRADES: bytes(32 * 1024**2)})
    list(write_zip(file, held.items(), ratio=10**9))
    return file.getvalue()


def understated() -> bytes:
    """A bomb that declares 10 bytes."""
    raw = bytearray(bomb())
    name = GRADES.encode()
    local = raw.index(name) - 30
    entry = raw.rindex(name) - 46
    raw[local + 22 : local + 26] = (10).to_bytes(4, "little")
    raw[entry + 24 : entry + 28] = (10).to_bytes(4, "little")
    return closed(bytes(raw))


SIZES = {
    "a bomb": (bomb, Limits()),
    "a bomb that declares little": (understated, Limits()),
    "too many files": (lambda: zipped(contents()), Limits(files=5)),
    "too long": (lambda: zipped(contents()), Limits(archive_bytes=1000)),
    "too much in all": (lambda: zipped(contents()), Limits(total_bytes=100)),
    "one file too large": (
        lambda: zipped(contents(files={**FILES, "contract.binpb": bytes(5 * 1024**2)})),
        Limits(),
    ),
}


@pytest.mark.parametrize(("forge", "limits"), SIZES.values(), ids=SIZES)
def test_what_would_fill_a_disk_is_refused(place, forge, limits):
    """By what comes out, not by what is declared."""
    assert failing(read(place, forge(), limits)) == {"archive.size"}


GOOD = canonical_json(manifest_of())
MANIFESTS = {
    "empty": b"",
    "no JSON": b"{",
    "a list": b"[]",
    "deep": b"[" * 100_000,
    "deep inside": GOOD.replace(b'"title":""', b'"title":' + b"[" * 100_000),
    "indented": GOOD.replace(b",", b", "),
    "a line's end": GOOD + b"\n",
    "a mark in front": b"\xef\xbb\xbf" + GOOD,
    "a key twice": GOOD.replace(b'"title":""', b'"title":"x","title":""'),
    "an unknown field": GOOD.replace(b'"title":""', b'"score":1,"title":""'),
    "a left-out field": GOOD.replace(b'"profile":"",', b""),
    "a huge number": GOOD.replace(b'"cores":2', b'"cores":9007199254740993'),
    "a huger number": GOOD.replace(b'"cores":2', b'"cores":1' + b"0" * 5000),
    "a number as text": GOOD.replace(b'"cores":2', b'"cores":"2"'),
    "no number": GOOD.replace(b'"cores":2', b'"cores":NaN'),
    "no UTF-8": GOOD.replace(b"a CPU", b"\xff\xfe"),
    "half a letter": GOOD.replace(b"a CPU", b"\\ud800"),
    "another format": GOOD.replace(b"submission/1", b"submission/2"),
    "no run": GOOD.replace(b'"runs":[', b'"runs":[],"runz":['),
}


@pytest.mark.parametrize("raw", MANIFESTS.values(), ids=MANIFESTS)
def test_a_manifest_that_is_not_canonical_is_refused(place, raw):
    """Though it is signed: what is signed must have one meaning."""
    assert raw != GOOD
    opened = read(place, zipped(contents(raw)))
    assert failing(opened) == {"archive.manifest"}
    assert opened.manifest is None


def test_a_manifest_must_be_there(place):
    """And come first."""
    held = contents()
    del held[MANIFEST]
    assert failing(read(place, zipped(held))) == {"archive.manifest"}


@pytest.mark.parametrize("path", sorted(FILES))
def test_a_file_that_a_run_needs_is_missed(place, path):
    """Also where the manifest does not name it either."""
    files = {name: data for name, data in FILES.items() if name != path}
    assert failing(read(place, zipped(contents(files=files)))) == {"archive.manifest"}


def test_a_run_that_the_manifest_does_not_name_is_refused(place):
    """It would be there, and be counted by nobody."""
    files = {**FILES, "runs/other/lock.json": b"{}"}
    assert failing(read(place, zipped(contents(files=files)))) == {"archive.manifest"}


@pytest.mark.parametrize(
    "changes",
    [
        {"contract": "sha256:" + "0" * 64},
        {"runs": DRAFT.runs * 2},
        {"files": tuple(reversed(manifest_of().files))},
        {"files": manifest_of().files * 2},
        {"images": (ImageEntry(service="adapter", digest="sha256:00", file="images/a.tar"),)},
    ],
    ids=["contract", "a run twice", "files in disorder", "files twice", "image"],
)
def test_a_manifest_that_contradicts_itself_is_refused(place, changes):
    """Canonical and signed, but not of these files."""
    raw = canonical_json(manifest_of().model_copy(update=changes))
    assert failing(read(place, zipped(contents(raw)))) == {"archive.manifest"}


@pytest.mark.parametrize(
    "files",
    [
        {**FILES, GRADES: b"other\n"},
        {**FILES, "runs/r/models.jsonl": b"{}\n"},
    ],
    ids=["changed", "added"],
)
def test_files_that_the_manifest_does_not_name_are_refused(place, files):
    """The manifest is that of the good archive, and signed."""
    assert failing(read(place, zipped(contents(GOOD, files)))) == {"archive.hashes"}


def test_a_file_that_is_named_and_not_there_is_missed(place):
    """Where no run needs it."""
    more = {**FILES, "runs/r/models.jsonl": b"{}\n"}
    raw = canonical_json(manifest_of(more))
    opened = read(place, zipped(contents(raw, FILES)))
    assert failing(opened) == {"archive.hashes"}
    assert [finding.where for finding in opened.findings] == ["runs/r/models.jsonl"]


def signed_with(signature: bytes) -> bytes:
    return zipped(contents() | {SIGNATURE: signature})


def forged() -> bytes:
    """The good key's name over another's signature."""
    other = ephemeral_key().sign(GOOD)
    return canonical_json(other.model_copy(update={"key": KEY.public}))


SIGNATURES = {
    "none": lambda: b"",
    "of another manifest": lambda: canonical_json(KEY.sign(GOOD + b" ")),
    "by another": forged,
    "no key": lambda: canonical_json(KEY.sign(GOOD)).replace(KEY.public.encode(), b"0" * 64),
    "capitals": lambda: canonical_json(KEY.sign(GOOD)).replace(
        KEY.public.encode(), KEY.public.upper().encode() + b"A"
    ),
    "not canonical": lambda: canonical_json(KEY.sign(GOOD)) + b"\n",
    "another algorithm": lambda: canonical_json(KEY.sign(GOOD)).replace(b"ed25519", b"none"),
}


@pytest.mark.parametrize("signature", SIGNATURES.values(), ids=SIGNATURES)
def test_a_signature_that_does_not_hold_is_refused(place, signature):
    """Only the key that is named can have signed these bytes."""
    assert failing(read(place, signed_with(signature()))) == {"archive.signature"}


def test_a_changed_statement_breaks_the_signature(place):
    """What the submitter says is signed too."""
    said = manifest_of(statement=Statement(title="ours"))
    held = contents(canonical_json(said)) | {SIGNATURE: contents()[SIGNATURE]}
    assert failing(read(place, zipped(held))) == {"archive.signature"}


def test_checks_that_could_not_be_made_say_why(place):
    """They neither pass nor fail."""
    results = {result.id: result for result in read(place, b"hello").results()}
    assert results["archive.format"].count == 1
    others = [result for name, result in results.items() if name != "archive.format"]
    assert {result.skipped for result in others} == {"archive.format failed"}
    assert not any(result.passed for result in others)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_the_machines_lack(tmp_path, number):
    """Exit code 3: it says nothing about the archive."""
    with pytest.raises(PrerequisiteError) as caught, room_in(tmp_path, "it cannot be unpacked"):
        raise OSError(number, "full")
    assert "TMPDIR" in caught.value.fix


def test_what_is_no_file_is_the_users_mistake(tmp_path):
    """Exit code 2, not 6: nothing was verified."""
    for path in (tmp_path / "none.memrig", tmp_path):
        with pytest.raises(UsageError, match="memrig"), read_archive(path):
            pass


def test_a_file_that_changes_while_it_is_written_is_caught(place):
    """Its hash in the manifest would not be that of the file."""

    class Growing(type(place)):  # type: ignore[misc]
        """A path whose file is one byte longer each time it is opened."""

        def open(self, *arguments, **options):
            with Path(self).open("ab") as file:
                file.write(b"x")
            return Path(self).open(*arguments, **options)

    Path(place.parent / "log").write_bytes(b"x")
    files = {**FILES, GRADES: Growing(place.parent / "log")}
    with pytest.raises(UsageError, match="changed while"):
        write_archive(place, DRAFT, files, KEY)
    assert not place.exists()
