"""The page and the terminal: a memory in operation."""

import io

import pytest

from memrig.report.charts_growth import growth_chart
from memrig.report.console import make_console, print_report
from memrig.report.html import render_html
from memrig.report.model import Report
from memrig.report.view_probe_events import event_sentences, failed_calls
from memrig.report.view_probes import probe_view
from support.pages import Page, table
from support.probes import (
    WELL,
    freshness,
    growth,
    hostile_operations,
    leak,
    operated_report,
    outage,
    summary,
)
from support.reports import SCRIPT, sample_report


@pytest.fixture(scope="module")
def report() -> Report:
    return operated_report()


@pytest.fixture(scope="module")
def page(report: Report) -> Page:
    return Page(render_html(report))


def printed(report: Report, width: int = 80) -> list[str]:
    console = make_console(file=io.StringIO())
    console.width = width
    print_report(report, console=console)
    return console.file.getvalue().splitlines()  # type: ignore[attr-defined]


def test_the_section_has_a_link_that_leads_to_it(page: Page) -> None:
    """And only where there were probes."""
    assert "probes" in [e.attributes.get("id") for e in page.all("section")]
    assert "#probes" in [e.attributes.get("href") for e in page.all("a")]
    assert '"probes"' not in render_html(sample_report())


def test_both_tables_have_a_row_a_size(page: Page) -> None:
    """With what it holds, and what searches take there."""
    held = table(page, "What the memory holds, by size")
    assert "100,000100,000235 MiB23.5 MiB2.0 MiB2.0 MiB2,50020.5 s15,000,000$10.00" in held
    searched = table(page, "Searches, by size")
    assert "100,000120 ms282 ms5.8400 ms400 ms20.0060.0" in searched


def test_columns_of_models_are_there_where_models_are() -> None:
    """A memory without any has no tokens to count."""
    view = probe_view(summary(growth()))
    assert view is not None
    assert "tokens" not in view.tables[0].heads
    assert all(len(row) == len(view.tables[0].heads) for row in view.tables[0].rows)


def test_verdicts_are_in_words_not_in_colour_alone(page: Page) -> None:
    """A badge says them."""
    assert "lost all" in table(page, "Killed and started again")
    out = table(page, "While its models are out")
    assert "each call waits; 40 calls met it40/40020/200" in out
    assert "in part" in out


def test_exponents_come_with_interval_n_and_r2(page: Page) -> None:
    """Three points are not many, and the reader sees that."""
    said = table(page, "What it comes to")
    assert "power of 1.00 (95 %: 1.00 to 1.00, R² 1.000, 3 points)" in said


def test_too_few_sizes_are_no_exponent() -> None:
    """Said instead of guessed."""
    view = probe_view(summary(growth((1_000, 2_000))))
    assert view is not None
    said = {line.name: line.value for line in view.lines}
    assert said["memory grows"] == "n/a: not enough sizes: 2 of at least 3"


def test_what_is_found_only_after_the_barrier_is_said() -> None:
    """And what is never found."""
    (line,) = event_sentences(summary([freshness(0, 15, 20)]))
    assert line.value == (
        "0 of 20 found before any barrier; 15 only once it was passed; 5 never"
    )  # fmt: skip
    assert line.tone == "bad"


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (leak(0), "passed: after Reset, nothing of the scope before came up in 20 searches"),
        (leak(1), "failed: after Reset, 1 hit of the scope before came up in 20 searches"),
        (leak(failure="x"), "n/a: nothing came up in 20 searches, but not every call worked"),
        (leak(values={"asked": 5}), "n/a: what was looked for was not found before Reset either"),
    ],
)
def test_the_verdict_on_leaks_says_what_it_rests_on(record, said) -> None:
    """In one sentence."""
    (line, *_) = event_sentences(summary([record]))
    assert line.value == said


def test_reasons_why_nothing_is_said_stand_with_the_results() -> None:
    """Once for all that they hold for."""
    skipped = [outage(name, values={}, skipped="no model") for name in ("slow", "down")]
    found = summary(skipped)
    (line,) = event_sentences(found)
    assert (line.name, line.value) == ("outage", "n/a (slow, down): no model")
    assert list(failed_calls(found.notes)) == []


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"recall_outage": 0.0}, True),
        ({"recall_outage": 0.6}, False),
        ({"recall_outage": 0.3, "recall_after": 0.4}, False),
        ({"recall_outage": 0.0, "acked": 0, "rejected": 40}, False),
        ({"recall_outage": 0.0, "recall_after": 0.0}, False),
    ],
)
def test_what_was_acknowledged_in_an_outage_and_not_kept_is_told(changes, told) -> None:
    """Held against what was told since, so that bad ranking alone is not blamed."""
    found = list(event_sentences(summary([outage("down", values=WELL | changes)])))
    assert [line.name for line in found] == (["models down"] if told else [])
    for line in found:
        assert "40 of 40 episodes were acknowledged as stored" in line.value


def test_the_terminal_keeps_to_80_columns(report: Report) -> None:
    """Columns that matter less go first; a wide terminal has them."""
    lines = printed(report)
    assert max(map(len, lines)) <= 80
    narrow = next(line for line in lines if line.startswith("episodes   "))
    wide = next(line for line in printed(report, 160) if line.startswith("episodes   "))
    assert "CPU" not in narrow
    assert "CPU" in wide
    assert "cost" in narrow
    assert any(line.startswith("adapter") and line.endswith("lost all") for line in lines)
    assert any("24 calls failed" in line for line in lines)


def test_every_table_carries_the_runs_stamps() -> None:
    """What is copied out of its page says that the run is not whole."""
    cut = operated_report(complete=False, incomplete="stopped")
    page = Page(render_html(cut))
    for caption in ("What the memory holds", "Searches", "Killed", "While its models", "What it"):
        assert "incomplete run" in table(page, caption)
    text = "\n".join(printed(cut))
    assert "Searches, by size (incomplete run)" in text


def test_hostile_names_and_errors_stay_text() -> None:
    """A container's name, an adapter's message."""
    source = render_html(hostile_operations())
    assert SCRIPT not in source
    assert "&lt;script&gt;" in source
    assert "\x1b" not in "\n".join(printed(hostile_operations()))


def test_a_chart_has_round_marks_that_hold_every_point() -> None:
    """Few enough to be told apart, in logarithms both ways."""
    chart = growth_chart("x", "X, ms", [("a", [(100, 0.9), (1_000, 30.0), (10_000, 700.0)])])
    assert chart is not None
    assert [label for _, label in chart.levels] == ["0.1", "1", "10", "100", "1,000"]
    assert [tick.label for tick in chart.ticks] == ["100", "1k", "10k"]
    (curve,) = chart.curves
    gaps = [b[0] - a[0] for a, b in zip(curve.dots, curve.dots[1:], strict=False)]
    assert gaps[0] == pytest.approx(gaps[1], abs=0.02)
    heights = [y for y, _ in chart.levels]
    assert all(min(heights) <= y <= max(heights) for _, y in curve.dots)
    assert chart.description == "a: 100 0.9, 1,000 30, 10,000 700"


def test_what_hardly_varies_still_has_two_marks() -> None:
    """The axis needs a length."""
    chart = growth_chart("x", "X", [("a", [(100, 50.0), (200, 50.0)])])
    assert chart is not None
    assert len(chart.levels) >= 2


def test_one_size_is_no_chart() -> None:
    """Nor is what has no logarithm."""
    assert growth_chart("x", "X", [("a", [(100, 5.0)])]) is None
    assert growth_chart("x", "X", [("a", [(100, 5.0), (200, 0.0)])]) is None
