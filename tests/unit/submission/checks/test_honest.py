"""No check objects to an honest run, of whatever kind, and whatever befell it."""

import asyncio

import grpc
import pytest

from memrig.errors import InfrastructureError
from memrig.model.gold import Gold
from memrig.model.scenario import (
    Episode,
    FreshnessProbe,
    LeakProbe,
    LoadProbe,
    LookFor,
    Question,
    RestartProbe,
    Scenario,
    UsageProbe,
)
from memrig.model.transcript import AttemptRecord, FaultRecord, ProbeRecord, ResetRecord
from memrig.model.trial import Budget
from memrig.pod.base import Fate
from memrig.submission.checks import (
    auditplay,
    audits,
    budgets,
    models,
    played,
    probes,
    record,
    replies,
    sources,
    timeline,
    usage,
    verdicts,
)
from support.evidence import objections
from support.fake_memory import fake_adapter
from support.happened import fakes, of_kind, ran
from support.llm_standin import Fault, Say
from support.model_runs import CLAUDE, GPT, final, insatiable, scattered
from support.model_runs import models as both
from support.scenarios import FACTS, small_scenario

TRIAL = (
    *timeline.TRIAL_CHECKS,
    *probes.TRIAL_CHECKS,
    *budgets.TRIAL_CHECKS,
    *sources.TRIAL_CHECKS,
    *played.TRIAL_CHECKS,
    *models.TRIAL_CHECKS,
    *replies.TRIAL_CHECKS,
    *usage.TRIAL_CHECKS,
    *verdicts.TRIAL_CHECKS,
    *audits.TRIAL_CHECKS,
    *auditplay.TRIAL_CHECKS,
)
LME = {
    "suite": "longmemeval",
    "sample": True,
    "mode": "reader",
    "adapter": "baseline:full-context",
    "reader_model": GPT,
    "judge_model": CLAUDE,
    "limit": 3,
}


def all_objections(evidence):
    """Those of every check to a run and its trials."""
    found = [objections(record.RUN_CHECKS, evidence.run)]
    found += [objections(TRIAL, trial) for trial in evidence.trials]
    return [objection for objection in found if objection]


@pytest.mark.parametrize("kind", ["searched", "read", "judged", "agent", "native", "good"])
def test_an_honest_run_passes(kind, request):
    """Retrieval, reader, judge, agent, native, audits and opponents alike."""
    assert all_objections(request.getfixturevalue(kind)) == []


def test_the_runs_have_what_is_checked(searched, read, judged, agent):
    """A check that has nothing to look at would pass whatever it does."""
    assert of_kind(searched, "audits")
    assert of_kind(searched, "isolation-audit")
    assert any(isinstance(one, ResetRecord) for one in of_kind(searched, "scored").records)
    assert {one.purpose for one in read.run.models.exchanges.values()} == {"reader", "naive"}
    assert {len(verdict.votes) for trial in judged.trials for verdict in trial.verdicts} == {3}
    tools = {use.name for one in of_kind(agent, "scored").records if one.kind == "question"
             for use in one.tool_uses}  # fmt: skip
    assert tools >= {"memory_search", "memory_retrieve", "count_items", "nonsense"}


