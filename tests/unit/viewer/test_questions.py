"""A run's questions: what filters leave, and the way from one to the next."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

import memrig
from support.pages import Page, words
from support.viewed import client, made_run

#: Wrong though the evidence was found, wrong without it, right, and one about nothing to be found.
MADE = {
    "q1": {"rank": 1, "scores": {"score": 0.0, "recall_any@10": 1.0}},
    "q2": {"rank": None, "scores": {"score": 0.0, "recall_any@10": 0.0}},
    "q3": {"rank": 2, "scores": {"score": 1.0, "recall_any@10": 1.0}},
    "q4": {"rank": None, "scores": {"score": 0.0}, "tags": ["abstention"]},
}


def answered(folder: Path, changes: Mapping[str, Mapping[str, object]] = MADE) -> None:
    """A graded run whose grades are these."""
    made = made_run(folder)
    memrig.score(made.directory.root)
    lines = [json.loads(line) for line in made.directory.grades.read_text("utf-8").splitlines()]
    found = [line | changes.get(line["question_id"], {}) for line in lines]
    made.directory.grades.write_text("".join(f"{json.dumps(line)}\n" for line in found), "utf-8")


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    answered(tmp_path / "run")
    return tmp_path


async def listed(runs: Path, query: str) -> list[str]:
    """The ids of the questions that a list holds."""
    page = Page((await client(runs).get(f"/runs/run/questions?{query}")).text)
    return [e.text.rpartition("#")[2] for e in page.all("span") if is_name(e.attributes)]


def is_name(attributes: Mapping[str, str]) -> bool:
    return attributes.get("class") == "mono"


@pytest.mark.parametrize(
    ("query", "left"),
    [
        ("", ["q1", "q2", "q3", "q4"]),
        ("how=wrong", ["q1", "q2", "q4"]),
        ("how=wrong&evidence=found", ["q1"]),
        ("how=wrong&evidence=missed", ["q2"]),
        ("evidence=found", ["q1", "q3"]),
        ("category=abstention", ["q4"]),
        ("how=right&category=abstention", []),
    ],
)
async def test_filters_narrow_the_list_together(runs, query, left):
    """What the memory did not find, and what was made of it wrongly, are two lists."""
    assert await listed(runs, query) == left


async def test_a_wrong_answer_says_whether_its_evidence_was_found(runs):
    """Where there was any to be found."""
    page = Page((await client(runs).get("/runs/run/questions?how=wrong")).text)
    tags = [words(e.text) for e in page.all("span") if e.attributes.get("class") == "tags"]
    assert tags == ["wrong evidence at rank 1", "wrong evidence not found", "wrong"]


async def test_a_choice_says_how_many_it_leaves(runs):
    """And none is offered that would leave nothing."""
    page = Page((await client(runs).get("/runs/run/questions?how=wrong")).text)
    choices = [words(e.text) for e in page.all("a") if "how=" in e.attributes["href"]]
    assert "evidence found 1" in choices
    assert "evidence not found 1" in choices
    right = Page((await client(runs).get("/runs/run/questions?how=right")).text)
    assert not [e for e in right.all("a") if "category=abstention" in e.attributes["href"]]


async def test_where_only_ranks_were_graded_evidence_is_no_filter(tmp_path):
    """How questions went says it already."""
    memrig.score(made_run(tmp_path / "run").directory.root)
    assert "evidence=" not in (await client(tmp_path).get("/runs/run/questions")).text


async def test_a_list_is_walked_from_question_to_question(runs):
    """Each knows the one before and the next of those that the filter leaves, and the way back."""
    asker, seen = client(runs), []
    page = Page((await asker.get("/runs/run/questions?how=wrong")).text)
    path = next(e.attributes["href"] for e in page.all("a") if "/question?" in e.attributes["href"])
    while path:
        page = Page((await asker.get(path)).text)
        (back,) = (e for e in page.all("a") if "in this list" in e.text)
        seen.append((page.text_of("title").partition(" ")[0], words(back.text)))
        assert back.attributes["href"] == "/runs/run/questions?how=wrong"
        near = {e.attributes["rel"]: e.attributes["href"] for e in page.all("a") if has_rel(e)}
        path = near.get("next", "")
    assert seen == [
        ("small#q1", "1 of 3 in this list"),
        ("small#q2", "2 of 3 in this list"),
        ("small#q4", "3 of 3 in this list"),
    ]


def has_rel(element) -> bool:
    return "rel" in element.attributes


async def test_a_question_that_is_not_in_the_list_has_its_neighbours_in_time(runs):
    """As without a filter."""
    asker = client(runs)
    page = Page((await asker.get("/runs/run/questions?how=right")).text)
    path = next(e.attributes["href"] for e in page.all("a") if "/question?" in e.attributes["href"])
    other = (await asker.get(path.replace("how=right", "how=wrong"))).text
    assert "in this list" not in other
    assert "question after" in other


async def test_two_runs_are_told_apart_question_by_question(runs):
    """Those that went worse than in the other run, and those that went better."""
    answered(runs / "other", {**MADE, "q1": MADE["q3"], "q3": MADE["q1"]})
    assert await listed(runs, "against=other&than=worse") == ["q1"]
    assert await listed(runs, "against=other&than=better") == ["q3"]
    assert await listed(runs, "against=other&than=worse&evidence=missed") == []
    page = (await client(runs).get("/compare/run")).text
    assert 'href="/runs/run/questions?against=other&amp;than=worse"' in page


async def test_a_run_that_is_not_there_is_named(runs):
    """And is no list of nothing."""
    reply = await client(runs).get("/runs/run/questions?against=nowhere&than=worse")
    assert reply.status == 404
    assert "there is no run" in reply.text


async def test_what_was_answered_wrongly_is_not_shown_as_good(runs):
    """Neither in its trial nor in its timeline: how it went stands there, once it was graded."""
    asker = client(runs)
    (spec,) = (runs / "run" / "specs").glob("*.json")
    trial = f"/runs/run/trials/{spec.stem}"
    for path in (trial, f"{trial}/timeline?scenario=small"):
        page = Page((await asker.get(path)).text)
        found = [
            (e.attributes["class"].split()[-1], e.text)
            for e in page.all("span")
            if e.attributes.get("class", "").startswith("badge")
        ]
        assert ("good", "answered") not in found
        assert found.count(("bad", "wrong")) == 3
        assert found.count(("good", "right")) == 1


async def test_a_runs_page_says_where_it_lost(runs):
    """How many wrong answers had their evidence, and how many did not; each count is its list."""
    asker = client(runs)
    page = Page((await asker.get("/runs/run")).text)
    lost = {
        words(e.text): e.attributes["href"]
        for e in page.all("a")
        if "evidence=" in e.attributes.get("href", "")
    }
    assert list(lost) == ["evidence found 1", "evidence not found 1"]
    assert "small#q2" in (await asker.get(lost["evidence not found 1"])).text


async def test_runs_that_ask_something_else_under_the_same_names_are_not_set_side_by_side(runs):
    """Neither in a list nor by a link that leads nowhere: worlds count their questions alike."""
    made = made_run(runs / "world", text="of another world")
    memrig.score(made.directory.root)
    asker = client(runs)
    assert "/compare/run/world" not in (await asker.get("/compare/run")).text
    reply = await asker.get("/runs/run/questions?against=world&than=worse")
    assert reply.status == 404
    assert "do not ask the same" in reply.text
