"""What the page of operations says of images that were run, and of those that were not."""

from benchmarks.operations import grown, page, suite_of
from benchmarks.results_page import Shown

from support.probes import operated_report

SUITE = suite_of(10_000)


def test_runs_stand_in_tables_and_reasons_below_them():
    """Images with one reason share a line; machine, date and command come last."""
    said = page(
        [
            Shown("mine", SUITE, report=operated_report(), note="variant `small`: without a key"),
            Shown("other", SUITE, why="it takes a key."),
            Shown("third", SUITE, why="it takes a key"),
        ]
    ).splitlines()
    assert sum(line.startswith("| mine |") for line in said) == 2
    assert "- other, third: it takes a key." in said
    assert "- mine: variant `small`: without a key." in said
    assert any("Imaginary CPU" in line and "2026-09-01: mine." in line for line in said)
    assert said[-1] == "`memrig run --adapter IMAGE --pod docker --jobs 1 --suite operations`"


def test_what_is_not_isolated_or_not_whole_says_so():
    """Under the tables, by image."""
    cut = operated_report(complete=False, incomplete="1 trials not finished", labels=("pooled",))
    assert "- mine: pooled; 1 trials not finished." in page([Shown("mine", SUITE, report=cut)])


def test_nothing_run_is_no_table():
    """But a reason each."""
    said = page([Shown("mine", SUITE, why="not run yet")])
    assert said.startswith("- mine: not run yet.")
    assert "|" not in said


def test_a_memory_that_was_grown_further_stands_in_a_table_of_its_own():
    """Of its growth alone; an image that was not taken there has no line."""
    larger = suite_of(100_000)
    cells = [
        Shown("mine", larger, report=operated_report()),
        Shown("other", larger, why="not run yet"),
    ]
    said = "\n".join(grown(100_000, cells)).splitlines()
    assert said[1] == "Grown to 100,000 episodes (`--turns 100000`):"
    assert [line.split("|")[1].strip() for line in said[3:]] == ["image", "---", "mine"]
    assert list(grown(100_000, cells[1:])) == []
