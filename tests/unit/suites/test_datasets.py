"""Datasets are pinned by content, fetched into the user's folder, and resumed."""

import hashlib
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.resources import files
from pathlib import Path

import pytest
from typer.testing import CliRunner

from memrig.cli import data as commands
from memrig.errors import DataError, PrerequisiteError, UsageError
from memrig.suites import datasets
from memrig.suites.base import SuiteOptions
from memrig.suites.datasets import DATASETS, Dataset, adopt, fetch, locate, path_of
from memrig.suites.longmemeval import SUITE as LONGMEMEVAL
from support.data import data_file

DATA = bytes(range(256)) * 2048


class Upstream:
    """A server on the loopback interface with one file and a few bad habits."""

    def __init__(self) -> None:
        self.content = DATA
        self.ranges = True
        self.cut_after: int | None = None
        self.asked: list[str | None] = []
        upstream = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                upstream.answer(self)

            def log_message(self, *_: object) -> None:
                """Quiet."""

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/data.bin"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        asked = handler.headers.get("Range")
        self.asked.append(asked)
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and self.ranges else 0
        body = self.content[start:]
        handler.send_response(206 if asked and self.ranges else 200)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        sent = body if self.cut_after is None else body[: self.cut_after]
        handler.wfile.write(sent)

    def close(self) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


@pytest.fixture
def upstream(monkeypatch, tmp_path) -> Iterator[Upstream]:
    """The pinned dataset `demo`, served here, and an empty data folder."""
    server = Upstream()
    server.thread.start()
    item = Dataset(
        name="demo",
        file_name="demo.bin",
        url=server.url,
        sha256=hashlib.sha256(DATA).hexdigest(),
        size=len(DATA),
        licence="none",
    )
    monkeypatch.setitem(DATASETS, "demo", item)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    yield server
    server.close()


def partial() -> Path:
    return path_of(DATASETS["demo"]).with_name("demo.bin.part")


def test_a_dataset_is_fetched_into_the_users_folder(upstream, tmp_path):
    """Whole, checked, and under its own name."""
    path = fetch("demo")
    assert path.read_bytes() == DATA
    assert path.is_relative_to(tmp_path)
    assert locate("demo") == path
    assert not partial().exists()


def test_progress_is_told_in_bytes_of_the_whole(upstream):
    """It grows, and ends at the size."""
    seen: list[tuple[int, int]] = []
    fetch("demo", lambda done, total: seen.append((done, total)))
    assert seen == sorted(seen)
    assert len(seen) > 1
    assert seen[-1] == (len(DATA), len(DATA))


def test_what_is_here_already_is_not_fetched_again(upstream):
    """The second call asks nobody."""
    fetch("demo")
    fetch("demo")
    assert len(upstream.asked) == 1


def test_a_damaged_file_is_fetched_again(upstream):
    """What counts is the content."""
    path = fetch("demo")
    path.write_bytes(b"damaged")
    assert fetch("demo").read_bytes() == DATA


def test_a_cut_connection_is_resumed_where_it_stopped(upstream):
    """The first part is kept, and only the rest is asked for."""
    upstream.cut_after = 100_000
    with pytest.raises(PrerequisiteError, match="ended after 100000 of 524288 bytes") as caught:
        fetch("demo")
    assert "repeat the command to resume" in caught.value.fix
    assert partial().stat().st_size == 100_000
    upstream.cut_after = None
    assert fetch("demo").read_bytes() == DATA
    assert upstream.asked == ["bytes=0-", "bytes=100000-"]


def test_a_server_without_ranges_starts_over(upstream):
    """It sends the whole file, and the first part is not in it twice."""
    upstream.cut_after = 100_000
    with pytest.raises(PrerequisiteError):
        fetch("demo")
    upstream.cut_after, upstream.ranges = None, False
    assert fetch("demo").read_bytes() == DATA


def test_another_content_is_refused_and_thrown_away(upstream):
    """It is not the pinned file; the next try starts from nothing."""
    upstream.content = DATA[:-1] + b"!"
    with pytest.raises(PrerequisiteError, match=r"has sha256:.*, expected sha256:") as caught:
        fetch("demo")
    assert caught.value.where == "data fetch demo"
    assert not partial().exists()
    assert not path_of(DATASETS["demo"]).exists()
    upstream.content = DATA
    assert fetch("demo").read_bytes() == DATA


def test_a_partial_file_of_other_content_does_not_stand_in_the_way(upstream):
    """It is seen by its hash, thrown away, and fetched anew."""
    partial().parent.mkdir(parents=True)
    partial().write_bytes(b"?" * 1000)
    with pytest.raises(PrerequisiteError, match="expected sha256:"):
        fetch("demo")
    assert fetch("demo").read_bytes() == DATA


def test_an_error_of_the_server_is_told(upstream, monkeypatch):
    """Not written into the file."""
    monkeypatch.setattr(upstream, "answer", lambda handler: handler.send_error(503))
    with pytest.raises(PrerequisiteError, match="503"):
        fetch("demo")
    assert not partial().exists()


def test_without_a_network_the_error_names_both_ways_out(upstream, monkeypatch):
    """Repeat it elsewhere, or give the file."""
    upstream.server.server_close()
    with pytest.raises(PrerequisiteError) as caught:
        fetch("demo")
    assert caught.value.where == "data fetch demo"
    assert upstream.url in caught.value.message
    assert "--file demo.bin" in caught.value.fix


