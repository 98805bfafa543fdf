"""Runs with answers from end to end: reader, judge, faults of the provider, record and replay."""

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

from memrig.errors import IncompleteError
from support.command import ROOT
from support.llm_standin import LlmStandIn
from support.model_runs import (
    CLAUDE,
    FAULTS,
    GPT,
    KEY,
    Ran,
    answers,
    failing,
    models,
    scattered,
)

BM25 = str(ROOT / "images" / "bm25")
SUITES = {
    "longmemeval": {"reader_model": GPT, "judge_model": CLAUDE},
    "locomo": {"reader_model": CLAUDE, "judge_model": GPT},
    "practical": {"reader_model": GPT, "judge_model": GPT},
}


@pytest.fixture(autouse=True)
def no_provider(monkeypatch, tmp_path):
    """No key and no address from outside, and a keyring that is not there."""
    for name in (
        "ANTHROPIC_API_KEY",
        "OPENAI_API_KEY",
        "OPENROUTER_API_KEY",
        "ANTHROPIC_BASE_URL",
        "OPENAI_BASE_URL",
        "GRADER_MODEL",
        "EVAL_MODEL",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "nothing"))


@pytest.fixture
def standin(monkeypatch):
    """The stand-in as both providers."""
    with LlmStandIn.in_thread(models) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.anthropic_url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        yield server


def without_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on nobody could be called: no address, no key."""
    for name in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name)


@pytest.mark.parametrize(
    ("suite", "adapter"),
    [("longmemeval", "baseline:full-context"), ("locomo", BM25), ("practical", "baseline:oracle")],
)
def test_a_failing_provider_makes_no_wrong_grade_and_a_replay_needs_no_provider(
    standin, tmp_path, monkeypatch, suite, adapter
):
    """429, 500, 529, truncation and garbage leave grades as they are, and every attempt on disk."""
    chosen = {"suite": suite, "sample": True, "mode": "reader", "adapter": adapter}
    plain = answers(tmp_path / "plain", **chosen, **SUITES[suite])
    assert plain.report.complete
    accuracy = plain.report.value(plain.report.headline[0]).value
    assert accuracy is not None
    assert 0 < accuracy < 1
    calls = len(standin.seen)

    standin.script = failing(models, every=3)
    faulty = answers(tmp_path / "faulty", **chosen, **SUITES[suite])
    assert faulty.grades == plain.grades
    assert len(standin.seen) - calls > calls
    check_record(faulty, standin, first=calls)

    without_models(monkeypatch)
    before = len(standin.seen)
    record = faulty.root / "llm.sqlite"
    replayed = answers(
        tmp_path / "other", **chosen, **SUITES[suite], llm="replay-strict", llm_record=record
    )
    assert replayed.grades == plain.grades
    assert len(standin.seen) == before


def check_record(ran: Ran, standin: LlmStandIn, *, first: int) -> None:
    """Every request that reached the provider is an attempt in the record and in the report."""
    sent = standin.seen[first:]
    by_model = Counter(seen.model for seen in sent)
    assert dict(ran.rows("SELECT model, COUNT(*) FROM attempts GROUP BY model")) == by_model
    failed = ran.rows("SELECT status, COUNT(*) FROM attempts WHERE error != '' GROUP BY status")
    assert {status for status, _ in failed} >= {429, 500, 529}
    assert sum(count for _, count in failed) == sum(
        seen.number % 3 == 0 for seen in sent
    )
    assert ran.attempts("reader") + ran.attempts("judge") == len(sent)
    assert all(cost.usd for cost in ran.report.costs if cost.calls)
