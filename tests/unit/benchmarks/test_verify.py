"""What the page says of verifying: a row for each archive, and whether the aim is met."""

import pytest
from benchmarks.verify import SHAPES, Verified, aim, table

from support.archives import MACHINE

SMALL = Verified("read", 500, 900_000, 8.0, 7.5, 250_000_000)
LARGE = Verified("read", 5_000, 9_100_000, 49.2, 46.5, 302_000_000)


def test_each_archive_is_a_row():
    """With its size, its time, and what of it is a question's."""
    lines = list(table([SMALL, LARGE], MACHINE, "2026-11-22"))
    assert "| 5,000 | read | 9.1 MB | 49.2 s | 46.5 s | 9.3 ms | 302 MB |" in lines
    assert "a CPU, 2 cores" in lines[-1]
    assert lines[-1].endswith(aim([SMALL, LARGE]))


def test_the_aim_is_for_the_largest():
    """Time and memory, of whichever is larger."""
    assert aim([SMALL, LARGE]) == "The aim, 60 s and 500 MB for 5,000 questions, is met."
    late = Verified("searched", 5_000, 1, 61.0, 50.0, 10**8)
    assert "not met: searched takes 61 s and 100 MB" in aim([SMALL, LARGE, late])
    fat = Verified("searched", 5_000, 1, 6.0, 5.0, 501 * 10**6)
    assert "not met: searched takes 6 s and 501 MB" in aim([SMALL, fat])


@pytest.mark.parametrize("questions", [0, 499, 750])
def test_worlds_are_whole(questions):
    """No world is cut for the sake of a round number."""
    with pytest.raises(ValueError, match="worlds have 500"):
        SHAPES["searched"](questions)
