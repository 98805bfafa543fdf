"""The event log of a world."""

import random
import sqlite3

import pytest

from memrig.errors import DataError, InfrastructureError
from memrig.suites.longhorizon import log as log_module
from memrig.suites.longhorizon.log import EventLog
from memrig.suites.longhorizon.model import Entity, PlannedTurn, WorldEvent

ADA = Entity("person/ada-vale", "person", "Ada Vale", sibling="person/ada-vane", holdout=True)
VANE = Entity("person/ada-vane", "person", "Ada Vane", sibling="person/ada-vale", holdout=True)
LOAD = Entity("metric/load", "metric", "load", unit="kWh")
TURNS = [
    (0, "people", "Nadia", "2031-05-05T08:00:00Z", 7),
    (1, "callbacks", "Piet", "2031-05-06T08:00:00Z", 2**32 - 1),
    (2, "distractors", "Nadia", "2031-05-07T08:00:00Z", 0),
]
EVENTS = [
    WorldEvent(0, 0, ADA.entity_id, "hometown", "stated", "Brisk", valid_from="2031-05-05"),
    WorldEvent(1, 0, ADA.entity_id, "role", "stated", "pilot", valid_from="2031-05-05"),
    WorldEvent(2, 1, ADA.entity_id, "hometown", "recalled", "Brisk", refers_to=0),
    WorldEvent(3, 1, VANE.entity_id, "hometown", "stated", "Oster", source="Piet"),
]


@pytest.fixture
def log():
    with EventLog.create() as made:
        made.add_entities([ADA, VANE, LOAD])
        made.add_turns(TURNS)
        made.add_events(EVENTS)
        yield made


def test_what_was_added_is_read_back_as_it_was(log):
    """Entities, events and turns come back equal, in their order."""
    assert list(log.entities()) == [ADA, VANE, LOAD]
    assert list(log.planned()) == [
        PlannedTurn(0, "people", "Nadia", TURNS[0][3], tuple(EVENTS[:2]), 7),
        PlannedTurn(1, "callbacks", "Piet", TURNS[1][3], tuple(EVENTS[2:]), 2**32 - 1),
        PlannedTurn(2, "distractors", "Nadia", TURNS[2][3], (), 0),
    ]
    assert log.turns == 3


def test_a_turn_is_read_by_its_index(log):
    """Its time, block and speaker."""
    assert (log.told_at(1), log.block(1), log.speaker(1)) == (TURNS[1][3], "callbacks", "Piet")


def test_an_entity_is_read_by_id_and_by_kind(log):
    """Its unit, sibling and set come with it."""
    assert log.entity("metric/load") == LOAD
    assert list(log.entities("person")) == [ADA, VANE]


def test_events_are_read_by_entity_and_attribute(log):
    """In the order of events; nothing of anybody else."""
    assert log.events(ADA.entity_id) == EVENTS[:3]
    assert log.events(ADA.entity_id, "hometown") == [EVENTS[0], EVENTS[2]]
    assert log.events("person/nobody") == []


def test_events_are_read_by_predicate_and_value(log):
    """A reverse look-up: who has this hometown."""
    assert list(log.holding("person", "hometown")) == [EVENTS[0], EVENTS[2], EVENTS[3]]
    assert list(log.holding("person", "hometown", "Oster")) == [EVENTS[3]]
    assert list(log.holding("host", "hometown")) == []


def test_an_event_knows_where_it_was_told_again(log):
    """`refers_to` is read backwards."""
    assert log.retold(0) == [EVENTS[2]]
    assert log.retold(1) == []


def test_more_may_be_added_after_reading(log):
    """What was read before is not what is read after."""
    assert log.turns == 3
    assert len(log.events(VANE.entity_id)) == 1
    late = WorldEvent(4, 3, VANE.entity_id, "role", "stated", "cook")
    log.add_turns([(3, "people", "Nadia", "2031-05-08T08:00:00Z", 1)])
    log.add_events([late])
    assert (log.turns, log.events(VANE.entity_id)[-1], log.event(4)) == (4, late, late)


@pytest.mark.parametrize("read", ["entity", "event", "told_at", "block", "speaker"])
def test_what_is_not_there_is_a_key_error(log, read):
    """Not an empty answer."""
    with pytest.raises(KeyError):
        getattr(log, read)("person/nobody" if read == "entity" else 99)


def test_two_streams_can_be_read_at_a_time(log):
    """Questions are looked up while turns are streamed."""
    seen = [(turn.index, log.event(0).value, len(list(log.entities()))) for turn in log.planned()]
    assert seen == [(0, "Brisk", 3), (1, "Brisk", 3), (2, "Brisk", 3)]


def test_a_log_outlives_its_process_where_it_has_a_path(tmp_path):
    """It is opened again with its seed."""
    path = tmp_path / "world.sqlite"
    with EventLog.create(path) as log:
        log.seed = 42
        log.add_entities([ADA])
        log.add_turns(TURNS)
        log.add_events(EVENTS)
    with EventLog.open(path) as log:
        assert (log.seed, log.turns) == (42, 3)
        assert log.event(3) == EVENTS[3]


def test_a_file_that_is_there_is_not_written_over(tmp_path):
    """It may be somebody's."""
    path = tmp_path / "world.sqlite"
    path.write_text("mine")
    with pytest.raises(DataError, match=r"world\.sqlite.*exists"):
        EventLog.create(path)
    assert path.read_text() == "mine"


def test_what_is_no_event_log_is_refused(tmp_path):
    """A missing file, a text, a database of something else."""
    text, other = tmp_path / "text", tmp_path / "other"
    text.write_text("a long line that is no database at all, whatever it may be called" * 20)
    database = sqlite3.connect(other)
    database.execute("CREATE TABLE x (y)")
    database.close()
    for path in (text, other, tmp_path / "missing"):
        with pytest.raises(DataError, match=f"{path.name}.*event log"):
            EventLog.open(path)


def test_entities_and_events_are_read_right_although_few_are_kept(monkeypatch):
    """The memory of what was read does not grow with the world."""
    monkeypatch.setattr(log_module, "_ENTITIES", 40)
    monkeypatch.setattr(log_module, "_KEPT", 8)
    with EventLog.create() as log:
        everybody = [Entity(f"person/p{n}", "person", f"P {n}") for n in range(300)]
        told = [WorldEvent(n, n, f"person/p{n}", "role", "stated", "cook") for n in range(300)]
        log.add_entities(everybody)
        log.add_events(told)
        rng = random.Random(1)  # noqa: S311
        for n in [*range(300), *(rng.randrange(300) for _ in range(500))]:
            assert log.entity(f"person/p{n}") == everybody[n]
            assert log.events(f"person/p{n}") == [told[n]]
        assert (len(log._entities), len(log._events)) <= (40, 8)


def test_a_full_disk_is_named():
    """SQLite spools to a folder of its own, which is not the one that is written to in the end."""
    with EventLog.create() as full:
        full._db.execute("PRAGMA max_page_count = 6")
        with pytest.raises(InfrastructureError, match="database or disk is full") as caught:
            full.add_turns((n, "people", "Nadia", "2031-05-05T08:00:00Z", n) for n in range(9_999))
    assert "SQLITE_TMPDIR" in caught.value.fix
