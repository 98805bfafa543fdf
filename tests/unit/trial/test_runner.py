"""A trial from start to seal, against a memory that speaks the real contract."""

import asyncio
import json
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest

from memrig.errors import InfrastructureError, UsageError, VerificationError
from memrig.model.transcript import (
    AttemptRecord,
    AuditRecord,
    FaultRecord,
    FlushRecord,
    IngestRecord,
    QuestionRecord,
    Record,
    ResetRecord,
)
from memrig.model.trial import TrialOutcome, TrialSpec
from memrig.pod.base import Fate
from memrig.trial import TrialServices, run_trial
from memrig.trial.directory import TrialDirectory, load_trial
from support.fake_memory import Behaviour, FakeMemory, FakeProvider, fake_adapter
from support.scenarios import small_scenario, small_spec


class Rig:
    """A folder for scenarios and trials, and a provider with a behaviour."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.scenarios = root / "scenarios"
        self.out = root / "trials"
        self.out.mkdir()
        self.provider = FakeProvider(root)

    def behave(self, **behaviour: object) -> None:
        self.provider.behaviour = Behaviour(**behaviour)

    async def run(self, spec: TrialSpec) -> tuple[TrialOutcome, list[Record]]:
        services = TrialServices(provider=self.provider, run_id="test")
        outcome = await run_trial(spec, self.scenarios, self.out, services)
        _, _, records = load_trial(self.out / spec.trial_id)
        return outcome, records


@pytest.fixture
def rig() -> Iterator[Rig]:
    """A rig in a folder short enough for a socket's path."""
    with tempfile.TemporaryDirectory(prefix="mr") as folder:
        yield Rig(Path(folder))


def of(kind: type, records: list[Record]) -> list:
    return [record for record in records if isinstance(record, kind)]


async def test_every_question_is_searched_after_every_episode_before_it(rig):
    """The timeline is played in the order of the data."""
    outcome, records = await rig.run(small_spec(rig.scenarios, small_scenario(halves=True)))
    kinds = [r.kind for r in records if r.kind in ("ingest", "flush", "question")]
    assert kinds == ["ingest", "flush", "question", "question"] * 2
    assert outcome.statuses == {"answered": 4}


async def test_hits_come_back_with_the_ids_of_the_data(rig):
    """Opaque ids outward, mapped back inside."""
    _, records = await rig.run(small_spec(rig.scenarios))
    first = {r.question_id: r.searches[0].hits[0].episodes for r in of(QuestionRecord, records)}
    assert first == {"q1": ("e1",), "q2": ("e2",), "q3": ("e3",), "q4": ("e4",)}


async def test_no_id_of_the_data_reaches_the_adapter(rig):
    """What reaches the adapter carries no label."""
    await rig.run(small_spec(rig.scenarios))
    sent = [episode.episode_id for episode in rig.provider.pods[0].memory.episodes]
    assert len(set(sent)) == 4
    assert not {"e1", "e2", "e3", "e4"} & set(sent)


async def test_opaque_ids_are_the_same_for_every_rebuild_and_differ_by_seed(rig):
    """They are keyed by seed and scenario digest, by nothing else."""
    ids = []
    for seed, repeat in ((1, 0), (1, 1), (2, 0)):
        await rig.run(small_spec(rig.scenarios, seed=seed, repeat=repeat))
        ids.append([e.episode_id for e in rig.provider.pods[-1].memory.episodes])
    assert ids[0] == ids[1]
    assert not set(ids[0]) & set(ids[2])


async def test_a_finished_trial_is_never_run_again(rig):
    """The second call returns what was sealed."""
    spec = small_spec(rig.scenarios)
    first, _ = await rig.run(spec)
    second, _ = await rig.run(spec)
    assert first == second
    assert len(rig.provider.pods) == 1


async def test_a_search_past_its_deadline_is_a_timeout_and_the_trial_goes_on(rig):
    """One slow call costs one question."""
    rig.behave(search_delay_s={2: 2.0})
    outcome, _ = await rig.run(small_spec(rig.scenarios))
    assert outcome.statuses == {"answered": 3, "timeout": 1}


