"""The page's section of answers: who answered and judged, what it cost, what others published."""

from itertools import pairwise

import pytest

from memrig.report.html import render_html
from memrig.report.model import Report
from support.answer_reports import ANSWERING, COSTS, answered_question, answered_report, cost
from support.pages import Element, Page
from support.reports import sample_report, shown_question


def page(**changes: object) -> Page:
    return Page(render_html(answered_report(**changes)))


def text_of(found: Page, tag: str = "body") -> str:
    return " ".join(found.text_of(tag).split())


def table(found: Page, caption: str) -> Element:
    return next(item for item in found.all("table") if item.text.strip().startswith(caption))


def rows(found: Page, caption: str) -> list[str]:
    """The texts of a table's rows, with one blank between cells."""
    whole = table(found, caption).text
    return [" ".join(e.text.split()) for e in found.all("tr") if e.text and e.text in whole]


class TestSection:
    def test_a_run_with_answers_has_one_and_a_link_to_it(self):
        """The link leads there."""
        found = page()
        ids = [e.attributes.get("id") for e in found.elements]
        assert "answers" in ids
        assert "#answers" in [e.attributes.get("href") for e in found.all("a")]

    def test_a_run_of_mode_retrieval_has_none(self):
        """Nothing was answered."""
        source = render_html(sample_report())
        assert 'id="answers"' not in source
        assert "#answers" not in source

    def test_it_names_who_answered_and_judged(self):
        """As asked for and as served, with the context."""
        assert rows(page(), "How questions were answered") == [
            "Reader served as gpt-4o-2024-08-06-eugpt-4o-2024-08-06",
            "Promptdirect",
            "Tokens of memories a question p95 4,575; limit 16,000, by the rig's estimate3,055",
            "Judgegpt-4o-mini",
            "Votes that agree98.4 %",
        ]

    def test_whether_it_may_be_compared_is_said_in_words(self):
        """With every reason; or that nothing stands against it."""
        text = text_of(page())
        assert "not comparable judged by gpt-4o-mini, published numbers mostly by" in text
        fine = ANSWERING.model_copy(update={"comparable": True, "why": ()})
        other = text_of(page(answering=fine))
        assert "not comparable" not in other
        assert "comparable Data, judge and rules are the published ones" in other

    def test_tags_that_cut_across_categories_are_explained(self):
        """They count in overall, and never in macro."""
        assert "such as without abstention, split the questions" in text_of(page())
        assert "cut across categories" not in render_html(sample_report())


class TestCosts:
    def test_every_model_has_a_row_and_all_of_them_a_sum(self):
        """Phase, who, model, calls, attempts, tokens, money."""
        found = page()
        cells = [e.text for e in found.all("td", "th")]
        start = cells.index("ingest", cells.index("attempts"))
        assert cells[start : start + 8] == [
            "ingest", "memory", "gpt-4o-mini", "100", "102", "250,000", "9,000", "$0.0531",
        ]  # fmt: skip
        last = cells.index("in all")
        assert cells[last : last + 8] == [
            "in all", "", "", "1,100", "1,105", "750,000", "27,000", "$1.29",
        ]  # fmt: skip

    def test_an_unknown_price_makes_the_sum_unknown(self):
        """Not smaller."""
        found = page(costs=(*COSTS, cost("judge", "judge", "mine", None)))
        cells = [e.text for e in found.all("td", "th")]
        assert cells[cells.index("in all") + 7] == "n/a"

    def test_a_run_that_asked_no_model_has_no_table(self):
        """As one of answers that were given."""
        assert "Model calls" not in render_html(answered_report(costs=()))


class TestPublished:
    def test_micro_macro_and_neither_stand_apart_with_source_and_date(self):
        """One row a system; this run's own is the last."""
        found = rows(page(), "Accuracy as others published it")
        assert found[1] == "Zepgpt-4o72.370.45002025-01https://example.org/zep"
        assert found[2] == ("AgentOSp50 3.6 sgpt-4o85.6500read 2026-11https://example.org/agentos")
        assert found[3].startswith("bm25gpt-4o-2024-08-0658.762.0500")

    def test_the_caption_says_where_it_may_not_be_compared(self):
        """A table that is copied out of its page still says so."""
        assert "not comparable with this run’s" in table(page(), "Accuracy").text
        fine = ANSWERING.model_copy(update={"comparable": True, "why": ()})
        assert "not comparable" not in table(page(answering=fine), "Accuracy").text

    def test_a_source_is_text_and_no_link(self):
        """The page loads nothing, and leads nowhere else."""
        assert all(e.attributes["href"].startswith("#") for e in page().all("a"))


class TestQuestions:
    def test_a_question_shows_answer_verdict_citations_and_tool_calls(self):
        """Everything that `memrig show` does."""
        text = text_of(page(worst=(answered_question(),)))
        for part in (
            "temporal wrong evidence among the hits",
            "asked 2023-06-01 09:30",
            "Answer given On the first Monday of May. confidence 0.80",
            "Judge wrong (wrong, right, missing) No. · Yes, nearly. · the reply is no verdict",
            "What the answer cites m2 · D1:3 In June. ✓ evidence m3 · D4:7 On Sunday.",
            "and 1 handle that no memory has",
            'Tool calls memory_search {"query":"support group"}3 results: m1, m2, m3',
        ):
            assert part in text

    def test_a_retrieval_question_has_none_of_it(self):
        """No empty headings."""
        heads = [e.text for e in Page(render_html(sample_report())).all("h3")]
        for head in ("Answer given", "Judge", "What the answer cites", "Tool calls"):
            assert head not in heads

    def test_no_answer_is_said_where_one_was_due(self):
        """A fault left none."""
        shown = shown_question(score=0.0, outcome="timeout")
        assert "Answer given None." in text_of(page(worst=(shown,)))

    def test_an_agents_evidence_has_no_ranks_to_draw(self):
        """No chart of nothing."""
        source = render_html(answered_report(mode="agent", rank_histogram={}))
        assert "Where the evidence stood" not in source
        assert "Where the evidence stood" in render_html(answered_report())


class TestForm:
    @pytest.fixture(params=["whole", "incomplete"])
    def found(self, request: pytest.FixtureRequest) -> Page:
        changes = {"complete": False, "incomplete": "3 questions without a judge's verdict"}
        return page(**(changes if request.param == "incomplete" else {}))

    def test_every_table_of_an_incomplete_run_says_so(self):
        """Those of money and of others' numbers too."""
        captions = page(complete=False, incomplete="x").all("caption")
        assert len(captions) >= 9
        assert [e.text for e in captions if "incomplete run" not in e.text] == []

    def test_headings_skip_no_level(self, found):
        """As on every page."""
        levels = [int(e.tag[1]) for e in found.all("h1", "h2", "h3", "h4")]
        assert max(after - before for before, after in pairwise(levels)) == 1

    def test_tables_have_captions_and_heads_a_scope(self, found):
        """Read aloud, each can be told from the others."""
        assert len(found.all("caption")) == len(found.all("table"))
        assert {e.attributes.get("scope") for e in found.all("th")} == {"row", "col"}

    def test_rows_are_as_wide_as_their_heads(self, found):
        """No cell stands below another column's head."""
        source = found.source
        for part in source.split("<table")[1:]:
            body = part.partition("</table>")[0]
            widths = {row.count("<th") + row.count("<td") for row in body.split("<tr")[1:]}
            assert len(widths) == 1, body[:200]

    def test_the_report_survives_its_json(self):
        """The page of a report that was read back is the same."""
        report = answered_report()
        again = Report.model_validate_json(report.model_dump_json())
        assert render_html(again) == render_html(report)
