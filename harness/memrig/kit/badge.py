"""A conformance badge: what the checks came to, as a small picture for a README."""

from dataclasses import dataclass
from html import escape

LABEL = "memrig contract"
GREEN, AMBER, RED = "#2f7d32", "#8a5a00", "#b3261e"
_GREY = "#4a4a4a"
_HEIGHT = 20
_PAD = 7
#: Of a sans-serif of 11 px, in px: wide and narrow characters, and all others. `textLength` has the
#: viewer fit the text to the sum, whatever font it has.
_WIDTHS = {**dict.fromkeys("mwMW", 9.5), **dict.fromkeys("iljftr.,:'() ", 4.2)}
_WIDTH = 6.8


@dataclass(frozen=True, slots=True)
class Tally:
    """What a conformance run came to.

    Args:
        subject: the adapter, with its version; shown on pointing at the badge.
        made_by: what checked it, and where; likewise.
        contract: the contract's version, as the adapter declares it.
        passed: checks that passed.
        failed: checks that failed, or broke.
        left_out: checks that were not chosen.
    """

    subject: str
    made_by: str
    contract: str
    passed: int
    failed: int
    left_out: int


def badge_svg(tally: Tally) -> str:
    """The badge as SVG, without script, font or link: the same bytes for the same tally.

    Green: every check was asked, and none failed. Amber: none failed, but some were left out. Red:
    some failed, or none passed.
    """
    said, colour = _verdict(tally)
    label = f"{LABEL} {tally.contract}".strip()
    left, right = _width(label), _width(said)
    title = escape(f"{tally.subject}: {label}, {said} ({tally.made_by})")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="{_HEIGHT}" '
        f'role="img" aria-label="{title}">\n'
        f"<title>{title}</title>\n"
        f'<clipPath id="r"><rect width="{left + right}" height="{_HEIGHT}" rx="3"/></clipPath>\n'
        '<g clip-path="url(#r)">\n'
        f'<rect width="{left}" height="{_HEIGHT}" fill="{_GREY}"/>\n'
        f'<rect x="{left}" width="{right}" height="{_HEIGHT}" fill="{colour}"/>\n'
        "</g>\n"
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">\n'
        f"{_text(label, 0, left)}{_text(said, left, right)}"
        "</g>\n"
        "</svg>\n"
    )


def _verdict(tally: Tally) -> tuple[str, str]:
    asked = tally.passed + tally.failed
    if tally.failed or not asked:
        return f"{tally.failed} of {asked} checks failed" if asked else "nothing checked", RED
    if tally.left_out:
        return f"{tally.passed} checks passed, {tally.left_out} not asked", AMBER
    return f"{tally.passed} checks passed", GREEN


def _text(text: str, begin: int, width: int) -> str:
    length = width - 2 * _PAD
    return (
        f'<text x="{begin + _PAD}" y="14" textLength="{length}" '
        f'lengthAdjust="spacingAndGlyphs">{escape(text)}</text>\n'
    )


def _width(text: str) -> int:
    return round(sum(_WIDTHS.get(c, _WIDTH) for c in text)) + 2 * _PAD
