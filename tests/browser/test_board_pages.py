"""A leaderboard in a real browser: it reads without script, sorts and filters with it, and fits."""

from pathlib import Path

import pytest

from memrig.leaderboard.pages import entry_page, first_page, matrix_page
from memrig.leaderboard.pairs import Compared, Pairs, pair_key
from memrig.leaderboard.questions import line_of, rendered_page
from memrig.leaderboard.tables import RowKey, tables_of
from memrig.report.html import Crumb
from support.boards import board_of, board_run, cost, entry, hostile_entry
from support.browser import Browser, find_browser
from support.comparisons import grade
from support.pages import Page, words
from support.reports import HOSTILE, LONG, hostile_report

pytestmark = pytest.mark.browser

#: Puts the page into a frame of a given width, acts on it, and says what it came to in the title.
_FRAME = """<!doctype html><title>waiting</title>
<iframe src="{name}" width="{width}" height="900" {sandbox}></iframe>
<script>
document.querySelector("iframe").addEventListener("load", (event) => {{
  const page = event.target.contentDocument, root = page.documentElement;
  {act}
}});
</script>"""
_MEASURE = """
  const styled = getComputedStyle(root).getPropertyValue("--radius").trim();
  const parts = [...root.querySelectorAll("svg.scatter circle, svg.scatter text")];
  const inside = parts.every((part) => {
    const box = part.getBoundingClientRect(), own = part.ownerSVGElement.getBoundingClientRect();
    return box.left >= own.left - 7 && box.right <= own.right + 7;
  });
  document.title = `${root.scrollWidth} ${styled} ${inside}`;
"""
#: Names of the rows that are seen, after an action.
_NAMES = """
  const names = () => [...page.querySelectorAll("tbody tr:not([hidden]) th a")]
    .filter((link) => link.offsetParent !== null).map((link) => link.textContent).join(" ");
  const head = (text) => [...page.querySelectorAll("thead button")]
    .find((button) => button.textContent.startsWith(text));
  const choose = (name, value) => {
    const control = page.querySelector(`[data-filter=${name}]`);
    control.value = value;
    control.dispatchEvent(new Event("input", { bubbles: true }));
  };
"""


@pytest.fixture
def browser(tmp_path: Path) -> Browser:
    return find_browser(tmp_path / "profile")


def entries() -> list:
    """Three of one suite, of which one is open and one rerun; and one of another suite."""
    paid = {"usd": 1.0, "usd_per_1000": 7.0}
    return [
        entry("alpha", board_run(0.9, spent=cost(**paid, search_p50_ms=9.0)), division="open"),
        entry("beta", board_run(0.8, spent=cost(search_p50_ms=80.0)), tier="organiser-rerun"),
        entry("gamma", board_run(0.4, spent=cost(search_p50_ms=None))),
        entry("delta", board_run(0.7, suite="longhorizon", protocol="longhorizon")),
    ]


def first(folder: Path, *found: object) -> Path:
    board = board_of(*(found or entries()))
    tables = tables_of(board.entries)
    return saved(folder, first_page(board, tables, [Pairs() for _ in tables]))


def saved(folder: Path, text: str) -> Path:
    path = folder / "page.html"
    path.write_text(text, "utf-8")
    return path


def acted(
    browser: Browser,
    page: Path,
    act: str,
    width: int = 1440,
    *flags: str,
    scripts: bool = True,
) -> str:
    """What acting on the page comes to; without `scripts`, its own do not run."""
    frame = page.with_name("frame.html")
    sandbox = "" if scripts else 'sandbox="allow-same-origin"'
    text = _FRAME.format(name=page.name, width=width, act=act, sandbox=sandbox)
    frame.write_text(text, "utf-8")
    window = ("--allow-file-access-from-files", "--window-size=1500,1000")
    return Page(browser.dom(frame, *window, *flags)).text_of("title")


def told(browser: Browser, page: Path, act: str) -> str:
    return acted(browser, page, f"{_NAMES} {act}; document.title = names();")


def test_without_script_every_row_is_there(browser: Browser, tmp_path: Path) -> None:
    """Best first, and no control that would do nothing."""
    act = f"""{_NAMES} const seen = (one) => Boolean(page.querySelector(one)?.offsetParent);
    document.title = names() + ` ${{seen("form")}} ${{seen("thead button")}}`;"""
    found = first(tmp_path)
    assert acted(browser, found, act, scripts=False) == "delta alpha beta gamma false false"
    assert acted(browser, found, act) == "delta alpha beta gamma true true"


def test_the_policy_lets_the_script_in(browser: Browser, tmp_path: Path) -> None:
    """By its hash: filters show, heads become buttons."""
    page = Page(browser.dom(first(tmp_path)))
    assert "hidden" not in page.first("form").attributes
    assert len(page.all("button")) == len(
        [e for e in page.all("th") if e.attributes["scope"] == "col"]
    )
    assert words(page.first("output").text) == "4 of 4 rows"


