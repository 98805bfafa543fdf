"""A comparison on the terminal and on its page."""

import io
import unicodedata
from itertools import pairwise
from pathlib import Path

import pytest

import memrig
from memrig.errors import UsageError
from memrig.report.compare_html import render_comparison
from memrig.report.compare_model import Comparison
from memrig.report.console import make_console, print_comparison
from memrig.report.forest import axis_end, forest
from memrig.report.view_compare import conclusions, least_text, span, unseen
from support.comparisons import STRONG, WEAK, hostile, saved_run
from support.pages import Page
from support.reports import HOSTILE, LONG

MIXED = {q: s if int(q[1:3]) % 5 < 2 else STRONG[q] for q, s in WEAK.items()}


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    """Three runs, one of them cut short, with a gate that is met and others that are not."""
    root = tmp_path_factory.mktemp("runs")
    cut = {"complete": False, "incomplete": "2 trials not finished", "labels": ("sample data",)}
    runs = [
        saved_run(root / "weak", WEAK),
        saved_run(root / "mixed-with-a-rather-long-name", MIXED, top_k=5),
        saved_run(root / "cut", STRONG, report=cut),
    ]
    return memrig.compare(runs, gates=["overall>=0.5"])


def printed(found: Comparison, metric: str = "", width: int = 80) -> str:
    file = io.StringIO()
    console = make_console(file=file)
    console.width = width
    print_comparison(found, metric, None, console)
    return file.getvalue()


class TestTerminal:
    @pytest.mark.parametrize("metric", ["", "mrr"])
    def test_it_fits_80_columns_and_has_no_ragged_tail(self, shown, metric) -> None:
        """With long names too, and every number whole."""
        lines = printed(shown, metric).splitlines()
        assert max(map(len, lines)) <= 80
        assert all(line == line.rstrip() for line in lines)
        assert "…" not in "".join(lines)

    def test_the_numbers_are_the_comparisons(self, shown: Comparison) -> None:
        """Both values, the difference, its interval, p and MDE, on one line."""
        row = shown.row("recall_any@5", run="B")
        line = next(line for line in printed(shown).splitlines() if line.startswith("R@5"))
        cells = line.split()
        assert cells[1] == "36"
        assert float(cells[2]) == pytest.approx(100 * row.base_value, abs=0.06)
        assert float(cells[3]) == pytest.approx(100 * row.run_value, abs=0.06)
        assert float(cells[4]) == pytest.approx(100 * row.difference, abs=0.06)
        assert float(cells[-1]) == pytest.approx(100 * row.mde, abs=0.06)

    def test_every_table_of_numbers_names_the_incomplete_run(self, shown: Comparison) -> None:
        """Beside its head, and once in full."""
        text = printed(shown)
        assert text.count("incomplete: C") == 2
        assert "C: incomplete run: 2 trials not finished" in text

    def test_what_is_not_alike_is_said(self, shown: Comparison) -> None:
        """With every run's value."""
        assert "not alike in top_k: A 3, B 5, C 3" in printed(shown)

    def test_a_shown_difference_is_a_sentence(self, shown: Comparison) -> None:
        """And so is one that is not shown, with what may go unseen."""
        text = " ".join(printed(shown).split())
        assert "▲ C (cut) is better than A (weak) in R@5: +33.3 points" in text
        alike = " ".join(
            printed(memrig.compare([Path(r.folder) for r in shown.runs[:1]] * 2)).split()
        )
        assert "= no difference shown between B (" in alike

    def test_groups_of_one_metric_are_one_sentence(self, tmp_path: Path) -> None:
        """With each difference, and the largest of their p: a page of sentences is not read."""
        runs = [
            saved_run(tmp_path / name, dict.fromkeys(WEAK, value))
            for name, value in (("nought", 0.0), ("all", 1.0))
        ]
        found = memrig.compare(runs)
        said = [item.text for item in conclusions(found)]
        assert [text.startswith("B (all) is better than A (nought) in ") for text in said] == [
            True
        ] * 4
        most = max(row.p_holm for row in found.rows if row.metric == "mrr" and row.group[0] == "q")
        assert said[-1].endswith(
            f"MRR of 3 groups, in points: q0 +50.0, q1 +50.0, q2 +50.0; p at most {most:.3f} each"
        )

    def test_gates_are_listed_met_or_not(self, shown: Comparison) -> None:
        """Each with its run and value."""
        text = printed(shown)
        assert "NOT MET" in text
        assert "recall_any@5 of overall is 0.3333" in text
        assert "but the run is" in text

    def test_another_metric_can_be_looked_at(self, shown: Comparison) -> None:
        """By its name in JSON; others are refused."""
        assert "MRR by group" in printed(shown, "mrr")
        with pytest.raises(UsageError, match="no headline metric"):
            printed(shown, "f1")

    def test_hostile_text_cannot_move_the_cursor(self, shown: Comparison) -> None:
        """Control sequences and direction overrides are gone."""
        text = printed(hostile(shown, HOSTILE))
        assert {c for c in text if unicodedata.category(c)[0] == "C"} <= {"\n"}

    def test_one_run_with_gates_is_shown_without_differences(self, shown: Comparison) -> None:
        """There are none."""
        alone = memrig.compare([Path(shown.runs[0].folder)], gates=["overall>=0.1"])
        text = printed(alone)
        assert "met" in text
        assert "B-A" not in text


