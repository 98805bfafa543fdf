"""images/mem0: how episodes become messages, filters a range, and results hits; its ledger."""

import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memrig_adapters import Episode, Filter, Operator, Turn

sys.path.insert(0, str(Path(__file__).parents[3] / "images" / "mem0"))
from mem0_episodes import (
    PROMPT_CHARACTERS,
    conditions,
    hit_of,
    metadata_of,
    parts_of,
    place_of,
)
from mem0_ledger import Ledger

NOON = datetime(2023, 5, 8, 12, tzinfo=UTC)
EVENING = datetime(2023, 5, 8, 20, tzinfo=UTC)


def test_assistants_keep_their_role_and_people_their_names() -> None:
    """mem0 knows two roles; who else speaks stands in the text. Silent turns are left out."""
    said = (("user", "hi"), ("Assistant", "hello"), ("Ann", "I like tea"), ("Bob", " "))
    turns = tuple(Turn(f"t{n}", who, text) for n, (who, text) in enumerate(said))
    (part,) = parts_of(Episode("e", "rendered", turns=turns))
    assert [(m["role"], m["content"]) for m in part] == [
        ("user", "hi"),
        ("assistant", "hello"),
        ("user", "Ann: I like tea"),
    ]


def test_a_long_episode_is_told_in_parts_and_nothing_is_lost() -> None:
    """No part of several messages is longer than a prompt may be; a text is cut, not shortened."""
    text = "".join(chr(97 + n % 26) for n in range(2 * PROMPT_CHARACTERS + 5))
    parts = list(parts_of(Episode("e", text)))
    assert len(parts) == 3
    assert "".join(m["content"] for part in parts for m in part) == text

    turns = tuple(Turn(f"t{n}", "user", "x" * 6_000) for n in range(5))
    assert [len(part) for part in parts_of(Episode("e", "t", turns=turns))] == [2, 2, 1]


@pytest.mark.parametrize(
    ("operators", "range_"),
    [
        ({Operator.GREATER_OR_EQUAL: NOON}, {"gte": NOON}),
        ({Operator.LESS: NOON}, {"lt": NOON}),
        ({Operator.EQUAL: NOON}, {"gte": NOON, "lte": NOON}),
        ({Operator.GREATER_OR_EQUAL: NOON, Operator.LESS: EVENING}, {"gte": NOON, "lt": EVENING}),
        (
            {Operator.EQUAL: NOON, Operator.GREATER_OR_EQUAL: EVENING},
            {"gte": EVENING, "lte": NOON},
        ),
    ],
    ids=["from", "before", "at", "between", "contradiction"],
)
def test_filters_are_one_range(
    operators: dict[Operator, datetime], range_: dict[str, datetime]
) -> None:
    """All of them hold together: the tightest bounds, in texts that compare as times do."""
    given = [Filter("timestamp", operator, time) for operator, time in operators.items()]
    expected = {name: time.isoformat(timespec="microseconds") for name, time in range_.items()}
    assert conditions(given) == {"episode_time": expected}


def test_no_filter_is_no_condition() -> None:
    """Episodes without a time are found where no time is asked for."""
    assert conditions(()) == {}


def test_a_memory_names_its_episode_turn_and_time() -> None:
    """What goes in as metadata comes out as sources."""
    known = {**metadata_of(Episode("e7", "text", NOON), 3), "place": 2, "turn_id": "t1"}
    item = {"id": "m", "memory": "tea", "score": 0.5, "metadata": known}
    hit = hit_of(item)
    assert (hit.source_episode_ids, hit.source_turn_ids) == (("e7",), ("t1",))
    assert hit.timestamp == NOON
    assert place_of(item) == (3, 2)


def test_an_extracted_fact_without_time_or_turn_has_none() -> None:
    """Nothing is guessed."""
    known = metadata_of(Episode("e7", "text"), 1)
    hit = hit_of({"id": "m", "memory": "tea", "score": 0.5, "metadata": known})
    assert (hit.source_turn_ids, hit.timestamp) == ((), None)


def test_an_episode_counts_once_it_was_stored_whole(tmp_path: Path) -> None:
    """Begun is not taken: after a kill amid an episode, it is found to be begun."""
    ledger = Ledger(tmp_path / "episodes.db")
    assert ledger.begin("a") == (1, False)
    assert not ledger.holds("a")
    ledger.close()

    again = Ledger(tmp_path / "episodes.db")
    assert again.begin("a") == (1, True)
    again.finish("a", 4)
    assert again.holds("a")
    assert again.items() == 4
    again.remove(["a"])
    assert (again.holds("a"), again.items()) == (False, 0)
    assert again.begin("b")[0] > 1  # the order of arrival never repeats a place
    again.close()
