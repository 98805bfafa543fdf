"""Judging sealed trials: verdict files, what an interrupted judge leaves, and grades at once."""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from memrig.errors import GatewayError
from memrig.grading.base import load_grader
from memrig.judging import read_verdicts
from memrig.model.chat import CallContext, ChatReply, ChatRequest
from memrig.model.gold import Gold, TextGold
from memrig.model.scenario import Scenario
from memrig.model.trial import AnswerSpec
from memrig.runs.executor import Executed, LocalExecutor, Observer, Services
from memrig.runs.judge import ASIDE, Judged, TrialJudge, verdicts_of
from memrig.runs.plan import Plan
from support.fake_chat import ScriptedChat, says
from support.fake_memory import FakeProvider
from support.judges import ScriptedJudge, honest_json
from support.plans import small_plan
from support.scenarios import small_scenario

PROTOCOL = "answer-judge"


class Reader(ScriptedChat):
    """Implements `ModelService` for memories that ask for no model."""

    def usage_of(self, trial_id: str) -> tuple[()]:
        return ()


def answered(name: str) -> Scenario:
    """Four questions whose right answer is always the attic."""
    scenario = small_scenario(name)
    gold = {
        key: Gold(
            question_id=key, category=old.category, evidence=old.evidence,
            answer=TextGold(type="text", value="the attic"),
        )
        for key, old in scenario.gold.items()
    }  # fmt: skip
    return Scenario(name, scenario.timeline, gold)


