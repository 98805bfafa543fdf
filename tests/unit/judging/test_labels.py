"""Labelled answers: strictly read, and the set that ships."""

import json
from collections import Counter
from pathlib import Path

import pytest

from memrig.errors import DataError
from memrig.judging.labels import default_labels, parse_labels, read_labels

LINE = {"id": "a", "question": "q", "gold": "g", "answer": "g", "label": True}


def line(**changes: object) -> str:
    return json.dumps(LINE | changes)


def test_a_line_is_read_with_its_defaults():
    """Blank lines are passed over."""
    (item,) = parse_labels(["", line(), "  "], "file")
    assert (item.id, item.label, item.type, item.abstention, item.group) == (
        "a", True, "", False, "right",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("nonsense", "the line"),
        ("[" * 100_000, "the line"),
        (line(gold=None).replace("null", "[" * 100_000), "the line"),
        (line(label="true"), "label"),
        (line(label=1), "label"),
        (line(answer=" \n"), "answer"),
        (line(gold=None), "gold"),
        (line(id=""), "id"),
        (line(extra=1), "extra"),
        (line(abstention="no"), "abstention"),
        ('{"id": "a"}', "question"),
    ],
)
def test_a_line_that_cannot_be_used_is_refused(text, names):
    """With file, line, field, value and fix."""
    with pytest.raises(DataError) as caught:
        parse_labels([line(id="first"), text], "set.jsonl")
    assert caught.value.where == "set.jsonl:2"
    assert caught.value.message.startswith(f"{names}: ")
    assert caught.value.fix


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([line(), line()], "id: 'a' is taken, by set.jsonl:1"),
        ([line(pair="z")], "pair: 'z' is no other line's id"),
        ([line(pair="a")], "pair: 'a' is no other line's id"),
        ([line(), line(id="b", label=False, pair="a")], "is labelled True, this line False"),
        ([], "holds no labelled answers"),
    ],
)
def test_a_set_that_contradicts_itself_is_refused(lines, message):
    """Ids are unique, and a pair is the same answer."""
    with pytest.raises(DataError, match=message):
        parse_labels(lines, "set.jsonl")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path):
    """Missing, or no text."""
    broken = tmp_path / "set.jsonl"
    broken.write_bytes(b"\xff\xfe")
    for path in (broken, tmp_path / "none.jsonl"):
        with pytest.raises(DataError) as caught:
            read_labels(path)
        assert caught.value.where == str(path)


def test_a_users_file_is_read(tmp_path: Path):
    """As the set that ships."""
    path = tmp_path / "set.jsonl"
    path.write_text(line() + "\n" + line(id="b", pair="a") + "\n", "utf-8")
    assert [item.id for item in read_labels(path)] == ["a", "b"]


def test_the_set_that_ships_holds_enough_of_every_sort():
    """At least 60 answers, right and wrong ones in balance, many kinds, all types, pairs."""
    items = default_labels()
    labels = Counter(item.label for item in items)
    assert len(items) >= 60
    assert 0.4 <= labels[True] / len(items) <= 0.6
    kinds = {item.kind for item in items}
    assert {"paraphrase", "vague-wrong", "specific-wrong", "injection", "made-up"} <= kinds
    assert all(len({i.label for i in items if i.kind == kind}) == 1 for kind in kinds)
    types = {item.type for item in items}
    assert {"temporal-reasoning", "knowledge-update", "single-session-preference"} <= types
    assert sum(item.abstention for item in items) >= 5
    assert sum(bool(item.pair) for item in items) >= 2
