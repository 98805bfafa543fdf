"""The page of a fixed report, byte for byte. MEMRIG_UPDATE_GOLDEN=1 writes it anew."""

import os
from pathlib import Path

from memrig.report.html import render_html
from support.reports import incomplete_report

GOLDEN = Path(__file__).parents[2] / "golden" / "report.html"


def test_the_page_is_the_golden_one() -> None:
    """A change of the page is seen in review, never by accident."""
    page = render_html(incomplete_report())
    if os.environ.get("MEMRIG_UPDATE_GOLDEN") == "1":
        GOLDEN.write_text(page, "utf-8")
    assert page == GOLDEN.read_text("utf-8")
