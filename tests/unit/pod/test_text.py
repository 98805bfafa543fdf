"""Text from a pod is safe to show in a terminal."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrig.pod.text import last_lines, plain_text


@pytest.mark.parametrize(
    ("dirty", "clean"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[38;5;196mred\x1b[K", "red"),
        ("\x1b[2J\x1b[1;1Hcleared", "cleared"),
        ("\x1b]0;new title\x07text", "text"),
        ("\x1b]8;;http://example.com\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bP1$r0m\x1b\\text", "text"),
        ("\x1b_payload\x1b\\text", "text"),
        ("\x1b(Btext\x1b7\x1b8\x1bc", "text"),
        ("\x9b31mred\x9b0m", "red"),
        ("\x9d0;title\x9ctext", "text"),
        ("a\u202egnp.exe\u202c", "agnp.exe"),
        ("a\u2066b\u2069\u200b\ufeffc", "abc"),
        ("bell\x07 back\x08space null\x00 del\x7f", "bell backspace null del"),
        ("one\r\ntwo\rthree", "one\ntwo\nthree"),
        ("tab\tstays", "tab\tstays"),
        ("Grüße, 世界 🙂", "Grüße, 世界 🙂"),
        ("a\u2028b", "ab"),
    ],
)
def test_control_sequences_go_and_text_stays(dirty: str, clean: str) -> None:
    """CSI, OSC, DCS, APC, their C1 forms, format characters and direction overrides."""
    assert plain_text(dirty) == clean


def test_an_unterminated_sequence_takes_no_more_than_its_line() -> None:
    """One stray introducer cannot hide the rest of a log."""
    assert plain_text("a\x1b]0;never ends\nnext line") == "a\nnext line"


@given(st.text())
def test_nothing_that_steers_a_terminal_is_left(text: str) -> None:
    """Whatever comes in, only newlines, tabs and visible characters go out."""
    for character in plain_text(text):
        assert character in "\n\t" or unicodedata.category(character) not in {"Cc", "Cf", "Cs"}


@given(st.text(alphabet=st.characters(exclude_categories=("Cc", "Cf", "Cs", "Zl", "Zp"))))
def test_ordinary_text_is_untouched(text: str) -> None:
    """Only control and format characters are ever removed."""
    assert plain_text(text) == text


@pytest.mark.parametrize(("lines", "kept"), [(2, "b\nc"), (9, "a\nb\nc"), (0, "")])
def test_last_lines(lines: int, kept: str) -> None:
    """The newest ones, or all there are."""
    assert last_lines("a\nb\nc\n", lines) == kept
