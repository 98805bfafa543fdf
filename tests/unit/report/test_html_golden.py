"""Pages of fixed reports, byte for byte. MEMRIG_UPDATE_GOLDEN=1 writes them anew."""

import os
from pathlib import Path

import pytest

from memrig.report.html import render_html
from support.answer_reports import answered_report
from support.reports import incomplete_report

GOLDEN = Path(__file__).parents[2] / "golden"
PAGES = {"report.html": incomplete_report, "report-answers.html": answered_report}


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_the_golden_one(name: str) -> None:
    """A change of the page is seen in review, never by accident."""
    page = render_html(PAGES[name]())
    if os.environ.get("MEMRIG_UPDATE_GOLDEN") == "1":
        (GOLDEN / name).write_text(page, "utf-8")
    assert page == (GOLDEN / name).read_text("utf-8")
