"""The record: what was asked and answered, in one file, and a run again without anybody to ask."""

import json
import shutil
import sqlite3

import pytest

from memrig.errors import GatewayError, PrerequisiteError, UsageError
from memrig.gateway.config import Limit, Limits
from memrig.model.chat import CallContext
from support.gateways import CLAUDE, EMBED, GPT, KEY, ask, context, gateway_of, identity, pod_of
from support.llm_standin import Fault, Say

HELLO = [{"role": "user", "content": "hello"}]
REPLAYS = pytest.mark.parametrize("mode", ["replay", "replay-strict"])


def at(**changes: object) -> CallContext:
    base = {"phase": "judge", "purpose": "judge", "trial_id": "t", "scope": "s", "seed": 1}
    return CallContext(**base | changes)


async def recorded(standin, record, *calls):
    """Makes calls in mode record; their replies."""
    async with gateway_of(standin, mode="record", record=record) as gateway:
        return [await gateway.chat(request, where) for request, where in calls]


@REPLAYS
@pytest.mark.parametrize("model", [CLAUDE, GPT])
@pytest.mark.parametrize("stream", [False, True])
async def test_a_replay_gives_what_was_recorded_and_asks_nobody(
    standin, record, mode, model, stream
):
    """Text, tools, tokens, cost and time as they were; attempts 0."""
    standin.script = lambda _: Say("hm", tools=(("look", {"q": 1}),))
    standin.fail_next(Fault(status=500))
    (before,) = await recorded(standin, record, (ask(model=model, stream=stream), context()))
    async with gateway_of(None, mode=mode, record=record) as gateway:
        after = await gateway.chat(ask(model=model, stream=stream), context())
        spent = gateway.spent(phase="answer")
    assert before.attempts == 2
    assert after.attempts == 0
    assert {f: getattr(before, f) for f in before.__slots__ if f != "attempts"} == {
        f: getattr(after, f) for f in after.__slots__ if f != "attempts"
    }
    assert spent.input_tokens == before.input_tokens
    assert spent.cost_usd == pytest.approx(before.cost_usd)


@REPLAYS
async def test_another_stream_flag_is_the_same_exchange(standin, record, mode):
    """A reply recorded whole can be streamed, and the other way round, for both SDKs."""
    standin.script = lambda _: Say("hm hm hm", tools=(("look", {"q": "x"}),))

    async def both(pod, first_streams):
        gpt, claude = await pod.openai(), await pod.anthropic()
        got = []
        for streams in first_streams:
            if streams:
                chunks = await gpt.chat.completions.create(model=GPT, messages=HELLO, stream=True)
                deltas = [c.choices[0].delta async for c in chunks]
                arguments = [d.tool_calls[0].function for d in deltas if d.tool_calls]
                got.append(("".join(d.content or "" for d in deltas),
                            "".join(f.arguments or "" for f in arguments)))  # fmt: skip
            else:
                reply = await gpt.chat.completions.create(model=GPT, messages=HELLO)
                message = reply.choices[0].message
                got.append((message.content, message.tool_calls[0].function.arguments))
            ask_claude = {"model": CLAUDE, "max_tokens": 9, "messages": HELLO}
            if streams:
                async with claude.messages.stream(**ask_claude) as stream:
                    said = await stream.get_final_message()
            else:
                said = await claude.messages.create(**ask_claude)
            got.append((said.content[0].text, json.dumps(said.content[1].input)))
            assert said.stop_reason == "tool_use"
        return got

    async with (
        gateway_of(standin, mode="record", record=record) as gateway,
        pod_of(gateway) as pod,
    ):
        live = await both(pod, (False, True))
    async with gateway_of(None, mode=mode, record=record) as gateway, pod_of(gateway) as pod:
        again = await both(pod, (True, False))
    assert set(live) == set(again) == {("hm hm hm", '{"q": "x"}')}
    assert len(standin.seen) == 4


async def test_embeddings_are_replayed(standin, record):
    """In the encoding that was asked for."""
    async with (
        gateway_of(standin, mode="record", record=record) as gateway,
        pod_of(gateway) as pod,
    ):
        before = await (await pod.openai()).embeddings.create(model=EMBED, input=["a"])
    async with gateway_of(None, mode="replay", record=record) as gateway, pod_of(gateway) as pod:
        after = await (await pod.openai()).embeddings.create(model=EMBED, input=["a"])
    assert before.data[0].embedding == after.data[0].embedding
    assert len(standin.seen) == 1


