"""A timeline whose questions are answered: by a reader, an agent, or the memory itself."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

import grpc
import pytest

from memrig.errors import GatewayError, UsageError
from memrig.model.chat import CallContext, ChatReply, ChatRequest
from memrig.model.manifest import AdapterRef
from memrig.model.transcript import FaultRecord, ModelUsageRecord
from memrig.model.trial import Budget
from support.answer_rig import USAGE, Service, outcomes, questions
from support.fake_chat import calls, final, says
from support.fake_memory import FakeMemory, fake_adapter
from support.right_adapter import InProcessProvider, Memory, in_process_adapter


def asking_adapter() -> AdapterRef:
    """A memory system that asked for a model."""
    adapter = fake_adapter()
    assert adapter.manifest
    manifest = adapter.manifest.model_copy(update={"models": ("gpt-x",)})
    return adapter.model_copy(update={"manifest": manifest})


async def test_a_reader_is_asked_after_the_search_on_behalf_of_its_question(rig):
    """The model's call stands in the record; its scope is scenario, question and repeat."""
    service = Service(says("in the attic"))
    records = questions(await rig.run(rig.spec(repeat=2), service))
    assert outcomes(records) == ["answered"] * 4
    assert all(record.answer and record.answer.text == "in the attic" for record in records)
    assert all(len(record.searches) == len(record.model_calls) == 1 for record in records)
    assert [context.scope for context in service.contexts] == [
        f"small/q{n}#2" for n in (1, 2, 3, 4)
    ]
    assert {(context.phase, context.purpose) for context in service.contexts} == {
        ("answer", "reader")
    }
    assert "the blue kettle is in the attic" in service.seen
    assert "ref-" not in service.seen


async def test_an_agents_searches_are_the_memorys(rig):
    """Each is in the record, with what it was called with."""
    service = Service(calls(("memory_search", {"query": "kettle"})), final("the attic", "m1"))
    first, *_ = questions(await rig.run(rig.spec("agent"), service))
    assert first.searches[0].query == "kettle"
    assert first.tool_uses[0].name == "memory_search"
    assert first.answer
    assert first.answer.cited == ("m1",)
    assert first.memory_ns > 0


async def test_a_native_answer_is_the_memorys_own(rig):
    """No model of the rig's is called for it."""
    rig.provider = InProcessProvider(rig.root, Memory)
    service = Service(says("never"))
    records = await rig.run(rig.spec("native", adapter=in_process_adapter()), service)
    assert outcomes(records) == ["abstained"] * 4
    assert {record.answer.confidence for record in questions(records) if record.answer} == {0.5}
    assert not service.requests


async def test_a_memory_without_answers_is_a_wrong_mode_not_a_wrong_answer(rig):
    """Nothing is settled: the user chose what cannot be."""
    with pytest.raises(UsageError, match="does not answer by itself"):
        await rig.run(rig.spec("native"), Service(says("never")))
    assert not (rig.out / rig.spec("native").trial_id).exists()


@pytest.mark.parametrize("kind", ["rejected", "malformed"])
async def test_a_model_that_never_will_answer_settles_its_question_as_ungraded(rig, kind):
    """As a fault that is not the memory's; the next question is asked."""
    service = Service(says("a"), GatewayError("too long", kind=kind), says("b"))
    records = await rig.run(rig.spec(), service)
    assert outcomes(records) == ["answered", f"harness_error({kind})", "answered", "answered"]


@pytest.mark.parametrize("kind", ["provider", "auth", "missing_key", "budget", "not_recorded"])
async def test_a_model_that_may_answer_later_leaves_its_question_open(rig, kind):
    """What was answered stays, and the next attempt asks only what is left."""
    spec = rig.spec()
    first = Service(says("one"), says("two"), GatewayError("not now", kind=kind))
    with pytest.raises(GatewayError, match="not now"):
        await rig.run(spec, first)
    assert not (rig.out / spec.trial_id).exists()
    second = Service(says("later"))
    records = questions(await rig.run(spec, second))
    assert [record.answer.text for record in records if record.answer] == [
        "one", "two", "later", "later",
    ]  # fmt: skip
    assert len(second.requests) == 2


