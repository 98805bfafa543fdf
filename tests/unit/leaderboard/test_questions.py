"""Pages of questions."""

import pytest

from memrig.leaderboard.questions import line_of, page_name, rendered_page, turner_of
from memrig.leaderboard.texts import WITHHELD, without_text
from memrig.report.html import Crumb
from memrig.report.model import ShownQuestion
from support.comparisons import grade
from support.pages import Page, words
from support.reports import hostile_report, shown_question

HEAD = (Crumb("leaderboard", "x"), Crumb("bm25 1.0", "y"))


@pytest.mark.parametrize(
    ("page", "pages", "shown"),
    [
        (1, 1, "1"),
        (1, 3, "1 2 3"),
        (1, 100, "1 2 3 4 … 100"),
        (50, 100, "1 … 47 48 49 50 51 52 53 … 100"),
        (100, 100, "1 … 97 98 99 100"),
    ],
)
def test_pages_near_by_and_both_ends_are_named(page: int, pages: int, shown: str) -> None:
    """A hundred pages do not make a hundred links."""
    assert " ".join(link.text for link in turner_of(page, pages).pages) == shown


def test_one_turns_to_the_page_before_and_after() -> None:
    """Where there is one."""
    assert (turner_of(1, 2).before, turner_of(1, 2).after) == ("", page_name(2))
    assert (turner_of(2, 2).before, turner_of(2, 2).after) == (page_name(1), "")


def page_with(shown: ShownQuestion, *, texts: bool = True) -> Page:
    line = line_of(7, grade("s01#q2", 0.5), shown)
    return Page(rendered_page([line], HEAD, (1, 1), total=1, texts=texts))


def test_a_question_has_an_address_and_its_figures() -> None:
    """Its number on the run's pages, seed, duration, and where the evidence stood."""
    page = page_with(shown_question(score=0.0, answer="On Monday."))
    assert page.first("details").attributes["id"] == "q-7"
    text = words(page.first("details").text)
    for said in ("wrong", "evidence at rank 3", "seed 7", "1.23 ms", "On Monday.", "↺ superseded"):
        assert said in text


def test_a_withheld_question_shows_no_text() -> None:
    """Its id stands for it, and the page says why."""
    shown = shown_question(answer="On Monday.")
    page = page_with(without_text(shown), texts=False)
    text = words(page.first("body").text)
    for hidden in (shown.text, shown.gold, "On Monday.", shown.hits[0].text, WITHHELD):
        assert hidden not in text
    assert shown.question_id in text
    assert "does not let a site give its texts on" in text


@pytest.mark.parametrize("texts", [True, False])
def test_hostile_text_stays_text(texts: bool) -> None:
    """Of adapters and of data: no element of theirs, no control sequence, no odd direction."""
    page = page_with(hostile_report().worst[0], texts=texts)
    assert page.all("script", "img") == []
    assert not set("\x1b\u202e\u202d\u2066\u2069\ud800") & set(page.source)
