"""The pages: they read without script, carry no foreign markup, and say what must be said."""

import re

import pytest

from memrig.leaderboard.model import Refused
from memrig.leaderboard.pages import about_page, entry_page, first_page, matrix_page, safe_link
from memrig.leaderboard.pairs import Compared, Pairs, pair_key
from memrig.leaderboard.tables import RowKey, tables_of
from support.boards import ADDRESS, board_of, board_run, cost, entry, hostile_entry, table_of
from support.pages import Page, words

GOOD, WEAK = entry("strong", board_run(0.9)), entry("weak", board_run(0.4))


def first(*entries: object, **changes: object) -> Page:
    board = board_of(*entries, **changes)
    tables = tables_of(board.entries)
    return Page(first_page(board, tables, [Pairs() for _ in tables]))


def page_of(one: object) -> Page:
    board = board_of(one)
    tables = tables_of(board.entries)
    pages = {RowKey(one.id, run.number): 3 for run in one.runs}
    return Page(entry_page(board, one, tables, [Pairs() for _ in tables], pages))


def test_the_first_page_has_a_row_for_each_run() -> None:
    """With score, interval, division and tier, best first, in a table with a caption and heads."""
    page = first(WEAK, GOOD)
    body = words(page.first("tbody").text)
    assert body.index("strong") < body.index("weak")
    assert "90.0 85.0–95.0" in body
    assert body.count("closed recomputed 2026-09-01") == 2
    assert all(e.attributes["scope"] in {"col", "row"} for e in page.all("th"))
    assert len(page.all("caption")) == len(page.all("table")) == 1


def test_cost_is_shown_as_far_as_it_is_known() -> None:
    """An unknown price says so."""
    unpriced = entry("x", board_run(0.5, spent=cost(usd=None, usd_per_1000=None)))
    assert "price unknown" in words(first(unpriced).first("tbody").text)


def test_the_filters_are_not_there_without_script() -> None:
    """A control that does nothing is worse than none."""
    assert "hidden" in first(GOOD).first("form").attributes


def test_the_policy_lets_in_the_one_script_and_nothing_else() -> None:
    """By its hash; nothing is loaded from anywhere."""
    page = first(GOOD)
    policy = page.all("meta")[1].attributes["content"]
    assert re.search(r"script-src 'sha256-[A-Za-z0-9+/=]{44}'", policy)
    assert "default-src 'none'" in policy
    assert [e.attributes for e in page.all("script")] == [{}]
    assert page.all("link", "img", "iframe") == []


def test_the_other_pages_have_no_script() -> None:
    """Nor does their policy allow one."""
    for page in (page_of(GOOD), Page(about_page(board_of(GOOD)))):
        assert page.all("script") == []
        assert "script-src" not in page.all("meta")[1].attributes["content"]


@pytest.mark.parametrize("make", [lambda: first(hostile_entry()), lambda: page_of(hostile_entry())])
def test_hostile_text_stays_text(make: object) -> None:
    """Of submitters and adapters: no element of theirs, no control sequence, no odd direction."""
    page = make()
    assert page.all("img") == []
    assert all(e.text.startswith("// Sorts") for e in page.all("script"))
    assert not set("\x1b\u202e\u202d\u2066\u2069\ud800") & set(page.source)
    assert "onerror" not in {name for e in page.elements for name in e.attributes}


def test_only_addresses_of_the_web_become_links() -> None:
    """A script in an address would run under the reader's click."""
    assert safe_link("https://example.org/x") == "https://example.org/x"
    for url in (ADDRESS, "data:text/html,x", "//example.org", "https:", "http://[", "x"):
        assert safe_link(url) == ""
    hrefs = [e.attributes.get("href", "") for e in page_of(hostile_entry()).all("a")]
    assert not any(href.startswith("javascript") for href in hrefs)


def test_the_submitters_words_are_marked_as_such() -> None:
    """Whole, however long, and under a line that nobody verified them."""
    said = "We raised the budget. " * 200
    text = words(page_of(entry("a", board_run(0.5), changed=said)).first("main").text)
    assert "Nobody can verify this part" in text
    assert words(said) in text


def test_the_open_division_says_why() -> None:
    """Every difference to the profile by name."""
    why = ("practical: top_k: 10 → 20",)
    page = page_of(entry("a", board_run(0.5), division="open", differences=why))
    assert why[0] in words(page.first("main").text)


def test_shared_transcripts_are_told_on_the_page() -> None:
    """A signature does not say whose they are."""
    other = entry("original", board_run(0.5))
    copy = entry("copy", board_run(0.5), shared=(other.id,))
    board = board_of(other, copy)
    tables = tables_of(board.entries)
    pages = {RowKey(copy.id, 1): 1}
    page = Page(entry_page(board, copy, tables, [Pairs()], pages))
    assert "original 1.0" in words(page.first("main").text)
    assert f"../{other.id}/index.html" in [e.attributes.get("href") for e in page.all("a")]


def test_the_machine_is_disclosed() -> None:
    """With engine, limits and dates."""
    text = words(page_of(GOOD).first("main").text)
    for said in (
        "Imaginary CPU @ 2.60GHz",
        "engine: version27.1",
        "cpus 1, memory 1.0 GiB",
        "2026-09-01",
    ):
        assert said in text


def test_two_rows_of_one_name_are_told_apart_by_their_titles() -> None:
    """From one submitter; others are told apart by who they are of."""
    twins = [
        entry("twin", board_run(0.5), title=title, key=title[:1] * 64) for title in ("ab", "cd")
    ]
    board = board_of(*twins, entry("alone", board_run(0.9), title="of its page"))
    tables = tables_of(board.entries)
    page = words(Page(first_page(board, tables, [Pairs()])).first("tbody").text)
    assert all(f": {title} " in page for title in ("ab", "cd"))
    assert "of its page" not in page


def test_every_check_is_listed_with_its_reason() -> None:
    """What holds, and what could be cheated without it."""
    text = words(page_of(GOOD).first("main").text)
    assert "1 of 1 checks hold" in text
    assert "archive.format holdsIt opens bombs" in text


def test_what_is_refused_is_named() -> None:
    """With the checks that it failed."""
    refused = Refused(archive="bad.memrig", archive_sha256="sha256:0", reasons=("grades.x: fails",))
    text = words(first(GOOD, refused=(refused,)).first("main").text)
    assert "Not listed" in text
    assert "bad.memrig grades.x: fails" in text


def test_the_matrix_turns_a_pair_round() -> None:
    """A row less a column, whichever of the two the comparison has for its base."""
    table = table_of(GOOD, WEAK)
    key = pair_key(*table.rows)
    forward = key[1] == table.rows[0].key
    difference = 0.5 if forward else -0.5
    verdict = "better" if forward else "worse"
    found = {key: Compared("compare/x.html", verdict, difference, 0.001)}
    page = Page(matrix_page(board_of(GOOD, WEAK), table, Pairs("recall_any@10", found)))
    text = words(page.first("tbody").text)
    assert "strong 1.0" in text
    assert "+50.0 better p 0.001" in text
    assert "-50.0 worse p 0.001" in text
    assert {e.attributes.get("href") for e in page.all("a")} >= {"x.html", "../index.html"}


def test_the_tiers_are_explained_without_flattery() -> None:
    """What recomputing and signing do not prove stands beside what they do."""
    text = words(Page(about_page(board_of(GOOD))).first("main").text)
    assert "It does not prove that the transcripts happened" in text
    assert "does not prove who that is" in text
    assert text.index("self-reported") < text.index("recomputed") < text.index("organiser-rerun")
