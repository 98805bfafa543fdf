"""Good archives of every kind, for forgers to start from; each is made once a session.

None is kept in the repository: an archive is verified with the memrig that made it, so that a kept
one would be invalid with the next version, by design (`config.version`).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

import pytest

import memrig
import memrig.runs.models
from memrig import RunConfig
from memrig.gateway.config import GatewayConfig, RetryPolicy
from memrig.model.manifest import AdapterRef
from memrig.model.trial import Budget
from memrig.submission.archive import write_archive
from memrig.submission.engine import disclosed_limits
from memrig.submission.keys import ephemeral_key, new_key
from memrig.submission.model import ImageEntry
from memrig.submission.pack import pack
from support.asker import folder_for_processes
from support.happened import looks_around
from support.llm_standin import LlmStandIn, Script
from support.model_fixtures import with_models, without_models
from support.model_runs import CLAUDE, GPT, insatiable, models, scattered
from support.source import ROOT
from support.submissions import Json, read_forgery
from support.tampering import Tampering

PROCESSES = Path(__file__).parent / "processes"
_BM25 = {"adapter": str(ROOT / "images" / "bm25"), "pod": "process"}
_SAMPLE = {"suite": "practical", "sample": True}
_LOCAL = {"mode": "reader", "reader_model": "local/extractive"}
_TIGHT = Budget(payload_bytes=1_500)
#: What each kind is a run of. `docker` is not run: `_dressed` makes it of `plain`.
KINDS: Mapping[str, Mapping[str, object]] = {
    "retrieval": _BM25 | _SAMPLE | {"limit": 6, "repeats": 2, "audits": True},
    "reader": _BM25 | _SAMPLE | _LOCAL | {"limit": 5, "naive": True},
    "tight": _BM25 | _SAMPLE | _LOCAL | {"limit": 8, "budget": _TIGHT},
    "story": _BM25 | _LOCAL | {"suite": "longitudinal", "sample": True},
    "plain": _BM25 | _SAMPLE | {"limit": 4},
    "longhorizon": _BM25
    | {"suite": "longhorizon", "protocol": "longhorizon-retrieval", "mode": "retrieval"}
    | {"turns": 200, "questions": 15, "seeds": (42, 43)},
    "several": _BM25 | {"suite": "practical", "limit": 8, "isolation": "reset"},
    "baseline": _SAMPLE | {"adapter": "baseline:full-context", "limit": 4},
    "failing": _SAMPLE | {"pod": "process", "limit": 6},
    "judged": _BM25
    | _SAMPLE
    | {"mode": "reader", "reader_model": GPT, "judge_model": CLAUDE, "limit": 4},
    "asking": _SAMPLE | {"pod": "process", "limit": 24, "mode": "retrieval"},
    "native": _SAMPLE | {"pod": "process", "limit": 3, "mode": "native"},
    "probed": _BM25 | {"suite": "operations", "sample": True, "turns": 100, "questions": 3},
    "agent": _BM25 | _SAMPLE | {"mode": "agent", "reader_model": GPT, "limit": 2},
    "retrieving": _SAMPLE | {"pod": "process", "mode": "agent", "reader_model": GPT, "limit": 2},
}
_SCRIPTS: Mapping[str, Script] = {
    "agent": insatiable(),
    "asking": lambda _seen: "nothing",
    "retrieving": looks_around,
}
_DRESSED = "docker"
IMAGE = f"sha256:{'d0' * 32}"


def _adapter(kind: str, base: Path) -> dict[str, object]:
    """The adapter that only this kind has."""
    if kind == "asking":
        return {"adapter": str(folder_for_processes(base))}
    if kind in {"native", "retrieving"}:
        return {"adapter": str(scattered(base / kind))}
    if kind != "failing":
        return {}
    folder = base / "dying"
    folder.mkdir(exist_ok=True)
    (folder / "adapter.toml").write_text(
        'name = "dying"\nversion = "1.0"\n[image]\nbuild = "."\n[process]\n'
        'command = ["memrig-adapter", "serve", "dying:Dying"]\n'
        f'environment = {{ PYTHONPATH = "{PROCESSES}", PYTHONDONTWRITEBYTECODE = "1" }}\n'
    )
    return {"adapter": str(folder)}


@lru_cache
def _archive_of(kind: str, base: Path) -> Path:
    out = base / f"{kind}.memrig"
    if kind == _DRESSED:
        return _dressed(_archive_of("plain", base), out)
    fields = {**KINDS[kind], **_adapter(kind, base), "out": base / f"run-{kind}"}
    with pytest.MonkeyPatch.context() as monkeypatch:
        without_models(monkeypatch)
        monkeypatch.setenv("XDG_CONFIG_HOME", str(base / "nothing"))
        quick = RetryPolicy(initial_s=0.01, max_s=0.02)
        config = partial(GatewayConfig, retry=quick)
        monkeypatch.setattr(memrig.runs.models, "GatewayConfig", config)
        with LlmStandIn.in_thread(_SCRIPTS.get(kind, models)) as server:
            with_models(monkeypatch, server)
            memrig.run(RunConfig.model_validate(fields))
    key = base / "key"
    if not key.exists():
        new_key(key)
    pack([base / f"run-{kind}"], out, key=key)
    return out


@dataclass(frozen=True)
class Archives:
    """The good archives of a session by kind."""

    base: Path

    def __call__(self, kind: str) -> Path:
        """The archive of this kind."""
        return _archive_of(kind, self.base)


@pytest.fixture(scope="session")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Archives:
    """Each is made when it is first asked for."""
    base = tmp_path_factory.getbasetemp() / "tampering"
    base.mkdir(exist_ok=True)
    return Archives(base)


def dress(forgery: Tampering) -> None:
    """Passes process pods off as containers, wherever a record says what they were."""
    lock = forgery.lock
    adapter: Json = lock["adapter"]
    adapter |= {"pod": "docker", "images": {"adapter": IMAGE}, "inputs": {}}
    limits = disclosed_limits(AdapterRef.model_validate(adapter))
    shown = {"pod": "docker", "image.adapter": IMAGE, "limits.adapter": limits["adapter"]}
    forgery.edit_each("pod", lambda record: record["description"].update(shown))
    forgery.relock(adapter=adapter)
    forgery.executions(lambda line: line.update(pod="docker"))
    forgery.draft(
        adapter=AdapterRef.model_validate(adapter),
        images=(ImageEntry(service="adapter", digest=IMAGE),),
    )
    forgery.disclose(limits=limits, engine=json.loads('{"docker": "27.0"}'))


def _dressed(good: Path, out: Path) -> Path:
    opened = read_forgery(good)
    forgery = Tampering(opened.manifest, opened.files)
    dress(forgery)
    forgery.rescore()
    write_archive(out, forgery.manifest, forgery.files, ephemeral_key())
    return out
