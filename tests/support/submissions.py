"""Real small submissions, and forgeries of them: changed, then sealed, hashed and signed anew."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

import memrig
from memrig import RunConfig
from memrig.model.canonical import canonical_json
from memrig.model.transcript import RECORD
from memrig.runs.lock import Lock
from memrig.runs.plan import pretty
from memrig.submission.archive import read_archive, write_archive
from memrig.submission.keys import ephemeral_key, new_key
from memrig.submission.model import MANIFEST, SIGNATURE, Manifest
from memrig.submission.pack import pack
from memrig.trial.transcript import start_of
from support.source import ROOT

OWN_DATA = ROOT / "harness" / "memrig" / "suites" / "locomo_sample.json"
_BM25 = {"adapter": str(ROOT / "images" / "bm25"), "pod": "process"}
_SAMPLE = {"suite": "practical", "sample": True}
_WORLD = {"suite": "longhorizon", "turns": 200, "questions": 20, "seeds": (42,)}
_READER = {"mode": "reader", "reader_model": "local/extractive"}
#: What each kind of submission is a run of; `own` is of data that does not ship, see `own_data`.
KINDS: Mapping[str, Mapping[str, object]] = {
    "practical": _BM25 | _SAMPLE,
    "longhorizon": _BM25 | _WORLD | {"mode": "retrieval", "protocol": "longhorizon-retrieval"},
    "reader": _BM25 | _SAMPLE | _READER,
    "repeats": _SAMPLE | {"adapter": "baseline:full-context", "limit": 6, "repeats": 2},
    "own": {"adapter": "baseline:full-context", "suite": "locomo", "limit": 5},
}

Json = dict[str, Any]
Change = Callable[["Forgery"], object]


def own_data(base: Path) -> Path:
    """A folder with the data of kind `own`, which is in no store."""
    folder = base / "own-data"
    folder.mkdir(exist_ok=True)
    (folder / "dialogues.json").write_bytes(OWN_DATA.read_bytes() + b"\n")
    return folder


@lru_cache
def run_of(kind: str, base: Path) -> Path:
    """A finished run of one of `KINDS`, made once a session below `base`; not to be changed."""
    out = base / f"run-{kind}"
    fields: dict[str, object] = {**KINDS[kind], "out": out}
    if kind == "own":
        fields["file"] = own_data(base) / "dialogues.json"
    memrig.run(RunConfig.model_validate(fields))
    return out


@lru_cache
def archive_of(kind: str, base: Path) -> Path:
    """Such a run, packed and signed; made once a session."""
    key = base / "submitter-key"
    if not key.exists():
        new_key(key)
    out = base / f"{kind}.memrig"
    pack([run_of(kind, base)], out, key=key)
    return out


@dataclass(frozen=True)
class Submissions:
    """The archives of a session by kind."""

    base: Path

    def __call__(self, kind: str) -> Path:
        """The archive of this kind."""
        return archive_of(kind, self.base)

    def run(self, kind: str) -> Path:
        """The run that it was made of."""
        return run_of(kind, self.base)


@pytest.fixture(scope="session")
def submissions(tmp_path_factory: pytest.TempPathFactory) -> Submissions:
    """Real archives, each made when it is first asked for."""
    base = tmp_path_factory.getbasetemp() / "submissions"
    base.mkdir(exist_ok=True)
    return Submissions(base)


@dataclass
class Forgery:
    """The contents of an archive of one run, to be changed in meaning.

    `files` are all but manifest and signature. What changes a record or an outcome through the
    methods is sealed again: the chain, the counts and the hashes fit.
    """

    manifest: Manifest
    files: dict[str, bytes]

    @property
    def run(self) -> str:
        """The path of the first run."""
        return f"runs/{self.manifest.runs[0].run_id}"

    @property
    def trials(self) -> list[str]:
        """The paths of the first run's trials."""
        folders = (path.rpartition("/") for path in self.files if path.startswith(f"{self.run}/t"))
        return sorted({folder for folder, _, _ in folders})

    @property
    def scored(self) -> str:
        """The path of a trial with questions."""
        kinds = {path: self.json(f"{path}/spec.json")["kind"] for path in self.trials}
        return next(path for path, kind in kinds.items() if kind == "scored")

    def json(self, path: str) -> Json:
        """A file as JSON."""
        loaded: Json = json.loads(self.files[path])
        return loaded

    def put(self, path: str, value: object) -> None:
        """Writes a file as canonical JSON."""
        self.files[path] = canonical_json(value)

    def lines(self, path: str) -> list[Json]:
        """A file of JSON lines."""
        return [json.loads(line) for line in self.files[path].splitlines()]

    def put_lines(self, path: str, lines: list[Json]) -> None:
        """Writes a file of canonical JSON lines."""
        self.files[path] = b"".join(canonical_json(line) + b"\n" for line in lines)

    def put_lock(self, value: Json) -> None:
        """Writes the lock as the rig does, and names it in the manifest by its new digest."""
        lock = Lock.model_validate(value)
        self.files[f"{self.run}/lock.json"] = pretty(lock)
        first, *rest = self.manifest.runs
        named = first.model_copy(update={"lock_digest": lock.digest})
        self.manifest = self.manifest.model_copy(update={"runs": (named, *rest)})

    def records(self, trial: str) -> list[Json]:
        """The records of a trial's transcript, as JSON."""
        return [line["record"] for line in self.lines(f"{trial}/transcript.jsonl")]

    def put_records(self, trial: str, records: list[Json]) -> None:
        """Writes a transcript: chained again, and the outcome sealed on it with its counts."""
        outcome = self.json(f"{trial}/outcome.json")
        head, lines = start_of(outcome["spec_digest"]).head, []
        for number, record in enumerate(records):
            body = RECORD.validate_python(record).model_dump_json()
            lines.append(f'{{"seq":{number},"prev":"{head}","record":{body}}}'.encode())
            head = hashlib.sha256(lines[-1]).hexdigest()
        self.files[f"{trial}/transcript.jsonl"] = b"".join(line + b"\n" for line in lines)
        settled = [record for record in records if record["kind"] == "question"]
        statuses = Counter(record["outcome"]["status"] for record in settled)
        attempts = [record["number"] for record in records if record["kind"] == "attempt"]
        outcome |= {
            "head": head,
            "records": len(records),
            "questions": len(settled),
            "statuses": dict(sorted(statuses.items())),
            "attempts": max(attempts, default=0),
        }
        self.put(f"{trial}/outcome.json", outcome)


def read_forgery(archive: Path) -> Forgery:
    """The contents of an archive."""
    with read_archive(archive) as opened:
        assert opened.sound and opened.manifest is not None
        files = {
            entry.path: (opened.folder / entry.path).read_bytes() for entry in opened.manifest.files
        }
        return Forgery(opened.manifest, files)


def forged(archive: Path, out: Path, *changes: Change) -> Path:
    """An archive with changed contents, hashed and signed again by the forger's own key."""
    forgery = read_forgery(archive)
    for change in changes:
        change(forgery)
    assert not {MANIFEST, SIGNATURE} & forgery.files.keys()
    write_archive(out, forgery.manifest, forgery.files, ephemeral_key())
    return out
