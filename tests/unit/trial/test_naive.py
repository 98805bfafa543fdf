"""The naive opponent: asked after a question, shown everything so far, charged to nobody."""

import json

import grpc
import pytest

from memrig.errors import GatewayError
from memrig.model.chat import ChatRequest
from memrig.model.scenario import Episode, Scenario
from memrig.model.trial import AnswerSpec, Budget
from support.answer_rig import Service, outcomes, questions
from support.fake_chat import calls, final, says
from support.right_adapter import InProcessProvider, Memory, in_process_adapter
from support.scenarios import FACTS, small_scenario, small_spec


def told(request: ChatRequest) -> list[str]:
    """The facts that a request shows."""
    return [name for name, text in FACTS.items() if text in request.messages[0].text]


def opposed(*naive: object) -> Service:
    """Each question is answered "mine"; the opponent's replies in order, the last again."""
    replies, last = list(naive), naive[-1]
    service = Service(says("mine"))

    async def chat(request, context):
        script = says("mine")
        if context.purpose == "naive":
            script = replies.pop(0) if replies else last
        service.requests.append(request)
        service.contexts.append(context)
        if isinstance(script, Exception):
            raise script
        return script

    service.chat = chat
    return service


async def test_the_same_model_answers_from_all_that_was_ingested_so_far(rig):
    """Never from what comes after the checkpoint."""
    service = opposed(says("theirs"))
    records = questions(await rig.run(rig.spec(naive=True), service))
    assert [record.naive.answer.text for record in records] == ["theirs"] * 4
    assert [(record.naive.episodes, record.naive.shown) for record in records] == [
        (2, 2), (2, 2), (4, 4), (4, 4),
    ]  # fmt: skip
    shown = [told(r) for r, c in zip(service.requests, service.contexts, strict=True)
             if c.purpose == "naive"]  # fmt: skip
    assert shown == [["e1", "e2"]] * 2 + [["e1", "e2", "e3", "e4"]] * 2
    assert {request.model for request in service.requests} == {"scripted"}


async def test_without_the_flag_nobody_opposes(rig):
    """Nor pays for it."""
    service = opposed(says("theirs"))
    records = questions(await rig.run(rig.spec(), service))
    assert [record.naive for record in records] == [None] * 4
    assert {context.purpose for context in service.contexts} == {"reader"}


async def test_the_newest_is_kept_where_not_all_fits(rig):
    """By the context limit of the reader; what was there is counted."""
    answer = AnswerSpec(model="scripted", context_tokens=100)
    long = [Episode(episode_id=name, text=text + " word" * 60) for name, text in FACTS.items()]
    small = small_scenario()
    scenario = Scenario("long", [*long, *small.timeline[4:]], small.gold)
    spec = small_spec(rig.scenarios, scenario, mode="reader", answer=answer, naive=True)
    service = opposed(says("theirs"))
    record = questions(await rig.run(spec, service))[-1]
    assert (record.naive.episodes, record.naive.shown) == (4, 1)
    assert [memory.episodes for memory in record.naive.answer.memories] == [("e4",)]


async def test_its_calls_are_its_own(rig):
    """By purpose and scope; the question's own calls are what they were."""
    service = opposed(says("theirs"))
    first, *_ = questions(await rig.run(rig.spec(naive=True), service))
    assert [call.purpose for call in first.model_calls] == ["reader"]
    assert [call.purpose for call in first.naive.model_calls] == ["naive"]
    assert [call.purpose for call in first.paid_calls] == ["reader", "naive"]
    assert service.contexts[1].scope == "small/q1#0/naive"


async def test_its_time_is_its_own(rig):
    """A slow opponent is neither in the question's time nor bounded by it."""
    service = Service(says("x"), delays=(0, 0.4) * 4)
    spec = rig.spec(naive=True, budget=Budget(wall_time_s=0.3))
    records = questions(await rig.run(spec, service))
    assert outcomes(records) == ["answered"] * 4
    assert max(record.ns for record in records) < 0.3e9
    assert all(record.naive.answer for record in records)


async def test_the_questions_budget_does_not_bound_it(rig):
    """What a memory may use says nothing of a model that has none."""
    spec = rig.spec(naive=True, budget=Budget(tokens=50, usd=0.0001, payload_bytes=1))
    first, *_ = questions(await rig.run(spec, opposed(says("theirs"))))
    assert first.outcome.status == "budget_exceeded"
    assert (first.naive.failure, first.naive.shown) == ("", 2)


async def test_in_mode_agent_it_answers_as_a_reader_does(rig):
    """Once, without tools, whatever the agent found."""
    service = Service(
        calls(("memory_search", {"query": "kettle"})), final("the attic", "m1"), says("theirs")
    )
    first, *_ = questions(await rig.run(rig.spec("agent", naive=True), service))
    assert (first.answer.text, first.naive.answer.text) == ("the attic", "theirs")
    assert service.requests[2].tools == ()
    assert told(service.requests[2]) == ["e1", "e2"]


