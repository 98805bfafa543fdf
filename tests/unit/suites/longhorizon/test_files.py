"""`memrig generate longhorizon`: three files for use without the rig."""

import json
import os
import subprocess
import sys

import pytest

from memrig.errors import UsageError, VerificationError
from memrig.generate import check_longhorizon, generate_longhorizon
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


def test_nothing_is_written_where_it_cannot_be_made(tmp_path):
    """Neither a file nor what was written aside."""
    with pytest.raises(UsageError, match="categories"):
        generate_longhorizon(WorldSpec(seed=7, turns=100, questions=3), tmp_path / "new")
    assert list((tmp_path / "new").iterdir()) == []


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