@pytest.mark.parametrize(
    "other",
    [at(seed=2), at(attempt=1), at(vote=1), at(scope="elsewhere")],
)
async def test_what_is_not_the_same_call_is_made_apart(standin, record, other):
    """Seed, attempt, vote and scope are in the key."""
    first, second = await recorded(standin, record, (ask(), at()), (ask(), other))
    assert first.key != second.key
    assert len(standin.seen) == 2


async def test_the_trial_and_its_phase_are_not_in_the_key(standin, record):
    """Another adapter, or the same one tried again, asks the same."""
    (first,) = await recorded(standin, record, (ask(), at()))
    (second,) = await recorded(standin, record, (ask(), at(trial_id="t2", phase="search")))
    assert first.key == second.key
    assert len(standin.seen) == 1


async def test_identical_calls_are_counted(standin, record):
    """The second of two within a scope is another exchange, and is replayed as such."""
    replies = iter("ab")
    standin.script = lambda _: next(replies)
    await recorded(standin, record, (ask(), context()), (ask(), context()))
    async with gateway_of(None, mode="replay-strict", record=record) as gateway:
        said = [(await gateway.chat(ask(), context())).text for _ in range(2)]
        with pytest.raises(GatewayError) as caught:
            await gateway.chat(ask(), context())
    assert said == ["a", "b"]
    assert caught.value.kind == "not_recorded"


async def test_another_attempt_at_a_trial_is_given_what_the_first_was(standin, record):
    """Its memory system asks from the beginning again: nothing is paid twice."""
    replies = iter("abcd")
    standin.script = lambda _: next(replies)

    async def session(gateway, trial="t1", times=2):
        async with pod_of(gateway, identity(trial)) as pod:
            client = await pod.openai()
            asked = [
                await client.chat.completions.create(model=GPT, messages=HELLO)
                for _ in range(times)
            ]
        return [reply.choices[0].message.content for reply in asked]

    async with gateway_of(standin, mode="record", record=record) as gateway:
        assert await session(gateway, times=1) == ["a"]  # then its pod is lost
        assert await session(gateway) == ["a", "b"]
        assert await session(gateway, trial="t2") == ["a", "b"]
    assert len(standin.seen) == 2
    async with gateway_of(None, mode="replay-strict", record=record) as gateway:
        assert await session(gateway) == ["a", "b"]


async def test_a_lenient_replay_takes_the_last_of_the_same_request(standin, record):
    """In whatever scope it was; a strict one does not."""
    replies = iter("ab")
    standin.script = lambda _: next(replies)
    await recorded(standin, record, (ask(), context()), (ask(), context()))
    async with gateway_of(None, mode="replay", record=record) as gateway:
        elsewhere = await gateway.chat(ask(), context(scope="s2"))
        with pytest.raises(GatewayError, match="no such exchange"):
            await gateway.chat(ask("never asked"), context())
    assert elsewhere.text == "b"
    async with gateway_of(None, mode="replay-strict", record=record) as gateway:
        with pytest.raises(GatewayError):
            await gateway.chat(ask(), context(scope="s2"))


async def test_a_pod_hears_of_what_is_not_recorded_in_the_providers_shape(standin, record):
    """And the trial does, too: its results are not the memory system's own."""
    await recorded(standin, record, (ask(), context()))
    who = identity()
    async with (
        gateway_of(None, mode="replay", record=record) as gateway,
        pod_of(gateway, who) as pod,
    ):
        body = {"model": GPT, "messages": HELLO}
        reply = await (await pod.http()).post("http://pod/v1/chat/completions", json=body)
    assert reply.status_code == 503
    assert reply.json()["error"]["code"] == "not_recorded"
    assert who.fault is not None
    assert who.fault.kind == "not_recorded"


