"""The page of a run: what stands on it, and what cannot get onto it."""

import base64
import hashlib
import unicodedata
from itertools import pairwise

import pytest

from memrig.report.html import render_html
from memrig.report.model import Report
from support.answer_reports import answered_report, hostile_answers
from support.pages import Page
from support.reports import (
    HOSTILE,
    LONG,
    hostile_report,
    incomplete_report,
    metric_values,
    sample_report,
    shallow_report,
    shown_question,
)

REPORTS = {
    "sample": sample_report,
    "incomplete": incomplete_report,
    "hostile": hostile_report,
    "answers": answered_report,
    "hostile answers": hostile_answers,
}


@pytest.fixture(params=REPORTS)
def report(request: pytest.FixtureRequest) -> Report:
    return REPORTS[request.param]()


def text_of(page: str) -> str:
    return " ".join(Page(page).text_of("body").split())


class TestContent:
    def test_names_what_was_run(self) -> None:
        """The head names adapter, version, suite, protocol, mode, pod, isolation and seed."""
        text = " ".join(Page(render_html(sample_report())).text_of("header").split())
        for part in ("bm25", "0.1.0", "locomo-any", "retrieval", "docker", "fresh", "2026"):
            assert part in text

    def test_headline_tiles_show_percent_and_interval(self) -> None:
        """A headline metric stands in a tile as percent with one decimal, with its interval."""
        tiles = [e.text for e in Page(render_html(sample_report())).all("li")]
        assert "R@1057.8 %95 %: 54.8–60.8" in tiles

    def test_every_metric_of_every_group_is_in_a_table(self) -> None:
        """Charts are not the only way to a number: all of them stand in one table."""
        page = Page(render_html(sample_report()))
        table = next(t for t in page.all("table") if "All metrics" in t.text)
        for value in sample_report().metrics:
            assert f"{value.value * 100:.1f}" in table.text
            assert value.metric in table.text
            assert value.group in table.text

    def test_a_metric_over_fewer_questions_says_so(self) -> None:
        """Where a metric's n is not its group's, the cell names its own."""
        metrics = tuple(
            v.model_copy(update={"n": 17}) if (v.metric, v.group) == ("map", "temporal") else v
            for v in sample_report().metrics
        )
        cells = [e.text for e in Page(render_html(sample_report(metrics=metrics))).all("td")]
        assert [text for text in cells if "n 17" in text] != []

    def test_charts_cover_every_headline_metric(self) -> None:
        """One dot-and-whisker chart a headline metric, one of ranks, one of latency."""
        titles = [e.text for e in Page(render_html(sample_report())).all("title")][1:]
        assert titles == [
            *(f"{head} by category" for head in ("R@1", "R@5", "R@10", "MRR")),
            "Rank of the first evidence",
            "Search latency",
        ]

    def test_a_headline_metric_that_was_not_measured_says_so(self) -> None:
        """In its tile with the reason, and in the table; it has no chart."""
        page = Page(render_html(shallow_report()))
        tiles = [e.text for e in page.all("li")]
        assert "R@10n/atoo few hits were asked for" in tiles
        assert "MRRn/atoo few hits were asked for" in tiles
        row = next(r for r in page.all("tr") if "recall_any@10" in r.text)
        assert row.text.count("n/a") == len({v.group for v in shallow_report().metrics})
        assert not {"R@10", "MRR"} & {h.text for h in page.all("h3")}

    def test_a_chart_keeps_its_name_where_another_is_missing(self) -> None:
        """The first headline metric was not measured, the others were."""
        values = tuple(v for v in metric_values() if v.metric != "recall_any@1")
        page = Page(render_html(sample_report(metrics=values)))
        names = [h.text for h in page.all("h3")]
        assert [name for name in names if name in {"R@1", "R@5", "R@10", "MRR"}] == [
            "R@5", "R@10", "MRR",
        ]  # fmt: skip

    def test_relevant_and_stale_hits_are_marked_in_words(self) -> None:
        """What a hit is can be read without seeing its colour."""
        marks = [e.text for e in Page(render_html(sample_report())).all("strong")]
        assert "✓ evidence" in marks
        assert "↺ superseded" in marks

    def test_a_complete_run_says_so(self) -> None:
        """The badge of a whole run."""
        assert "complete" in [e.text for e in Page(render_html(sample_report())).all("span")]

    def test_every_table_of_an_incomplete_run_says_so(self) -> None:
        """An incomplete run cannot be quoted from any of its tables by mistake."""
        captions = [e.text for e in Page(render_html(incomplete_report())).all("caption")]
        assert len(captions) >= 6
        assert [text for text in captions if "incomplete run" not in text] == []

    def test_every_table_of_a_pooled_run_says_so(self) -> None:
        """All scenarios in one memory is another task, and every table names it."""
        captions = Page(render_html(sample_report(isolation="pooled"))).all("caption")
        assert [e.text for e in captions if "pooled" not in e.text] == []

    def test_an_incomplete_run_says_what_is_missing(self) -> None:
        """The reason stands at the top, with faults and outcomes below."""
        page = render_html(incomplete_report())
        text = text_of(page)
        assert "2 trials not finished; 300 of 1982 questions not settled" in text
        rows = [e.text for e in Page(page).all("tr")]
        assert "adapter_crashed its process was gone: scored 040" in rows
        assert "killed for exceeding its memory limit" in text
        assert "the canary was still found after Reset" in text

    def test_labels_are_badges(self) -> None:
        """What forbids comparison is visible beside the name."""
        badges = [e.text for e in Page(render_html(incomplete_report())).all("span")]
        assert "process pod: not isolated, not leaderboard-eligible" in badges

    def test_a_run_without_a_graded_question_has_a_page(self) -> None:
        """A run in which nothing worked is still reported."""
        empty = sample_report(metrics=(), latencies=(), search_histogram_ms=(), worst=())
        text = text_of(render_html(empty))
        assert "No question was graded" in text
        assert "No search was made" in text
        assert "n/a" in text

    def test_many_faults_are_counted_not_listed(self) -> None:
        """Ten thousand faults make a page that still opens."""
        page = render_html(incomplete_report(faults=("boom",) * 10_000))
        assert page.count("boom") == 50
        assert "and 9950 more in the transcripts" in page


