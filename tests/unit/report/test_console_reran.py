"""What the terminal shows of cells that were run again."""

import io

from rich.console import Console

from memrig.report.console import (
    MeanAgain,
    PartAgain,
    make_console,
    print_facts,
    print_rerun,
    print_step,
)
from support.reports import HOSTILE

CELL = PartAgain(
    agrees=True,
    name="world-789-s789-r0-ee6fcfe04492",
    told=("0 of 200 questions differ", "search 0.91 ms, again 1.55 ms"),
    means=(MeanAgain("recall_any@10", 0.5, 0.25),),
)
WHOLE = PartAgain(
    agrees=False,
    name="longitudinal",
    told=("fresh ids: 24 questions",),
    means=(
        MeanAgain("evidence_grounding", 0.75, 0.7, -0.138, 0.238),
        MeanAgain("budget_compliance", 1.0, None, agrees=False),
    ),
)


def console() -> Console:
    """As wide as a terminal."""
    found = make_console(file=io.StringIO())
    found.width = 80
    return found


def text_of(found: Console) -> str:
    assert isinstance(found.file, io.StringIO)
    return found.file.getvalue()


def shown(*cells: PartAgain, wholes: tuple[PartAgain, ...] = (), passed: bool = True) -> str:
    """As 80 columns show it."""
    found = console()
    rows = [("note", "what is said " * 10), ("draw", "7")]
    print_rerun(cells, wholes, rows, "1 of 1 cells", passed=passed, console=found)
    return text_of(found)


def test_a_number_stands_beside_its_metric():
    """On one line, whole, as claimed and as found."""
    lines = [" ".join(line.split()) for line in shown(CELL, wholes=(WHOLE,)).splitlines()]
    assert "agrees world-789-s789-r0-ee6fcfe04492 R@10 0.500 0.250" in lines
    (grounding,) = [line for line in lines if "grounding" in line]
    assert grounding.endswith("grounding 0.750 0.700 -0.138 … +0.238")
    (budget,) = [line for line in lines if "in budget" in line]
    assert budget.endswith("in budget 1.000 n/a")
    assert any(line.startswith("DIFFERS longitudinal") for line in lines)


def test_it_fits_and_hangs_below_its_own_start():
    """Eighty columns hold a cell's id, three numbers and an interval."""
    lines = shown(CELL, wholes=(WHOLE,)).splitlines()
    assert max(map(len, lines)) <= 80
    (first,) = [number for number, line in enumerate(lines) if line.startswith("note  what")]
    assert lines[first + 1].startswith(" " * 6)
    assert lines[first + 1].split()[0] in {"what", "is", "said"}


def test_the_verdict_comes_last():
    """In a word that nobody overlooks."""
    assert shown(CELL).endswith("\nagrees: 1 of 1 cells\n")
    assert shown(CELL, passed=False).endswith("\nDISAGREES: 1 of 1 cells\n")


def test_an_interval_is_asked_for_where_there_is_one():
    """Else its column would be empty."""
    assert "claimed - found" not in shown(CELL)
    assert "claimed - found" in shown(WHOLE)


def test_a_step_hangs_below_its_own_start():
    """What is no pair of words stands as it is."""
    found = console()
    print_step("tolerance  " + "every grade the same " * 6, found)
    print_step("done " + "x" * 100, found)
    first, second, last = text_of(found).splitlines()
    assert first.startswith("tolerance  every")
    assert second.startswith(" " * 11) and second[11] != " "
    assert last == "done " + "x" * 100


def test_what_is_to_be_copied_is_not_broken():
    """A command that wraps would be another one."""
    found = console()
    command = "memrig submission verify " + "x" * 80
    print_facts([("note", "n " * 60), ("check it", command)], found, whole=("check it",))
    assert f"check it  {command}" in text_of(found).splitlines()


def test_text_of_an_archive_is_inert():
    """Names come from elsewhere."""
    found = console()
    part = PartAgain(agrees=True, name=HOSTILE, told=(HOSTILE,), means=(MeanAgain(HOSTILE, 1, 1),))
    print_rerun([part], [], [("note", HOSTILE)], HOSTILE, passed=True, console=found)
    print_step(f"cell       {HOSTILE}", found)
    print_step(HOSTILE, found)
    assert "\x1b" not in text_of(found)
    assert "\u202e" not in text_of(found)
