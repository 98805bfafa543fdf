"""The local executor: what is retried, what runs at the same time, what is never run again."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from memrig.errors import AdapterError, HarnessError, InfrastructureError, PrerequisiteError
from memrig.grading.base import Grade
from memrig.model.canonical import canonical_json
from memrig.report.collect import collect
from memrig.runs.executor import Executed, LocalExecutor, Observer, Services
from memrig.runs.plan import Plan
from support.fake_memory import Behaviour, FakeMemory, FakePod, FakeProvider
from support.plans import small_plan
from support.scenarios import small_scenario


class CountingProvider(FakeProvider):
    """Counts how many pods are alive at the same time; never starts one for `broken` trials."""

    alive = most_alive = 0
    broken = "none"

    @asynccontextmanager
    async def start(self, request) -> AsyncIterator[FakePod]:
        if request.trial_id.startswith(self.broken):
            self.requests.append(request)
            raise InfrastructureError("no daemon")
        self.alive += 1
        self.most_alive = max(self.most_alive, self.alive)
        try:
            async with super().start(request) as pod:
                yield pod
        finally:
            self.alive -= 1


class Bench:
    """A folder, a provider, and plans over both."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.provider = CountingProvider(root)

    def plan(self, name: str = "run", count: int = 3, **changes: object) -> Plan:
        scenarios = [small_scenario(f"s{n}") for n in range(count)]
        return small_plan(self.root / name, *scenarios, **changes)

    async def run(self, plan: Plan, jobs: int = 2, observer: Observer | None = None) -> Executed:
        executor = LocalExecutor(Services(self.provider), jobs)
        return await executor.execute(plan, observer or Observer())


@pytest.fixture
def bench(monkeypatch) -> Iterator[Bench]:
    """A bench in a folder short enough for sockets, with no pauses between attempts."""
    monkeypatch.setattr("memrig.runs.executor._PAUSE_S", 0)
    with tempfile.TemporaryDirectory(prefix="mr") as folder:
        yield Bench(Path(folder))


def grades_of(plan: Plan) -> list[Grade]:
    return collect(plan.directory).grades


async def test_every_trial_of_a_plan_is_run(bench):
    """And its outcome returned by its name."""
    plan = bench.plan()
    done = await bench.run(plan)
    assert set(done.outcomes) == {spec.trial_id for spec in plan.specs}
    assert (done.failures, done.retries) == ({}, 0)
    assert all(plan.directory.finished(spec) for spec in plan.specs)


async def test_a_fault_of_the_engine_is_retried_and_counted(bench):
    """The third attempt may succeed."""
    bench.provider.start_errors = [InfrastructureError("no daemon"), InfrastructureError("again")]
    plan = bench.plan(count=1)
    done = await bench.run(plan)
    assert done.retries == 2
    assert done.failures == {}
    assert done.outcomes[plan.specs[0].trial_id].attempts == 3
    assert plan.directory.executions()[0].retries == 2


async def test_after_three_attempts_a_fault_of_the_engine_is_a_failure(bench):
    """The other trials go on."""
    plan = bench.plan(count=2)
    bench.provider.broken = "s0"
    done = await bench.run(plan, jobs=1)
    assert len(bench.provider.requests) == 4
    assert set(done.outcomes) == {plan.specs[1].trial_id}
    assert isinstance(done.failures[plan.specs[0].trial_id], InfrastructureError)


@pytest.mark.parametrize("error", [PrerequisiteError("no seccomp"), AdapterError("a bug")])
async def test_nothing_else_is_retried(error, bench):
    """A rerun must not re-roll luck."""
    bench.provider.start_errors = [error]
    done = await bench.run(bench.plan(count=1))
    assert len(bench.provider.requests) == 1
    assert done.retries == 0


async def test_a_defect_of_the_rig_fails_its_own_trial_only(bench):
    """It is nobody else's outcome, and what the other trials paid for is kept."""
    bench.provider.start_errors = [ZeroDivisionError("a bug of ours")]
    done = await bench.run(bench.plan())
    (failure,) = done.failures.values()
    assert isinstance(failure, HarnessError)
    assert "ZeroDivisionError" in str(failure)
    assert len(done.outcomes) == 2


