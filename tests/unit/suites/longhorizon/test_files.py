"""`memrig generate longhorizon`: three files for use without the rig."""

import errno
import json
import os
import subprocess
import sys

import pytest

from memrig.errors import InfrastructureError, UsageError, VerificationError
from memrig.generate import check_longhorizon, generate_longhorizon
from memrig.suites.longhorizon import files
from memrig.suites.longhorizon.questions import WorldQuestion
from memrig.suites.longhorizon.schema import PREDICATES, SHARES
from memrig.suites.longhorizon.spec import FILES, WorldSpec

SPEC = WorldSpec(seed=7, turns=400, questions=45)


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """A world that was written."""
    folder = tmp_path_factory.mktemp("world")
    generate_longhorizon(SPEC, folder)
    return folder


def lines(path):
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def test_there_are_three_files_and_nothing_else(out):
    """What was written aside is gone."""
    assert sorted(path.name for path in out.iterdir()) == sorted(FILES)


def test_turns_are_numbered_and_name_their_events(out):
    """Every event is named by the turn that tells it, and by no other."""
    turns, events = lines(out / "turns.jsonl"), lines(out / "events.jsonl")
    assert [turn["index"] for turn in turns] == list(range(400))
    assert {turn["block"] for turn in turns} <= set(SHARES)
    told = [(number, turn["turn_id"]) for turn in turns for number in turn["events"]]
    assert told == [(event["event_id"], event["turn_id"]) for event in events]


def test_events_are_of_known_predicates(out):
    """Kind and attribute as in the schema; the entity's name is beside its id."""
    for event in lines(out / "events.jsonl"):
        assert f"{event['entity'].split('/')[0]}.{event['attribute']}" in PREDICATES
        assert event["entity_name"]


def test_questions_can_be_read_back(out):
    """As the model that docs/formats.md describes; their evidence is in the turns."""
    turns = {turn["turn_id"]: turn["index"] for turn in lines(out / "turns.jsonl")}
    events = {event["event_id"]: event for event in lines(out / "events.jsonl")}
    questions = [WorldQuestion.model_validate(line) for line in lines(out / "questions.jsonl")]
    assert len(questions) == 45
    for question in questions:
        assert all(turns[turn] < question.asked_after for turn in question.evidence)
        for hop in question.hops:
            event = events[hop.event_id]
            assert (event["entity"], event["turn_id"]) == (hop.entity, hop.turn_id)


def test_what_was_written_is_checked_to_the_byte(out, tmp_path):
    """Making it again gives the same; a changed byte, or another seed, is seen."""
    assert check_longhorizon(SPEC, out) == generate_longhorizon(SPEC, out)
    generate_longhorizon(SPEC, tmp_path)
    with (tmp_path / "events.jsonl").open("ab") as file:
        file.write(b" ")
    with pytest.raises(VerificationError, match="is not what this seed makes"):
        check_longhorizon(SPEC, tmp_path)
    with pytest.raises(VerificationError, match="is not what this seed makes"):
        check_longhorizon(WorldSpec(seed=8, turns=400, questions=45), out)


def test_a_file_that_is_not_there_is_said_to_be_missing(out, tmp_path):
    """It does not differ: there is nothing to compare."""
    with pytest.raises(VerificationError, match="is missing") as caught:
        check_longhorizon(SPEC, tmp_path)
    assert caught.value.where == str(tmp_path / "turns.jsonl")


@pytest.mark.parametrize(
    ("spec", "where"),
    [
        (WorldSpec(seed=7, turns=100, questions=3), "--questions 3"),
        (WorldSpec(seed=7, turns=50, questions=30), "--turns 50"),
        (WorldSpec(seed=7, turns=10_000_000, questions=30), "--turns 10000000"),
        (WorldSpec(seed=-3, turns=100, questions=30), "--seed -3"),
        (WorldSpec(seed=2**53, turns=100, questions=30), f"--seed {2**53}"),
    ],
)
def test_what_is_not_offered_is_refused_before_anything_is_made(tmp_path, spec, where):
    """Not even the folder; the flag and its value are named."""
    with pytest.raises(UsageError) as caught:
        generate_longhorizon(spec, tmp_path / "new")
    assert caught.value.where == where
    assert not (tmp_path / "new").exists()


@pytest.mark.slow
def test_nothing_is_written_where_there_are_not_so_many_questions(tmp_path):
    """Neither a file nor what was written aside; the message says how many there are."""
    with pytest.raises(UsageError, match=r"has \d+ such questions, not 9,000"):
        generate_longhorizon(WorldSpec(seed=7, turns=100, questions=9_000), tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("below", [(), ("deeper",)])
def test_a_file_is_no_folder_to_write_to(tmp_path, below):
    """Nor is a place below one; it is the flag that is wrong."""
    (tmp_path / "taken").write_text("mine")
    place = tmp_path.joinpath("taken", *below)
    with pytest.raises(UsageError, match="cannot be written to") as caught:
        generate_longhorizon(SPEC, place)
    assert caught.value.where == f"--out {place}"
    assert (tmp_path / "taken").read_text() == "mine"


def test_the_hash_seed_of_the_process_changes_nothing(out):
    """The same bytes in another process, whatever order its sets have."""
    program = (
        "from pathlib import Path; import sys\n"
        "from memrig.generate import check_longhorizon\n"
        "from memrig.suites.longhorizon.spec import WorldSpec\n"
        "check_longhorizon(WorldSpec(7, 400, 45), Path(sys.argv[1]))\n"
    )
    for hash_seed in ("0", "4711"):
        done = subprocess.run(
            [sys.executable, "-c", program, str(out)],
            env=os.environ | {"PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")


def test_a_full_disk_leaves_nothing_half_written(tmp_path, monkeypatch):
    """The place is named; files that were there before stay as they are."""
    (tmp_path / "turns.jsonl").write_text("old")

    def write(spec, opened):
        with opened("turns.jsonl") as file:
            file.write(b"half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(files, "write_world", write)
    with pytest.raises(InfrastructureError, match="No space left") as caught:
        generate_longhorizon(SPEC, tmp_path)
    assert caught.value.where == str(tmp_path)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [
        ("turns.jsonl", "old")
    ]
