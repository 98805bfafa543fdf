"""Transcripts that may still be growing."""

import pytest

from memrig.errors import VerificationError
from memrig.model.canonical import digest_of
from memrig.model.transcript import QuestionRecord
from memrig.trial.transcript import TranscriptWriter, recover
from memrig.viewer.tail import Tails, records
from support.viewed import TORN, attempt, made_run, question


def test_a_torn_last_line_is_not_there_yet(tmp_path):
    """And it is left where it is: whoever resumes cuts it off."""
    path = made_run(tmp_path / "run", settled=2, sealed=False).transcript
    before = path.read_bytes()
    found = [record for record in records(path) if isinstance(record, QuestionRecord)]
    assert [record.question_id for record in found] == ["q1", "q2"]
    assert path.read_bytes() == before
    assert before.endswith(TORN)


def test_only_the_wanted_kinds_are_read(tmp_path):
    """A long trial has a line for every few episodes."""
    path = made_run(tmp_path / "run").transcript
    assert {record.kind for record in records(path, frozenset({"question"}))} == {"question"}


@pytest.mark.parametrize(
    "line", [b"{}\n", b"no json\n", b'{"record": {"kind": "question"}}\n', b"[" * 9999 + b"\n"]
)
def test_a_line_that_the_rig_never_writes_is_named(tmp_path, line):
    """By file and number; also where only some kinds are wanted."""
    path = tmp_path / "transcript.jsonl"
    path.write_bytes(line)
    with pytest.raises(VerificationError) as caught:
        list(records(path, frozenset({"flush"})))
    assert "line 1" in caught.value.where


def test_a_tally_goes_on_where_it_was(tmp_path):
    """What was read once is not read again."""
    made = made_run(tmp_path / "run", settled=1, sealed=False)
    tails = Tails()
    assert tails.tally(made.transcript).questions == 1
    _grow(made.transcript, digest_of(made.spec), made.spec.scenarios[0].scenario_id, "q2")
    tally = tails.tally(made.transcript)
    assert (tally.questions, tally.doing) == (2, "asking")
    assert [item.question_id for item in tally.recent] == ["q1", "q2"]


def _grow(path, digest, scenario, name):
    """Writes one more question, as a resumed trial does: the torn line goes first."""
    _, chain = recover(path, digest)
    with TranscriptWriter(path, chain) as writer:
        writer.append(question(scenario, name))


def test_another_file_is_read_from_its_beginning(tmp_path):
    """A transcript that was set aside leaves its place to a new one."""
    made = made_run(tmp_path / "run", settled=3, sealed=False)
    tails = Tails()
    assert tails.tally(made.transcript).questions == 3
    made.transcript.replace(made.partial / "abandoned-1.jsonl")
    made.transcript.write_bytes(b"")
    assert tails.tally(made.transcript).questions == 0


def test_a_new_attempt_ingests_from_the_beginning(tmp_path):
    """What the earlier one was given is gone with its pod; its answers are not."""
    made = made_run(tmp_path / "run", settled=2, sealed=False)
    _, chain = recover(made.transcript, digest_of(made.spec))
    with TranscriptWriter(made.transcript, chain) as writer:
        writer.append(attempt(made.spec, 2))
    tally = Tails().tally(made.transcript)
    assert (tally.attempts, tally.episodes, tally.questions) == (2, 0, 2)
    assert tally.doing == "starting its pod"
