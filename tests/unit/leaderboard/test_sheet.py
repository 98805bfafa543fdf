"""`board.csv`."""

import csv
import io

from memrig.leaderboard.sheet import sheet
from support.boards import board_of, board_run, entry
from support.reports import ANSI


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_every_row_of_the_board_is_a_line() -> None:
    """With its submission's fields beside its own; what is not known is empty."""
    second = board_run(None, number=2, suite="other")
    (one, other) = rows(sheet(board_of(entry("a", board_run(0.5), second))))
    assert (one["adapter"], one["suite"], one["score"], one["low"]) == (
        "a",
        "practical",
        "0.5",
        "0.45",
    )
    assert (other["adapter"], other["suite"], other["score"]) == ("a", "other", "")


def test_no_cell_is_a_formula() -> None:
    """Submitters choose names, and people open the file in a spreadsheet."""
    formula = '=HYPERLINK("http://x")'
    (row,) = rows(sheet(board_of(entry(formula, board_run(0.5), submitter="@sum", title="\t=1+1"))))
    assert row["adapter"] == f"'{formula}"
    assert (row["submitter"], row["title"]) == ("'@sum", "'=1+1")


def test_a_cell_is_one_line_of_plain_text() -> None:
    """Whatever a submitter wrote."""
    (row,) = rows(sheet(board_of(entry("a", board_run(0.5), submitter=f"x\ny{ANSI}"))))
    assert row["submitter"].startswith("x y")
    assert "\x1b" not in row["submitter"]
