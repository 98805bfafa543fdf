"""Leaderboards: entries made by hand, and a folder of real archives to build a site of."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

import memrig
from memrig import RunConfig
from memrig.leaderboard.model import Board, BoardCost, BoardRun, BoardScore, Entry
from memrig.leaderboard.tables import Table, tables_of
from memrig.model.canonical import digest_of
from memrig.submission.keys import new_key
from memrig.submission.model import CheckResult, Found
from memrig.submission.pack import make_statement, pack
from support.reports import HOSTILE, sample_report
from support.submissions import Forgery, forged

ADDRESS = "javascript:document.title='owned'"
#: A text for fields that have a limit.
SHORT_HOSTILE = HOSTILE.encode("utf-8", "ignore").decode()[:190]


def cost(**changes: object) -> BoardCost:
    """What a run took that paid for no model."""
    fields: dict[str, object] = {
        "usd": 0.0,
        "usd_per_1000": 0.0,
        "cpu_s_per_1000": 12.5,
        "peak_memory_bytes": 72 * 1024**2,
        "search_p50_ms": 1.25,
        "search_p95_ms": 4.5,
        "answer_p50_ms": None,
        "context_tokens": None,
        "episodes_per_s": 9000.0,
    }
    return BoardCost.model_validate(fields | changes)


def board_run(
    score: float | None,
    *,
    spread: float | None = 0.05,
    spent: BoardCost | None = None,
    **changes: object,
) -> BoardRun:
    """A run with this score, and an interval of so much on each side."""
    known = score is not None and spread is not None
    fields: dict[str, object] = {
        "number": 1,
        "run_id": "practical-x",
        "lock_digest": digest_of(["lock", score]),
        "suite": "practical",
        "protocol": "practical",
        "mode": "retrieval",
        "data": "practical",
        "asked": digest_of("asked"),
        "isolation": "fresh",
        "top_k": 10,
        "seeds": (2026,),
        "repeats": 1,
        "reader": "",
        "judge": "",
        "labels": (),
        "complete": True,
        "planned": 144,
        "graded": 144,
        "score": BoardScore(
            metric="recall_any@10",
            value=score,
            low=score - spread if known else None,
            high=score + spread if known else None,
            n=144,
        ),
        "headline": (BoardScore(metric="mrr", value=score, low=None, high=None, n=144),),
        "cost": spent or cost(),
        "page": "s/x/1/report.html",
    }
    return BoardRun.model_validate(fields | changes)


def entry(name: str, *runs: BoardRun, **changes: object) -> Entry:
    """A submission of a memory system of this name, in a Docker pod, in the closed division."""
    moment = datetime(2026, 9, 1, 12, tzinfo=UTC)
    key = digest_of(["key", repr(name)]).removeprefix("sha256:")
    fields: dict[str, object] = {
        "id": key[:16],
        "archive": f"{name[:40]}.memrig",
        "archive_sha256": digest_of(["archive", repr(name)]),
        "manifest_digest": digest_of(["manifest", repr(name)]),
        "key": key,
        "title": "",
        "submitter": "",
        "url": "",
        "changed": "",
        "adapter": name,
        "version": "1.0",
        "pod": "docker",
        "images": {"adapter": digest_of(["image", repr(name)])},
        "memrig_version": "0.1.0",
        "profile": "official-v1",
        "profile_digest": digest_of("profile"),
        "division": "closed",
        "differences": (),
        "tier": "recomputed",
        "audits": (),
        "checks": (
            CheckResult(id="archive.format", title="It opens", reason="bombs", severity="error"),
        ),
        "machine": sample_report().machine,
        "engine": {"version": "27.1"},
        "limits": {"adapter": "cpus=1 memory=1073741824"},
        "first": moment,
        "last": moment,
        "shared": (),
        "runs": runs,
    }
    return Entry.model_validate(fields | changes)


def board_of(*entries: Entry, **changes: object) -> Board:
    """A board of these entries."""
    fields = {"memrig_version": "0.1.0", "title": "Test board", "entries": entries}
    return Board.model_validate(fields | changes)


def table_of(*entries: Entry) -> Table:
    """The one table that these entries make."""
    (table,) = tables_of(entries)
    return table


def hostile_entry(text: str = HOSTILE) -> Entry:
    """Every field that a submitter or an adapter writes holds a text meant to be run."""
    found = CheckResult(
        id="x.y", title=text, reason=text, severity="warning", count=1,
        found=(Found(where=text, message=text),),
    )  # fmt: skip
    run = board_run(0.5, labels=(text,), reader=text, judge=text, run_id=text)
    return entry(
        text, run, id="0123456789abcdef", version=text, title=text, submitter=text, url=ADDRESS,
        changed=text * 3, differences=(text,), engine={text: text}, limits={text: text},
        images={text: text}, checks=(found,), profile=text, archive=text,
    )  # fmt: skip


@dataclass(frozen=True)
class Submitted:
    """A folder of archives: two honest ones, a copy of one under another key, and a forgery."""

    folder: Path
    forgery: Path


def submitted(base: Path, *, statement: bool = True) -> Submitted:
    """Makes real runs of the rig's own baselines, and packs them.

    `first.memrig` retrieves and reads with everything in its context; `second.memrig` is the
    oracle, with a statement that is meant to be run; `third.memrig` is the second, signed again by
    somebody else; `forged.memrig`, beside the folder, claims better grades than it has.
    """
    folder = base / "submissions"
    folder.mkdir()
    plain = {"suite": "practical"}
    reads = plain | {"mode": "reader", "reader_model": "local/extractive"}
    full = {"adapter": "baseline:full-context"}
    everything = [_run(base, "found", plain | full), _run(base, "read", reads | full)]
    oracle = _run(base, "oracle", plain | {"adapter": "baseline:oracle"})
    _pack(everything, folder / "first.memrig", base / "key-1", "Everything Labs")
    text = SHORT_HOSTILE if statement else "Oracle"
    _pack([oracle], folder / "second.memrig", base / "key-2", text, url=ADDRESS)
    forged(folder / "second.memrig", folder / "third.memrig", _renamed)
    forged(folder / "first.memrig", base / "forged.memrig", _raised)
    return Submitted(folder, base / "forged.memrig")


def _run(base: Path, name: str, fields: dict[str, str]) -> Path:
    out = base / name
    memrig.run(RunConfig.model_validate({**fields, "out": out}))
    return out


def _pack(runs: Sequence[Path], out: Path, key: Path, submitter: str, url: str = "") -> None:
    new_key(key)
    pack(runs, out, make_statement("", submitter, url, submitter), key=key)


def _renamed(forgery: Forgery) -> None:
    said = forgery.manifest.statement.model_copy(update={"submitter": "Copycat", "url": ""})
    forgery.manifest = forgery.manifest.model_copy(update={"statement": said})


def _raised(forgery: Forgery) -> None:
    path = f"{forgery.run}/grades.jsonl"
    lines = forgery.lines(path)
    for line in lines:
        line["scores"] = dict.fromkeys(line["scores"], 1.0)
    forgery.put_lines(path, lines)


@pytest.fixture(scope="session")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Submitted:
    """A folder of real archives, made once."""
    return submitted(tmp_path_factory.mktemp("boards"))