def test_a_dataset_that_is_not_here_names_both_ways_to_get_it(upstream):
    """Never a silent substitute."""
    with pytest.raises(PrerequisiteError) as caught:
        locate("demo")
    assert "`memrig data fetch demo`" in caught.value.fix
    assert "--file demo.bin" in caught.value.fix


def test_an_unknown_dataset_is_refused_with_the_known_ones(upstream):
    """A typing mistake, most likely."""
    with pytest.raises(UsageError, match="no dataset 'lokomo'") as caught:
        fetch("lokomo")
    assert "locomo" in caught.value.fix


def test_a_copy_of_ones_own_is_adopted_if_it_is_the_pinned_file(upstream, tmp_path):
    """Otherwise it is refused, and --file is named."""
    mine = tmp_path / "mine.bin"
    mine.write_bytes(DATA)
    assert adopt("demo", mine).read_bytes() == DATA
    mine.write_bytes(b"other")
    with pytest.raises(PrerequisiteError) as caught:
        adopt("demo", mine)
    assert "--file" in caught.value.fix
    with pytest.raises(DataError, match="no such file") as missing:
        adopt("demo", tmp_path / "none.bin")
    assert missing.value.fix


def test_an_adopted_copy_is_whole_or_not_there(upstream, tmp_path, monkeypatch):
    """A disk that fills up leaves nothing that would be taken for the dataset."""
    mine = tmp_path / "mine.bin"
    mine.write_bytes(DATA)

    def half(_: Path, to: Path) -> None:
        to.write_bytes(DATA[:3])
        raise OSError("no space left")

    with monkeypatch.context() as patch:
        patch.setattr("shutil.copyfile", half)
        with pytest.raises(OSError, match="no space"):
            adopt("demo", mine)
    path = path_of(DATASETS["demo"])
    assert not path.exists()
    assert adopt("demo", mine) == adopt("demo", path) == path
    assert list(path.parent.iterdir()) == [path]


def test_the_command_adopts_and_names_the_place(upstream, tmp_path):
    """`memrig data adopt NAME FILE`."""
    mine = tmp_path / "mine.bin"
    mine.write_bytes(DATA)
    result = CliRunner().invoke(commands.data_app, ["adopt", "demo", str(mine)])
    assert result.exit_code == 0
    assert str(path_of(DATASETS["demo"])) in result.output.replace("\n", "")


@pytest.mark.parametrize("item", DATASETS.values(), ids=lambda item: item.name)
def test_every_dataset_is_pinned(item):
    """By a URL that cannot move, a size and a sha256."""
    assert item.url.startswith("https://")
    assert any(len(part) == 40 for part in item.url.split("/"))
    assert len(item.sha256) == 64
    assert item.size > 0


def test_the_folder_follows_the_users_environment(monkeypatch, tmp_path):
    """XDG_DATA_HOME moves it."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "elsewhere"))
    assert datasets.data_folder() == tmp_path / "elsewhere" / "memrig" / "datasets"


@pytest.mark.parametrize(
    ("name", "size"),
    [("oracle", 15_388_478), ("s", 277_383_467), ("m", 2_737_100_077)],
)
def test_longmemeval_is_pinned_at_one_revision(name, size):
    """The cleaned files, not the older ones."""
    item = DATASETS[f"longmemeval-{name}"]
    assert "/longmemeval-cleaned/resolve/98d7416c24c778c2fee6e6f3006e7a073259d48f/" in item.url
    assert item.url.endswith(item.file_name)
    assert (item.size, item.licence) == (size, "MIT")


def test_the_pinned_oracle_file_is_the_real_one(monkeypatch, tmp_path):
    """A copy on this machine is adopted by its hash, and located from then on."""
    mine = data_file("longmemeval_oracle.json")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert adopt("longmemeval-oracle", mine) == locate("longmemeval-oracle")
    assert mine.stat().st_size == DATASETS["longmemeval-oracle"].size


def test_longmemeval_is_fetched_and_resumed_like_any_other(upstream, monkeypatch):
    """And the suite finds it where it was put."""
    content = (files("memrig.suites") / "longmemeval_sample.json").read_bytes()
    item = replace(
        DATASETS["longmemeval-s"],
        url=upstream.url,
        size=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
    )
    monkeypatch.setitem(DATASETS, item.name, item)
    upstream.content, upstream.cut_after = content, 5000
    with pytest.raises(PrerequisiteError, match="ended after 5000"):
        fetch("longmemeval-s")
    upstream.cut_after = None
    assert fetch("longmemeval-s").read_bytes() == content
    assert upstream.asked == ["bytes=0-", "bytes=5000-"]
    source = LONGMEMEVAL.source(SuiteOptions("longmemeval-typed"))
    assert (source.name, source.origin) == ("longmemeval-s", "longmemeval_s_cleaned.json")


def test_the_flags_that_ask_for_a_dataset_are_named(upstream):
    """Where a suite has more than one."""
    with pytest.raises(PrerequisiteError) as caught:
        locate("demo", "--suite x --variant y")
    assert caught.value.where == "--suite x --variant y"