@pytest.mark.parametrize(
    ("clicks", "expected"),
    [
        (["Score"], "delta gamma beta alpha"),
        (["Score", "Score"], "delta alpha beta gamma"),
        (["System"], "delta alpha beta gamma"),
        (["System", "System"], "delta gamma beta alpha"),
        (["Cost"], "delta alpha beta gamma"),
        (["Search"], "delta beta alpha gamma"),
        (["Search", "Search"], "delta alpha beta gamma"),
    ],
)
def test_a_head_sorts_its_table(
    browser: Browser, tmp_path: Path, clicks: list[str], expected: str
) -> None:
    """One way, then the other; what has no value comes last both ways. Others stay as they are."""
    press = "; ".join(
        f'[...page.querySelectorAll("table")].at(-1).querySelectorAll("thead button")'
        f'.forEach((b) => b.textContent.startsWith("{name}") && !b.textContent.includes("p95")'
        " && b.click())"
        for name in clicks
    )
    assert told(browser, first(tmp_path), press) == expected


def test_what_is_sorted_by_is_told(browser: Browser, tmp_path: Path) -> None:
    """To who cannot see the arrow, too; and the keyboard stays where it was."""
    act = """head("Rank").click();
    const sorted = [...page.querySelectorAll("table:first-of-type [aria-sort]")];
    document.title = sorted.map((e) => e.textContent.trim() + " " + e.ariaSort).join()
      + " " + (page.activeElement === head("Rank"));"""
    said = acted(browser, first(tmp_path, entries()[3]), _NAMES + act)
    assert said == "Rank descending true"


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("suite", "longhorizon", "delta"),
        ("division", "open", "alpha"),
        ("tier", "organiser-rerun", "beta"),
        ("words", "GAM", "gamma"),
        ("words", "nobody", ""),
        ("suite", "", "delta alpha beta gamma"),
    ],
)
def test_filters_leave_what_fits(
    browser: Browser, tmp_path: Path, name: str, value: str, expected: str
) -> None:
    """By suite, division, tier, and words in a name."""
    assert told(browser, first(tmp_path), f'choose("{name}", "{value}")') == expected


def question_page(folder: Path, text: str) -> Path:
    shown = hostile_report().worst[0].model_copy(update={"text": text})
    lines = [line_of(n, grade("s01#q2", 0.5), shown) for n in (1, 2)]
    crumbs = (Crumb("leaderboard", "x"), Crumb(text, "y"), Crumb(text))
    return saved(folder, rendered_page(lines, crumbs, (4, 9), total=450, texts=True))


def entry_page_of(folder: Path, text: str) -> Path:
    found = hostile_entry(text)
    board = board_of(found, title=text)
    tables = tables_of(board.entries)
    return saved(folder, entry_page(board, found, tables, [Pairs()], {RowKey(found.id, 1): 9}))


def matrix(folder: Path, text: str) -> Path:
    board = board_of(hostile_entry(text), *entries()[:3])
    table = max(tables_of(board.entries), key=lambda table: len(table.rows))
    found = {
        pair_key(row, other): Compared("compare/x.html", "better", 0.5, 0.01)
        for row in table.rows for other in table.rows if row.key < other.key
    }  # fmt: skip
    return saved(folder, matrix_page(board, table, Pairs("recall_any@10", found)))


def first_with(folder: Path, text: str) -> Path:
    return first(folder, hostile_entry(text), *entries())


PAGES = [first_with, entry_page_of, question_page, matrix]


@pytest.mark.parametrize("make", PAGES)
def test_hostile_text_does_not_run(browser: Browser, tmp_path: Path, make) -> None:
    """Scripts, handlers and stray end tags of a submitter or an adapter stay text."""
    page = Page(browser.dom(make(tmp_path, HOSTILE)))
    assert page.text_of("title").endswith("· memrig")
    assert page.all("img") == []
    assert len(page.all("script")) == (1 if make is first_with else 0)


@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("text", [HOSTILE, LONG, "bm25"])
@pytest.mark.parametrize("make", PAGES)
def test_it_fits_a_phone_and_a_desk(
    browser: Browser, tmp_path: Path, make, text: str, width: int
) -> None:
    """Without scrolling sideways, whatever somebody calls himself; nothing of a plot is cut off."""
    assert acted(browser, make(tmp_path, text), _MEASURE, width) == f"{width} 10px true"


@pytest.mark.parametrize("make", PAGES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out_from_their_ground(
    browser: Browser, tmp_path: Path, make, scheme: str
) -> None:
    """By 4.5 to 1 at least, in both schemes, wherever a text stands."""
    asked = f"--blink-settings=preferredColorScheme={0 if scheme == 'dark' else 1}"
    said = acted(browser, make(tmp_path, "bm25"), _CONTRAST, 1440, asked)
    assert said.startswith(f"{scheme} ")
    assert said.endswith(" none"), said


_CONTRAST = """
  const canvas = document.createElement("canvas").getContext("2d");
  const parse = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, n) => sum + v * [0.2126, 0.7152, 0.0722][n], 0);
  const ground = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const found = parse(getComputedStyle(e).backgroundColor);
      if (found[3] === 255) return found;
    }
    return [255, 255, 255, 255];
  };
  const weak = [];
  for (const element of root.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    const svg = element.namespaceURI.endsWith("svg");
    if (!own || !element.getClientRects().length || ["SCRIPT", "STYLE"].includes(element.tagName)
      || ["title", "desc"].includes(element.tagName)) continue;
    const style = getComputedStyle(element);
    const pair = [light(parse(svg ? style.fill : style.color)), light(ground(element))];
    const ratio = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
    if (ratio < 4.5) weak.push(`${element.tagName}.${element.className} ${ratio.toFixed(1)}`);
  }
  const dark = light(parse(getComputedStyle(page.body).backgroundColor)) < 0.2;
  document.title = `${dark ? "dark" : "light"} ${weak.join("; ") || "none"}`;
"""
