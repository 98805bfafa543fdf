"""The page in a real browser: it renders, it is inert, it fits a phone."""

from pathlib import Path

import pytest

from memrig.report.html import render_html
from memrig.report.model import Report
from support.answer_reports import answered_report, hostile_answers
from support.browser import Browser, find_browser
from support.pages import Page
from support.places import placed_report
from support.probes import hostile_operations, operated_report
from support.reports import SCRIPT, hostile_report, incomplete_report, sample_report
from support.timelines import hostile_over_time, report_over_time

pytestmark = pytest.mark.browser

#: Puts the page into a frame of a given width, and measures it once it is there.
_FRAME = """<!doctype html><title>waiting</title>
<iframe src="{name}" width="{width}" height="900"></iframe>
<script>
document.querySelector("iframe").addEventListener("load", (event) => {{
  const root = event.target.contentDocument.documentElement;
  const styled = getComputedStyle(root).getPropertyValue("--radius").trim();
  document.title = `${{root.scrollWidth}} ${{styled}}`;
}});
</script>"""


@pytest.fixture
def browser(tmp_path: Path) -> Browser:
    return find_browser(tmp_path / "profile")


def saved(report: Report, folder: Path) -> Path:
    path = folder / "report.html"
    path.write_text(render_html(report), "utf-8")
    return path


@pytest.mark.parametrize(
    "report",
    [sample_report(), answered_report(), report_over_time(), placed_report(), operated_report()],
)
def test_the_page_renders(browser: Browser, tmp_path: Path, report: Report) -> None:
    """The browser's own parser finds the same document that was written."""
    page = Page(browser.dom(saved(report, tmp_path)))
    written = Page(render_html(report))
    assert [e.tag for e in page.elements] == [e.tag for e in written.elements]
    assert page.text_of("title") == f"bm25 0.1.0 on {report.suite} · memrig"


def test_the_trap_would_catch_a_script(browser: Browser, tmp_path: Path) -> None:
    """The counter-check: what hostile text holds does run where it is not escaped."""
    path = tmp_path / "trap.html"
    path.write_text(f"<title>mine</title>{SCRIPT}", "utf-8")
    assert Page(browser.dom(path)).text_of("title") == "owned"


def test_hostile_text_does_not_run(browser: Browser, tmp_path: Path) -> None:
    """Scripts, handlers and stray end tags in an adapter's text stay text."""
    page = Page(browser.dom(saved(hostile_over_time(), tmp_path)))
    assert "owned' on locomo" not in page.text_of("title")
    assert page.text_of("title").endswith("on locomo · memrig")
    assert page.all("script", "img") == []


def test_nothing_is_loaded_from_elsewhere(browser: Browser, tmp_path: Path) -> None:
    """The document as the browser holds it names no address but its own anchors."""
    page = Page(browser.dom(saved(hostile_answers(), tmp_path)))
    assert page.all("link", "base", "iframe", "object", "embed") == []
    for element in page.elements:
        assert "src" not in element.attributes
        assert element.attributes.get("href", "#").startswith("#")


@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize(
    "report",
    [
        sample_report(),
        incomplete_report(),
        hostile_report(),
        answered_report(),
        hostile_answers(),
        report_over_time(),
        hostile_over_time(),
        placed_report(),
        operated_report(),
        hostile_operations(),
    ],
)
def test_it_fits_without_scrolling_sideways(
    browser: Browser, tmp_path: Path, width: int, report: Report
) -> None:
    """On a phone and a desk, whatever an adapter wrote; and the policy lets its style in."""
    page = saved(report, tmp_path)
    frame = tmp_path / "frame.html"
    frame.write_text(_FRAME.format(name=page.name, width=width), "utf-8")
    dom = browser.dom(frame, "--allow-file-access-from-files", "--window-size=1500,1000")
    assert Page(dom).text_of("title") == f"{width} 10px"
