"""The gateway's record: to lines and back, row by row the same."""

import hashlib
import json
import sqlite3
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from memrig.errors import DataError
from memrig.gateway.record import Attempt, Exchange, Record
from memrig.model.canonical import canonical_json
from memrig.submission.modelrecord import export_record, read_models

BODY = '{"format":"openai.chat","request":{"messages":[{"content":"naïve \\u2028"}]}}'
DIGEST = hashlib.sha256(BODY.encode()).hexdigest()
EXCHANGE = Exchange(
    key="k1",
    same="s",
    request=DIGEST,
    format="openai.chat",
    model="m",
    phase="answer",
    purpose="reader",
    trial_id="t",
    scope="q",
    seed=2026,
    attempt=0,
    vote=0,
    occurrence=0,
    state="ok",
    status=None,
    error="",
    response='{"ok":1}',
    events=None,
    served_model="m-1",
    input_tokens=12,
    output_tokens=3,
    cost_usd=0.1 + 0.2,
    ns=123456789012,
    attempts=1,
    at="2026-11-22T03:04:05Z",
)
ATTEMPT = Attempt(
    key="k1",
    number=1,
    model="m",
    phase="answer",
    purpose="reader",
    trial_id="t",
    status=429,
    error="rate",
    message="später",
    retry_after_s=0.25,
    ns=5,
    input_tokens=0,
    output_tokens=0,
    cost_usd=None,
    at="2026-11-22T03:04:05Z",
)


@pytest.fixture
async def record(tmp_path) -> Path:
    """A record of two exchanges, the later one first by name."""
    path = tmp_path / "llm.sqlite"
    opened = Record(path, read_only=False)
    await opened.note_wire("m", "openai.chat")
    await opened.add(replace(EXCHANGE, key="z9"), [], BODY.encode())
    await opened.add(EXCHANGE, [ATTEMPT, replace(ATTEMPT, number=2)], BODY.encode())
    await opened.close()
    return path


def dump(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as database:
        return list(database.iterdump())


@pytest.fixture
def models(record, tmp_path) -> Path:
    path = tmp_path / "models.jsonl"
    path.write_bytes(b"".join(export_record(record)))
    return path


def test_a_record_comes_back_row_by_row(record, models, tmp_path):
    """In the order of writing, floats to the last digit, as a file that replays."""
    again = tmp_path / "again.sqlite"
    with read_models(models, again) as found:
        assert list(found.exchanges) == ["z9", "k1"]
        assert found.exchanges["k1"] == EXCHANGE
        assert found.attempts == (ATTEMPT, replace(ATTEMPT, number=2))
        assert dict(found.requests) == {DIGEST: BODY}
        assert (len(found.exchanges), "none" in found.exchanges) == (2, False)
    assert dump(again) == dump(record)
    assert b"".join(export_record(again)) == models.read_bytes()


async def test_the_gateway_reads_what_came_back(models, tmp_path):
    """It is a record like any other."""
    with read_models(models, tmp_path / "again.sqlite"):
        pass
    opened = Record(tmp_path / "again.sqlite", read_only=True)
    assert opened.request(DIGEST) == BODY
    assert opened.wire_of("m") == "openai.chat"
    await opened.close()


def test_without_models_nothing_is_recorded(tmp_path):
    """And no file is made."""
    with read_models(tmp_path / "models.jsonl", tmp_path / "llm.sqlite") as found:
        assert (len(found.exchanges), len(found.requests), found.attempts) == (0, 0, ())
    assert list(tmp_path.iterdir()) == []


def line_of(kind: str, **changes: object) -> bytes:
    """A canonical line with something changed."""
    row = {"exchange": asdict(EXCHANGE), "attempt": asdict(ATTEMPT)}[kind] | changes
    return canonical_json({kind: row}) + b"\n"


BAD = {
    "no JSON": b"{\n",
    "empty line": b"\n",
    "no line's end": line_of("attempt")[:-1],
    "nothing named": b"{}\n",
    "two kinds": b'{"request":{"body":"","digest":"x"},"wire":{"format":"f","model":"n"}}\n',
    "an empty kind beside": line_of("attempt")[:-2] + b',"wire":null}\n',
    "unknown kind": b'{"verdict":{}}\n',
    "unknown field": line_of("attempt", score=1),
    "a text for a number": line_of("attempt", ns="5"),
    "a true for a number": line_of("attempt", ns=True),
    "spaces": line_of("attempt").replace(b":", b": ", 1),
    "a key twice": line_of("attempt").replace(b'"ns":5', b'"ns":5,"ns":5'),
    "not a number": line_of("attempt").replace(b"0.25", b"NaN"),
    "infinite": line_of("attempt").replace(b"0.25", b"1e999"),
    "half a letter": line_of("attempt").replace(b"rate", b"\\ud800"),
    "no UTF-8": line_of("attempt").replace(b"rate", b"\xff"),
    "huge": line_of("attempt").replace(b'"ns":5', b'"ns":' + b"9" * 30),
    "deep": b'{"attempt":' + b"[" * 100_000 + b"\n",
    "a key again": line_of("exchange"),
    "another's hash": b'{"request":{"body":"x","digest":"' + DIGEST.encode() + b'"}}\n',
    "out of order": b'{"wire":{"format":"f","model":"z"}}\n',
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_a_line_that_the_rig_would_not_write_is_refused(models, tmp_path, bad):
    """By file and line; a forger gets one form for one content, and no traceback."""
    lines = models.read_bytes().splitlines(keepends=True)
    places = {b'{"request"': 2, b'{"exchange': 4}
    place = places.get(bad[:10], len(lines))
    lines.insert(place, bad)
    models.write_bytes(b"".join(lines))
    with pytest.raises(DataError) as caught, read_models(models, tmp_path / "again.sqlite"):
        pass
    assert caught.value.where == f"models.jsonl: line {place + 1}"


def test_the_good_lines_are_read(models, tmp_path):
    """So that what is refused above is refused for the line put in."""
    with models.open("ab") as file:
        file.write(line_of("attempt", number=3))
    with read_models(models, tmp_path / "again.sqlite") as found:
        assert len(found.attempts) == 3


def test_lines_are_json_for_anybody(models):
    """One kind a line, in the order of kinds."""
    kinds = [next(iter(json.loads(line))) for line in models.read_bytes().splitlines()]
    assert kinds == ["wire", "request", "exchange", "exchange", "attempt", "attempt"]
