"""The page and the terminal: depth, distance, operations, confidence."""

import io

import pytest

from memrig.report.console import make_console, print_report
from memrig.report.html import render_html
from memrig.report.model import Report
from memrig.report.view_depth import depth_view, distance_label, operation_view
from support.pages import Page, table, words
from support.places import placed_report
from support.reports import sample_report

SECTIONS = ("operations", "calibration", "depth")


@pytest.fixture(scope="module")
def report() -> Report:
    return placed_report()


@pytest.fixture(scope="module")
def page(report: Report) -> Page:
    return Page(render_html(report))


def printed(report: Report, width: int = 80) -> str:
    console = make_console(file=io.StringIO())
    console.width = width
    print_report(report, console=console)
    return console.file.getvalue()  # type: ignore[attr-defined]


@pytest.mark.parametrize("section", SECTIONS)
def test_each_section_has_a_link_that_leads_to_it(page: Page, section: str) -> None:
    """And only where there is something to show."""
    assert section in [e.attributes.get("id") for e in page.all("section")]
    assert f"#{section}" in [e.attributes.get("href") for e in page.all("a")]
    assert f'"{section}"' not in render_html(sample_report())


def test_every_bin_stands_in_the_tables(page: Page, report: Report) -> None:
    """With its n, whatever the chart leaves out."""
    assert report.depth is not None
    by_depth, by_distance = table(page, "By depth"), table(page, "By distance")
    for tenth, item in enumerate(report.depth.by_depth):
        assert f"{10 * tenth}–{10 * tenth + 10} % {item.n}" in by_depth.replace("%", "% ").replace(
            "  ", " "
        )
    for item in report.depth.by_distance:
        assert f"{distance_label(item)}{item.n}" in by_distance


def test_charts_leave_out_means_over_few_questions(report: Report) -> None:
    """A dot over one question looks like any other."""
    view = depth_view(report.depth)
    assert view is not None
    assert report.depth is not None
    bins = report.depth.by_distance
    recall, score = view.distance.curves
    assert any(0 < item.n < 5 for item in bins)
    assert len(recall.dots) == sum(item.n >= 5 for item in bins)
    scores = [item.score for item in bins if item.score is not None]
    assert len(score.dots) == sum(item.n >= 5 for item in scores) < len(scores)


def test_what_a_built_in_reader_cannot_do_is_said_with_the_reason(page: Page) -> None:
    """By category; a low score there is not the memory's."""
    said = table(page, "What this reader cannot do")
    assert "numerical_reasoning72allneeds computing0.0" in said
    assert "temporal_evolution14872 of 148needs counting" in said
    assert "needle_in_haystack" not in said
    body = words(page.text_of("body"))
    assert "local/extractive is built into memrig and copies out of one statement" in body
    assert "One statement is enough for every question of: adversarial_distractor, needle" in body


def test_a_model_that_may_do_all_gets_no_excuse() -> None:
    """Scores by operation stay."""
    source = render_html(placed_report(reader="claude-test"))
    assert "What this reader cannot do" not in source
    assert "Scores by operation" in source


def test_several_reasons_are_counted() -> None:
    """One reason needs no number."""
    found = placed_report().operations
    assert found is not None
    limit = found.limits[0].model_copy(
        update={"n": 9, "beyond": 3, "why": {"needs computing": 1, "needs counting": 2}}
    )
    view = operation_view(found.model_copy(update={"limits": (limit,)}))
    assert view is not None
    assert view.limits[0].why == "needs computing (1); needs counting (2)"
    assert view.limits[0].beyond == "3 of 9"


def test_the_terminal_says_needs_in_a_word_each(report: Report) -> None:
    """A line for each category in 80 columns."""
    lines = printed(report).splitlines()
    head = next(n for n, line in enumerate(lines) if line.startswith("category "))
    assert lines[head].endswith("it needs")
    assert report.operations is not None
    rows = lines[head + 2 : head + 2 + sum(item.beyond > 0 for item in report.operations.limits)]
    needs = {"computing", "counting", "joining", "listing"}
    assert all(needs & {word.strip(",") for word in row.split()} for row in rows)
    assert any(row.startswith("numerical_reasoning") and "computing" in row for row in rows)


def test_every_table_carries_the_runs_stamps() -> None:
    """What is copied out of its page says that the run is not whole."""
    cut = placed_report().model_copy(update={"complete": False, "incomplete": "stopped"})
    page = Page(render_html(cut))
    for caption in ("By depth", "By distance", "Scores by operation", "Confidence", "Silence"):
        assert "incomplete run" in table(page, caption)


def test_the_terminal_shows_tenths_operations_and_limits(report: Report) -> None:
    """In whole percent where ten stand beside each other."""
    text = printed(report)
    assert "by depth of the evidence" in text
    lines = text.splitlines()
    head = next(n for n, line in enumerate(lines) if line.startswith("from    0%"))
    assert lines[head].split()[1:] == [f"{10 * n}%" for n in range(10)]
    assert report.depth is not None
    assert lines[head + 2].split()[1:] == [str(item.n) for item in report.depth.by_depth]
    recall = [f"{100 * item.recall.value:.0f}" for item in report.depth.by_depth if item.recall]
    assert lines[head + 3].split() == ["R@10", *recall]
    left = report.depth.beyond_reader
    assert left
    assert f"without {left} questions that the reader cannot answer" in " ".join(text.split())
    assert "what local/extractive cannot do" in text
    assert "confidence  mean" in text
    assert "Brier" in text


def test_distances_beyond_the_width_go_on_below(report: Report) -> None:
    """Ten bins beside each other fit into 80 columns."""
    text = printed(report)
    assert "and further away" in text
    assert max(len(line) for line in text.splitlines()) <= 80
