"""Runs with answers from end to end: reader, judge, faults of the provider, record and replay."""

import json
import signal
import time
from collections import Counter
from pathlib import Path

import pytest

from memrig.errors import IncompleteError, UsageError
from memrig.model.trial import Budget
from memrig.report.model import Report
from memrig.runs.config import parse_limits
from support.command import ROOT, memrig, start
from support.llm_standin import Fault, LlmStandIn, Say, Seen
from support.model_fixtures import nobody, standin, with_models, without_models
from support.model_runs import (
    CLAUDE,
    GPT,
    KEY,
    Counting,
    Ran,
    again,
    agent,
    answers,
    failing,
    go_down,
    insatiable,
    models,
    scattered,
)

__all__ = ["nobody", "standin"]

BM25 = str(ROOT / "images" / "bm25")
SUITES = {
    "longmemeval": {"reader_model": GPT, "judge_model": CLAUDE},
    "locomo": {"reader_model": CLAUDE, "judge_model": GPT},
    "practical": {"reader_model": GPT, "judge_model": GPT},
}
LONGMEMEVAL = {
    "suite": "longmemeval",
    "sample": True,
    "mode": "reader",
    "adapter": "baseline:full-context",
    **SUITES["longmemeval"],
}


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
    check_replay(faulty, standin, monkeypatch, tmp_path / "other")


def check_record(ran: Ran, standin: LlmStandIn, *, first: int) -> None:
    """Every request that reached the provider is an attempt in the record and in the report."""
    sent = standin.seen[first:]
    by_model = Counter(seen.model for seen in sent)
    assert dict(ran.rows("SELECT model, COUNT(*) FROM attempts GROUP BY model")) == by_model
    failed = ran.rows("SELECT status, COUNT(*) FROM attempts WHERE error != '' GROUP BY status")
    assert {status for status, _ in failed} >= {429, 500, 529}
    assert sum(count for _, count in failed) == sum(seen.number % 3 == 0 for seen in sent)
    assert sum(cost.attempts for cost in ran.report.costs) == len(sent)
    assert all(cost.usd for cost in ran.report.costs if cost.calls)


def check_replay(ran: Ran, standin: LlmStandIn, monkeypatch, out: Path) -> Ran:
    """With nobody to call, the record gives the same grades to the byte."""
    without_models(monkeypatch)
    before = len(standin.seen)
    replayed = again(ran, out, llm="replay-strict", llm_record=ran.root / "llm.sqlite")
    assert replayed.grades == ran.grades
    assert len(standin.seen) == before
    return replayed


@pytest.mark.parametrize(
    ("mode", "model", "script"), [("reader", CLAUDE, models), ("agent", GPT, agent)]
)
def test_random_refs_do_not_change_prompts(standin, tmp_path, monkeypatch, mode, model, script):
    """An adapter that names its items anew at every start is replayed, strictly."""
    standin.script = script
    chosen = {"suite": "practical", "sample": True, "limit": 6, "mode": mode}
    adapter = str(scattered(tmp_path / "scattered"))
    ran = answers(tmp_path / "run", adapter=adapter, reader_model=model, **chosen)
    replayed = check_replay(ran, standin, monkeypatch, tmp_path / "other")
    first, second = (refs_of(each) for each in (ran, replayed))
    assert first
    assert not first & second
    assert not any(ref in json.dumps(seen.body) for seen in standin.seen for ref in first)


def refs_of(ran: Ran) -> set[str]:
    """The adapter's names for all that it found."""
    searches = (search for record in ran.questions() for search in record.searches)
    return {hit.ref_id for search in searches for hit in search.hits}


