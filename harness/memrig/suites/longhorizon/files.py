"""A world as three JSONL files, for use without the rig; docs/formats.md has their fields."""

import json
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import BinaryIO

from memrig.suites.longhorizon.lexicon import LEXICON
from memrig.suites.longhorizon.log import EventLog
from memrig.suites.longhorizon.model import Turn, WorldEvent, turn_id
from memrig.suites.longhorizon.records import EventRecord, TurnRecord
from memrig.suites.longhorizon.render import told
from memrig.suites.longhorizon.spec import EVENTS_FILE, QUESTIONS_FILE, TURNS_FILE, WorldSpec
from memrig.suites.longhorizon.suite import questions_about
from memrig.suites.longhorizon.world import simulate

Lines = Iterator[bytes]

# The models say which fields there are. They are not made for each of a million lines: that takes
# longer than the world does.
_OF_TURN = tuple(TurnRecord.model_fields)
_OF_EVENT = tuple(n for n in EventRecord.model_fields if n in WorldEvent.__slots__)


def write_world(spec: WorldSpec, opened: Callable[[str], BinaryIO]) -> dict[str, str]:
    """Generates a world and writes it line by line; memory does not grow with its turns.

    Args:
        spec: of the world.
        opened: gives a file of this name to write to; it is closed here.

    Returns:
        The sha256 of each file, as hex digits.

    Raises:
        UsageError: the world does not have so many questions.
    """
    spec.check()
    with EventLog.create() as log:
        simulate(log, LEXICON, spec.seed, spec.turns)
        questions = questions_about(log, spec)
        contents: dict[str, Lines] = {
            TURNS_FILE: turn_lines(log),
            EVENTS_FILE: event_lines(log),
            QUESTIONS_FILE: (_line(q.model_dump(mode="json")) for q in questions),
        }
        return {name: _written(lines, opened(name)) for name, lines in contents.items()}


def turn_lines(log: EventLog) -> Lines:
    """The turns as they are told, in order."""
    for turn in told(log, LEXICON):
        yield _line(_turn(turn))


def event_lines(log: EventLog) -> Lines:
    """The event log, in order."""
    for turn in log.planned():
        for event in turn.events:
            yield _line(_event(log, event))


def _turn(turn: Turn) -> dict[str, object]:
    return {name: getattr(turn, name) for name in _OF_TURN}


def _event(log: EventLog, event: WorldEvent) -> dict[str, object]:
    entity = log.entity(event.entity)
    return {
        **{name: getattr(event, name) for name in _OF_EVENT},
        "turn_id": turn_id(event.turn),
        "entity_name": entity.name,
        "holdout": entity.holdout,
    }


def _line(value: dict[str, object]) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _written(lines: Lines, file: BinaryIO) -> str:
    digest = sha256()
    with file:
        for line in lines:
            digest.update(line)
            file.write(line)
    return digest.hexdigest()