async def test_three_timeouts_in_a_row_are_a_hang(rig):
    """Alive, but no longer serving: the rest is not waited for."""
    rig.behave(search_delay_s=dict.fromkeys(range(1, 99), 2.0))
    outcome, records = await rig.run(small_spec(rig.scenarios))
    assert outcome.statuses == {"timeout": 2, "adapter_crashed": 2}
    kinds = Counter(r.outcome.kind for r in of(QuestionRecord, records))
    assert kinds["hang"] == 2


async def test_a_question_that_takes_longer_than_its_budget_is_a_result(rig):
    """Wall time is a budget of its own, whatever the call's deadline."""
    rig.behave(search_delay_s={1: 0.25})
    spec = small_spec(rig.scenarios, budget={"wall_time_s": 0.1})
    _, records = await rig.run(spec)
    outcome = of(QuestionRecord, records)[0].outcome
    assert (outcome.status, outcome.kind) == ("budget_exceeded", "wall_time")


async def test_hits_over_the_payload_budget_are_a_result(rig):
    """A response may be valid and still too much."""
    _, records = await rig.run(small_spec(rig.scenarios, budget={"payload_bytes": 20}))
    kinds = {r.outcome.kind for r in of(QuestionRecord, records)}
    assert kinds == {"payload_bytes"}


@pytest.mark.parametrize("status", [grpc.StatusCode.INTERNAL, grpc.StatusCode.NOT_FOUND])
async def test_an_error_status_is_an_outcome_under_its_own_name(rig, status):
    """The trial goes on; the adapter's fault keeps its code."""
    rig.behave(search_status={3: status})
    outcome, records = await rig.run(small_spec(rig.scenarios))
    assert outcome.statuses == {"adapter_error": 1, "answered": 3}
    assert of(QuestionRecord, records)[2].outcome.kind == status.name


@pytest.mark.parametrize(
    ("fate", "kind"),
    [(Fate("exited", 137, oom=True), "oom"), (Fate("exited", 1, oom=False), "exit")],
)
async def test_a_dead_adapter_crashes_the_rest_of_its_trial_with_its_last_lines(rig, fate, kind):
    """The pod's state decides between oom and exit; the log tail is kept."""

    async def die(memory: FakeMemory, number: int) -> None:
        if number == 3:
            asyncio.get_running_loop().create_task(rig.provider.pods[0].die(fate))
            await asyncio.sleep(1)

    rig.behave(on_search=die)
    outcome, records = await rig.run(small_spec(rig.scenarios, deadlines={"search": 5}))
    assert outcome.statuses == {"answered": 2, "adapter_crashed": 2}
    assert {r.outcome.kind for r in of(QuestionRecord, records)} == {"", kind}
    assert of(FaultRecord, records)[0].log_tail == "last words"


async def test_a_silent_restart_is_seen_by_the_boot_id(rig):
    """Another process answers: the memory is not the one that was filled."""
    rig.behave(restart_before_search={2})
    outcome, records = await rig.run(small_spec(rig.scenarios))
    assert outcome.statuses == {"answered": 1, "adapter_crashed": 3}
    assert "restarted by itself" in of(FaultRecord, records)[0].message


async def test_an_adapter_that_never_serves_ends_within_its_start_timeout(rig):
    """Every question gets the crash; the trial is a result, not an error."""
    rig.behave(ready=False)
    spec = small_spec(rig.scenarios, adapter=fake_adapter(start_timeout_s=0.3))
    outcome, records = await rig.run(spec)
    assert outcome.statuses == {"adapter_crashed": 4}
    assert "was not SERVING within 0.3 s" in of(FaultRecord, records)[0].message


async def test_another_contract_major_is_refused_at_the_handshake(rig):
    """The rig does not guess what version 2 means."""
    rig.behave(contract="2.0")
    outcome, records = await rig.run(small_spec(rig.scenarios))
    assert outcome.statuses == {"adapter_error": 4}
    assert "contract_version is '2.0'" in of(FaultRecord, records)[0].message