@pytest.mark.slow
class TestModels:
    """Runs whose models failed, were late, or were too dear."""

    def test_a_failing_provider(self, tmp_path):
        """Refusals and garbage leave questions that are nobody's fault, and missing votes."""

        def troubled(seen):
            if seen.number % 5 == 0:
                return Fault(status=400, message="filtered")
            return Fault(status=529) if seen.number % 3 == 0 else both(seen)

        assert all_objections(ran(tmp_path, troubled, **LME)) == []

    def test_a_judge_that_cannot_be_read_at_once(self, tmp_path):
        """A vote is asked for again, up to three times."""

        def mumbling(seen):
            vague = "Their tags carry the code" in seen.text and seen.number % 3
            return "well" if vague else both(seen)

        assert all_objections(ran(tmp_path, mumbling, **LME)) == []

    @pytest.mark.parametrize(
        ("budget", "script"),
        [
            (Budget(turns=2), insatiable()),
            (Budget(tool_calls=2), insatiable(calls=3)),
            (Budget(payload_bytes=700), insatiable()),
            (Budget(tokens=4000), insatiable()),
            (Budget(usd=0.0005), insatiable()),
            (Budget(wall_time_s=0.4), insatiable(calls=3, delay_s=0.15)),
        ],
        ids=["turns", "tool_calls", "payload_bytes", "tokens", "usd", "wall_time"],
    )
    def test_an_agent_whose_budget_is_used_up(self, tmp_path, budget, script):
        """It has one turn left to answer from what there was."""
        adapter = str(scattered(tmp_path / "scattered"))
        config = {"suite": "practical", "sample": True, "limit": 2, "mode": "agent"}
        evidence = ran(
            tmp_path, script, **config, adapter=adapter, reader_model=CLAUDE, budget=budget
        )
        assert all_objections(evidence) == []

    @pytest.mark.parametrize(
        "budget",
        [
            Budget(payload_bytes=300),
            Budget(tokens=1200),
            Budget(usd=0.0001),
            Budget(wall_time_s=0.1),
        ],
        ids=["payload_bytes", "tokens", "usd", "wall_time"],
    )
    def test_a_reader_whose_budget_is_used_up(self, tmp_path, budget):
        """It answers from what fits; or not at all where its time is up."""

        def slowly(seen):
            return Say(both(seen), delay_s=0.3 if budget.wall_time_s < 1 else 0)

        adapter = str(scattered(tmp_path / "scattered"))
        config = {"suite": "practical", "sample": True, "limit": 2, "mode": "reader"}
        evidence = ran(tmp_path, slowly, **config, adapter=adapter, reader_model=GPT, budget=budget)
        assert all_objections(evidence) == []

    def test_tool_results_that_were_cut(self, tmp_path):
        """What the memory's own tool gave is cut, and its handles with it."""

        def greedy(seen):
            if not seen.body.get("tools"):
                return final("enough", "m1")
            tools = (("count_items", {"word": "the"}), ("memory_retrieve", {"handle": "m1"}))
            return Say(tools=(*tools, ("memory_search", {"query": f"the {seen.number}"})))

        adapter = str(scattered(tmp_path / "scattered"))
        config = {"suite": "practical", "sample": True, "limit": 2, "mode": "agent"}
        budget = Budget(payload_bytes=1500)
        evidence = ran(tmp_path, greedy, **config, adapter=adapter, reader_model=GPT, budget=budget)
        assert all_objections(evidence) == []


class TestFaults:
    """Trials of memories that do wrong, over the real contract."""

    @pytest.mark.parametrize(
        "behaviour",
        [
            {"search_delay_s": {2: 2.0}},
            {"search_delay_s": dict.fromkeys(range(1, 99), 2.0)},
            {"search_status": {3: grpc.StatusCode.INTERNAL}},
            {"restart_before_search": {3}},
            {"ready": False},
            {"contract": "2.0"},
            {"lose_acks_after": 2},
            {"ack_twice": True},
            {"reject": "kettle"},
            {"claim_everything": True},
            {"surplus": 3},
            {"score": float("inf")},
        ],
        ids=lambda behaviour: next(iter(behaviour)),
    )
    def test_a_memory_that_fails(self, behaviour):
        """Its faults are outcomes, and the transcript is lawful."""
        with fakes() as place:
            place.behave(**behaviour)
            adapter = fake_adapter(start_timeout_s=0.3)
            trial = place.run(place.spec(small_scenario(halves=True), adapter=adapter))
        assert objections(TRIAL, trial) == {}

    def test_a_memory_that_dies(self):
        """What is open gets its outcome."""

        async def dies(memory, number):
            if number == 3:
                asyncio.get_running_loop().create_task(place.provider.pods[-1].die(fate))
                await asyncio.sleep(1)

        fate = Fate("exited", 137, oom=True)
        with fakes() as place:
            place.behave(on_search=dies)
            scenario = small_scenario(halves=True)
            trial = place.run(place.spec(scenario, deadlines={"search": 5}))
        assert any(isinstance(one, FaultRecord) for one in trial.records)
        assert objections(TRIAL, trial) == {}

    @pytest.mark.parametrize("budget", [Budget(wall_time_s=0.1), Budget(payload_bytes=20)])
    def test_a_question_that_takes_too_much(self, budget):
        """Time and bytes end it."""
        with fakes() as place:
            place.behave(search_delay_s={1: 0.25})
            trial = place.run(place.spec(budget=budget))
        assert "budget_exceeded" in trial.outcome.statuses
        assert objections(TRIAL, trial) == {}

    @pytest.mark.parametrize("pod", ["process", "endpoint"])
    def test_scenarios_that_share_a_memory(self, pod):
        """It is emptied between them; an endpoint before the first, too."""
        adapter = fake_adapter().model_copy(update={"pod": pod})
        with fakes() as place:
            scenarios = (small_scenario("one"), small_scenario("two", halves=True))
            trial = place.run(place.spec(*scenarios, isolation="reset", adapter=adapter))
        assert objections(TRIAL, trial) == {}