class Bench:
    """Plans over answered scenarios, run by a fake provider."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.seen: list[Judged] = []

    def plan(self, count: int = 1) -> Plan:
        grader = load_grader(PROTOCOL)
        return small_plan(
            self.root / "run",
            *(answered(f"s{n}") for n in range(count)),
            mode="reader",
            protocol=PROTOCOL,
            grader=f"{grader.protocol}/{grader.version}",
            answer=AnswerSpec(model="scripted"),
            judge="judge",
        )

    async def run(self, plan: Plan, judge: ScriptedJudge | None, reader: Reader) -> Executed:
        trial_judge = TrialJudge(plan.directory, load_grader(PROTOCOL), judge, "judge")
        services = Services(FakeProvider(self.root), reader, trial_judge)  # type: ignore[arg-type]
        executor = LocalExecutor(services, 1)
        return await executor.execute(plan, Observer(judged=self.seen.append))


@pytest.fixture
def bench() -> Iterator[Bench]:
    """A bench in a folder short enough for sockets."""
    with tempfile.TemporaryDirectory(prefix="mr") as folder:
        yield Bench(Path(folder))


def the_attic() -> Reader:
    return Reader([says("the attic"), says("the attic"), says("the attic"), says("the cellar")])


async def test_each_question_is_graded_as_soon_as_its_trial_is_sealed(bench):
    """With its record, its verdict, its score, and what both cost."""
    judge = ScriptedJudge(lambda prompt, _: honest_json(prompt))
    await bench.run(bench.plan(), judge, the_attic())
    assert [one.score for one in bench.seen] == [1.0, 1.0, 1.0, 0.0]
    assert [one.grade.question_id for one in bench.seen] == ["q1", "q2", "q3", "q4"]
    assert all(len(one.verdicts) == 1 for one in bench.seen)
    assert sum(cost or 0 for cost in bench.seen[0].costs) == pytest.approx(0.001 + 3 * 0.01)


async def test_verdicts_stand_beside_the_trials_and_are_not_asked_for_again(bench):
    """One file a trial; the second invocation finds nothing to do."""
    plan = bench.plan(count=2)
    judge = ScriptedJudge(lambda prompt, _: honest_json(prompt))
    await bench.run(plan, judge, the_attic())
    for spec in plan.specs:
        found = read_verdicts(plan.directory.verdicts_of(spec.trial_id))
        assert [verdict.question_id for verdict in found] == ["q1", "q2", "q3", "q4"]
        assert len(verdicts_of(plan.directory, spec.trial_id, "judge") or ()) == 4
    again = ScriptedJudge(lambda *_: "never")
    executed = await bench.run(plan, again, the_attic())
    assert (executed.outcomes, again.calls) == ({}, [])


class Interrupted(ScriptedJudge):
    """Decides the first questions, then is not to be had."""

    def __init__(self, decided: int) -> None:
        super().__init__(self._say)
        self._left = decided * 3

    def _say(self, prompt: str, context: CallContext) -> str | ChatReply | Exception:
        if self._left == 0:
            return GatewayError("overloaded", kind="provider")
        self._left -= 1
        return honest_json(prompt)


async def test_what_an_interrupted_judge_had_decided_stands(bench):
    """Kept aside, under no name that a report reads; the next one is asked for the rest alone."""
    plan = bench.plan()
    (spec,) = plan.specs
    first = await bench.run(plan, Interrupted(decided=2), the_attic())
    assert isinstance(first.failures[spec.trial_id], GatewayError)
    path = plan.directory.verdicts_of(spec.trial_id)
    assert not path.exists()
    assert plan.directory.finished(spec)  # the answers are sealed all the same
    aside = path.parent / ASIDE / path.name
    kept = read_verdicts(aside)
    assert 0 < len(kept) < 4
    assert verdicts_of(plan.directory, spec.trial_id, "judge") == {}
    assert verdicts_of(plan.directory, spec.trial_id, "") is None

    reader = the_attic()
    judge = ScriptedJudge(lambda prompt, _: honest_json(prompt))
    await bench.run(plan, judge, reader)
    assert len(judge.calls) == 3 * (4 - len(kept))
    assert not reader.requests
    assert not aside.exists()
    assert [verdict for verdict in read_verdicts(path) if verdict in kept] == kept
    assert [one.score for one in bench.seen] == [1.0, 1.0, 1.0, 0.0]


async def test_a_judge_that_is_interrupted_twice_loses_nothing(bench):
    """What the first and the second had decided is kept together."""
    plan = bench.plan()
    (spec,) = plan.specs
    path = plan.directory.verdicts_of(spec.trial_id)
    counts = []
    for _ in range(2):
        await bench.run(plan, Interrupted(decided=1), the_attic())
        counts.append(len(read_verdicts(path.parent / ASIDE / path.name)))
    assert 0 < counts[0] < counts[1] <= 4


async def test_without_a_judge_questions_are_open_not_wrong(bench):
    """They say what they wait for."""
    plan = bench.plan()
    await bench.run(plan, None, the_attic())
    assert {one.grade.status for one in bench.seen} == {"ungraded"}
    assert all("no judge was asked" in one.grade.reason for one in bench.seen)
    assert {one.score for one in bench.seen} == {None}


async def test_a_verdict_file_holds_no_prompt(bench):
    """It ships with a run: who judged, what was said, and the key of each exchange."""
    plan = bench.plan()
    await bench.run(plan, ScriptedJudge(lambda prompt, _: honest_json(prompt)), the_attic())
    path = plan.directory.verdicts_of(plan.specs[0].trial_id)
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert {vote["key"] for line in lines for vote in line["votes"]} == {"k0.0", "k1.0", "k2.0"}
    assert b"You check" not in path.read_bytes()


class Unasked(ScriptedChat):
    """A judge that must not be asked."""

    async def chat(self, request: ChatRequest, context: CallContext) -> ChatReply:
        raise AssertionError(request)


def test_a_protocol_without_a_judge_never_waits_for_one(bench):
    """Nor does an audit."""
    plan = bench.plan()
    (spec,) = plan.specs
    typed = TrialJudge(plan.directory, load_grader("practical-answers"), Unasked([]), "")
    assert not typed.open(spec)
    judged = TrialJudge(plan.directory, load_grader(PROTOCOL), Unasked([]), "judge")
    assert judged.open(spec)
    assert not judged.open(spec.model_copy(update={"kind": "isolation-audit"}))