@pytest.mark.parametrize(
    ("behaviour", "message"),
    [
        ({"lose_acks_after": 2}, "2 episodes unacknowledged"),
        ({"ack_twice": True}, "already settled"),
    ],
)
async def test_every_episode_gets_exactly_one_acknowledgement(rig, behaviour, message):
    """Anything else breaks the contract, and the scenario's questions say so."""
    rig.behave(**behaviour)
    outcome, records = await rig.run(small_spec(rig.scenarios))
    assert outcome.statuses == {"adapter_error": 4}
    assert message in of(FaultRecord, records)[0].message


async def test_a_rejected_episode_is_counted_and_must_not_be_cited(rig):
    """A claim is void unless its episode was acknowledged as stored."""
    rig.behave(reject="kettle", claim_everything=True)
    _, records = await rig.run(small_spec(rig.scenarios))
    statuses = Counter(a.status for r in of(IngestRecord, records) for a in r.acks)
    assert statuses == {"stored": 3, "rejected": 1}
    claimed = {
        s for r in of(QuestionRecord, records) for h in r.searches[0].hits for s in h.episodes
    }
    assert claimed == {"e2", "e3", "e4"}


async def test_a_score_that_is_not_finite_breaks_the_contract(rig):
    """It would poison every figure after it."""
    rig.behave(score=float("nan"))
    outcome, records = await rig.run(small_spec(rig.scenarios))
    assert outcome.statuses == {"adapter_error": 4}
    assert {r.outcome.kind for r in of(QuestionRecord, records)} == {"CONTRACT"}


async def test_hits_beyond_the_limit_are_cut_and_counted(rig):
    """More than was asked for is surplus, not a bonus."""
    rig.behave(surplus=2)
    scenario = small_scenario()
    _, records = await rig.run(small_spec(rig.scenarios, scenario, top_k=1))
    search = of(QuestionRecord, records)[0].searches[0]
    assert len(search.hits) == 1
    assert search.surplus_hits == 2


async def test_reset_isolation_empties_the_memory_between_scenarios(rig):
    """One pod, Reset between scenarios, none before the first."""
    spec = small_spec(
        rig.scenarios, small_scenario("one"), small_scenario("two", halves=True), isolation="reset"
    )
    outcome, records = await rig.run(spec)
    assert len(of(ResetRecord, records)) == 1
    assert len(rig.provider.pods) == 1
    assert outcome.statuses == {"answered": 8}


async def test_a_failed_engine_leaves_the_answers_for_the_next_attempt(rig):
    """Infrastructure faults are errors of the run, never outcomes of questions."""
    rig.provider.start_errors.append(InfrastructureError("no engine"))
    spec = small_spec(rig.scenarios)
    with pytest.raises(InfrastructureError):
        await rig.run(spec)
    outcome, records = await rig.run(spec)
    assert outcome.attempts == 2
    assert [r.number for r in of(AttemptRecord, records)] == [1, 2]


async def interrupt_at(rig: Rig, spec: TrialSpec, search: int) -> None:
    """Stops a trial while this search is under way."""
    reached = asyncio.Event()

    async def stop(_: FakeMemory, number: int) -> None:
        if number == search:
            reached.set()
            await asyncio.sleep(30)

    changing = rig.provider.behaviour.questions_change_memory
    rig.behave(on_search=stop, questions_change_memory=changing)
    task = asyncio.create_task(rig.run(spec))
    await reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    rig.behave(questions_change_memory=changing)


async def test_an_interrupted_trial_asks_only_what_was_not_answered(rig):
    """A fresh pod, the prefix ingested again, and the answers on disk kept."""
    spec = small_spec(rig.scenarios, deadlines={"search": 20}, budget={"wall_time_s": 25})
    await interrupt_at(rig, spec, 3)
    outcome, _ = await rig.run(spec)
    first, second = (pod.memory for pod in rig.provider.pods)
    assert len(second.episodes) == 4
    assert second.queries == [*first.queries[2:], "when was the roof mended"]
    assert outcome.statuses == {"answered": 4}