class TestStability:
    def test_the_same_report_gives_the_same_bytes(self, report: Report) -> None:
        """Nothing of the time, the machine or a hash seed gets in."""
        assert render_html(report) == render_html(report.model_copy(deep=True))

    def test_it_does_not_depend_on_the_round_trip_through_json(self) -> None:
        """A report read back from report.json gives the same page."""
        report = sample_report()
        again = Report.model_validate_json(report.model_dump_json())
        assert render_html(again) == render_html(report)


class TestUntrusted:
    def test_adapter_text_makes_no_element(self) -> None:
        """A tag in an adapter's text is text."""
        page = Page(render_html(hostile_report()))
        assert page.all("script", "img", "iframe", "link", "object", "embed", "form") == []
        assert len(page.all("title")) == len(Page(render_html(incomplete_report())).all("title"))

    def test_no_attribute_runs_or_loads_anything(self, report: Report) -> None:
        """No event handler, no style attribute, no address outside the page."""
        for element in Page(render_html(report)).elements:
            for name, value in element.attributes.items():
                assert not name.startswith("on"), element
                assert name not in {"style", "src", "srcset", "action", "data"}, element
                assert name != "href" or value.startswith("#"), element
        assert "url(" not in render_html(sample_report())
        assert "@import" not in render_html(sample_report())

    def test_control_and_direction_characters_are_gone(self) -> None:
        """Nothing on the page can reorder, hide or recolour what stands beside it."""
        hidden = {c for c in render_html(hostile_report()) if unicodedata.category(c)[0] == "C"}
        assert hidden <= {"\n"}
        assert "\u202e" in HOSTILE

    def test_a_template_in_adapter_text_is_not_run(self) -> None:
        """What looks like the template language is shown as it came."""
        assert "{{ 7 * 7 }}" in text_of(render_html(hostile_report()))

    def test_long_text_is_cut(self) -> None:
        """An adapter cannot make the page as large as it likes."""
        page = render_html(sample_report(faults=(LONG * 20,)))
        assert len(page) < len(render_html(sample_report())) + 2500

    def test_the_policy_allows_this_style_and_nothing_else(self) -> None:
        """The page forbids itself every script and request; its style goes by hash."""
        page = Page(render_html(sample_report()))
        policy = next(e for e in page.all("meta") if "http-equiv" in e.attributes)
        digest = base64.b64encode(hashlib.sha256(page.first("style").text.encode()).digest())
        rules = policy.attributes["content"].split("; ")
        assert rules[:2] == ["default-src 'none'", f"style-src 'sha256-{digest.decode()}'"]


class TestAccessibility:
    def test_the_page_has_a_language(self) -> None:
        """Readers aloud know how to pronounce it."""
        assert Page(render_html(sample_report())).first("html").attributes["lang"] == "en"

    def test_headings_skip_no_level(self, report: Report) -> None:
        """One h1, and no heading more than one level below the one before it."""
        levels = [int(e.tag[1]) for e in Page(render_html(report)).all("h1", "h2", "h3", "h4")]
        assert levels.count(1) == 1
        steps = [after - before for before, after in pairwise(levels)]
        assert max(steps) == 1

    def test_table_heads_have_a_scope(self, report: Report) -> None:
        """Every head says whether it is its row's or its column's."""
        heads = Page(render_html(report)).all("th")
        assert heads != []
        assert [e for e in heads if e.attributes.get("scope") not in {"row", "col"}] == []

    def test_every_table_has_a_caption(self, report: Report) -> None:
        """A table can be told from others when read aloud."""
        page = Page(render_html(report))
        assert len(page.all("caption")) == len(page.all("table"))

    def test_drawings_have_a_role_and_a_name(self, report: Report) -> None:
        """A chart is an image with a title and its numbers in words."""
        page = Page(render_html(report))
        ids = {e.attributes["id"]: e for e in page.elements if "id" in e.attributes}
        for svg in page.all("svg"):
            assert svg.attributes["role"] == "img"
            named = [ids[name] for name in svg.attributes["aria-labelledby"].split()]
            assert [e.tag for e in named] == ["title", "desc"]
            assert all(e.text for e in named)

    def test_ids_are_unique_and_links_lead_somewhere(self, report: Report) -> None:
        """Every link on the page has one target."""
        page = Page(render_html(report))
        ids = [e.attributes["id"] for e in page.elements if "id" in e.attributes]
        assert len(ids) == len(set(ids))
        assert {e.attributes["href"][1:] for e in page.all("a")} <= set(ids)

    def test_what_scrolls_can_be_reached_by_keyboard(self, report: Report) -> None:
        """A wide table's frame takes the focus and has a name."""
        for element in Page(render_html(report)).all("div"):
            if element.attributes.get("class") == "scroll":
                assert element.attributes["tabindex"] == "0"
                assert element.attributes["aria-label"]

    def test_text_of_any_script_keeps_its_own_direction(self) -> None:
        """What others wrote in Arabic or Hebrew reads as it should, and turns nothing else."""
        arabic = "متى ذهبت؟"
        page = Page(render_html(sample_report(worst=(shown_question(text=arabic),))))
        asked = next(e for e in page.all("span") if e.text == arabic)
        assert asked.attributes["dir"] == "auto"
