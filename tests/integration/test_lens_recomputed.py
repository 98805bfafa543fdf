"""Every metric and the composite, computed again from a run's files by code of its own."""

import json
from fractions import Fraction
from importlib.resources import files
from pathlib import Path

import pytest

import memrig
from memrig.report.model import Report
from support import lens_again
from support.command import ROOT
from support.judges import blocks_of
from support.llm_standin import LlmStandIn, Say, Seen
from support.lying import lying
from support.model_fixtures import nobody, standin
from support.model_runs import CLAUDE, GPT, Ran, answers, scattered
from support.scripted_agent import series_agent

__all__ = ["nobody", "standin"]

BM25 = str(ROOT / "images" / "bm25")
CHOSEN = {"suite": "longitudinal", "mode": "agent", "reader_model": GPT}
#: Floats add up to the last digit but for their order.
ROUNDING = 1e-12


@pytest.fixture(autouse=True)
def agent(nobody: None, standin: LlmStandIn) -> LlmStandIn:
    """The scripted agent behind the stand-in."""
    standin.script = series_agent
    return standin


def same(one: float | None, other: Fraction | None) -> bool:
    if one is None or other is None:
        return one is other
    return abs(one - float(other)) <= ROUNDING


def check(report: Report, folder: Path) -> None:
    """The report says what its own files come to, the composite of each scope included."""
    found = report.composite
    assert found is not None
    asked, verdicts = lens_again.questions_of(folder), lens_again.verdicts_of(folder)
    assert len(asked) == report.questions.settled > 0
    values = lens_again.metrics(asked, verdicts)
    reported = {row.metric: row.value for row in (*found.rows, *found.beside)}
    reported.pop("fact_recall_naive")
    wrong = {n: (v, values[n]) for n, v in reported.items() if not same(v, values[n])}
    assert not wrong
    value, ungated, measured = lens_again.composite(values, report.protocol)
    assert same(found.value, value)
    assert same(found.ungated, ungated)
    assert same(found.measured_weight, measured)
    for scope in found.scopes:
        own = [one for one in asked if one["record"]["scenario_id"] == scope.scope]
        values = lens_again.metrics(own, verdicts)
        value, ungated, _ = lens_again.composite(values, report.protocol)
        assert same(scope.value, value)
        assert same(scope.ungated, ungated)


def check_twice(ran: Ran) -> None:
    """Also once it is graded again, of its folder alone."""
    check(ran.report, ran.root)
    before = ran.report.composite
    (ran.root / "report.json").unlink()
    (ran.root / "grades.jsonl").unlink()
    again = memrig.score(ran.root)
    assert again.composite == before
    check(again, ran.root)


@pytest.mark.parametrize("adapter", ["baseline:oracle", BM25])
@pytest.mark.parametrize("protocol", lens_again.WEIGHTS)
def test_a_run_of_the_sample_comes_to_what_its_files_say(
    tmp_path: Path, adapter: str, protocol: str
) -> None:
    """To the last digit, under either profile."""
    check_twice(
        answers(tmp_path / "run", adapter=adapter, protocol=protocol, sample=True, **CHOSEN)
    )


@pytest.mark.slow  # the same recomputation as above, of stranger runs
@pytest.mark.parametrize("lie", ["half", "no-sources", "duplicates", "one-claims-all", "surplus"])
def test_so_does_one_of_a_memory_that_lies(tmp_path: Path, lie: str) -> None:
    """Void claims, none, the same one twice, too many, and budgets that run out."""
    adapter = str(lying(tmp_path, lie))
    check(
        answers(tmp_path / "run", adapter=adapter, sample=True, **CHOSEN).report, tmp_path / "run"
    )


def test_so_does_one_of_a_memory_that_fails(tmp_path: Path) -> None:
    """What it was to find counts as not found, and as out of budget."""
    adapter = str(lying(tmp_path, "nan"))
    ran = answers(tmp_path / "run", adapter=adapter, sample=True, **CHOSEN)
    assert set(ran.report.questions.outcomes) == {"adapter_error"}
    check(ran.report, ran.root)


def test_so_does_one_of_a_memory_that_answers_by_itself(tmp_path: Path) -> None:
    """Without tools, turns and searches to see."""
    chosen = {"suite": "longitudinal", "mode": "native", "sample": True}
    ran = answers(tmp_path / "run", adapter=str(scattered(tmp_path / "adapter")), **chosen)
    assert ran.report.complete, ran.report.incomplete
    found = {row.metric: row for row in ran.report.composite.rows}
    assert "mode native" in found["reasoning_quality"].reason
    assert found["evidence_grounding"].value == 1
    check_twice(ran)


def test_so_does_one_of_a_reader(tmp_path: Path) -> None:
    """Whether it was asked to cite or not."""
    reader = {"suite": "longitudinal", "mode": "reader", "sample": True, "adapter": BM25}
    cited = answers(tmp_path / "cited", **reader)
    check_twice(cited)
    direct = answers(tmp_path / "direct", **reader, prompt="direct")
    assert {row.metric for row in direct.report.composite.rows if row.value is None} >= {
        "evidence_grounding",
        "evidence_coverage",
        "insight_depth",
    }
    check_twice(direct)


def all_of_them(seen: Seen) -> Say | str:
    """Agent, judge and naive opponent: a judge that likes what is long, and thirds of criteria."""
    if "Their tags carry the code" not in seen.text:
        return series_agent(seen)
    blocks = blocks_of(seen.text)
    if "finding" in blocks:
        return json.dumps({"met": len(seen.text) % 3 == 0})
    first, second = len(blocks["answer_a"]), len(blocks["answer_b"])
    draw = "TIE" if (first + second) % 5 == 0 else "A" if first > second else "B"
    return json.dumps({"choice": draw})


def test_so_does_one_with_a_judge_and_a_naive_opponent(agent: LlmStandIn, tmp_path: Path) -> None:
    """All weight is measured then, and nothing is left out."""
    agent.script = all_of_them
    judged = {"judge_model": CLAUDE, "naive": True}
    ran = answers(tmp_path / "run", adapter=BM25, sample=True, **CHOSEN, **judged)
    assert ran.report.complete, ran.report.incomplete
    assert ran.report.composite is not None
    assert ran.report.composite.measured_weight == 1
    assert 0 < ran.report.value("answer_quality").value < 1
    check_twice(ran)


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("adapter", ["baseline:oracle", BM25])
def test_so_does_one_of_shipped_scopes(tmp_path: Path, adapter: str) -> None:
    """Two of them, and the mean of the two."""
    shipped = files("memrig.suites").joinpath("longitudinal_data", "v1", "40.json")
    data = json.loads(shipped.read_text("utf-8"))
    scopes = data["scopes"][:2]
    names = {scope["scope_id"] for scope in scopes}
    asked = [q for q in data["questions"] if q["scope_id"] in names]
    file = tmp_path / "two.json"
    file.write_text(json.dumps(data | {"scopes": scopes, "questions": asked}), "utf-8")
    ran = answers(tmp_path / "run", adapter=adapter, file=file, jobs=2, **CHOSEN)
    check_twice(ran)
    found = ran.report.composite
    assert found is not None
    assert len(found.scopes) == 2
    both = [scope.value for scope in found.scopes]
    assert found.mean == sum(both) / 2
