"""Days are read as prompts write them, and seen from the day on which something was told."""

from datetime import date

import pytest

from memrig.gateway.local.dates import Moment, mentioned, stamp_day, timeless

TOLD = date(2024, 3, 5)  # a Tuesday


@pytest.mark.parametrize(
    "stamp",
    ["2024-03-05 17:00", "2024/03/05 (Tue) 17:00", "1:56 pm on 5 March, 2024", "March 5th, 2024"],
)
def test_a_memorys_stamp_is_read_in_every_usual_form(stamp):
    """ISO, slashes, and with the month's name before or after the day."""
    assert stamp_day(stamp) == TOLD


@pytest.mark.parametrize("stamp", ["", "yesterday", "2024-13-05", "31 February 2024"])
def test_what_is_no_day_is_none(stamp):
    """Nothing is guessed."""
    assert stamp_day(stamp) is None


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("I flew on January 2nd.", "2 January 2024"),
        ("I flew on 14 Feb 2023.", "14 February 2023"),
        ("It was on 2/14.", "14 February 2024"),
        ("I flew yesterday.", "4 March 2024"),
        ("We leave tomorrow.", "6 March 2024"),
        ("I flew three days ago.", "2 March 2024"),
        ("I flew a couple of weeks ago.", "20 February 2024"),
        ("I met her last Saturday.", "2 March 2024"),
        ("We meet next Friday.", "8 March 2024"),
        ("I flew last week.", "the week of 27 February 2024"),
        ("I moved two months ago.", "January 2024"),
        ("I moved last month.", "February 2024"),
        ("I moved last year.", "2023"),
    ],
)
def test_a_time_in_a_sentence_is_seen_from_the_day_it_was_told(sentence, expected):
    """As exactly as it is said, and no more."""
    assert str(mentioned(sentence, TOLD)) == expected


def test_a_sentence_without_a_time_names_none():
    """Nor does a relative one that was told nobody knows when."""
    assert mentioned("I like tea.", TOLD) is None
    assert mentioned("I flew yesterday.", None) is None


def test_a_month_before_january_is_in_the_year_before():
    """The arithmetic of months carries."""
    assert mentioned("I moved two months ago.", date(2024, 1, 31)) == Moment(
        date(2023, 11, 28), "month"
    )


def test_a_question_without_its_time_keeps_what_it_asks():
    """So that "last Saturday" is looked for in the dates and not in the words."""
    plain = timeless("who did i meet last saturday at the lunch")
    assert plain.split() == ["who", "did", "i", "meet", "at", "the", "lunch"]
