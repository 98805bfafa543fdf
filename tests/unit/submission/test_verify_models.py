"""Runs of every kind, honestly made, pass: a check that objects to one of them is a false alarm."""

from pathlib import Path

import pytest

from memrig.submission.keys import new_key
from memrig.submission.model import Verification
from memrig.submission.pack import pack
from memrig.submission.verify import verify
from support.llm_standin import LlmStandIn
from support.model_fixtures import nobody, standin, without_models
from support.model_runs import CLAUDE, GPT, Ran, agent, answers, failing, models, scattered
from support.source import ROOT

__all__ = ["nobody", "standin"]

BM25 = str(ROOT / "images" / "bm25")
SAMPLE = {"suite": "practical", "sample": True}
JUDGED = SAMPLE | {"mode": "reader", "reader_model": GPT, "judge_model": CLAUDE}


def verified(ran: Ran, tmp_path: Path) -> Verification:
    """A run, packed and verified with no provider to be had."""
    key, file = tmp_path / "key", tmp_path / "run.memrig"
    new_key(key)
    pack([ran.root], file, key=key)
    with pytest.MonkeyPatch.context() as away:
        without_models(away)
        return verify(file)


def troubles(found: Verification) -> dict[str, object]:
    """What does not pass, warnings too."""
    return {check.id: check.found or check.skipped for check in found.checks if not check.passed}


@pytest.mark.parametrize(
    "chosen",
    [
        JUDGED | {"adapter": "baseline:full-context", "limit": 6},
        JUDGED | {"adapter": "baseline:oracle", "naive": True, "limit": 4, "prompt": "cited"},
        JUDGED
        | {"adapter": "baseline:full-context", "suite": "longmemeval", "prompt": "step-by-step"},
    ],
    ids=["judged", "naive-cited", "step-by-step"],
)
def test_what_models_answered_and_judged(standin: LlmStandIn, tmp_path, chosen):
    """Every prompt is built again, every vote counted again."""
    assert troubles(verified(answers(tmp_path / "run", **chosen), tmp_path)) == {}


@pytest.mark.slow
def test_what_a_failing_provider_made_of_it(standin: LlmStandIn, tmp_path):
    """Attempts that failed are in the record, and are nobody's fault."""
    standin.script = failing(models, every=3)
    chosen = JUDGED | {"adapter": "baseline:full-context", "limit": 6}
    assert troubles(verified(answers(tmp_path / "run", **chosen), tmp_path)) == {}


@pytest.mark.slow
@pytest.mark.parametrize("adapter", ["bm25", "scattered"])
def test_what_an_agent_did(standin: LlmStandIn, tmp_path, adapter):
    """Its searches, its handles and its last words; the adapter's refs may be random."""
    standin.script = agent
    folder = BM25 if adapter == "bm25" else str(scattered(tmp_path / "scattered"))
    chosen = SAMPLE | {"mode": "agent", "reader_model": GPT, "limit": 6}
    assert troubles(verified(answers(tmp_path / "run", adapter=folder, **chosen), tmp_path)) == {}


@pytest.mark.slow
@pytest.mark.parametrize(
    "chosen",
    [
        {"suite": "practical", "limit": 20, "isolation": "reset", "repeats": 2, "seeds": (1, 2)},
        {"suite": "practical", "limit": 20, "isolation": "pooled"},
        {"suite": "practical", "sample": True, "audits": True, "audit": True},
        {"suite": "longitudinal", "sample": True, "mode": "reader",
         "reader_model": "local/extractive", "audits": True},
        {"suite": "operations", "sample": True, "turns": 100, "questions": 3},
        {"suite": "longmemeval", "sample": True, "granularity": "turn", "top_k": 50},
        {"suite": "locomo", "sample": True, "budget": "constrained", "mode": "retrieval"},
    ],
    ids=["reset", "pooled", "audits", "longitudinal", "operations", "longmemeval", "constrained"],
)  # fmt: skip
def test_what_was_run_in_every_other_way(nobody: None, tmp_path, chosen):
    """Isolation, audits, probes, chunks and budgets."""
    ran = answers(tmp_path / "run", adapter=BM25, **chosen)
    assert troubles(verified(ran, tmp_path)) == {}