@REPLAYS
@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Fault(status=400, message="too long"), "rejected"),
        (Fault(status=401), "auth"),
        (Fault(status=500), "provider"),
        (Fault(garbage="x"), "malformed"),
    ],
)
async def test_a_recorded_error_is_the_same_error_again(standin, record, mode, fault, kind):
    """For the rig, and in a pod."""
    standin.script = lambda _: fault
    errors, replies = [], []
    for gateway in (
        gateway_of(standin, mode="record", record=record),
        gateway_of(None, mode=mode, record=record),
    ):
        async with gateway, pod_of(gateway) as pod:
            with pytest.raises(GatewayError) as caught:
                await gateway.chat(ask(), context())
            body = {"model": GPT, "messages": HELLO}
            reply = await (await pod.http()).post("http://pod/v1/chat/completions", json=body)
            errors.append((caught.value.kind, caught.value.message))
            replies.append((reply.status_code, reply.content))
    assert errors[0] == errors[1]
    assert replies[0] == replies[1]
    assert errors[0][0] == kind


async def test_a_resumed_run_pays_nothing_twice(standin, record):
    """What the file holds is taken from it; what failed for want of a provider is asked again."""
    await recorded(standin, record, (ask("a"), context()))
    standin.script = lambda _: Fault(status=500)
    with pytest.raises(GatewayError):
        await recorded(standin, record, (ask("b"), context()))
    standin.seen.clear()
    standin.script = lambda _: "well again"
    first, second = await recorded(standin, record, (ask("a"), context()), (ask("b"), context()))
    assert (first.text, first.attempts) == ("heard: a", 0)
    assert (second.text, second.attempts) == ("well again", 1)
    assert len(standin.seen) == 1


async def test_a_resumed_run_does_not_ask_again_for_what_was_malformed(standin, record):
    """Every attempt at it was paid for; another run would meet the same."""
    standin.script = lambda _: Fault(garbage="x")
    for _ in range(2):
        with pytest.raises(GatewayError) as caught:
            await recorded(standin, record, (ask(), context()))
        assert caught.value.kind == "malformed"
    assert len(standin.seen) == 6


async def test_a_resumed_run_keeps_to_its_limits(standin, record):
    """What was paid before counts; what the record gives does not count again."""
    standin.script = lambda _: Say("x", input_tokens=400, output_tokens=50)
    limits = Limits(run=Limit(tokens=950))
    for text in ("a", "b"):
        async with gateway_of(standin, mode="record", record=record, limits=limits) as gateway:
            await gateway.chat(ask(text), context())
    async with gateway_of(standin, mode="record", record=record, limits=limits) as gateway:
        await gateway.chat(ask("a"), context())
        with pytest.raises(GatewayError) as caught:
            await gateway.chat(ask("c"), context())
    assert caught.value.kind == "budget"
    assert "900 of 950" in caught.value.message


async def test_every_attempt_is_in_the_record(standin, record):
    """With its status, kind, and what the provider asked for."""
    standin.fail_next(
        Fault(status=429, retry_after="0.01"),
        Fault(status=529),
        Fault(cut="clean"),
        Fault(cut="hard"),
    )
    async with gateway_of(standin, mode="record", record=record) as gateway:
        reply = await gateway.chat(ask(stream=True), context())
        rows = gateway.record.attempts()
    assert [(row.number, row.status, row.error) for row in rows] == [
        (1, 429, "provider"),
        (2, 529, "provider"),
        (3, None, "malformed"),
        (4, None, "provider"),
        (5, 200, ""),
    ]
    assert rows[0].retry_after_s == 0.01
    assert [row.key for row in rows] == [reply.key] * 5
    assert [row.input_tokens for row in rows] == [0, 0, 0, 0, reply.input_tokens]
    assert all(row.ns > 0 and row.at for row in rows)


async def test_a_row_says_whose_call_it_was_and_what_was_said(standin, record):
    """Enough to know without the run: request, reply, stream, tokens, cost, place."""
    (reply,) = await recorded(standin, record, (ask("tea", stream=True), context()))
    async with gateway_of(None, mode="replay", record=record) as gateway:
        (row,) = gateway.record.exchanges()
        request = json.loads(gateway.record.request(row.request))
    assert (row.phase, row.purpose, row.trial_id, row.scope, row.seed) == (
        "answer",
        "reader",
        "t1",
        "s1/q1",
        7,
    )
    assert request["format"] == row.format == "openai.chat"
    assert request["request"]["messages"] == [{"role": "user", "content": "tea"}]
    assert "stream" not in request["request"]
    assert json.loads(row.response)["choices"][0]["message"]["content"] == "heard: tea"
    assert row.events.endswith("data: [DONE]\n\n")
    assert (row.cost_usd, row.output_tokens) == (reply.cost_usd, reply.output_tokens)


