"""The two sides of Synapse's benchmark are scored by the same code, by either rule of evidence."""

import json
import sys
from types import ModuleType, SimpleNamespace

import pytest
from benchmarks import synapse_loop
from benchmarks.synapse import Asked, Side, asked_of, differences, pinned, scores, table

TURNS = [("D1:1", "Ann", "I like tea"), ("D1:2", "Bob", "I like beer"), ("D1:3", "Ann", "Bye")]


def dialogue():
    session = [{"dia_id": i, "speaker": who, "text": text} for i, who, text in TURNS]
    asked = [
        {"question": "tea", "category": 4, "evidence": ["D1:1"]},
        {"question": "both", "category": 1, "evidence": ["D1:1; D1:2"]},
        {"question": "nothing", "category": 5, "evidence": []},
        {"question": "nowhere", "category": 3, "evidence": ["D9:9"]},
    ]
    conversation = {"session_1": session, "session_1_date_time": "1:56 pm on 8 May, 2023"}
    return {"sample_id": "c", "conversation": conversation, "qa": asked}


@pytest.fixture
def file(tmp_path):
    """One dialogue in LoCoMo's format: sound, joined, no and unknown evidence."""
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps([dialogue()]))
    return path


def side(*hits):
    return Side({("c", n): found for n, found in hits}, 1.0, 1.0, 1.0, 1.0)


def test_evidence_is_kept_as_it_stands_and_as_it_is_repaired(file):
    """Questions without any are not asked; one whose evidence is unknown counts by one rule."""
    asked = asked_of(file)
    assert set(asked) == {("c", 0), ("c", 1), ("c", 3)}
    assert asked["c", 1].exact == {"D1:1; D1:2"}
    assert asked["c", 1].repaired == {"D1:1", "D1:2"}
    assert asked["c", 3].repaired == frozenset()


def test_recall_and_mrr_are_of_the_first_ten_and_of_the_questions_that_count(file):
    """A question at rank 2, one at rank 1, and one that only the published rule counts."""
    asked = asked_of(file)
    found = side((0, ("D1:3", "D1:1")), (1, ("D1:2",)), (3, (*(None,) * 10, "D9:9")))
    assert scores(asked, found, "repaired") == (2, (50.0, 100.0, 100.0, 75.0))
    n, row = scores(asked, found, "exact")
    assert (n, row[2], row[3]) == (3, pytest.approx(100 / 3), pytest.approx(50 / 3))
    assert scores(asked, found, "repaired", "single-hop") == (1, (0.0, 100.0, 100.0, 50.0))


def test_a_difference_is_seen_by_either_rule(file):
    """Equal sides differ by nothing; one rank more is a difference in MRR."""
    asked = asked_of(file)
    same = side((0, ("D1:1",)), (1, ("D1:2",)), (3, ()))
    other = side((0, ("D1:3", "D1:1")), (1, ("D1:2",)), (3, ()))
    assert max(differences(asked, same, same)) == 0
    assert max(differences(asked, same, other)) == 50


def test_every_category_of_the_file_has_a_row():
    """A row more for all, and one for all by the published rule."""
    names = ("multi-hop", "temporal", "open-domain", "single-hop", "adversarial")
    asked = {
        ("c", n): Asked(name, frozenset({"D1:1"}), frozenset({"D1:1"}))
        for n, name in enumerate(names)
    }
    found = side(*((n, ("D1:1",)) for n in range(len(names))))
    rows = list(table(asked, found, found))[2:]
    assert [row.split(" | ")[0].removeprefix("| ") for row in rows] == [
        *names,
        "all",
        "all, evidence as it stands",
    ]
    assert all("+0.00" in row for row in rows)


def test_the_release_is_the_one_that_the_image_pins():
    """Both sides run the same Synapse."""
    assert pinned() == "0.13.1"


def test_the_loop_stores_speaker_and_text_in_the_files_order(file, tmp_path, monkeypatch):
    """And asks what names evidence, with limit 10, in a store whose sleep never comes."""
    made = []

    class Synapse:
        def __init__(self, path):
            self.path, self.told, self.limits = path, [], []
            self.sleep_runner = SimpleNamespace(memory_threshold=100)
            made.append(self)

        def remember(self, text):
            self.told.append(text)
            return SimpleNamespace(id=len(self.told))

        def recall(self, question, limit):
            self.limits.append(limit)
            return [SimpleNamespace(id=2), SimpleNamespace(id=1)]

    library = ModuleType("synapse")
    library.Synapse = Synapse
    monkeypatch.setitem(sys.modules, "synapse", library)
    out = tmp_path / "out.jsonl"
    monkeypatch.setattr(sys, "argv", ["loop", str(file), str(out)])
    synapse_loop.main()
    *rows, costs = map(json.loads, out.read_text().splitlines())
    assert made[0].told == [f"{who}: {text}" for _, who, text in TURNS]
    assert made[0].path == ":memory:"
    assert made[0]._use_embeddings is False
    assert made[0].sleep_runner.memory_threshold > 10**6
    assert made[0].limits == [10, 10, 10]
    assert [(row["index"], row["hits"]) for row in rows] == [
        (n, ["D1:2", "D1:1"]) for n in (0, 1, 3)
    ]
    assert costs["costs"][0]["turns"] == 3
