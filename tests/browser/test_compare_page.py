"""A comparison's page in a real browser: it renders, it is inert, it fits a phone."""

from pathlib import Path

import pytest

import memrig
from memrig.report.compare_html import render_comparison
from memrig.report.compare_model import Comparison
from support.browser import Browser, find_browser
from support.comparisons import STRONG, WEAK, hostile, saved_run
from support.pages import Page
from support.reports import HOSTILE, LONG

pytestmark = pytest.mark.browser

#: Puts the page into a frame of a given width, and measures it and its first plot.
_FRAME = """<!doctype html><title>waiting</title>
<iframe src="{name}" width="{width}" height="900"></iframe>
<script>
document.querySelector("iframe").addEventListener("load", (event) => {{
  const root = event.target.contentDocument.documentElement;
  const styled = getComputedStyle(root).getPropertyValue("--radius").trim();
  const plot = root.querySelector("svg").getBoundingClientRect();
  const inside = [...root.querySelectorAll("svg circle, svg text")].every((part) => {{
    const box = part.getBoundingClientRect(), own = part.ownerSVGElement.getBoundingClientRect();
    return box.left >= own.left - 7 && box.right <= own.right + 7;
  }});
  document.title = `${{root.scrollWidth}} ${{styled}} ${{plot.width > 250}} ${{inside}}`;
}});
</script>"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    root = tmp_path_factory.mktemp("runs")
    runs = [saved_run(root / "weak", WEAK), saved_run(root / "strong", STRONG)]
    return memrig.compare(runs, gates=["overall>=0.5"])


@pytest.fixture
def browser(tmp_path: Path) -> Browser:
    return find_browser(tmp_path / "profile")


def saved(found: Comparison, folder: Path) -> Path:
    path = folder / "compare.html"
    path.write_text(render_comparison(found), "utf-8")
    return path


def test_the_page_renders(browser: Browser, tmp_path: Path, found: Comparison) -> None:
    """The browser's own parser finds the same document that was written."""
    page = Page(browser.dom(saved(found, tmp_path)))
    written = Page(render_comparison(found))
    assert [e.tag for e in page.elements] == [e.tag for e in written.elements]
    assert page.text_of("title") == "strong against weak · memrig"


def test_hostile_names_do_not_run(browser: Browser, tmp_path: Path, found: Comparison) -> None:
    """Scripts and handlers in the name of an adapter or a category stay text."""
    page = Page(browser.dom(saved(hostile(found, HOSTILE), tmp_path)))
    assert page.text_of("title").endswith("· memrig")
    assert page.all("script", "img") == []


@pytest.mark.parametrize("width", [390, 1440])
def test_it_fits_a_phone_and_a_desk(
    browser: Browser, tmp_path: Path, found: Comparison, width: int
) -> None:
    """Without scrolling sideways; nothing of a plot is drawn outside it."""
    page = saved(found, tmp_path)
    assert measured(browser, tmp_path, page, width) == f"{width} 10px true true"


def test_long_names_do_not_widen_it(browser: Browser, tmp_path: Path, found: Comparison) -> None:
    """Whatever an adapter calls itself."""
    page = saved(hostile(found, LONG), tmp_path)
    assert measured(browser, tmp_path, page, 390).startswith("390 10px true")


def measured(browser: Browser, folder: Path, page: Path, width: int) -> str:
    frame = folder / "frame.html"
    frame.write_text(_FRAME.format(name=page.name, width=width), "utf-8")
    dom = browser.dom(frame, "--allow-file-access-from-files", "--window-size=1500,1000")
    return Page(dom).text_of("title")
