"""Systems in the order that they deserve, on one scope of the shipped dataset, by one agent."""

import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import pytest

from memrig.report.model import Report
from support.command import ROOT
from support.llm_standin import LlmStandIn
from support.lying import lying
from support.model_fixtures import nobody, standin
from support.model_runs import GPT, answers
from support.scripted_agent import series_agent

__all__ = ["nobody", "standin"]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

Run = Callable[[str], Report]


@pytest.fixture
def run(nobody: None, standin: LlmStandIn, tmp_path: Path) -> Run:
    """Runs a system on the first scope of the shipped dataset."""
    standin.script = series_agent
    shipped = files("memrig.suites").joinpath("longitudinal_data", "v1", "40.json")
    data = json.loads(shipped.read_text("utf-8"))
    scope = data["scopes"][0]
    asked = [q for q in data["questions"] if q["scope_id"] == scope["scope_id"]]
    file = tmp_path / "one-scope.json"
    file.write_text(json.dumps(data | {"scopes": [scope], "questions": asked}), "utf-8")
    chosen = {"suite": "longitudinal", "file": file, "mode": "agent", "reader_model": GPT}
    chosen["budget"] = "standard"

    def one(adapter: str) -> Report:
        report = answers(tmp_path / f"run-{Path(adapter).name}", adapter=adapter, **chosen).report
        assert report.complete
        assert report.questions.settled == len(asked)
        return report

    return one


def composite(report: Report) -> float:
    assert report.composite is not None
    assert report.composite.value is not None
    return report.composite.value


def closed(report: Report) -> set[str]:
    assert report.composite is not None
    return {gate.metric for gate in report.composite.gates if gate.closed}


def advantage(report: Report) -> float:
    assert report.composite is not None
    rows = {row.metric: row.value for row in report.composite.rows}
    value = rows["longitudinal_advantage"]
    assert value is not None
    return value


def test_an_oracle_is_above_bm25_and_both_above_what_keeps_nothing_or_dumps_all(
    run: Run, tmp_path: Path
) -> None:
    """Keeping nothing is stopped by the gate of grounding, the dump by its payload budget."""
    oracle, bm25 = run("baseline:oracle"), run(str(ROOT / "images" / "bm25"))
    none = run(str(ROOT / "images" / "none"))
    dump = run(str(lying(tmp_path, "everything")))
    assert composite(oracle) > composite(bm25) > 0
    assert composite(none) == composite(dump) == 0
    assert closed(oracle) == closed(bm25) == set()
    assert "evidence_grounding" in closed(none)
    assert "budget_compliance" in closed(dump)
    assert dump.timeline is not None
    ended = [kind for point in dump.timeline.checkpoints for kind in point.exceeded]
    assert set(ended) == {"payload_bytes"}


def test_the_more_evidence_is_found_the_higher_the_longitudinal_advantage(run: Run) -> None:
    """What single episodes answer is found by all of them; what takes several is what differs."""
    found = [run(f"baseline:oracle{left}") for left in ("-0", "-25", "-50", "-75", "")]
    advantages = [advantage(report) for report in found]
    assert advantages == sorted(set(advantages))
    assert {report.value("fact_recall", "null_hypothesis").value for report in found} == {1.0}