async def test_a_slow_model_uses_up_a_questions_time_and_the_agent_has_its_last_turn(rig):
    """An answer from what was found; the memory is not blamed."""
    search = calls(("memory_search", {"query": "kettle"}))
    service = Service(search, says('{"answer": "the attic"}'), delays=(0, 2, 0))
    spec = rig.spec("agent", budget=Budget(wall_time_s=0.3))
    first, *rest = questions(await rig.run(spec, service))
    assert first.outcome.label == "budget_exceeded(wall_time)"
    assert first.answer
    assert (first.answer.text, first.answer.reserved_turn) == ("the attic", True)
    assert len(first.searches) == 1
    assert {record.outcome.status for record in rest} == {"answered"}


async def test_a_last_turn_that_takes_too_long_itself_leaves_no_answer(rig, monkeypatch):
    """The question ends all the same."""
    monkeypatch.setattr("memrig.trial.timeline.LAST_TURN_S", 0.05)
    service = Service(says("x"), delays=(2, 2))
    spec = rig.spec("agent", budget=Budget(wall_time_s=0.1))
    first, *_ = questions(await rig.run(spec, service))
    assert (first.outcome.label, first.answer) == ("budget_exceeded(wall_time)", None)


async def test_waiting_for_models_is_no_hang_of_the_memory(rig):
    """However often it happens in a row."""
    service = Service(says("x"), delays=(2, 2, 2, 2))
    records = await rig.run(rig.spec(budget=Budget(wall_time_s=0.1)), service)
    assert outcomes(records) == ["budget_exceeded(wall_time)"] * 4


async def test_waiting_for_the_memory_three_times_in_a_row_is_one(rig):
    """The third time-out settles the rest as a crash."""
    rig.behave(search_delay_s=dict.fromkeys(range(1, 9), 2.0))
    spec = rig.spec(budget=Budget(wall_time_s=0.1))
    records = await rig.run(spec, Service(says("x")))
    assert outcomes(records) == [
        *["budget_exceeded(wall_time)"] * 2, *["adapter_crashed(hang)"] * 2,
    ]  # fmt: skip


async def test_waiting_for_a_slot_is_not_the_questions_time(rig):
    """Another trial's ingest may hold it for minutes."""
    asked = asyncio.Event()

    async def first_search(memory: FakeMemory, number: int) -> None:
        if number == 1:
            asked.set()

    rig.behave(on_search=first_search)
    spec = rig.spec(budget=Budget(wall_time_s=0.25))
    running = asyncio.create_task(rig.run(spec, Service(says("x"))))
    await asked.wait()
    async with rig.slot:  # between two questions
        await asyncio.sleep(0.6)
    records = questions(await running)
    assert outcomes(records) == ["answered"] * 4
    assert max(record.ns for record in records) < 0.5e9


def failing_model(kind: str, at: int, service: Service) -> Callable[[FakeMemory, int], object]:
    """A memory whose model fails it at one search."""

    async def on_search(memory: FakeMemory, number: int) -> None:
        if number == at:
            error = GatewayError("no model", kind=kind)  # type: ignore[arg-type]
            service.identities[-1].fault = error

    return on_search


@pytest.mark.parametrize("status", [grpc.StatusCode.INTERNAL, None])
async def test_a_memory_that_a_provider_failed_is_not_blamed(rig, status):
    """Neither for an error nor for a thin result: the question stays open."""
    service = Service(says("x"))

    async def on_search(memory: FakeMemory, number: int) -> None:
        if number == 2:
            service.identities[-1].fault = GatewayError("no model", kind="provider")
            if status:
                raise RuntimeError("my model did not answer")

    rig.behave(on_search=on_search)
    spec = rig.spec(adapter=asking_adapter())
    with pytest.raises(GatewayError, match="no model"):
        await rig.run(spec, service)
    rig.behave()
    assert outcomes(await rig.run(spec, service)) == ["answered"] * 4


