"""Agents with the tools of real memories, baselines that serve them, and their naive opponent."""

import json

import pytest

from memrig.model.trial import PRESETS
from support.command import ROOT
from support.llm_standin import LlmStandIn, Say, Seen
from support.model_fixtures import nobody, standin, without_models
from support.model_runs import (
    GPT,
    Ran,
    again,
    answers,
    failing,
    final,
    models,
    question_of,
    replies_before,
)

__all__ = ["nobody", "standin"]

BM25 = str(ROOT / "images" / "bm25")
KINDS = [pytest.param("docker", marks=[pytest.mark.docker, pytest.mark.timeout(300)]), "process"]
SMALL = {"suite": "practical", "sample": True, "limit": 6, "reader_model": GPT}


def batching(seen: Seen) -> Say | str:
    """An agent that searches, reads what it found at once, and cites it, the second first."""
    match replies_before(seen):
        case 0:
            return Say(tools=(("memory_search", {"query": question_of(seen), "limit": 2}),))
        case 1:
            return Say(tools=(("batch_retrieve", {"ref_ids": ["m1", "m2", "m9"]}),))
        case _:
            return final("as it says there", "m2", "m1")


def citing_all(seen: Seen) -> Say | str:
    """An agent that searches once and cites whatever it was shown."""
    if replies_before(seen) == 0:
        return Say(tools=(("memory_search", {"query": question_of(seen)}),))
    found = json.loads(seen.body["messages"][-1]["content"])["results"]
    return final("as it says there", *(item["handle"] for item in found))


@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_of_handles_reaches_the_memory_as_refs_and_its_sources_count(
    standin: LlmStandIn, tmp_path, kind
):
    """What no search has named is missing by the name that the model gave it."""
    standin.script = batching
    ran = answers(tmp_path / "run", adapter=BM25, pod=kind, mode="agent", **SMALL)
    records = ran.questions()
    assert len(records) == 6
    for record in records:
        searched, batch = (json.loads(use.result) for use in record.tool_uses)
        assert batch == {"result": {"found": 2, "missing": ["m9"]}, "memories": searched["results"]}
        assert record.answer
        assert record.answer.cited == ("m2", "m1")
        assert all(memory.episodes for memory in record.answer.memories)
        assert not any(memory.ref_id in use.result for memory in record.answer.memories
                       for use in record.tool_uses)  # fmt: skip
    assert any(grade["scores"]["citation_recall"] > 0 for grade in evidenced(ran))


def evidenced(ran: Ran) -> list[dict]:
    """The grades of questions that have evidence."""
    grades = [json.loads(line) for line in ran.grades.splitlines()]
    return [grade for grade in grades if "citation_recall" in grade["scores"]]


def recalls(standin: LlmStandIn, out, adapter: str) -> dict[str, float]:
    """Citation recall by question, of an agent that cites all it is shown."""
    standin.script = citing_all
    chosen = {**SMALL, "limit": 24, "sample": False}
    ran = answers(out, adapter=adapter, mode="agent", **chosen)
    assert {record.outcome.status for record in ran.questions()} == {"answered"}
    assert all(
        use.payload_bytes > 0 or not json.loads(use.result)["results"]
        for record in ran.questions()
        for use in record.tool_uses
    )
    return {grade["question_id"]: grade["scores"]["citation_recall"] for grade in evidenced(ran)}


def test_an_oracle_serves_an_agent_all_the_evidence_and_a_worse_one_less(
    standin: LlmStandIn, tmp_path
):
    """Within the standard budget; a question with a single piece keeps it."""
    series = [
        recalls(standin, tmp_path / name, f"baseline:{name}")
        for name in ("oracle", "oracle-50", "oracle-0")
    ]
    whole, half, none = series
    assert set(whole.values()) == {1.0}
    assert set(none.values()) == {0.0, 1.0}
    assert all(none[name] <= half[name] <= whole[name] for name in whole)
    assert sum(none.values()) < sum(half.values()) < sum(whole.values())


def test_full_context_is_stopped_by_an_agents_bytes(standin: LlmStandIn, tmp_path):
    """Everything is more than an agent may be told."""
    standin.script = lambda seen: citing_all(seen) if seen.body.get("tools") else final("x", "m1")
    budget = PRESETS["constrained"]
    ran = answers(
        tmp_path / "run", adapter="baseline:full-context", mode="agent", budget=budget, **SMALL
    )
    assert {record.outcome.label for record in ran.questions()} == {
        "budget_exceeded(payload_bytes)"
    }
    assert all(record.answer and record.answer.reserved_turn for record in ran.questions())


def test_an_opponent_is_paid_for_apart_and_replayed_with_its_run(
    standin: LlmStandIn, tmp_path, monkeypatch
):
    """Through a provider that fails now and then; its row is its own."""
    standin.script = failing(models, every=5)
    chosen = {**SMALL, "adapter": "baseline:oracle", "mode": "reader", "naive": True}
    ran = answers(tmp_path / "run", **chosen)
    told = [record.naive.answer.text for record in ran.questions() if record.naive.answer]
    assert len(told) == 6
    costs = {row.purpose: row for row in ran.report.costs}
    assert {name: row.calls for name, row in costs.items()} == {"reader": 6, "naive": 6}
    assert costs["naive"].input_tokens > costs["reader"].input_tokens
    paid = "SELECT purpose, COUNT(*) FROM exchanges WHERE state = 'ok' GROUP BY purpose"
    assert dict(ran.rows(paid)) == {"reader": 6, "naive": 6}

    without_models(monkeypatch)
    replayed = again(
        ran, tmp_path / "again", llm="replay-strict", llm_record=ran.root / "llm.sqlite"
    )
    assert replayed.grades == ran.grades
    assert [record.naive.answer.text for record in replayed.questions()] == told
