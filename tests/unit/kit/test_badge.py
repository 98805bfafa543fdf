"""The conformance badge."""

from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from memrig.kit.badge import AMBER, GREEN, RED, Tally, badge_svg

SVG = "{http://www.w3.org/2000/svg}"
WHOLE = Tally("mine 1.0", "docker pod, memrig 0.1.0", "1.0", passed=80, failed=0, left_out=0)


def parsed(tally: Tally) -> ET.Element:
    """A badge as XML."""
    return ET.fromstring(badge_svg(tally))  # noqa: S314 - our own


def shown(tally: Tally) -> tuple[list[str], str]:
    """A badge's texts, and the colour of its right half."""
    root = parsed(tally)
    texts = [text.text or "" for text in root.iter(f"{SVG}text")]
    fills = [fill for rect in root.iter(f"{SVG}rect") if (fill := rect.get("fill"))]
    return texts, fills[-1]


@pytest.mark.parametrize(
    ("tally", "said", "colour"),
    [
        (WHOLE, "80 checks passed", GREEN),
        (replace(WHOLE, left_out=3), "80 checks passed, 3 not asked", AMBER),
        (replace(WHOLE, passed=78, failed=2), "2 of 80 checks failed", RED),
        (replace(WHOLE, failed=1, left_out=3), "1 of 81 checks failed", RED),
        (replace(WHOLE, passed=0), "nothing checked", RED),
    ],
)
def test_a_badge_says_what_the_checks_came_to(tally, said, colour):
    """Green is for a whole run without a failure alone."""
    assert shown(tally) == (["memrig contract 1.0", said], colour)


def test_a_badge_names_its_subject_and_what_checked_it():
    """Whoever points at it learns which version it speaks of."""
    title = parsed(WHOLE).findtext(f"{SVG}title")
    assert title == ("mine 1.0: memrig contract 1.0, 80 checks passed (docker pod, memrig 0.1.0)")


def test_a_name_cannot_break_out_of_a_badge():
    """What an adapter calls itself is text."""
    named = parsed(replace(WHOLE, subject='"><script>'))
    assert named.findtext(f"{SVG}title", "").startswith('"><script>')


def test_the_texts_of_a_badge_fit_into_it():
    """Each lies within its half, whatever font the viewer has."""
    root = parsed(WHOLE)
    ends = [int(t.get("x", 0)) + int(t.get("textLength", 0)) for t in root.iter(f"{SVG}text")]
    (_, left, right) = root.iter(f"{SVG}rect")
    edge = int(left.get("width", 0))
    assert ends[0] < edge < ends[1] < edge + int(right.get("width", 0))
