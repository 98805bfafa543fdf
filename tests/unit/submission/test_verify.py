"""A good submission passes; whatever else an archive holds is an objection, never a traceback."""

import errno
import json
import socket
from pathlib import Path

import pytest

from memrig.errors import PrerequisiteError, UsageError
from memrig.model.canonical import digest_bytes
from memrig.submission.checks.base import Check
from memrig.submission.model import Found, Verification
from memrig.submission.result import SHOWN, Ledger, Reading
from memrig.submission.runcheck import ALL
from memrig.submission.verify import opened, verify
from memrig.suites import spool
from support.submissions import (
    Change,
    Forgery,
    Submissions,
    forged,
    own_data,
    read_forgery,
    submissions,
)

__all__ = ["submissions"]

DEEP = b"[" * 100_000
HUGE = b"9" * 5_000


def failures(found: Verification) -> dict[str, int]:
    """The checks that object to something, and how often."""
    return {check.id: check.count for check in found.checks if check.count}


def objections(found: Verification, check_id: str) -> list[str]:
    """What a check objects to."""
    check = next(check for check in found.checks if check.id == check_id)
    return [f"{item.where}: {item.message}" for item in check.found]


class TestGood:
    """What the rig has made and packed."""

    @pytest.mark.parametrize(
        "kind",
        [
            "reader",
            "repeats",
            pytest.param("practical", marks=pytest.mark.slow),
            pytest.param("longhorizon", marks=pytest.mark.slow),
        ],
    )
    def test_it_passes_every_check(self, submissions: Submissions, kind):
        """With warnings at most, and each check made."""
        found = verify(submissions(kind))
        assert {c.id: c.found or c.skipped for c in found.checks if not c.passed} == {}
        assert found.passed
        assert found.tier == "recomputed"
        assert {check.id for check in ALL} < {check.id for check in found.checks}

    def test_neither_network_nor_key_nor_container_is_needed(
        self, submissions: Submissions, monkeypatch, tmp_path
    ):
        """Every socket is broken, and the home is empty."""
        file = submissions("reader")

        def refuse(*_: object) -> None:
            raise AssertionError("a verifier opens no connection")

        monkeypatch.setattr(socket.socket, "connect", refuse)
        for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
            monkeypatch.setenv(name, str(tmp_path / "empty"))
        monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
        assert verify(file).passed

    def test_the_same_archive_gives_the_same_bytes(self, submissions: Submissions, tmp_path):
        """Wherever it lies."""
        copy = tmp_path / submissions("reader").name
        copy.write_bytes(submissions("reader").read_bytes())
        first, second = verify(submissions("reader")), verify(copy)
        assert first.model_dump_json() == second.model_dump_json()

    def test_it_says_whose_it_is(self, submissions: Submissions):
        """By the manifest's digest, which the key has signed."""
        with opened(submissions("repeats")) as found:
            assert found.signature is not None
            assert found.verification.key == found.signature.key
            raw = (found.folder / "manifest.json").read_bytes()
            assert found.verification.manifest_digest == digest_bytes(raw)

    def test_without_a_profile_it_is_open(self, submissions: Submissions):
        """There is nothing to differ from."""
        found = verify(submissions("repeats"))
        assert (found.profile, found.division, found.differences) == ("", "open", ())

    def test_what_differs_from_its_profile_makes_it_open_by_name(
        self, submissions: Submissions, tmp_path
    ):
        """Whatever manifest and lock call it."""

        def change(forgery: Forgery) -> None:
            forgery.manifest = forgery.manifest.model_copy(update={"profile": "official-v1"})

        claim = locked(profile="official-v1", tier="no-key")
        found = verify(forged(submissions("repeats"), tmp_path / "x.memrig", claim, change))
        assert (found.profile, found.division) == ("official-v1", "open")
        assert "practical: repeats: 1 → 2" in found.differences

    def test_a_profile_that_nobody_knows_is_open(self, submissions: Submissions, tmp_path):
        """It is named, and is no error of the verifier's."""

        def change(forgery: Forgery) -> None:
            forgery.manifest = forgery.manifest.model_copy(update={"profile": "my-own"})

        found = verify(forged(submissions("repeats"), tmp_path / "x.memrig", change))
        assert (found.division, found.differences) == ("open", ("there is no profile 'my-own'",))

    def test_its_runs_can_be_looked_into_while_it_is_open(self, submissions: Submissions):
        """As run folders that were graded again, with the scenarios made again."""
        with opened(submissions("reader")) as found:
            (run,) = found.runs
            own = submissions.run("reader")
            assert run.entry.run_id == own.name == run.report.run_id
            assert run.lock.digest == run.entry.lock_digest
            assert run.directory.grades.read_bytes() == (own / "grades.jsonl").read_bytes()
            assert run.directory.record.is_file()
            names = sorted(path.name for path in run.directory.scenarios.iterdir())
            assert names == sorted(path.name for path in (own / "scenarios").iterdir())
        assert not found.folder.exists()


