"""LENS's own scopes run to a composite: with an agent, and with a reader, in Docker."""

from pathlib import Path

import pytest

from support.command import ROOT
from support.data import ROOT as HERE
from support.llm_standin import LlmStandIn
from support.model_fixtures import nobody, standin
from support.model_runs import GPT, Ran, answers
from support.scripted_agent import series_agent

__all__ = ["nobody", "standin"]

BM25 = str(ROOT / "images" / "bm25")
SCOPES = {"scope_01_only.json": 24, "scope_16_only.json": 10}
LENS = HERE.parent / "shared" / "data" / "lens"

pytestmark = pytest.mark.docker


def data_of(name: str) -> dict[str, object]:
    """LENS's file where it is at hand, else the built-in sample."""
    return {"file": LENS / name} if (LENS / name).is_file() else {"sample": True}


def check(ran: Ran, name: str) -> None:
    """The run is whole, and its composite is made of what was measured."""
    report = ran.report
    assert report.complete
    assert report.questions.settled == (SCOPES[name] if (LENS / name).is_file() else 6)
    assert set(report.questions.outcomes) <= {"answered", "abstained"}
    composite = report.composite
    assert composite is not None
    assert composite.value is not None
    assert 0 < composite.measured_weight < composite.weight
    without = {row.metric for row in composite.rows if row.value is None}
    assert {"answer_quality", "action_quality"} <= without
    assert report.timeline is not None
    assert len(report.timeline.checkpoints) > 1


@pytest.mark.parametrize("name", SCOPES)
def test_a_scope_runs_to_a_composite_with_an_agent(
    standin: LlmStandIn, tmp_path: Path, name: str
) -> None:
    """It answers from its tools' results alone, cites them, and stays within its budget."""
    standin.script = series_agent
    chosen = {"suite": "longitudinal", "mode": "agent", "pod": "docker", **data_of(name)}
    ran = answers(tmp_path / "run", adapter=BM25, reader_model=GPT, **chosen)
    check(ran, name)
    assert ran.report.value("evidence_grounding").value == 1
    assert ran.report.value("budget_compliance").value == 1
    assert ran.report.composite is not None
    assert ran.report.composite.value > 0
    page = (ran.root / "report.html").read_text("utf-8")
    assert 'id="timeline"' in page
    assert "memory_search" in page


@pytest.mark.parametrize("name", SCOPES)
def test_a_scope_runs_to_a_composite_with_a_reader_and_no_key(tmp_path: Path, name: str) -> None:
    """The built-in reader cites what it answers from."""
    chosen = {"suite": "longitudinal", "mode": "reader", "pod": "docker", **data_of(name)}
    ran = answers(tmp_path / "run", adapter=BM25, reader_model="local/extractive", **chosen)
    check(ran, name)
    assert ran.report.value("evidence_grounding").value > 0.5
