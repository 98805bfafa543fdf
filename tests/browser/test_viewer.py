"""The viewer in a real browser: it is inert, it reads as it stands, it fits a phone."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import memrig
from memrig.trial.directory import hold
from memrig.viewer import links
from support.browser import Browser, find_browser
from support.pages import Page, words
from support.reports import BIDI, HOSTILE, LONG, SCRIPT
from support.viewed import client, crawl, made_run, served

pytestmark = pytest.mark.browser

#: As a data file may hold it: suites refuse lone surrogates. Then Hebrew, which reads from right
#: to left as it should, and one word that no browser breaks.
TEXT = HOSTILE.replace("\ud800", "") + "שלום עולם (1) " + LONG[:300]

#: Puts every page into a frame of a given width, and measures each once all are there.
_FRAMES = """<!doctype html><title>waiting</title>
{frames}
<script>
addEventListener("load", () => {{
  const found = [...document.querySelectorAll("iframe")].map((frame) => {{
    const root = frame.contentDocument.documentElement;
    const styled = getComputedStyle(root).getPropertyValue("--radius").trim();
    return [frame.getAttribute("src"), root.scrollWidth, styled];
  }});
  document.title = JSON.stringify(found);
}});
</script>"""


@pytest.fixture
def browser(tmp_path: Path) -> Browser:
    return find_browser(tmp_path / "profile")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two graded runs and one in flight, all of whose texts mean harm."""
    root = tmp_path_factory.mktemp("runs")
    for name in ("graded", "other"):
        memrig.score(made_run(root / name, text=TEXT).directory.root)
    made_run(root / "open", text=TEXT, settled=2, sealed=False)
    return root


@pytest.fixture
def address(runs: Path) -> Iterator[str]:
    with served(runs) as found:
        yield found


def of(runs: Path, name: str) -> str:
    """The address of a question of a run."""
    (spec,) = (runs / name / "specs").glob("*.json")
    return links.question(name, spec.stem, "small", "q1")


@pytest.mark.parametrize("name", ["graded", "open"])
def test_hostile_text_does_not_run(browser: Browser, runs: Path, address: str, name: str) -> None:
    """Scripts, handlers and stray end tags of an adapter stay text, and are there to read."""
    page = Page(browser.visit(address + of(runs, name)))
    assert page.text_of("title").endswith("small#q1 · memrig view")
    assert page.all("script", "img") == []
    assert SCRIPT in words(page.first("main").text)


def test_text_keeps_its_direction(browser: Browser, runs: Path, address: str) -> None:
    """Nothing turns what stands beside it: overrides are gone, and each text stands by itself."""
    page = Page(browser.visit(address + of(runs, "graded")))
    text = page.first("body").text
    assert not set("\u202e\u202c\u2066\u2069\x1b") & set(text)
    assert set("\u202e\u2066") < set(BIDI)
    hits = [e for e in page.all("span") if e.attributes.get("class") == "hit-text"]
    assert hits
    assert {e.attributes.get("dir") for e in hits} == {"auto"}
    assert all("שלום עולם" in e.text for e in hits)


def test_the_browser_finds_what_was_written(browser: Browser, runs: Path, address: str) -> None:
    """The same document, read by two parsers; and it asks for nothing from elsewhere."""
    path = of(runs, "graded")
    seen = Page(browser.visit(address + path))
    written = Page(asyncio.run(client(runs).get(path)).text)
    assert [e.tag for e in seen.elements] == [e.tag for e in written.elements]
    assert all("src" not in e.attributes for e in seen.elements)
    assert all(e.attributes.get("href", "/")[0] in "/#" for e in seen.elements)


def test_a_run_at_work_is_followed(browser: Browser, tmp_path: Path) -> None:
    """The page loads itself again: what was settled meanwhile is there, without a script."""
    made = made_run(tmp_path / "runs" / "run", settled=1, sealed=False)
    with hold(made.directory.root), served(tmp_path / "runs") as address:
        page = Page(browser.visit(f"{address}/runs/run"))
        bars = [e.attributes["value"] for e in page.all("progress")]
        assert bars[:2] == ["1", "4"]
        assert page.text_of("title") == "run · memrig view"
        refresh = [e for e in page.all("meta") if e.attributes.get("http-equiv") == "refresh"]
        assert [e.attributes["content"] for e in refresh] == ["3"]


@pytest.mark.parametrize("width", [390, 1440])
def test_every_page_fits(browser: Browser, runs: Path, tmp_path: Path, width: int) -> None:
    """Without scrolling sideways, on a phone and a desk, whatever an adapter wrote."""
    pages = asyncio.run(_kinds(runs))
    assert len(pages) >= 9
    names = [f"page-{number}.html" for number in range(len(pages))]
    for name, text in zip(names, pages, strict=True):
        (tmp_path / name).write_text(text, "utf-8")
    frames = "".join(
        f'<iframe src="{name}" width="{width}" height="900"></iframe>' for name in names
    )
    file = tmp_path / "frames.html"
    file.write_text(_FRAMES.format(frames=frames), "utf-8")
    dom = browser.dom(file, "--allow-file-access-from-files", "--window-size=1500,1000")
    measured = json.loads(Page(dom).text_of("title"))
    assert sorted(map(tuple, measured)) == sorted((name, width, "10px") for name in names)


async def _kinds(runs: Path) -> list[str]:
    """A page of each kind: of every address with its ids left out, the first."""
    first: dict[str, str] = {}
    with hold(runs / "open"):  # so that it is shown as running
        for path, reply in (await crawl(client(runs))).items():
            bare = path.partition("?")[0].split("/")
            kind = (bare[1], len(bare), bare[-1] if len(bare) % 2 == 0 else "", "open" in bare)
            first.setdefault(str(kind), reply.text)
    return list(first.values())
