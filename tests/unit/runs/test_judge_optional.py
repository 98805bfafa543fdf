"""A protocol that a judge helps with: with one, without one, and with one that fails."""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from memrig.errors import GatewayError
from memrig.grading.judges.base import NO_VERDICT
from memrig.grading.lens import V1
from memrig.model.chat import CallContext
from memrig.model.gold import Gold, TextGold
from memrig.model.scenario import Scenario
from memrig.model.trial import AnswerSpec
from memrig.report.build import build_report
from memrig.report.model import Report
from memrig.runs.executor import LocalExecutor, Observer, Services
from memrig.runs.judge import Judged, TrialJudge
from memrig.runs.plan import Plan
from memrig.stats.composite import CompositeRow
from support.fake_chat import ScriptedChat, says
from support.fake_memory import FakeProvider
from support.judges import ScriptedJudge, blocks_of
from support.plans import small_plan
from support.scenarios import small_scenario

FACT = "the pump failed"
CATEGORIES = ("longitudinal", "null_hypothesis", "action_recommendation", "temporal")


class Reader(ScriptedChat):
    """Implements `ModelService` for memories that ask for no model."""

    def usage_of(self, trial_id: str) -> tuple[()]:
        return ()


def story() -> Scenario:
    """Four questions of four types; the third is a decision, the fourth has no facts."""
    scenario = small_scenario("s")
    gold = {}
    for (key, old), category in zip(scenario.gold.items(), CATEGORIES, strict=True):
        facts = () if category == "temporal" else (FACT,)
        answer = TextGold(type="text", value=f"{FACT}, so replace it", key_facts=facts)
        gold[key] = Gold(question_id=key, category=category, evidence=old.evidence, answer=answer)
    return Scenario("s", scenario.timeline, gold)


def reads(prompt: str, _context: CallContext) -> str:
    """The verdict of one who looks for the fact in each answer, and for a verb in a deed."""
    blocks = blocks_of(prompt)
    if "finding" in blocks:
        return json.dumps({"met": "replace" in blocks["answer"]})
    has = [blocks["fact"] in blocks[name] for name in ("answer_a", "answer_b")]
    return json.dumps({"choice": "TIE" if has[0] == has[1] else "AB"[has.index(True)]})


class Bench:
    """One run over the story."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.seen: list[Judged] = []

    def plan(self, judge: str) -> Plan:
        return small_plan(
            self.root / "run",
            story(),
            suite="longitudinal",
            protocol="lens-v1",
            grader=f"{V1.protocol}/{V1.version}",
            mode="reader",
            answer=AnswerSpec(model="scripted"),
            judge=judge,
        )

    async def run(self, judge: ScriptedJudge | None) -> Report:
        plan = self.plan("judge" if judge else "")
        trial_judge = TrialJudge(plan.directory, V1, judge, plan.lock.judge)
        reader = Reader([says(FACT), says("nothing"), says(f"{FACT}: replace it"), says("May")])
        services = Services(FakeProvider(self.root), reader, trial_judge)  # type: ignore[arg-type]
        await LocalExecutor(services, 1).execute(plan, Observer(judged=self.seen.append))
        return build_report(plan.directory)


@pytest.fixture
def bench() -> Iterator[Bench]:
    """A bench in a folder short enough for sockets."""
    with tempfile.TemporaryDirectory(prefix="mr") as folder:
        yield Bench(Path(folder))


def row(report: Report, metric: str) -> CompositeRow:
    assert report.composite
    return next(row for row in report.composite.rows if row.metric == metric)


async def test_with_a_judge_its_metrics_are_measured(bench):
    """Ties, a loss and nothing to judge; five criteria, all met. The run is whole."""
    judge = ScriptedJudge(reads)
    report = await bench.run(judge)
    assert len(judge.calls) == 3 * 2 + 5
    assert row(report, "answer_quality").value == pytest.approx((0.5 + 0 + 0.5) / 3)
    assert row(report, "action_quality").value == 1.0
    assert report.complete


async def test_without_a_judge_they_are_missing_and_the_run_is_whole(bench):
    """Nobody waits for what nobody asked for."""
    report = await bench.run(None)
    assert row(report, "answer_quality").value is None
    assert NO_VERDICT in row(report, "answer_quality").reason
    assert row(report, "action_quality").reason == NO_VERDICT
    assert row(report, "fact_recall").value == pytest.approx(2 / 3)
    assert report.complete


async def test_progress_shows_the_first_metric_and_none_where_it_is_missing(bench):
    """Fact recall; a question without facts has no score, and is graded."""
    await bench.run(ScriptedJudge(reads))
    assert [one.score for one in bench.seen] == [1.0, 0.0, 1.0, None]
    assert bench.seen[-1].grade.status == "graded"


async def test_a_judge_that_fails_leaves_the_run_incomplete(bench):
    """One reply that is no verdict: that question's quality is missing, no loss."""

    def fails(prompt: str, context: CallContext) -> str:
        return "dunno" if "canonical first" in context.scope else reads(prompt, context)

    report = await bench.run(ScriptedJudge(fails))
    assert not report.complete
    assert "3 questions without a judge's verdict" in report.incomplete
    assert row(report, "answer_quality").value is None
    assert row(report, "fact_recall").value == pytest.approx(2 / 3)


async def test_a_run_is_graded_again_from_its_verdicts_alone(bench):
    """`memrig score`: no judge, no network, the same numbers."""
    report = await bench.run(ScriptedJudge(reads))
    again = build_report(bench.plan("judge").directory)
    assert again.composite == report.composite
    assert again.metrics == report.metrics


async def test_a_second_invocation_asks_nobody(bench):
    """The verdicts stand."""
    await bench.run(ScriptedJudge(reads))
    again = ScriptedJudge(lambda *_: "never")
    await bench.run(again)
    assert again.calls == []


async def test_a_judge_that_cannot_be_had_leaves_its_metrics_missing(bench):
    """The trial waits for it: until then nothing of its is graded by other means."""

    def down(*_: object) -> str | Exception:
        return GatewayError("overloaded", kind="provider")

    report = await bench.run(ScriptedJudge(down))
    assert not report.complete
    assert "questions without a judge's verdict" in report.incomplete
    assert row(report, "answer_quality").value is None
    assert row(report, "fact_recall").value == pytest.approx(2 / 3)
