"""Organisers' reruns beside submissions: which count, and what they lift."""

import json
from pathlib import Path

import pytest

from memrig.errors import UsageError
from memrig.leaderboard.audits import read_audits
from memrig.leaderboard.entries import tier_of
from memrig.leaderboard.model import AuditMark
from memrig.model.canonical import canonical_json, digest_of
from memrig.submission.keys import Key, ephemeral_key

MANIFEST = digest_of("a manifest")


@pytest.fixture
def organiser() -> Key:
    return ephemeral_key()


def record(folder: Path, key: Key, name: str = "a", **changes: object) -> Path:
    audit = {"manifest_digest": MANIFEST, "passed": True, "summary": "5 cells agree", "more": [1]}
    audit |= {"fresh_seeds": True, **changes}
    signature = key.sign(canonical_json(audit)).model_dump()
    path = folder / f"{name}.audit.json"
    found = {"format": "memrig.audit/1", "audit": audit, "signature": signature}
    path.write_text(json.dumps(found), "utf-8")
    return path


def test_a_record_that_an_organiser_signed_counts(tmp_path: Path, organiser: Key) -> None:
    """For the submission whose manifest it names."""
    record(tmp_path, organiser)
    found = read_audits(tmp_path, [organiser.public], print)
    (mark,) = found[MANIFEST]
    assert (mark.key, mark.passed, mark.said) == (organiser.public, True, "5 cells agree")


def test_a_record_of_anybody_elses_does_not(tmp_path: Path, organiser: Key) -> None:
    """Anybody can put a file there, the submitter too; and it is told."""
    record(tmp_path, ephemeral_key())
    said: list[str] = []
    assert read_audits(tmp_path, [organiser.public], said.append) == {}
    assert "no organiser" in said[0]


def test_a_copy_of_a_record_counts_once(tmp_path: Path, organiser: Key) -> None:
    """Under its first name; one rerun is one rerun."""
    (tmp_path / "b.audit.json").write_bytes(record(tmp_path, organiser).read_bytes())
    said: list[str] = []
    assert len(read_audits(tmp_path, [organiser.public], said.append)[MANIFEST]) == 1
    assert said == ["audit record b.audit.json does not count: it is a copy of a.audit.json"]


def test_one_that_passed_without_fresh_seeds_does_not(tmp_path: Path, organiser: Key) -> None:
    """Answers that were brought along pass that; one that failed stands."""
    record(tmp_path, organiser, fresh_seeds=False)
    said: list[str] = []
    assert read_audits(tmp_path, [organiser.public], said.append) == {}
    assert "without fresh seeds" in said[0]
    record(tmp_path, organiser, fresh_seeds=False, passed=False)
    (mark,) = read_audits(tmp_path, [organiser.public], print)[MANIFEST]
    assert not mark.passed


@pytest.mark.parametrize("change", ["audit", "signature"])
def test_a_changed_record_does_not(tmp_path: Path, organiser: Key, change: str) -> None:
    """The signature is over what it says."""
    path = record(tmp_path, organiser, passed=False)
    found = json.loads(path.read_text("utf-8"))
    if change == "audit":
        found["audit"]["passed"] = True
    else:
        found["signature"] = organiser.sign(b"something else").model_dump()
    path.write_text(json.dumps(found), "utf-8")
    said: list[str] = []
    assert read_audits(tmp_path, [organiser.public], said.append) == {}
    assert "signature" in said[0]


@pytest.mark.parametrize(
    "text", ["", "[]", "{" * 5000, '{"format": "memrig.audit/2"}', '{"audit": NaN}', "\x00"]
)
def test_what_is_no_record_is_told_and_left(tmp_path: Path, organiser: Key, text: str) -> None:
    """It ends nothing."""
    (tmp_path / "x.audit.json").write_text(text, "utf-8")
    said: list[str] = []
    assert read_audits(tmp_path, [organiser.public], said.append) == {}
    assert len(said) == 1


def test_a_key_that_is_none_is_refused(tmp_path: Path) -> None:
    """A slip in it would make every record of that organiser's count for nothing."""
    with pytest.raises(UsageError, match="not a public key"):
        read_audits(tmp_path, ["abc"], print)


def mark(*, passed: bool) -> AuditMark:
    return AuditMark(file="a", key="k", passed=passed, said="")


def test_a_passed_rerun_lifts_the_tier() -> None:
    """Of what verified; nothing lifts what did not."""
    assert tier_of("recomputed", (mark(passed=True),)) == "organiser-rerun"
    assert tier_of("self-reported", (mark(passed=True),)) == "self-reported"
    assert tier_of("recomputed", ()) == "recomputed"


def test_a_failed_rerun_is_not_outvoted() -> None:
    """However many others passed."""
    marks = (mark(passed=True), mark(passed=False), mark(passed=True))
    assert tier_of("recomputed", marks) == "recomputed"
