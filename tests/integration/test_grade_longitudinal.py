"""`memrig grade --suite longitudinal`: answers from elsewhere, to a composite."""

import json
from pathlib import Path

import pytest

from support.command import Done, memrig
from support.judges import blocks_of
from support.llm_standin import Seen
from support.longitudinal import dataset
from support.model_fixtures import nobody, standin
from support.model_runs import CLAUDE

__all__ = ["nobody", "standin"]

RIGHT = "Entry {} was made, which is what the sheets show."


def graded(folder: Path, answers: list[dict[str, object]], *more: object) -> Done:
    """Two scopes of four episodes, asked after the second and the fourth of each."""
    data = dataset("reef", "mill")
    data["questions"][-1]["question_type"] = "action_recommendation"
    (folder / "data.json").write_text(json.dumps(data))
    (folder / "answers.jsonl").write_text("".join(json.dumps(line) + "\n" for line in answers))
    chosen = ("--suite", "longitudinal", "--file", "data.json", "--answers", "answers.jsonl")
    done = memrig("grade", *chosen, "--out", folder / "run", *more, cwd=folder)
    assert done.code == 0, done.err
    return done


def answers(*cited: str) -> list[dict[str, object]]:
    """Right answers that all cite these episodes of their scope."""
    return [
        {
            "question_id": f"{scope}_q{number}",
            "answer": RIGHT.format(2 * number),
            "cited": [f"{scope}_{name}" for name in cited],
        }
        for scope in ("reef", "mill")
        for number in (1, 2)
    ]


def composite(folder: Path) -> dict:
    found = json.loads((folder / "run" / "report.json").read_text())["composite"]
    return found | {"values": {row["metric"]: row["value"] for row in found["rows"]}}


def test_given_answers_come_to_a_composite(tmp_path):
    """Of what can be measured: nobody saw how they came about."""
    done = graded(tmp_path, answers("ep_002", "ep_001"))
    found = composite(tmp_path)
    assert found["values"]["evidence_grounding"] == 1
    assert found["values"]["fact_recall"] == 1
    assert found["values"]["longitudinal_advantage"] == 0
    unseen = {name for name, value in found["values"].items() if value is None}
    assert unseen == {"budget_compliance", "reasoning_quality", "answer_quality", "action_quality"}
    assert found["measured_weight"] == pytest.approx(0.6)
    assert [scope["scope"] for scope in found["scopes"]] == ["mill", "reef"]
    assert "composite lens-v1: " in done.out
    assert "gate not applied: budget compliance was not measured" in done.out


@pytest.mark.slow
def test_citing_the_future_closes_the_gate(tmp_path):
    """Episode 4 is real, but not yet; episode 9 never is. One of three is good, then two."""
    graded(tmp_path, answers("ep_001", "ep_004", "ep_009"))
    found = composite(tmp_path)
    assert found["values"]["evidence_grounding"] == pytest.approx(2 * (1 + 2) / 12)
    graded(tmp_path, answers("ep_004", "ep_009"), "--out", tmp_path / "second")
    second = json.loads((tmp_path / "second" / "report.json").read_text())["composite"]
    assert second["value"] == 0
    assert second["ungated"] > 0
    assert [gate["metric"] for gate in second["gates"] if gate["closed"]] == ["evidence_grounding"]


def test_the_later_weights_are_a_protocol_of_their_own(tmp_path):
    """The same scores, weighed as the predecessor did last."""
    graded(tmp_path, answers("ep_002"), "--protocol", "lens-v3.4")
    found = composite(tmp_path)
    assert found["profile"] == "lens-v3.4"
    assert "fact_recall" not in found["values"]
    assert found["values"]["citation_coverage"] == found["values"]["evidence_coverage"]


def judge(seen: Seen) -> str:
    """Prefers whatever stands first, and finds every recommendation but specific."""
    if "finding" in blocks_of(seen.text):
        return json.dumps({"met": "It is specific" not in seen.text})
    return json.dumps({"choice": "A"})


@pytest.mark.slow
def test_a_judge_adds_what_it_is_for_and_replays(standin, tmp_path):
    """Four facts in two orders and five criteria; a preference for a place cancels out."""
    standin.script = judge
    record = ("--judge-model", CLAUDE, "--llm-record", tmp_path / "judge.sqlite")
    graded(tmp_path, answers("ep_002"), *record)
    found = composite(tmp_path)
    assert found["values"]["answer_quality"] == 0.5
    assert found["values"]["action_quality"] == pytest.approx(0.8)
    assert found["measured_weight"] == pytest.approx(0.8)
    calls = len(standin.seen)
    assert calls == 4 * 2 + 5
    second = ("--out", tmp_path / "second", "--llm", "replay-strict")
    graded(tmp_path, answers("ep_002"), *record, *second)
    assert len(standin.seen) == calls
    again = json.loads((tmp_path / "second" / "report.json").read_text())
    assert again["composite"]["value"] == found["value"]
    assert again["complete"]
