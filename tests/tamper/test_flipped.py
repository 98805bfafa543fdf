"""Whatever is done to an archive's bytes, by chance or by hand, is an objection: never a crash."""

import random
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from memrig.submission.model import Verification
from memrig.submission.verify import verify
from support.command import MEMRIG
from support.forged_runs import Archives, archives

__all__ = ["archives"]
pytestmark = pytest.mark.tamper

FLIPS = 100
_SEED = 20261122


def changed(archives: Archives, path: Path, change: Callable[[bytes], bytes]) -> Verification:
    """A good archive with other bytes, verified."""
    raw = archives("reader").read_bytes()
    other = change(raw)
    assert other != raw
    path.write_bytes(other)
    return verify(path)


def is_caught(found: Verification) -> bool:
    """It failed as a file: nothing that stands on it was made, and nothing of it is believed."""
    failed = [check.id for check in found.checks if check.count]
    opening = all(name.startswith("archive.") for name in failed)
    return bool(failed) and opening and not found.passed and found.tier == "self-reported"


def flips() -> list[tuple[float, int]]:
    """Where, as a share of the file's length, and which bits."""
    chance = random.Random(_SEED)  # noqa: S311 - the same ones every time
    return [(chance.random(), chance.randrange(1, 256)) for _ in range(FLIPS)]


def test_each_of_a_hundred_flipped_bytes_is_caught(archives: Archives, tmp_path: Path):
    """One byte each time, anywhere in the file, changed in some of its bits."""
    missed = []
    for place, bits in flips():

        def flipped(raw: bytes, place: float = place, bits: int = bits) -> bytes:
            at = int(place * len(raw))
            return raw[:at] + bytes([raw[at] ^ bits]) + raw[at + 1 :]

        if not is_caught(changed(archives, tmp_path / "flipped.memrig", flipped)):
            missed.append((place, bits))
    assert missed == []


@pytest.mark.slow
def test_every_byte_of_the_directory_matters(archives: Archives, tmp_path: Path):
    """The last bytes say where everything is: there, every single one is flipped."""
    length = len(archives("reader").read_bytes())
    missed = []
    for at in range(length - 600, length):

        def flipped(raw: bytes, at: int = at) -> bytes:
            return raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :]

        if not is_caught(changed(archives, tmp_path / "flipped.memrig", flipped)):
            missed.append(at)
    assert missed == []


def halves(raw: bytes) -> tuple[bytes, bytes]:
    """The first half, and the rest."""
    return raw[: len(raw) // 2], raw[len(raw) // 2 :]


@pytest.mark.parametrize(
    "change",
    [
        lambda raw: b"",
        lambda raw: raw[:1],
        lambda raw: raw[:-1],
        lambda raw: raw[1:],
        lambda raw: halves(raw)[0],
        lambda raw: halves(raw)[1],
        lambda raw: raw[: len(raw) - 22],
        lambda raw: raw + b"\0",
        lambda raw: raw + raw,
        lambda raw: b"#!/bin/sh\n" + raw,
        lambda raw: halves(raw)[1] + halves(raw)[0],
        lambda raw: halves(raw)[0] + b"\0" + halves(raw)[1],
        lambda raw: raw[::-1],
        lambda raw: bytes(len(raw)),
    ],
    ids=[
        "nothing", "one-byte", "last-byte-gone", "first-byte-gone", "first-half", "second-half",
        "no-end", "byte-behind", "twice", "script-before", "halves-swapped", "byte-between",
        "backwards", "zeros",
    ],
)  # fmt: skip
def test_what_is_cut_or_put_together_is_caught(archives: Archives, tmp_path: Path, change):
    """Truncated, with something before, between or behind, twice, or nothing of it left."""
    assert is_caught(changed(archives, tmp_path / "changed.memrig", change))


@pytest.mark.slow
@pytest.mark.parametrize("cut", [0.0, 0.3, 0.999])
def test_the_command_ends_with_exit_code_6(archives: Archives, tmp_path: Path, cut: float):
    """And tells the check, without a traceback."""
    raw = archives("reader").read_bytes()
    file = tmp_path / "cut.memrig"
    file.write_bytes(raw[: int(cut * len(raw))])
    command = [MEMRIG, "submission", "verify", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=110)
    assert done.returncode == 6, done.stderr
    assert "archive.format" in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