async def test_a_closed_record_is_one_file(standin, record):
    """It ships with a run; while it is open, it can be read beside."""
    async with gateway_of(standin, mode="record", record=record) as gateway:
        await gateway.chat(ask(), context())
        beside = sqlite3.connect(record)
        assert beside.execute("SELECT COUNT(*) FROM exchanges").fetchone() == (1,)
        beside.close()
    assert [path.name for path in record.parent.iterdir()] == [record.name]
    record.chmod(0o400)
    async with gateway_of(None, mode="replay-strict", record=record) as gateway:
        assert await gateway.chat(ask(), context())


@pytest.mark.parametrize("mode", ["record", "replay-strict"])
async def test_a_killed_run_loses_nothing_that_was_answered(standin, record, tmp_path, mode):
    """What a reply was given for is in the files that a killed process leaves."""
    killed = tmp_path / "killed"
    killed.mkdir()
    async with gateway_of(standin, mode="record", record=record) as gateway:
        await gateway.chat(ask(), context())
        for path in record.parent.glob("llm.sqlite*"):
            if not path.name.endswith("-shm"):
                shutil.copy(path, killed / path.name)
    async with gateway_of(standin, mode=mode, record=killed / record.name) as gateway:
        assert (await gateway.chat(ask(), context())).attempts == 0


async def test_mode_live_keeps_the_ledger_and_no_bodies(standin, record):
    """Nothing that was said is on disk; what it cost is."""
    async with gateway_of(standin, record=record) as gateway:
        await gateway.chat(ask("a secret of mine"), context())
        assert len(gateway.record.attempts()) == 1
        assert gateway.record.exchanges()[0].response is None
    assert b"secret of mine" not in record.read_bytes()
    async with gateway_of(None, mode="replay", record=record) as gateway:
        with pytest.raises(GatewayError, match="no such exchange"):
            await gateway.chat(ask("a secret of mine"), context())


async def test_mode_live_takes_nothing_from_an_earlier_record(standin, record):
    """A file that holds replies still does."""
    await recorded(standin, record, (ask(), context()))
    async with gateway_of(standin, record=record) as gateway:
        await gateway.chat(ask(), context())
    async with gateway_of(None, mode="replay-strict", record=record) as gateway:
        assert (await gateway.chat(ask(), context())).text == "heard: what?"


async def test_the_key_is_nowhere_in_the_file(standin, record):
    """Not even where a provider repeats it in an error or a reply."""
    standin.script = lambda seen: f"your key is {seen.headers['authorization']}"
    async with gateway_of(standin, mode="record", record=record) as gateway:
        said = await gateway.chat(ask(), context())
        standin.script = lambda seen: Fault(status=400, message=f"no: {KEY}")
        with pytest.raises(GatewayError):
            await gateway.chat(ask("b"), context())
    assert said.text == "your key is Bearer [key]"
    assert KEY.encode() not in record.read_bytes()
    assert b"[key]" in record.read_bytes()


async def test_a_replay_needs_a_record(record):
    """It says so before anything starts."""
    with pytest.raises(PrerequisiteError, match="no such record"):
        async with gateway_of(None, mode="replay", record=record):
            pass


@pytest.mark.parametrize(
    "content", [b"not a database, but long enough to be read as one" * 99, b""]
)
async def test_a_file_that_is_no_record_is_refused(record, content):
    """Whatever else it is."""
    record.write_bytes(content)
    with pytest.raises(UsageError):
        async with gateway_of(None, mode="replay", record=record):
            pass


async def test_a_record_of_another_format_is_refused(standin, record):
    """Not read half."""
    await recorded(standin, record, (ask(), context()))
    with sqlite3.connect(record) as database:
        database.execute("PRAGMA user_version=99")
    database.close()
    with pytest.raises(UsageError, match="format 99, expected 1"):
        async with gateway_of(None, mode="replay", record=record):
            pass
