"""Wheels: what pip is asked, and what is made of its refusals."""

import re
from pathlib import Path

import pytest

from memrig.errors import DataError, PrerequisiteError
from memrig.pod.images.sources import checkout
from memrig.pod.images.wheels import download_command, explain_pip

ROOT = checkout()
assert ROOT is not None
LOCKS = sorted(ROOT.glob("images/*/requirements.lock"))


@pytest.mark.parametrize(("arch", "machine"), [("amd64", "x86_64"), ("arm64", "aarch64")])
def test_wheels_are_chosen_for_the_image(arch: str, machine: str) -> None:
    """pip is asked for the daemon's architecture and the base's Python, not for this machine's."""
    command = download_command(Path("r.lock"), Path("into"), arch=arch, python="3.11")
    platforms = [part for part in command if part.startswith("--platform=")]
    assert platforms
    assert all(part.endswith(f"_{machine}") for part in platforms)
    assert "--python-version=3.11" in command


def test_only_locked_wheels_are_taken() -> None:
    """No hash, no wheel; and never a source archive, which would run code on the host."""
    command = download_command(Path("r.lock"), Path("into"), arch="amd64", python="3.11")
    assert {"--require-hashes", "--only-binary=:all:", "--no-deps"} <= set(command)


def test_no_index_is_forced_on_pip() -> None:
    """Which package index to ask stays the machine's own choice."""
    command = download_command(Path("r.lock"), Path("into"), arch="amd64", python="3.11")
    assert not [part for part in command if "index" in part or "://" in part]


def test_an_architecture_without_wheels_is_refused() -> None:
    """A daemon of another architecture is named, with what can be done."""
    with pytest.raises(PrerequisiteError, match=r"riscv64.*\n.*by digest"):
        download_command(Path("r.lock"), Path("into"), arch="riscv64", python="3.11")


def test_a_package_that_cannot_be_had_is_named() -> None:
    """The package that the index lacks leads the message; its versions do not fill the screen."""
    versions = ", ".join(f"1.{n}.0" for n in range(400))
    output = (
        f"ERROR: Could not find a version that satisfies the requirement grpcio==0.0.9 "
        f"(from versions: {versions})\nERROR: No matching distribution found for grpcio==0.0.9\n"
    )
    error = explain_pip(output, what="collecting the wheels of x")
    assert isinstance(error, PrerequisiteError)
    assert error.message.startswith("grpcio==0.0.9 cannot be had")
    assert len(error.message) < 600


@pytest.mark.parametrize(
    "output",
    [
        "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE. If you have up",
        "ERROR: In --require-hashes mode, all requirements must have their versions pinned with =",
    ],
)
def test_a_wrong_lock_is_the_locks_fault(output: str) -> None:
    """A hash that does not match is no fault of the machine: the lock is named as the fix."""
    error = explain_pip(output, what="collecting the wheels of x")
    assert isinstance(error, DataError)
    assert "make image-locks" in error.fix


def test_other_failures_keep_pips_words() -> None:
    """What pip said last is in the message."""
    error = explain_pip("WARNING: noise\nERROR: Could not install: disk full\n", what="x")
    assert isinstance(error, PrerequisiteError)
    assert "disk full" in error.message
    assert "noise" not in error.message


@pytest.mark.parametrize("lock", LOCKS, ids=lambda p: p.parent.name)
def test_committed_locks_pin_everything_by_hash(lock: Path) -> None:
    """A lock holds names, versions and hashes, and no address of any index or folder."""
    logical = lock.read_text().replace("\\\n", " ").splitlines()
    for line in logical:
        assert re.fullmatch(
            r"#.*|[a-z0-9-]+==[0-9][^ ]*( ; [^-]*)?( +--hash=sha256:[0-9a-f]{64})+ *", line
        ), line
    assert "/" not in lock.read_text().replace("make image-locks", "")


def test_there_is_a_lock_for_each_image_that_installs_wheels() -> None:
    """No image's Dockerfile asks for wheels that no lock names."""
    assert ROOT is not None
    wanting = [
        dockerfile.parent
        for dockerfile in ROOT.glob("images/*/Dockerfile")
        if "requirements.lock" in dockerfile.read_text()
    ]
    assert sorted(wanting) == [lock.parent for lock in LOCKS]