class TestPage:
    def test_every_difference_is_on_the_page_twice(self, shown: Comparison) -> None:
        """As a dot of a plot, and as a row of a table."""
        page = Page(render_comparison(shown))
        assert len(page.all("circle")) == len(shown.rows)
        rows = [e for e in page.all("td") if "said-" in e.attributes.get("class", "")]
        assert len(rows) == len(shown.rows)
        assert len(page.all("svg")) == 4

    def test_the_page_is_inert(self, shown: Comparison) -> None:
        """No script, no style attribute, no address elsewhere, whatever an adapter's name is."""
        page = Page(render_comparison(hostile(shown, HOSTILE + LONG)))
        assert page.all("script", "img", "iframe", "link", "object", "embed", "form") == []
        for element in page.elements:
            for name, value in element.attributes.items():
                assert not name.startswith("on")
                assert name not in {"style", "src"}
                assert name != "href" or value.startswith("#")

    def test_headings_and_tables_can_be_read_aloud(self, shown: Comparison) -> None:
        """One h1, no level skipped; every table has a caption and every head a scope."""
        page = Page(render_comparison(shown))
        levels = [int(e.tag[1]) for e in page.all("h1", "h2", "h3", "h4")]
        assert levels.count(1) == 1
        assert max(after - before for before, after in pairwise(levels)) == 1
        assert len(page.all("caption")) == len(page.all("table"))
        assert {e.attributes["scope"] for e in page.all("th")} == {"row", "col"}

    def test_ids_are_unique_and_links_lead_somewhere(self, shown: Comparison) -> None:
        """And every plot has a name and its numbers in words."""
        page = Page(render_comparison(shown))
        ids = {e.attributes["id"]: e for e in page.elements if "id" in e.attributes}
        assert len(ids) == sum("id" in e.attributes for e in page.elements)
        assert {e.attributes["href"][1:] for e in page.all("a")} <= set(ids)
        for svg in page.all("svg"):
            named = [ids[name] for name in svg.attributes["aria-labelledby"].split()]
            assert [e.tag for e in named] == ["title", "desc"]
            assert "no difference shown" in named[1].text or "better" in named[1].text

    def test_an_incomplete_run_is_said_at_every_plot_and_table(self, shown: Comparison) -> None:
        """A picture that is cut out of the page still says it."""
        page = Page(render_comparison(shown))
        for element in page.all("figcaption", "caption"):
            assert "incomplete: C" in element.text

    def test_the_page_of_one_run_has_gates_alone(self, shown: Comparison) -> None:
        """And says how many are met."""
        alone = memrig.compare([Path(shown.runs[0].folder)], gates=["overall>=0.1"])
        page = Page(render_comparison(alone))
        assert page.all("svg") == []
        assert "1 of 1 gates met" in page.text_of("header")