@pytest.mark.parametrize("changing", [False, True], ids=["kept", "abandoned"])
def test_a_trial_that_was_interrupted(changing):
    """Kept answers stay with their attempt; a memory that questions change begins anew."""
    ended = []

    async def breaks(memory, number):
        if number == 2 and not ended:
            ended.append(number)
            raise_soon.set()
            await asyncio.sleep(5)

    raise_soon = asyncio.Event()

    async def interrupted(spec):
        task = asyncio.create_task(place.once(spec))
        await raise_soon.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        place.provider.start_errors.append(InfrastructureError("the engine is gone"))
        await asyncio.gather(place.once(spec), return_exceptions=True)
        await place.once(spec)

    with fakes() as place:
        place.behave(on_search=breaks, questions_change_memory=changing)
        spec = place.spec(
            small_scenario("one", halves=True), small_scenario("two"), isolation="reset",
            deadlines={"search": 9},
        )  # fmt: skip
        asyncio.run(interrupted(spec))
        trial = place.evidence(spec)
    numbers = [one.number for one in trial.records if isinstance(one, AttemptRecord)]
    assert numbers[-1] == 3
    assert (numbers[0] == 1) is not changing
    assert objections(TRIAL, trial) == {}


@pytest.mark.parametrize("pod", ["process", "endpoint"])
def test_a_timeline_with_probes(pod):
    """Measurements of every kind, a question amid them that may name what they told."""
    looks = (LookFor(query="blue kettle", episode_ids=("e1",)),)
    new = (Episode(episode_id="n1", text="Ada: the parrot is called Solomon"),)
    parrot = (LookFor(query="parrot called", episode_ids=("n1",)),)
    other = (Episode(episode_id="o1", text="Ben: my bus stops at Gull Street"),)
    events = [
        UsageProbe(probe_id="before"),
        *(Episode(episode_id=name, text=text) for name, text in FACTS.items()),
        UsageProbe(probe_id="after"),
        LoadProbe(probe_id="load", clients=2, searches=looks),
        FreshnessProbe(probe_id="fresh", episodes=new, searches=parrot),
        RestartProbe(probe_id="restart", searches=looks),
        Question(question_id="q1", text="what is the parrot called, and note 6"),
        LeakProbe(probe_id="leak", episodes=other, searches=looks, secrets=("kettle",)),
    ]
    gold = {"q1": Gold(question_id="q1", category="c", evidence=("e1",))}
    adapter = fake_adapter().model_copy(update={"pod": pod})
    isolation = "reset" if pod == "endpoint" else "fresh"
    with fakes() as place:
        scenario = Scenario("probed", events, gold)
        trial = place.run(place.spec(scenario, adapter=adapter, isolation=isolation))
    measured = {one.probe_id for one in trial.records if isinstance(one, ProbeRecord)}
    assert measured == {"before", "after", "load", "fresh", "restart", "leak"}
    assert objections(TRIAL, trial) == {}


@pytest.mark.parametrize("isolation", ["fresh", "reset"])
def test_an_isolation_audit(isolation):
    """By a fresh pod, or by Reset."""
    with fakes() as place:
        trial = place.run(place.spec(kind="isolation-audit", isolation=isolation, top_k=10))
    assert objections(TRIAL, trial) == {}