async def test_an_endpoint_serves_one_trial_at_a_time(bench):
    """It is one memory: nothing else may touch it during a trial."""
    bench.provider.kind_ = "endpoint"
    executor = LocalExecutor(Services(bench.provider), jobs=3)
    assert executor._alive._value == 1


async def test_whoever_watches_is_told_of_each_end(bench):
    """Finished and failed trials, and progress on the way."""
    finished, failed, progress = [], [], []
    observer = Observer(
        progress=progress.append,
        finished=lambda spec, _: finished.append(spec.trial_id),
        failed=lambda spec, _: failed.append(spec.trial_id),
    )
    bench.provider.start_errors = [PrerequisiteError("no")]
    plan = bench.plan(count=3)
    await bench.run(plan, observer=observer)
    assert sorted(finished + failed) == sorted(spec.trial_id for spec in plan.specs)
    assert len(failed) == 1
    assert max(p.questions for p in progress) == 4


@pytest.mark.parametrize("jobs", [1, 2, 3])
async def test_no_more_than_jobs_calls_are_measured_at_the_same_time(jobs, bench):
    """And that many are: calls are timed in slots; waiting for a model holds none."""
    measured: set[str] = set()
    highest = 0
    together = asyncio.Event()

    async def enter_and_leave(memory: FakeMemory, number: int) -> None:
        nonlocal highest
        measured.add(memory.boot_id)
        highest = max(highest, len(measured))
        if highest == jobs:
            together.set()
        async with asyncio.timeout(5):
            await together.wait()
        measured.discard(memory.boot_id)

    bench.provider.behaviour = Behaviour(on_search=enter_and_leave)
    done = await bench.run(bench.plan(count=6, deadlines={"search": 6}), jobs=jobs)
    assert len(done.outcomes) == 6
    assert highest == jobs


@pytest.mark.parametrize("jobs", [1, 2])
async def test_one_pod_more_than_jobs_may_be_alive(jobs, bench):
    """The next one starts, or the last one goes, beside the measured ones."""
    await bench.run(bench.plan(count=6), jobs=jobs)
    assert 1 < bench.provider.most_alive <= jobs + 1
    assert bench.provider.alive == 0


async def test_the_same_plan_runs_only_what_is_not_finished(bench):
    """A finished trial is never run again."""
    plan = bench.plan()
    bench.provider.start_errors = [PrerequisiteError("later")]
    first = await bench.run(plan)
    second = await bench.run(plan)
    assert len(first.outcomes) == 2
    assert set(second.outcomes) == set(first.failures)
    assert [e.trials_run for e in plan.directory.executions()] == [2, 1]


async def test_a_finished_run_starts_nothing_and_notes_nothing(bench):
    """Repeating the command only reports again."""
    plan = bench.plan()
    await bench.run(plan)
    requests = len(bench.provider.requests)
    assert (await bench.run(plan)).outcomes == {}
    assert len(bench.provider.requests) == requests
    assert len(plan.directory.executions()) == 1


async def test_two_runs_with_the_same_seed_give_byte_identical_grades(bench):
    """Whatever runs beside what, and however long it takes."""
    lines = []
    for name, jobs in (("a", 1), ("b", 3)):
        plan = bench.plan(name)
        await bench.run(plan, jobs=jobs)
        lines.append(b"\n".join(canonical_json(grade) for grade in grades_of(plan)))
    assert lines[0] == lines[1]
    assert lines[0].count(b"graded") >= 12


async def test_grades_of_an_interrupted_run_are_those_of_a_whole_one(bench):
    """Resuming changes nothing."""
    whole = bench.plan("whole")
    await bench.run(whole)
    broken = bench.plan("broken")
    bench.provider.start_errors = [PrerequisiteError("no"), PrerequisiteError("no")]
    await bench.run(broken)
    assert len(grades_of(broken)) == 4
    await bench.run(broken)
    assert grades_of(broken) == grades_of(whole)


async def test_the_audit_is_run_beside_and_never_graded(bench):
    """It has no question of its own."""
    plan = bench.plan(audit=True)
    done = await bench.run(plan)
    assert len(done.outcomes) == 4
    assert {grade.scenario_id for grade in grades_of(plan)} == {"s0", "s1", "s2"}
    assert [audit.verdict for audit in collect(plan.directory).audits] == ["passed"]