class TestForest:
    def test_no_difference_is_the_middle_and_ends_are_the_ends(self, shown: Comparison) -> None:
        """Places are linear between them."""
        row = shown.row("recall_any@5").model_copy(
            update={"difference": 0.05, "low": 0.0, "high": 0.1, "verdict": "none"}
        )
        drawn = forest([row], 0.1, "A", 0)
        assert (drawn.rows[0].low, drawn.rows[0].x, drawn.rows[0].high) == (50, 75, 100)
        assert [tick.label for tick in drawn.ticks] == ["-10", "-5", "0", "+5", "+10"]
        assert not drawn.rows[0].cut_high

    def test_what_goes_on_beyond_the_axis_is_cut_with_an_arrow(self, shown: Comparison) -> None:
        """And never drawn outside."""
        row = shown.row("recall_any@5").model_copy(
            update={"difference": 0.0, "low": -0.5, "high": 0.5}
        )
        drawn = forest([row], 0.1, "A", 0).rows[0]
        assert (drawn.low, drawn.high, drawn.cut_low, drawn.cut_high) == (0, 100, True, True)

    def test_every_difference_is_inside_the_axis(self, shown: Comparison) -> None:
        """Also where intervals are unknown."""
        assert axis_end(shown.rows) >= max(abs(row.difference) for row in shown.rows)
        bare = [r.model_copy(update={"low": None, "high": None}) for r in shown.rows]
        assert axis_end(bare) == 0.4
        assert axis_end([]) == 0.01

    def test_bounds_of_pairs_that_are_all_alike_do_not_set_the_axis(self, shown) -> None:
        """They are as wide as pairs are few; alone, they do."""
        narrow = shown.row("recall_any@5").model_copy(
            update={"difference": 0.01, "low": -0.02, "high": 0.04, "interval": "cluster-t"}
        )
        alike = narrow.model_copy(update={"low": -0.5, "high": 0.5, "interval": "no-spread"})
        assert axis_end([narrow, alike, alike, alike]) == 0.05
        assert axis_end([alike]) == 0.5


def test_what_may_go_unseen_is_never_nothing(shown: Comparison) -> None:
    """Where all pairs are alike the interval says it: no spread is no certainty."""
    row = shown.row("recall_any@5", run="C").model_copy(update={"interval": "no-spread"})
    assert unseen(row) == pytest.approx(row.difference - row.low)
    mixed = shown.row("recall_any@5", run="B")
    assert unseen(mixed) == pytest.approx(mixed.mde)
    assert unseen(mixed, tests=10) > mixed.mde
    assert unseen(mixed.model_copy(update={"error": 0.9, "scenarios": 2})) == 1.0


def test_pairs_that_all_tie_are_said_in_words(shown: Comparison) -> None:
    """The bound beside them is that of the losses that may go unseen."""
    row = shown.row("recall_any@5", run="B")
    tied = {"low": -0.069, "high": 0.069, "interval": "no-spread", "ties": row.n}
    assert span(row.model_copy(update=tied)) == "all tied, ±6.9"
    turned = row.model_copy(update={**tied, "ties": 0, "low": 0.93, "high": 1.0})
    assert span(turned) == "+93.0 to +100.0"


def test_a_least_difference_beyond_all_is_no_number() -> None:
    """Of two scenarios it can be 352 points; it would push the groups' names out of 80 columns."""
    assert [least_text(mde) for mde in (0.158, 1.0, 3.521, None)] == [
        "15.8",
        "100.0",
        ">100",
        "n/a",
    ]
