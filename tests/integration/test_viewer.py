"""The viewer over real runs: every page of them, and the command itself."""

import http.client
import re
import signal
from pathlib import Path

import pytest

import memrig
from memrig import RunConfig
from support.command import start
from support.pages import Page, words
from support.viewed import client, contents, crawl


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An answered run, and two that only searched."""
    root = tmp_path_factory.mktemp("runs")
    common = {"suite": "practical", "limit": 6, "audit": False}
    read = {"mode": "reader", "reader_model": "local/extractive"}
    memrig.run(RunConfig(adapter="baseline:oracle", out=root / "read", **common, **read))
    for name in ("oracle", "full-context"):
        memrig.run(RunConfig(adapter=f"baseline:{name}", out=root / name, **common))
    return root


async def test_every_page_of_real_runs_is_there_and_nothing_is_changed(runs: Path) -> None:
    """Whatever can be reached from the list of runs."""
    before = contents(runs)
    pages = await crawl(client(runs))
    assert {path for path, reply in pages.items() if reply.status != 200} == set()
    assert sum("/question?" in path for path in pages) == 18
    assert "/compare/oracle/full-context" in pages
    assert contents(runs) == before


async def test_a_question_shows_what_the_model_was_sent_and_what_it_said(runs: Path) -> None:
    """From the record; the prompt holds the question and what was found."""
    pages = await crawl(client(runs))
    path = next(path for path in pages if path.startswith("/runs/read/") and "/question?" in path)
    page = Page(pages[path].text)
    calls = [e for e in page.all("details") if "local/extractive" in e.text]
    assert len(calls) == 1
    said = words(calls[0].text)
    assert words(page.text_of("h1")) in said
    assert "replied" in said


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_the_command_says_where_and_ends_without_an_error(runs: Path, how: signal.Signals) -> None:
    """Ctrl-C is the way to end it; so is a polite kill."""
    process = start("view", runs, "--port", "0", cwd=runs)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        (port,) = re.findall(r"^http://127\.0\.0\.1:(\d+)/ shows 3 runs of ", line)
        connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=20)
        connection.request("GET", "/")
        assert b"full-context" in connection.getresponse().read()
        connection.close()
        process.send_signal(how)
        assert process.wait(20) == 0
        assert process.stderr is not None
        assert process.stderr.read() == ""
    finally:
        process.kill()
        process.communicate()
