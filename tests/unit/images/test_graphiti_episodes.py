"""images/graphiti: how episodes are told to it, and whose a fact is."""

import sys
from datetime import UTC, datetime
from pathlib import Path

from memrig_adapters import Episode, Turn

sys.path.insert(0, str(Path(__file__).parents[3] / "images" / "graphiti"))
from graphiti_episodes import PART_CHARACTERS, parts_of
from graphiti_ledger import Ledger

NOON = datetime(2023, 5, 8, 12, tzinfo=UTC)


def test_turns_are_lines_and_long_conversations_parts() -> None:
    """Cut between turns, so that each part is a conversation."""
    turns = tuple(Turn(f"t{n}", "Ann", f"{n} " + "x" * 6_000) for n in range(5))
    parts = list(parts_of(Episode("e", "rendered", turns=turns)))
    assert [part.count("Ann: ") for part in parts] == [2, 2, 1]
    assert all(len(part) <= PART_CHARACTERS for part in parts)


def test_a_text_is_cut_and_not_shortened() -> None:
    """All of it is told."""
    text = "y" * (2 * PART_CHARACTERS + 5)
    parts = list(parts_of(Episode("e", text)))
    assert [len(part) for part in parts] == [PART_CHARACTERS, PART_CHARACTERS, 5]


def test_the_sources_of_a_fact_are_the_episodes_of_its_parts(tmp_path: Path) -> None:
    """In graphiti's order; a part of a forgotten episode is nobody's."""
    ledger = Ledger(tmp_path / "episodes.db")
    for episode, uuid in (("a", "u1"), ("a", "u2"), ("b", "u3")):
        ledger.add_part(episode, uuid)
    ledger.finish("a", NOON)
    assert (ledger.holds("a"), ledger.holds("b")) == (True, False)
    assert ledger.episodes_of(["u3", "u1", "u2", "u9"]) == ["b", "a", "a"]
    ledger.remove("b")
    assert ledger.episodes_of(["u3", "u1"]) == ["a"]
    assert ledger.parts("a") == ["u1", "u2"]
    ledger.close()


def test_an_episode_without_a_time_is_told_as_of_the_newest(tmp_path: Path) -> None:
    """The data's own clock, never the machine's, and it survives a restart."""
    ledger = Ledger(tmp_path / "episodes.db")
    assert ledger.now(None) is None
    ledger.finish("late", NOON)
    ledger.finish("early", NOON.replace(year=1999))
    ledger.close()
    again = Ledger(tmp_path / "episodes.db")
    assert again.now(None) == NOON
    assert again.now(NOON.replace(year=2001)) == NOON.replace(year=2001)
    again.close()