async def test_in_mode_native_the_trials_model_opposes_the_memory(rig):
    """The memory's own answer stays the memory's."""
    rig.provider = InProcessProvider(rig.root, Memory)
    spec = rig.spec(
        "native", adapter=in_process_adapter(), naive=True, answer=AnswerSpec(model="scripted")
    )
    records = questions(await rig.run(spec, Service(says("theirs"))))
    assert [record.naive.answer.text for record in records] == ["theirs"] * 4
    assert all(record.native for record in records)


async def test_a_cited_opponent_answers_in_the_shape_it_was_asked_for(rig):
    """The style is the trial's."""
    reply = json.dumps({"answer": "theirs", "cited": ["m2"], "abstained": False})
    spec = rig.spec(naive=True, answer=AnswerSpec(model="scripted", prompt="cited"))
    first, *_ = questions(await rig.run(spec, opposed(says(reply))))
    assert (first.naive.answer.text, first.naive.answer.cited) == ("theirs", ("m2",))


@pytest.mark.parametrize(
    ("reply", "failure"),
    [
        (GatewayError("too long", kind="rejected"), "rejected: too long"),
        (GatewayError("no reply", kind="malformed"), "malformed: no reply"),
        (GatewayError("late", kind="cut_off"), "it took longer than 300 s"),
        (says("", stop_reason="length"), "its reply has no text (stop reason 'length')"),
    ],
    ids=["rejected", "malformed", "cut off", "no text"],
)
async def test_its_failure_is_on_record_and_the_question_s_answer_stands(rig, reply, failure):
    """Nothing is compared with it then."""
    records = questions(await rig.run(rig.spec(naive=True), opposed(reply, says("theirs"))))
    assert (records[0].naive.failure, records[0].naive.answer) == (failure, None)
    assert outcomes(records) == ["answered"] * 4
    assert records[1].naive.answer.text == "theirs"


async def test_an_opponent_that_takes_too_long_fails(rig, monkeypatch):
    """By its own limit."""
    monkeypatch.setattr("memrig.trial.naive.LIMIT_S", 0.05)
    service = Service(says("x"), delays=(0, 2))
    first, *_ = questions(await rig.run(rig.spec(naive=True), service))
    assert (first.outcome.label, first.naive.failure) == ("answered", "it took longer than 0.05 s")


async def test_what_an_opponent_that_failed_has_cost_stays_on_record(rig):
    """It was paid for."""
    first, *_ = questions(await rig.run(rig.spec(naive=True), opposed(says(" "))))
    assert first.naive.failure
    assert [call.cost_usd for call in first.naive.model_calls] == [0.001]


async def test_an_abstention_is_an_answer(rig):
    """A model that knows what it does not know is not one that failed."""
    first, *_ = questions(await rig.run(rig.spec(naive=True), opposed(says("I don't know."))))
    assert first.naive.failure == ""
    assert first.naive.answer.abstained


async def test_an_opponent_that_may_answer_later_leaves_its_question_open(rig):
    """The next attempt asks it again, and what was settled before stays."""
    spec = rig.spec(naive=True)
    with pytest.raises(GatewayError, match="not now"):
        await rig.run(spec, opposed(says("one"), GatewayError("not now", kind="provider")))
    service = opposed(says("later"))
    records = questions(await rig.run(spec, service))
    assert [record.naive.answer.text for record in records] == ["one", "later", "later", "later"]
    assert [context.purpose for context in service.contexts] == ["reader", "naive"] * 3
    assert told(service.requests[1]) == ["e1", "e2"]


async def test_nobody_opposes_a_question_that_is_not_graded(rig):
    """Its answer would be compared with nothing."""
    failing = Service(GatewayError("too long", kind="rejected"))
    records = questions(await rig.run(rig.spec(naive=True), failing))
    assert outcomes(records) == ["harness_error(rejected)"] * 4
    assert [record.naive for record in records] == [None] * 4
    assert len(failing.requests) == 4


async def test_a_crash_is_settled_before_anybody_is_asked(rig):
    """An opponent that cannot be had would leave it open, to be rolled again."""
    rig.behave(restart_before_search={2})
    service = opposed(says("theirs"), GatewayError("not now", kind="provider"))
    records = questions(await rig.run(rig.spec(naive=True), service))
    assert outcomes(records) == ["answered", *["adapter_crashed(exit)"] * 3]
    assert [record.naive is None for record in records] == [False, True, True, True]


async def test_a_memory_that_fails_is_opposed_all_the_same(rig):
    """What the model would have said without it is what the fault has cost."""
    rig.behave(search_status=dict.fromkeys(range(1, 5), grpc.StatusCode.INTERNAL))
    records = questions(await rig.run(rig.spec(naive=True), opposed(says("theirs"))))
    assert {record.outcome.status for record in records} == {"adapter_error"}
    assert [record.naive.answer.text for record in records] == ["theirs"] * 4
