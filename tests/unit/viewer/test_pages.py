"""What the pages hold, and that nothing that others wrote becomes a part of them."""

import json

import pytest

import memrig
from support.pages import Page, words
from support.reports import ANSI, BIDI, HOSTILE, LONG
from support.viewed import client, contents, crawl, made_run, told

#: As a data file may hold it: suites refuse lone surrogates.
TEXT = HOSTILE.replace("\ud800", "")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A run whose every text means harm, graded; and one of it in flight."""
    root = tmp_path_factory.mktemp("runs")
    made = made_run(root / "graded", text=TEXT)
    memrig.score(made.directory.root)
    made_run(root / "open", text=TEXT, settled=2, sealed=False)
    return root


async def test_every_link_leads_to_a_page(hostile):
    """From the list of runs to single questions, whatever ids and names hold."""
    found = await crawl(client(hostile))
    assert {path: reply.status for path, reply in found.items() if reply.status != 200} == {}
    kinds = ("/report", "/questions", "/trials", "/timeline", "/question?", "/compare/")
    assert all(any(kind in path for path in found) for kind in kinds)


async def test_hostile_text_stays_text(hostile):
    """No page has an element that the templates do not."""
    for path, reply in (await crawl(client(hostile))).items():
        page = Page(reply.text)
        assert page.all("script", "img", "iframe", "form", "base", "link") == [], path
        assert page.text_of("title").endswith(("memrig view", "memrig")), path
        assert not any(name.startswith("on") for e in page.elements for name in e.attributes), path


@pytest.mark.parametrize("sequence", ["\x1b", "\x07", "\u202e", "\u2066", "\x00"])
async def test_no_page_holds_what_would_turn_or_colour_text(hostile, sequence):
    """Direction overrides and control sequences are taken out before anything is escaped."""
    assert sequence in ANSI + BIDI + "\x00"
    for path, reply in (await crawl(client(hostile))).items():
        assert sequence not in reply.text, path


async def test_json_is_plain_ascii_without_tags(hostile):
    """It could not be taken for a page even by who guesses at types."""
    asker = client(hostile)
    pages = await crawl(asker)
    question = next(path for path in pages if "/question?" in path)
    addresses = [
        "/runs.json",
        "/runs/open/progress.json",
        question.replace("/question?", "/question.json?"),
    ]
    for address in addresses:
        reply = await asker.get(address)
        assert reply.headers["content-type"] == "application/json"
        assert reply.text.isascii()
        assert not set("<>&\x1b\u202e") & set(reply.text)
        assert json.loads(reply.text)
    assert "owned" in (await asker.get(addresses[-1])).text


async def test_looking_at_everything_changes_nothing(hostile):
    """Not a byte, not a time, no file more or less."""
    before = contents(hostile)
    await crawl(client(hostile))
    assert contents(hostile) == before


async def test_a_long_text_does_not_make_a_long_page(tmp_path):
    """What is beyond 2,000 characters of one text is left out."""
    made = made_run(tmp_path / "run", text=LONG)
    pages = await crawl(client(tmp_path))
    assert made.transcript.stat().st_size > 200_000
    questions = [reply for path, reply in pages.items() if "/question?" in path]
    assert max(len(reply.content) for reply in questions) < 120_000


async def test_questions_are_filtered_and_paged(tmp_path):
    """By how they went, and what they are about."""
    made = made_run(tmp_path / "run")
    memrig.score(made.directory.root)
    asker = client(tmp_path)
    whole = Page((await asker.get("/runs/run/questions")).text)
    assert words(whole.text_of("h1")) == "Questions 4"
    none = await asker.get("/runs/run/questions?how=right")
    assert "No question is left" in none.text
    partly = Page((await asker.get("/runs/run/questions?how=partly&page=99")).text)
    rows = [e for e in partly.all("a") if e.attributes.get("class") == "list-text"]
    assert len(rows) == 4


async def test_the_timeline_is_the_scenarios(tmp_path):
    """Episodes and questions in their order, each with what became of it."""
    made = made_run(tmp_path / "run", settled=1, sealed=False)
    path = f"/runs/run/trials/{made.spec.trial_id}/timeline?scenario=small"
    page = Page((await client(tmp_path).get(path)).text)
    lines = [e for e in page.all("li") if e.attributes.get("class") in {"episode", "question"}]
    assert len(lines) == len(list(told().timeline))
    assert "stored, 1 item" in lines[0].text
    assert "answered" in lines[4].text
    assert "not settled yet" in lines[5].text


async def test_a_trial_tells_what_happened_in_it(tmp_path):
    """In order, from its pod to its end."""
    made = made_run(tmp_path / "run")
    page = Page((await client(tmp_path).get(f"/runs/run/trials/{made.spec.trial_id}")).text)
    seen = [e.text for e in page.all("span") if e.attributes.get("class") == "event-what"]
    order = [
        "attempt 1",
        "pod",
        "capabilities",
        "ingested",
        "flushed",
        "asked",
        "used",
        "pod removed",
    ]
    assert seen == order


async def test_a_damaged_transcript_is_an_error_page(tmp_path):
    """It names file and line."""
    made = made_run(tmp_path / "run")
    made.transcript.write_bytes(b"not a transcript\n")
    reply = await client(tmp_path).get(f"/runs/run/trials/{made.spec.trial_id}")
    assert reply.status == 500
    assert "is not a transcript line" in reply.text
    assert "line 1" in reply.text


@pytest.mark.parametrize(
    "path", ["/nope", "/runs/nope", "/runs/run/nope", "/runs/%2e%2e", "/compare/run/nope"]
)
async def test_an_address_that_is_none_is_an_error_page(tmp_path, path):
    """With a way back."""
    made_run(tmp_path / "run")
    reply = await client(tmp_path).get(path)
    assert reply.status == 404
    assert 'href="/"' in reply.text


async def test_an_empty_folder_says_how_to_fill_it(tmp_path):
    """A new user's first page."""
    assert "There is no run here" in (await client(tmp_path).get("/")).text
