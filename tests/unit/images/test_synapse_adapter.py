"""images/synapse: what becomes a memory, and how recalled ones become hits with their sources."""

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from memrig_adapters import Duplicate, Episode, Query, Turn
from memrig_adapters.errors import NotFound, Rejected

sys.path.insert(0, str(Path(__file__).parents[3] / "images" / "synapse"))
import synapse_adapter
from synapse_adapter import SynapseAdapter

NOON = datetime(2023, 5, 8, 12, tzinfo=UTC)
DIALOGUE = Episode(
    "e1",
    "Ann: I like tea\nBob: \nBob: I like beer",
    NOON,
    (Turn("t1", "Ann", "I like tea"), Turn("t2", "Bob", " "), Turn("t3", "Bob", "I like beer")),
)
PLAIN = Episode("e2", "Ann: tea again", NOON)


class Store:
    """Synapse's surface as the adapter uses it: what shares a word with a query, newest first."""

    def __init__(self):
        self.store = SimpleNamespace(memories={})

    def remember(self, text, *, deduplicate):
        self.deduplicated = deduplicate
        return self.put(text, ())

    def put(self, text, summary_of):
        number = len(self.store.memories) + 1
        self.store.memories[number] = {"content": text, "summary_of": str(list(summary_of))}
        return SimpleNamespace(id=number, content=text, summary_of=list(summary_of))

    def recall(self, context, limit):
        words = set(context.split())
        return [
            SimpleNamespace(id=n, content=m["content"], summary_of=json.loads(m["summary_of"]))
            for n, m in sorted(self.store.memories.items(), reverse=True)
            if words & set(m["content"].split())
        ][:limit]

    def forget(self, number):
        return self.store.memories.pop(number, None) is not None


@pytest.fixture
def make(monkeypatch):
    """Makes a started adapter over the store above."""
    monkeypatch.setattr(synapse_adapter, "version", lambda _: "0.13.1")

    def made(**options):
        adapter = SynapseAdapter(Store, **options)
        adapter.start()
        return adapter

    return made


def told(adapter):
    return [memory["content"] for memory in adapter._store.store.memories.values()]


def test_a_turn_that_says_something_is_a_memory_with_its_speaker(make):
    """As the published benchmark stores them; an episode without turns is one memory, as it is."""
    adapter = make()
    assert adapter.ingest(DIALOGUE) == 2
    assert adapter.ingest(PLAIN) == 1
    assert told(adapter) == ["Ann: I like tea", "Bob: I like beer", "Ann: tea again"]
    assert adapter.flush() == 3


def test_a_known_episode_is_not_stored_again(make):
    """Protocol §6.4."""
    adapter = make()
    adapter.ingest(PLAIN)
    assert adapter.ingest(PLAIN) == Duplicate()
    assert len(told(adapter)) == 1


def test_an_episode_that_takes_too_long_is_rejected_with_the_reason(make):
    """Synapse's time grows with the text, and the rig waits 30 s."""
    adapter = make()
    with pytest.raises(Rejected, match="100,001 characters"):
        adapter.ingest(Episode("long", "a" * 100_001))
    assert adapter.ingest(Episode("fits", "a" * 100_000)) == 1
    assert "long" not in adapter._memories


def test_hits_stand_in_synapses_order_with_episode_turn_and_time(make):
    """Scores fall with the rank, since Synapse names none."""
    adapter = make()
    adapter.ingest(DIALOGUE)
    adapter.ingest(PLAIN)
    first, second = adapter.search(Query("tea", 10))
    assert (first.source_episode_ids, first.source_turn_ids, first.score) == (("e2",), (), 1)
    assert (second.source_episode_ids, second.source_turn_ids) == (("e1",), ("t1",))
    assert second.score == 0.5
    assert second.timestamp == NOON


def test_what_consolidation_made_claims_all_that_it_was_made_of(make):
    """An episode stands once, however many of its turns went into it."""
    adapter = make()
    adapter.ingest(DIALOGUE)
    adapter.ingest(PLAIN)
    made = adapter._store.put("[pattern] drinks", (3, 1, 2))
    (hit,) = adapter.search(Query("drinks", 10))
    assert hit.source_episode_ids == ("e2", "e1")
    assert hit.source_turn_ids == ("t1", "t3")
    assert hit.timestamp is None
    assert adapter.retrieve(str(made.id)).source_episode_ids == ("e2", "e1")


def test_forgetting_takes_every_memory_of_an_episode(make):
    """The other episodes stay, and an unknown id counts nothing."""
    adapter = make()
    adapter.ingest(DIALOGUE)
    adapter.ingest(PLAIN)
    assert adapter.forget(["e1", "nobody"]) == 1
    assert told(adapter) == ["Ann: tea again"]
    with pytest.raises(NotFound):
        adapter.retrieve("1")


def test_a_ref_that_is_no_number_is_unknown(make):
    """Refs are Synapse's own numbers."""
    with pytest.raises(NotFound):
        make().retrieve("x1")


def test_the_variant_with_dates_writes_them_into_the_text(make):
    """As the published bench `practical` does; without a time there is nothing to write."""
    adapter = make(dated=True)
    adapter.ingest(PLAIN)
    adapter.ingest(Episode("e3", "no date"))
    assert told(adapter) == ["[2023-05-08] Ann: tea again", "no date"]


def test_nothing_is_demoted_but_in_the_variant_as_published(make, monkeypatch):
    """What Synapse's makers have on by default hides what was told; either is declared."""
    kept = make()
    kept.ingest(PLAIN)
    assert kept._store.deduplicated is False
    monkeypatch.setenv("MEMRIG_SYNAPSE_SUPERSEDE", "on")
    published = make()
    published.ingest(PLAIN)
    assert published._store.deduplicated is True
    assert kept.capabilities.limitations != published.capabilities.limitations


def test_what_it_changes_is_declared(make, monkeypatch):
    """Recall moves what later questions find, and with sleep on nothing is said to be off."""
    said = make().capabilities
    assert said.questions_change_memory
    assert any("consolidation" in line for line in said.limitations)
    monkeypatch.setenv("MEMRIG_SYNAPSE_SLEEP", "on")
    assert not any("consolidation" in line for line in make().capabilities.limitations)