async def test_a_memory_that_questions_change_is_started_again(rig):
    """A kept answer would come from a memory that no longer exists."""
    rig.behave(questions_change_memory=True)
    spec = small_spec(rig.scenarios, deadlines={"search": 20}, budget={"wall_time_s": 25})
    await interrupt_at(rig, spec, 3)
    outcome, records = await rig.run(spec)
    assert len(rig.provider.pods[1].memory.queries) == 4
    assert outcome.attempts == 2
    assert len(of(QuestionRecord, records)) == 4


async def test_a_scenario_already_answered_is_not_ingested_again(rig):
    """The second checkpoint needs the prefix; a settled timeline needs nothing."""
    spec = small_spec(
        rig.scenarios,
        small_scenario("one"),
        small_scenario("two", halves=True),
        isolation="reset",
        deadlines={"search": 20},
        budget={"wall_time_s": 25},
    )
    await interrupt_at(rig, spec, 6)
    _, records = await rig.run(spec)
    flushes = [r.scenario_id for r in of(FlushRecord, records)]
    assert flushes == ["one", "two", "two", "two"]


@pytest.mark.parametrize("line", [0, 3, -2])
async def test_a_tampered_transcript_line_is_detected(rig, line):
    """One changed character anywhere breaks the chain."""
    spec = small_spec(rig.scenarios)
    await rig.run(spec)
    path = rig.out / spec.trial_id / "transcript.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    lines[line] = lines[line].replace('"kind":"', '"kind": "', 1)
    path.write_text("".join(lines))
    with pytest.raises(VerificationError):
        load_trial(rig.out / spec.trial_id)


@pytest.mark.parametrize("edit", ["last line dropped", "line appended", "other spec", "other head"])
async def test_a_transcript_that_is_not_the_sealed_one_is_detected(rig, edit):
    """Outcome, spec and chain must fit together."""
    spec = small_spec(rig.scenarios)
    await rig.run(spec)
    folder = rig.out / spec.trial_id
    transcript, outcome = folder / "transcript.jsonl", folder / "outcome.json"
    lines = transcript.read_text().splitlines(keepends=True)
    if edit == "last line dropped":
        transcript.write_text("".join(lines[:-1]))
    elif edit == "line appended":
        transcript.write_text("".join([*lines, lines[-1]]))
    elif edit == "other spec":
        (folder / "spec.json").write_text(spec.model_copy(update={"top_k": 9}).model_dump_json())
    else:
        sealed = json.loads(outcome.read_text())
        outcome.write_text(json.dumps(sealed | {"head": "0" * 64}))
    with pytest.raises(VerificationError):
        load_trial(folder)


async def test_a_changed_scenario_stops_the_trial_before_it_starts(rig):
    """A trial reads only what was planned."""
    spec = small_spec(rig.scenarios)
    path = next(p for p in rig.scenarios.iterdir() if not p.name.endswith(".gold.jsonl"))
    path.write_text(path.read_text().replace("attic", "cellar"))
    with pytest.raises(VerificationError, match="changed since planning"):
        await rig.run(spec)
    assert not rig.provider.pods


@pytest.mark.parametrize(
    ("isolation", "behaviour", "verdict"),
    [
        ("fresh", {}, "passed"),
        ("reset", {}, "passed"),
        ("reset", {"keep_on_reset": True}, "failed"),
        ("fresh", {"forgetful": True}, "n/a"),
    ],
)
async def test_the_canary_is_found_before_the_border_and_absent_after(
    rig, isolation, behaviour, verdict
):
    """Where it was not found before, the proof is n/a, not passed."""
    rig.behave(**behaviour)
    spec = small_spec(rig.scenarios, kind="isolation-audit", isolation=isolation)
    _, records = await rig.run(spec)
    assert of(AuditRecord, records)[0].verdict == verdict
    assert not of(QuestionRecord, records)


async def test_a_crash_is_settled_before_the_pod_is_removed(rig):
    """An interrupt during teardown must not re-roll the questions that the crash took."""

    async def die(memory: FakeMemory, number: int) -> None:
        if number == 2:
            asyncio.get_running_loop().create_task(rig.provider.pods[0].die(Fate("exited", 1)))
            await asyncio.sleep(1)

    rig.behave(on_search=die)
    spec = small_spec(rig.scenarios, deadlines={"search": 5})
    rig.provider.stop_hangs = True
    task = asyncio.create_task(rig.run(spec))
    await rig.provider.stopping.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    rig.behave()
    outcome, _ = await rig.run(spec)
    assert outcome.statuses == {"answered": 1, "adapter_crashed": 3}
    assert len(rig.provider.pods) == 1