def test_a_provider_that_goes_down_leaves_a_run_that_goes_on_where_it_stopped(
    standin, tmp_path, monkeypatch
):
    """Exit code 4, nothing sealed wrongly, and nothing that was paid for is asked again."""
    counting = Counting(models)

    def going_down(seen: Seen) -> str | Say | Fault:
        if len(counting.paid) == 9:
            return go_down(standin)
        return counting(seen)

    standin.script = going_down
    with pytest.raises(IncompleteError) as caught:
        answers(tmp_path / "run", **LONGMEMEVAL)
    assert caught.value.exit_code == 4
    report = caught.value.report
    assert isinstance(report, Report)
    assert not report.complete
    assert set(report.questions.outcomes) <= {"answered", "abstained"}
    assert not report.questions.ungraded or "judge" in str(report.questions.ungraded)
    with LlmStandIn.in_thread(counting) as well:
        with_models(monkeypatch, well)
        resumed = answers(tmp_path / "run", **LONGMEMEVAL)
        assert resumed.report.complete
        assert max(Counter(counting.paid).values()) == 1
        assert len(counting.paid) == 16
        whole = answers(tmp_path / "whole", **LONGMEMEVAL)
    assert resumed.grades == whole.grades


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_an_interrupted_run_asks_again_only_what_was_under_way(standin, tmp_path, how):
    """Ctrl-C and kill -9 alike: what had been answered is in the record."""
    counting = Counting(models)

    def slowly(seen: Seen) -> str | Say | Fault:
        said = counting(seen)
        return Say(said, delay_s=0.2) if isinstance(said, str) else said

    standin.script = slowly
    arguments = ["--suite", "longmemeval", "--sample", "--adapter", "baseline:full-context"]
    arguments += ["--reader-model", GPT, "--judge-model", CLAUDE, "--out", str(tmp_path / "run")]
    process = start("run", *arguments, cwd=tmp_path)
    give_up = time.monotonic() + 60
    while standin.answered < 4 and time.monotonic() < give_up:
        time.sleep(0.01)
    process.send_signal(how)
    process.communicate(timeout=30)
    assert process.returncode == (130 if how is signal.SIGINT else -signal.SIGKILL)
    assert standin.answered < 16
    done = memrig("run", *arguments, cwd=tmp_path)
    assert done.code == 0, done.err
    # Four trials are under way at a time, and each waits for one model.
    assert len(counting.paid) <= 16 + 4
    whole = answers(tmp_path / "whole", **LONGMEMEVAL)
    assert (tmp_path / "run" / "grades.jsonl").read_bytes() == whole.grades


@pytest.mark.parametrize(
    ("low", "high", "names"),
    [
        ("3000tokens", "300000tokens", "the run"),
        ("judge=1000tokens", "judge=100000tokens", "phase judge"),
        ("0.001usd", "1usd", "the run"),
        ("trial=800tokens", "trial=60000tokens", "trial lm_"),
    ],
)
def test_a_run_stops_at_its_limit_and_goes_on_with_a_higher_one(
    standin, tmp_path, low, high, names
):
    """The limit is named; what was paid for before is not asked again."""
    standin.script = counting = Counting(models)
    chosen = LONGMEMEVAL | {"max_output_tokens": 50}
    with pytest.raises(IncompleteError) as caught:
        answers(tmp_path / "run", **chosen, limits=parse_limits([low]))
    assert f"the limit of {names}" in str(caught.value)
    assert caught.value.exit_code == 4
    assert 0 < len(counting.paid) < 16
    resumed = answers(tmp_path / "run", **chosen, limits=parse_limits([high]))
    assert resumed.report.complete
    assert max(Counter(counting.paid).values()) == 1
    assert len(counting.paid) == 16


def test_a_limit_in_dollars_refuses_a_model_without_a_price(standin, tmp_path):
    """Before anything starts: exit code 2, no folder, no call."""
    chosen = LONGMEMEVAL | {"reader_model": "model-of-my-own"}
    with pytest.raises(UsageError, match="no price is known of model-of-my-own") as caught:
        answers(tmp_path / "run", **chosen, limits=parse_limits(["5usd"]))
    assert caught.value.exit_code == 2
    assert not (tmp_path / "run").exists()
    assert not standin.seen


BUDGETS = {
    "turns": (Budget(turns=2), insatiable()),
    "tool_calls": (Budget(tool_calls=2), insatiable(calls=3)),
    "payload_bytes": (Budget(payload_bytes=700), insatiable()),
    "tokens": (Budget(tokens=4000), insatiable()),
    "usd": (Budget(usd=0.0005), insatiable()),
    "wall_time": (Budget(wall_time_s=0.4), insatiable(delay_s=0.3)),
}