class TestArchive:
    """What is wrong with the file itself ends the verification."""

    def test_a_file_that_is_none_is_the_users_error(self, tmp_path):
        """Nothing was verified."""
        with pytest.raises(UsageError):
            verify(tmp_path / "nothing.memrig")

    def test_a_flipped_byte_leaves_the_rest_unmade(self, submissions: Submissions, tmp_path):
        """Each check that was left out says why, and none of them counts as passed."""
        raw = bytearray(submissions("repeats").read_bytes())
        raw[len(raw) // 2] ^= 1
        (tmp_path / "flipped.memrig").write_bytes(raw)
        with opened(tmp_path / "flipped.memrig") as found:
            assert not found.verification.passed
            assert found.runs == ()
        (failed,) = failures(found.verification)
        assert failed.startswith("archive.")
        made = {check.id: check.skipped for check in found.verification.checks}
        assert {made[check.id] for check in ALL} == {f"{failed} failed"}
        assert found.verification.tier == "self-reported"

    def test_what_is_no_archive_is_an_objection(self, tmp_path):
        """Even without a manifest there is a result."""
        (tmp_path / "text.memrig").write_text("hello")
        found = verify(tmp_path / "text.memrig")
        assert not found.passed
        assert (found.manifest_digest, found.key, found.division) == ("", "", "open")


def replaced(name: str, old: bytes, new: bytes) -> Change:
    """A file of the run (or of its scored trial) in which the first of something is another."""

    def change(forgery: Forgery) -> None:
        path = f"{forgery.run if '.' in name else forgery.scored}/{name}"
        path = path if path in forgery.files else f"{forgery.scored}/{name}"
        assert old in forgery.files[path], (path, old)
        forgery.files[path] = forgery.files[path].replace(old, new, 1)

    return change


def written(name: str, content: bytes) -> Change:
    """A file of the run, or of its scored trial, with another content."""

    def change(forgery: Forgery) -> None:
        path = f"{forgery.run}/{name}"
        path = path if path in forgery.files else f"{forgery.scored}/{name}"
        assert path in forgery.files
        forgery.files[path] = content

    return change


class TestParsing:
    """What does not parse strictly is an objection to the file, wherever it stands."""

    @pytest.mark.parametrize(
        ("change", "check"),
        [
            (written("lock.json", b"{}"), "parse.files"),
            (written("lock.json", DEEP), "parse.files"),
            (replaced("lock.json", b'"top_k": 10', b'"top_k": ' + HUGE), "parse.files"),
            (replaced("lock.json", b'"top_k": 10', b'"top_k": 9007199254740993'), "parse.files"),
            (replaced("lock.json", b'"flush": 600.0', b'"flush": NaN'), "parse.files"),
            (replaced("lock.json", b'"ingest": 3600.0', b'"ingest": Infinity'), "parse.files"),
            (replaced("lock.json", b'"suite": "practical"', b'"suite": "\\ud800"'), "parse.files"),
            (replaced("lock.json", b'"suite": "practical"', b'"suite": "\xff"'), "parse.files"),
            (replaced("lock.json", b'"suite"', b'"more": 1, "suite"'), "parse.files"),
            (written("executions.jsonl", b"{}\n"), "parse.files"),
            (replaced("executions.jsonl", b"}\n", b"}"), "parse.files"),
            (written("spec.json", b"[]"), "parse.trials"),
            (written("spec.json", DEEP), "parse.trials"),
            (replaced("spec.json", b'"repeat":0', b'"repeat":-1'), "parse.trials"),
            (replaced("spec.json", b'"repeat":0', b'"repeat":1,"repeat":0'), "parse.trials"),
            (replaced("spec.json", b'"repeat":0,', b""), "parse.trials"),
            (replaced("lock.json", b'"top_k"', b'"top_k": 99, "top_k"'), "parse.files"),
            (replaced("executions.jsonl", b'{"elsewhere"', b'{ "elsewhere"'), "parse.files"),
            (written("outcome.json", b"\xff\xfe"), "parse.trials"),
            (written("transcript.jsonl", b""), "chain.intact"),
            (written("transcript.jsonl", DEEP + b"\n"), "chain.intact"),
            (written("transcript.jsonl", b'{"seq":' + HUGE + b"}\n"), "chain.intact"),
            (written("transcript.jsonl", b'{"seq":0,"prev":"","record":{"kind":"\\ud800"}}\n'),
             "chain.intact"),
            (replaced("transcript.jsonl", b'"kind":"question"', b'"kind":"riddle"'),
             "chain.intact"),
            (replaced("transcript.jsonl", b'"status":"answered"', b'"status":"abstained"'),
             "chain.intact"),
        ],
    )  # fmt: skip
    def test_it_is_named_and_nothing_breaks(
        self, submissions: Submissions, tmp_path, change: Change, check
    ):
        """The archive around it is sound: the forger has signed it."""
        found = verify(forged(submissions("repeats"), tmp_path / "x.memrig", change))
        assert failures(found).get(check) == 1, failures(found)
        assert not any(name.startswith("archive.") for name in failures(found))
        (said,) = objections(found, check)
        assert "memrig-archive-" not in said  # where it was unpacked says nothing to anybody
        assert found.tier == "self-reported"

    @pytest.mark.parametrize("content", [b"{}\n", DEEP + b"\n"])
    def test_the_record_of_model_calls_too(self, submissions: Submissions, tmp_path, content):
        """And what hangs on it is left out."""
        change = written("models.jsonl", content)
        found = verify(forged(submissions("reader"), tmp_path / "x.memrig", change))
        assert failures(found) == {"parse.files": 1}
        skipped = {check.id: check.skipped for check in found.checks if check.skipped}
        assert skipped["cells.complete"] == skipped["grades.made"] == "parse.files failed"

    def test_what_stands_on_an_unreadable_run_is_left_out(self, submissions: Submissions, tmp_path):
        """And says what has failed."""
        change = written("lock.json", b"{}")
        found = verify(forged(submissions("repeats"), tmp_path / "x.memrig", change))
        skipped = {check.id: check.skipped for check in found.checks if check.skipped}
        assert skipped == {check.id: "parse.files failed" for check in ALL[1:]}


class TestData:
    """Data that does not ship is found by its digest, or named."""

    def test_without_it_there_is_no_verdict(self, submissions: Submissions, monkeypatch, tmp_path):
        """Exit code 3: what to fetch, and how to give it."""
        file = submissions("own")
        monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
        with pytest.raises(PrerequisiteError, match="sha256:") as caught:
            verify(file)
        assert caught.value.exit_code == 3
        assert "--data" in caught.value.fix

    def test_with_it_everything_is_recomputed(self, submissions: Submissions):
        """From a folder that the user names."""
        assert verify(submissions("own"), [own_data(submissions.base)]).passed

    def test_a_folder_that_is_not_there_is_the_users_error(self, submissions, tmp_path):
        """Whether it is needed or not."""
        with pytest.raises(UsageError, match="no such folder"):
            verify(submissions("repeats"), [tmp_path / "nowhere"])


def locked(**changes: object) -> Change:
    """A lock with other values, which the manifest names by its new digest."""

    def change(forgery: Forgery) -> None:
        forgery.put_lock(forgery.json(f"{forgery.run}/lock.json") | changes)

    return change


def test_a_full_disk_is_no_fault_of_the_archive(submissions: Submissions, monkeypatch):
    """Exit code 3: there is no verdict."""

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    file = submissions("repeats")
    monkeypatch.setattr(spool, "_write_gold", full)
    with pytest.raises(PrerequisiteError, match="No space left on device"):
        verify(file)


class TestFrame:
    """What a lock says decides what can be checked at all."""

    @pytest.mark.parametrize(
        ("changes", "told"),
        [
            ({"suite": "mine"}, "no suite 'mine'"),
            ({"options": {"turns": "10"}}, "takes no --turns"),
            ({"options": {"colour": "red"}}, "no option 'colour'"),
            ({"limit": -1}, "is no number of questions"),
            ({"seeds": list(range(1000))}, "1000 seeds, and only"),
        ],
    )
    def test_scenarios_that_cannot_be_made_are_an_objection(
        self, submissions: Submissions, tmp_path, changes, told
    ):
        """What hangs on them is left out."""
        found = verify(forged(submissions("repeats"), tmp_path / "x.memrig", locked(**changes)))
        (said,) = objections(found, "data.respooled")
        assert told in said
        skipped = {check.id for check in found.checks if check.skipped}
        assert {"cells.scenarios", "chain.intact", "grades.recomputed"} <= skipped

    def test_a_run_of_other_data_is_not_held_against_ours(self, submissions, tmp_path):
        """Its trials would differ in everything."""
        data = {"name": "practical", "origin": "built in", "sha256": "sha256:" + "0" * 64}
        found = verify(forged(submissions("repeats"), tmp_path / "x.memrig", locked(data=data)))
        assert "cells.data" in failures(found)
        skipped = {check.id: check.skipped for check in found.checks if check.skipped}
        assert skipped["chain.intact"] == skipped["grades.recomputed"] == "cells.data failed"

    def test_a_missing_trial_does_not_hide_the_others(self, submissions, tmp_path):
        """Only the grades need them all."""

        def change(forgery: Forgery) -> None:
            gone = forgery.scored
            forgery.files = {
                path: raw for path, raw in forgery.files.items() if not path.startswith(gone)
            }

        found = verify(forged(submissions("repeats"), tmp_path / "x.memrig", change))
        assert failures(found)["cells.complete"] == 1
        skipped = {check.id: check.skipped for check in found.checks if check.skipped}
        assert "chain.intact" not in skipped
        assert skipped["grades.made"] == "cells.complete failed"


class TestGrades:
    """All numbers are made again."""

    def test_a_better_grade_is_found_out(self, submissions: Submissions, tmp_path):
        """By its line, its question and its figure."""

        def change(forgery: Forgery) -> None:
            path = f"{forgery.run}/grades.jsonl"
            lines = forgery.lines(path)
            scores = lines[3]["scores"]
            name = next(iter(scores))
            scores[name] = 1.0 if scores[name] != 1.0 else 0.5
            forgery.put_lines(path, lines)

        found = verify(forged(submissions("repeats"), tmp_path / "x.memrig", change))
        assert failures(found) == {"grades.recomputed": 1}
        assert "grades.jsonl line 4" in objections(found, "grades.recomputed")[0]

    def test_the_last_digit_of_a_figure_counts(self, submissions: Submissions, tmp_path):
        """Floats are compared to the bit."""

        def change(forgery: Forgery) -> None:
            path = f"{forgery.run}/report.json"
            report = forgery.json(path)
            report["metrics"][0]["value"] += 1e-15
            forgery.files[path] = json.dumps(report).encode()

        found = verify(forged(submissions("repeats"), tmp_path / "x.memrig", change))
        assert failures(found) == {"report.recomputed": 1}

    def test_a_transcript_that_cannot_be_graded_is_an_objection(
        self, submissions: Submissions, tmp_path
    ):
        """Its questions are no longer those of the scenario: nothing breaks on it."""

        def change(forgery: Forgery) -> None:
            records = forgery.records(forgery.scored)
            for record in records:
                if record["kind"] == "question":
                    record["question_id"] += "?"
            forgery.put_records(forgery.scored, records)

        found = verify(forged(submissions("repeats"), tmp_path / "x.memrig", change))
        assert failures(found)["questions.settled"] > 1
        skipped = {check.id: check.skipped for check in found.checks if check.skipped}
        assert skipped["grades.made"] == "questions.settled failed"


class TestForgery:
    """The forger's tools, which the tests of cheating stand on."""

    def test_what_is_only_sealed_anew_is_still_good(self, submissions: Submissions, tmp_path):
        """Chain, counts and hashes fit: nothing but meaning can give a change away."""

        def change(forgery: Forgery) -> None:
            for trial in forgery.trials:
                forgery.put_records(trial, forgery.records(trial))
            forgery.put_lock(forgery.json(f"{forgery.run}/lock.json"))

        before = read_forgery(submissions("reader"))
        file = forged(submissions("reader"), tmp_path / "same.memrig", change)
        assert read_forgery(file) == before
        assert verify(file).passed


class TestLedger:
    """What becomes of checks over many runs and trials."""

    CHECK = Check("a.b", "It holds", "a cheat", lambda numbers: map(_found, numbers))
    WARNING = Check("a.c", "It holds", "a habit", lambda n: map(_found, n), severity="warning")

    def test_objections_are_counted_and_only_some_are_kept(self):
        """An archive can be wrong in more places than anybody reads."""
        ledger = Ledger([self.CHECK])
        assert not ledger.make(self.CHECK, range(15))
        assert not ledger.make(self.CHECK, range(15))
        assert ledger.make(self.CHECK, ())
        (result,) = ledger.results()
        assert (result.count, len(result.found), result.passed) == (30, SHOWN, False)

    def test_a_check_that_breaks_fails(self):
        """An archive must not pass because a check broke on it."""
        broken: Check[int] = Check("a.b", "It holds", "a cheat", lambda number: [1 // number])
        ledger = Ledger([broken])
        assert not ledger.make(broken, 0)
        (result,) = ledger.results()
        assert "ZeroDivisionError" in result.found[0].message

    def test_what_was_never_made_has_not_passed(self):
        """Nothing is taken for granted."""
        (result,) = Ledger([self.CHECK]).results()
        assert not result.passed
        assert result.skipped

    def test_one_run_that_was_left_out_is_enough(self):
        """Although another one passed."""
        ledger = Ledger([self.CHECK])
        ledger.make(self.CHECK, ())
        ledger.skip([self.CHECK], "parse.files failed")
        (result,) = ledger.results()
        assert (result.skipped, result.passed) == ("parse.files failed", False)

    def test_long_and_broken_text_is_cut_and_made_writable(self):
        """A message holds values of the archive."""
        ledger = Ledger([reading := Reading("a.b", "It holds", "a cheat")])
        ledger.object(reading, "\ud800", "x" * 10_000)
        (result,) = ledger.results()
        assert result.found[0].where == "\\ud800"
        assert len(result.found[0].message) == 500
        assert result.model_dump_json()


def _found(number: int) -> Found:
    return Found(where=f"line {number}", message="is wrong")


def test_the_names_of_all_checks_are_their_own():
    """Two by one name would hide each other."""
    names = [check.id for check in ALL]
    assert len(set(names)) == len(names)
    assert all("." in check.id and check.title and check.reason for check in ALL)


def test_a_forged_archive_is_still_an_archive(submissions: Submissions, tmp_path: Path):
    """Otherwise the tests above would find nothing but broken hashes."""
    assert verify(forged(submissions("repeats"), tmp_path / "same.memrig")).passed