async def test_a_model_that_never_will_answer_the_memory_costs_one_question(rig):
    """The fault is forgotten with it."""
    service = Service(says("x"))
    rig.behave(on_search=failing_model("malformed", 2, service))
    records = await rig.run(rig.spec(adapter=asking_adapter()), service)
    assert outcomes(records) == [
        "answered", "harness_error(malformed)", "answered", "answered",
    ]  # fmt: skip


class FailedAtIngest(FakeMemory):
    """A memory whose model failed it while it took the episodes in."""

    service: Service
    kind = "provider"

    async def Flush(self, request, context):  # noqa: N802
        error = GatewayError("no model", kind=self.kind)  # type: ignore[arg-type]
        self.service.identities[-1].fault = error
        return await super().Flush(request, context)


@pytest.mark.parametrize(("kind", "settles"), [("provider", False), ("malformed", True)])
async def test_a_model_that_failed_the_memory_at_ingest_ends_the_trial(
    rig, monkeypatch, kind, settles
):
    """It stays open where asking again may help; else all that is open is ungraded."""
    service = Service(says("x"))
    memory = type("Failed", (FailedAtIngest,), {"service": service, "kind": kind})
    monkeypatch.setattr("support.fake_memory.FakeMemory", memory)
    spec = rig.spec(adapter=asking_adapter())
    if not settles:
        with pytest.raises(GatewayError, match="no model"):
            await rig.run(spec, service)
        return
    records = await rig.run(spec, service)
    assert outcomes(records) == ["harness_error(malformed)"] * 4
    assert [r.outcome.kind for r in records if isinstance(r, FaultRecord)] == ["malformed"]


async def test_what_the_memory_spent_on_models_is_on_record(rig):
    """By phase and model, before the trial is sealed."""
    records = await rig.run(rig.spec(adapter=asking_adapter()), Service(says("x")))
    assert [r for r in records if isinstance(r, ModelUsageRecord)] == [USAGE]
    bare = await rig.run(rig.spec(repeat=1), Service(says("x")))
    assert not [r for r in bare if isinstance(r, ModelUsageRecord)]


async def test_the_memorys_calls_are_charged_to_the_phase_it_is_in(rig):
    """Ingest until the barrier, then the question's search."""
    service = Service(says("x"))
    seen: list[tuple[str, str]] = []

    async def on_search(memory: FakeMemory, number: int) -> None:
        identity = service.identities[-1]
        seen.append((identity.phase, identity.scope))

    rig.behave(on_search=on_search)
    await rig.run(rig.spec(adapter=asking_adapter()), service)
    assert seen == [("search", f"small/q{n}#0") for n in (1, 2, 3, 4)]
    assert service.identities[0].models == frozenset({"gpt-x"})


class Busy(Service):
    """A provider that fails for a while before it answers."""

    async def chat(self, request: ChatRequest, context: CallContext) -> ChatReply:
        with context.clock.standing_still():
            for _ in range(2):
                with suppress(ConnectionError), context.clock.running():
                    await asyncio.sleep(0.15)
                    raise ConnectionError
                await asyncio.sleep(0.15)
            with context.clock.running():
                return await super().chat(request, context)


async def test_what_a_provider_loses_is_not_the_questions_time(rig):
    """Failed attempts and the pauses after them; the attempt that answers counts."""
    spec = rig.spec(budget=Budget(wall_time_s=0.25))
    records = questions(await rig.run(spec, Busy(says("x"))))
    assert outcomes(records) == ["answered"] * 4
    assert max(record.ns for record in records) < 0.25e9
    late = rig.spec(budget=Budget(wall_time_s=0.25), repeat=1)
    slow = Busy(says("x"), delays=(0.1, 2, 0.1, 0.1))
    _, second, third, _ = questions(await rig.run(late, slow))
    assert second.outcome.label == "budget_exceeded(wall_time)"
    assert 0.25e9 < second.ns < 0.5e9
    assert third.ns > 0.1e9