async def test_a_kill_between_a_crash_and_its_questions_does_not_re_roll_them(rig):
    """A recorded fault ends the trial for good: what it left open is settled by it."""
    rig.behave(restart_before_search={2})
    spec = small_spec(rig.scenarios)
    await rig.run(spec)
    folder = rig.out / spec.trial_id
    partial = folder.rename(folder.with_name(folder.name + ".partial"))
    lines = (partial / "transcript.jsonl").read_bytes().splitlines(keepends=True)
    fault = next(n for n, line in enumerate(lines) if b'"kind":"fault"' in line)
    (partial / "transcript.jsonl").write_bytes(b"".join(lines[: fault + 1]))
    (partial / "outcome.json").unlink()
    rig.behave()
    outcome, _ = await rig.run(spec)
    assert outcome.statuses == {"answered": 1, "adapter_crashed": 3}
    assert len(rig.provider.pods) == 1


async def test_a_crash_in_reset_is_a_crash(rig):
    """Whatever call it happens in, the pod's state decides."""

    async def die(memory: FakeMemory, number: int) -> None:
        if number == -1:
            pod = rig.provider.pods[0]
            asyncio.get_running_loop().create_task(pod.die(Fate("exited", 137, oom=True)))
            await asyncio.sleep(1)

    rig.behave(on_search=die, reset_dies=True)
    scenarios = small_scenario("one"), small_scenario("two", halves=True)
    spec = small_spec(rig.scenarios, *scenarios, isolation="reset", deadlines={"reset": 5})
    outcome, records = await rig.run(spec)
    assert outcome.statuses == {"answered": 4, "adapter_crashed": 4}
    assert of(FaultRecord, records)[0].outcome.label == "adapter_crashed(oom)"
    assert of(FaultRecord, records)[0].log_tail == "last words"


async def test_an_endpoint_is_emptied_before_its_first_scenario(rig):
    """It holds whatever was there before."""
    adapter = fake_adapter().model_copy(update={"pod": "endpoint", "manifest": None})
    spec = small_spec(rig.scenarios, adapter=adapter, isolation="reset")
    _, records = await rig.run(spec)
    kinds = [r.kind for r in records if r.kind in ("reset", "ingest")]
    assert kinds == ["reset", "ingest"]


async def test_every_attempt_is_counted_and_every_abandoned_transcript_kept(rig):
    """Three interruptions and an end are four attempts."""
    rig.behave(questions_change_memory=True)
    spec = small_spec(rig.scenarios, deadlines={"search": 20}, budget={"wall_time_s": 25})
    for _ in range(3):
        await interrupt_at(rig, spec, 2)
    outcome, records = await rig.run(spec)
    assert outcome.attempts == 4
    assert [r.number for r in of(AttemptRecord, records)] == [4]
    kept = sorted(path.name for path in (rig.out / spec.trial_id).glob("abandoned-*"))
    assert kept == ["abandoned-1.jsonl", "abandoned-2.jsonl", "abandoned-3.jsonl"]


async def test_timeouts_with_another_answer_between_them_are_no_hang(rig):
    """Three in a row means in a row."""
    rig.behave(
        search_delay_s={1: 2.0, 3: 2.0},
        search_status={2: grpc.StatusCode.INTERNAL, 4: grpc.StatusCode.INTERNAL},
    )
    outcome, _ = await rig.run(small_spec(rig.scenarios))
    assert outcome.statuses == {"adapter_error": 2, "timeout": 2}


async def test_a_trial_that_another_process_runs_is_refused(rig):
    """Two writers would seal a transcript that nobody can read."""
    spec = small_spec(rig.scenarios)
    with (
        TrialDirectory(rig.out, spec).exclusive(),
        pytest.raises(UsageError, match="another memrig is at work"),
    ):
        await rig.run(spec)
