"""Answers out to a benchmark's own evaluator, and its verdicts back in."""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from memrig.errors import DataError, GatewayError, UsageError
from memrig.judging import read_verdicts
from memrig.model.gold import Gold, TextGold
from memrig.model.scenario import Episode, Question, Scenario
from memrig.model.trial import AnswerSpec
from memrig.runs.exchange import adopt_verdicts, export_hypotheses, official_judge
from memrig.runs.executor import LocalExecutor, Observer, Services
from memrig.runs.plan import Plan
from support.fake_chat import ScriptedChat, says
from support.fake_memory import FakeProvider
from support.plans import small_plan

JUDGE = "gpt-4o-2024-08-06"


class Reader(ScriptedChat):
    """Implements `ModelService` for memories that ask for no model."""

    def usage_of(self, trial_id: str) -> tuple[()]:
        return ()


def one_question(name: str) -> Scenario:
    """As LongMemEval's: one question a haystack, which gives it its id."""
    timeline = [Episode(episode_id="e1", text="a note"), Question(question_id=name, text="note?")]
    answer = TextGold(type="text", value="a note")
    return Scenario(name, timeline, {name: Gold(question_id=name, category="c", answer=answer)})


class Bench:
    """A run of three questions in a short folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def plan(self, **changes: object) -> Plan:
        fields: dict[str, object] = {
            "suite": "longmemeval",
            "protocol": "longmemeval-compatible",
            "mode": "reader",
            "answer": AnswerSpec(model="scripted"),
        }
        names = ("a", "b", "c_abs")
        return small_plan(self.root / "run", *map(one_question, names), **fields | changes)

    async def run(self, plan: Plan, *replies: object) -> None:
        services = Services(FakeProvider(self.root), Reader(replies))  # type: ignore[arg-type]
        await LocalExecutor(services, 1).execute(plan, Observer())

    def file(self, *lines: dict[str, object]) -> Path:
        path = self.root / "hypotheses.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return path


@pytest.fixture
def bench() -> Iterator[Bench]:
    """A bench in a folder short enough for sockets."""
    with tempfile.TemporaryDirectory(prefix="mr") as folder:
        yield Bench(Path(folder))


def hypothesis(name: str, label: bool | None = None, model: str = JUDGE) -> dict[str, object]:
    line: dict[str, object] = {"question_id": name, "hypothesis": "x"}
    return line if label is None else line | {"autoeval_label": {"model": model, "label": label}}


def exported(bench: Bench, plan: Plan) -> dict[str, str]:
    out = bench.root / "out.jsonl"
    done = export_hypotheses(plan.directory.root, out)
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(lines) == done.written
    return {line["question_id"]: line["hypothesis"] for line in lines}


async def test_what_a_provider_failed_has_no_hypothesis_and_is_named(bench):
    """An empty one would be counted as a wrong answer of the memory system."""
    plan = bench.plan()
    refused = GatewayError("too long", kind="rejected")
    await bench.run(plan, says("a note"), refused, says("no idea"))
    out = bench.root / "out.jsonl"
    done = export_hypotheses(plan.directory.root, out)
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    hypotheses = {line["question_id"]: line["hypothesis"] for line in lines}
    assert sorted(hypotheses.values()) == ["a note", "no idea"]
    assert done.written == 2
    assert {*hypotheses, *done.left_out} == {"a", "b", "c_abs"}


async def test_half_a_run_is_not_exported(bench):
    """It would be graded as a whole one."""
    plan = bench.plan()
    await bench.run(plan, says("a note"), GatewayError("down", kind="auth"))
    with pytest.raises(UsageError, match="not whole"):
        exported(bench, plan)
    assert not (bench.root / "out.jsonl").exists()


@pytest.mark.parametrize(
    "changes", [{"suite": "locomo"}, {"mode": "retrieval", "answer": None}, {"repeats": 2}]
)
def test_what_the_evaluator_could_not_use_is_not_exported(bench, changes):
    """Another suite, no answers, or several to one question."""
    with pytest.raises(UsageError, match="is a run of") as caught:
        exported(bench, bench.plan(**changes))
    assert "longmemeval" in caught.value.fix


@pytest.mark.parametrize(
    ("lines", "judge"),
    [
        ([hypothesis("a"), hypothesis("b")], ""),
        ([hypothesis("a", label=True), hypothesis("b", label=False)], JUDGE),
    ],
)
def test_the_official_judge_is_read_from_the_file(bench, lines, judge):
    """Bare hypotheses have none."""
    assert official_judge(bench.file(*lines)) == judge


@pytest.mark.parametrize(
    ("second", "names"),
    [(hypothesis("b"), "none"), (hypothesis("b", label=True, model="other"), "other")],
)
def test_a_mixture_of_judges_is_refused(bench, second, names):
    """Scores of two judges, or of one and none, are no score."""
    with pytest.raises(DataError, match="different judges") as caught:
        official_judge(bench.file(hypothesis("a", label=True), second))
    assert names in caught.value.message


def test_verdicts_are_adopted_trial_by_trial(bench):
    """Each stands where a judge's would, under the judge's name; what has none stays open."""
    plan = bench.plan()
    adopt_verdicts(plan, bench.file(hypothesis("a", label=True), hypothesis("c_abs", label=False)))
    found = {
        spec.scenarios[0].scenario_id: read_verdicts(plan.directory.verdicts_of(spec.trial_id))
        for spec in plan.specs
    }
    assert [(v.score, v.model, v.quorum) for v in found["a"]] == [(1.0, JUDGE, 1)]
    assert [verdict.score for verdict in found["c_abs"]] == [0.0]
    assert found["b"] == []


def test_a_label_to_a_question_of_another_set_is_passed_over(bench):
    """It is told elsewhere, and counts nowhere."""
    plan = bench.plan()
    adopt_verdicts(plan, bench.file(hypothesis("z", label=True)))
    for spec in plan.specs:
        assert read_verdicts(plan.directory.verdicts_of(spec.trial_id)) == []