@pytest.mark.parametrize("kind", BUDGETS)
def test_a_budget_used_up_ends_the_question_with_an_answer_and_a_grade(
    standin, tmp_path, monkeypatch, kind
):
    """One reserved turn answers from what there was; the kind of the limit is on record."""
    budget, standin.script = BUDGETS[kind]
    chosen = {"suite": "practical", "sample": True, "limit": 2, "mode": "agent"}
    adapter = str(scattered(tmp_path / "scattered"))
    ran = answers(tmp_path / "run", adapter=adapter, reader_model=GPT, budget=budget, **chosen)
    for record in ran.questions():
        assert (record.outcome.status, record.outcome.kind) == ("budget_exceeded", kind)
        assert record.answer
        assert record.answer.text == "from what there was"
        assert record.answer.reserved_turn
        assert record.model_calls[-1].purpose == "agent"
    assert ran.report.questions.graded == 2
    assert ran.report.value("accuracy").n == 2
    check_replay(ran, standin, monkeypatch, tmp_path / "other")


@pytest.mark.parametrize("model", [GPT, CLAUDE])
def test_an_agent_uses_the_memorys_own_tool_and_cites_what_it_was_shown(standin, tmp_path, model):
    """CallTool goes through; refs in its result are handles before a model sees them."""
    standin.script = agent
    chosen = {"suite": "practical", "sample": True, "mode": "agent"}
    adapter = str(scattered(tmp_path / "scattered"))
    ran = answers(tmp_path / "run", adapter=adapter, reader_model=model, **chosen)
    assert ran.report.questions.outcomes == {"answered": 24}
    for record in ran.questions():
        tool, search = record.tool_uses
        assert (tool.name, search.name) == ("count_items", "memory_search")
        assert not tool.is_error
        assert '"count":' in tool.result
        assert record.answer
        (cited,) = record.answer.cited
        memory = next(one for one in record.answer.memories if one.handle == cited)
        assert memory.ref_id == record.searches[0].hits[0].ref_id
    recall = ran.report.value("citation_recall").value
    assert recall is not None
    assert recall > 0


def test_a_memory_that_answers_by_itself_is_graded_like_the_others(tmp_path):
    """Mode native: answer, citations and confidence, and no model of the rig's."""
    adapter = str(scattered(tmp_path / "scattered"))
    chosen = {"suite": "practical", "sample": True, "mode": "native"}
    ran = answers(tmp_path / "run", adapter=adapter, **chosen)
    assert sum(ran.report.questions.outcomes.values()) == 24
    said = [record.answer for record in ran.questions() if record.answer]
    assert all(one.confidence in {0.75, 0.9} for one in said)
    assert {one.reasoning for one in said} == {"the best hit says so"}
    for metric in ("accuracy", "citation_recall", "calibration"):
        value = ran.report.value(metric).value
        assert value is not None
        assert 0 < value < 1
    summary = ran.report.calibration
    assert summary is not None
    assert summary.calibration is not None
    assert summary.calibration.n + summary.abstention.abstained == len(said)
    assert not (ran.root / "llm.sqlite").exists()


@pytest.mark.slow
def test_a_planted_key_is_nowhere(standin, tmp_path, monkeypatch):
    """Neither in the run's folder nor in the output, even where the provider repeats it."""
    shouting = (Fault(status=500, message=f"your key {KEY} is tired"), Fault(garbage=KEY))
    standin.script = failing(models, every=4, faults=shouting)
    monkeypatch.setenv("OPENROUTER_API_KEY", f"{KEY}-router")
    arguments = ("--suite", "longmemeval", "--sample", "--adapter", "baseline:oracle")
    chosen = ("--reader-model", GPT, "--judge-model", CLAUDE, "--out", tmp_path / "run")
    done = memrig("run", *arguments, *chosen, cwd=tmp_path)
    assert done.code == 0, done.err
    assert KEY not in done.out + done.err
    files = [path for path in (tmp_path / "run").rglob("*") if path.is_file()]
    assert any(path.name == "llm.sqlite" for path in files)
    assert [path for path in files if KEY.encode() in path.read_bytes()] == []
    assert any(KEY in str(seen.headers) for seen in standin.seen)
