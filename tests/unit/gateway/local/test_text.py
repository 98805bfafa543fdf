"""Words and sentences are found by rules that a reader of the answer could follow."""

import pytest

from memrig.gateway.local.text import content_stems, lines, sentences, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It rained. We left!", ["It rained.", "We left!"]),
        ("Dr. Lee came at 5 p.m. sharp.", ["Dr. Lee came at 5 p.m. sharp."]),
        ("1. Milk\n2. Eggs", ["1. Milk", "2. Eggs"]),
        ("It costs 3.50 dollars.", ["It costs 3.50 dollars."]),
        ("no end", ["no end"]),
        ("  \n ", []),
    ],
)
def test_a_text_is_cut_into_its_sentences(text, expected):
    """At marks and line ends, not after titles, list numbers or decimal points."""
    assert list(sentences(text)) == expected


def test_a_text_of_abbreviations_alone_takes_no_longer_for_its_length():
    """A sentence that never ends is looked at once."""
    assert len(list(sentences("A. " * 200_000))) == 1
    assert list(sentences(f"A{' ' * 200_000}B")) == [f"A{' ' * 200_000}B"]


def test_words_keep_numbers_whole_and_lose_a_possessive():
    """A price, a time and a name are one word each."""
    assert words("Ada’s bill: 1,200.50 at 10:30") == ["ada", "bill", "1,200.50", "at", "10:30"]


def test_content_stems_leave_out_words_that_say_nothing():
    """What remains are stems, each once, in order."""
    assert content_stems("Where did I take the yoga classes, the class?") == [
        "take",
        "yoga",
        "class",
    ]


def test_a_name_and_a_colon_at_a_lines_start_tell_who_speaks():
    """Until the next one; a list's item has its speaker's."""
    found = lines("user: I moved. It rains.\nassistant: Noted:\n- boxes\nAda: Hello.")
    assert [(line.speaker, line.turn, line.text) for line in found] == [
        ("user", 1, "I moved."),
        ("user", 1, "It rains."),
        ("assistant", 2, "Noted:"),
        ("assistant", 2, "- boxes"),
        ("ada", 3, "Hello."),
    ]


@pytest.mark.parametrize("text", ["Note: bring a coat.", "https://x.test/a b", "I said this: no."])
def test_not_everything_before_a_colon_is_a_speaker(text):
    """A remark, an address and a pronoun are not."""
    assert {line.speaker for line in lines(text)} == {""}
