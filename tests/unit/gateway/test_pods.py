"""In a pod, unmodified SDKs work by their base URL alone; refusals are the provider's own."""

import anthropic
import openai
import pytest

from memrig.gateway.config import Limit, Limits
from support.gateways import CLAUDE, EMBED, GPT, KEY, gateway_of, identity, pod_of
from support.llm_standin import Fault, Say, vector

HELLO = [{"role": "user", "content": "hello"}]
LIMITED = Limits(trial=Limit(tokens=5000))
BASES = pytest.mark.parametrize("base", ["http://pod", "http://pod/", "http://pod/v1"])


@BASES
async def test_the_anthropic_sdk_gets_messages_and_streams(standin, base):
    """With and without /v1 in its base URL."""
    standin.script = lambda _: Say("hm hm hm", tools=(("look", {"q": "x"}),))
    async with gateway_of(standin) as gateway, pod_of(gateway) as pod:
        client = await pod.anthropic(base)
        whole = await client.messages.create(model=CLAUDE, max_tokens=9, messages=HELLO)
        async with client.messages.stream(model=CLAUDE, max_tokens=9, messages=HELLO) as stream:
            texts = [text async for text in stream.text_stream]
            streamed = await stream.get_final_message()
    assert whole.content[0].text == "hm hm hm"
    assert len(texts) > 1  # as the provider cut them
    assert streamed.content[1].input == whole.content[1].input == {"q": "x"}
    assert [seen.stream for seen in standin.seen] == [False, True]


@BASES
async def test_the_openai_sdk_gets_completions_streams_and_embeddings(standin, base):
    """With and without /v1 in its base URL."""
    async with gateway_of(standin) as gateway, pod_of(gateway) as pod:
        client = await pod.openai(base)
        whole = await client.chat.completions.create(model=GPT, messages=HELLO)
        stream = await client.chat.completions.create(model=GPT, messages=HELLO, stream=True)
        # Unmodified code trips over a chunk without choices: there is none.
        texts = [chunk.choices[0].delta.content or "" async for chunk in stream]
        rows = await client.embeddings.create(model=EMBED, input=["a", "b"])
    assert whole.choices[0].message.content == "".join(texts) == "heard: hello"
    assert [row.embedding for row in rows.data] == [vector("a"), vector("b")]
    assert gateway.config.mode == "live"


async def test_usage_is_metered_of_streams_that_do_not_ask_for_it(standin):
    """The provider is asked to report it; the pod gets it only where it asked, too."""
    standin.script = lambda _: Say("x", input_tokens=40, output_tokens=2)
    async with gateway_of(standin) as gateway, pod_of(gateway) as pod:
        client = await pod.openai()
        stream = await client.chat.completions.create(model=GPT, messages=HELLO, stream=True)
        assert all([chunk.choices async for chunk in stream])
        assert gateway.spent(phase="ingest").input_tokens == 40
        asked = await client.chat.completions.create(
            model=GPT, messages=HELLO, stream=True, stream_options={"include_usage": True}
        )
        chunks = [chunk async for chunk in asked]
    assert chunks[-1].usage.prompt_tokens == 40
    assert chunks[-1].choices == []


async def test_what_an_sdk_sends_beside_the_usual_reaches_the_provider(standin):
    """Bodies pass as they are; of headers, the key is dropped and the betas stay."""
    async with gateway_of(standin) as gateway, pod_of(gateway) as pod:
        client = await pod.anthropic()
        await client.messages.create(
            model=CLAUDE,
            max_tokens=9,
            messages=HELLO,
            extra_body={"novel": {"deep": [1, 2.5, None]}},
            extra_headers={"anthropic-beta": "tools-2099", "x-private": "pod"},
        )
    seen = standin.seen[0]
    assert seen.body == {
        "model": CLAUDE,
        "max_tokens": 9,
        "messages": HELLO,
        "novel": {"deep": [1, 2.5, None]},
    }
    assert seen.headers["anthropic-beta"] == "tools-2099"
    assert seen.headers["x-api-key"] == KEY
    assert "pod-key" not in str(seen.headers)
    assert "x-private" not in seen.headers


async def test_models_are_listed_as_each_sdk_expects_it(standin):
    """Only those that may be called."""
    who = identity()
    who.models = frozenset({CLAUDE, GPT})
    async with gateway_of(standin) as gateway, pod_of(gateway, who) as pod:
        listed = [model.id async for model in await (await pod.openai()).models.list()]
        same = [model.id async for model in await (await pod.anthropic()).models.list()]
    assert listed == same == sorted({CLAUDE, GPT})


async def test_calls_are_charged_to_where_the_trial_stands(standin):
    """The trial says so, whatever headers a pod sends."""
    who = identity(trial="t9", phase="ingest", scope="s1")
    async with gateway_of(standin) as gateway, pod_of(gateway, who) as pod:
        client = await pod.openai()
        for phase in ("ingest", "search", "search"):
            who.enter(phase, f"s1/{phase}")
            await client.chat.completions.create(
                model=GPT, messages=HELLO, extra_headers={"x-trial": "t1", "x-phase": "judge"}
            )
        rows = gateway.usage_of("t9")
        assert gateway.usage_of("t1") == ()
    assert [(row.phase, row.model, row.calls, row.attempts) for row in rows] == [
        ("ingest", GPT, 1, 1),
        ("search", GPT, 2, 2),
    ]


@pytest.mark.parametrize("allowed", [frozenset(), frozenset({CLAUDE})])
async def test_a_model_that_is_not_allowed_is_not_found(standin, allowed):
    """In the words of each provider; not by the run, nor by what the adapter asked for."""
    who = identity()
    who.models = allowed
    model = GPT if allowed else "gpt-other"
    async with gateway_of(standin) as gateway, pod_of(gateway, who) as pod:
        with pytest.raises(openai.NotFoundError) as first:
            await (await pod.openai()).chat.completions.create(model=model, messages=HELLO)
        with pytest.raises(openai.NotFoundError):
            await (await pod.openai()).embeddings.create(model=model, input="x")
        with pytest.raises(anthropic.NotFoundError) as second:
            client = await pod.anthropic()
            await client.messages.create(model=model, max_tokens=9, messages=HELLO)
    assert (first.value.code, first.value.type) == ("model_not_found", "invalid_request_error")
    assert second.value.body["error"]["type"] == "not_found_error"
    assert standin.seen == []
    assert who.fault is None  # its own doing


async def test_a_spent_budget_looks_like_an_account_without_credit(standin):
    """And an SDK that likes to retry does not."""
    who = identity()
    async with gateway_of(standin, limits=LIMITED) as gateway, pod_of(gateway, who) as pod:
        gateway._calls.ledger.pay(gateway._calls.ledger.accounts("t1", "ingest"), 4995, None)
        with pytest.raises(openai.RateLimitError) as first:
            client = await pod.openai(retries=3)
            await client.chat.completions.create(model=GPT, messages=HELLO)
        with pytest.raises(anthropic.APIStatusError) as second:
            client = await pod.anthropic(retries=3)
            await client.messages.create(model=CLAUDE, max_tokens=9, messages=HELLO)
    assert (first.value.code, first.value.type) == ("insufficient_quota",) * 2
    assert second.value.status_code == 402
    assert second.value.body["error"]["type"] == "billing_error"
    assert {e.value.response.headers["x-should-retry"] for e in (first, second)} == {"false"}
    assert standin.seen == []
    assert who.fault is not None
    assert who.fault.kind == "budget"


@pytest.mark.parametrize("choices", [None, 10**9])
async def test_what_a_request_may_return_is_estimated_within_reason(standin, choices):
    """No model returns a billion tokens: a number that was only meant as plenty is no hindrance."""
    limit = 140_000 * (128 if choices else 1)
    body = {"model": GPT, "max_tokens": 10**9, "messages": HELLO} | (
        {"n": choices} if choices else {}
    )
    limits = Limits(run=Limit(tokens=limit))
    async with gateway_of(standin, limits=limits) as gateway, pod_of(gateway) as pod:
        await (await pod.http()).post("http://pod/v1/chat/completions", json=body)
    assert len(standin.seen) >= 1


async def test_what_the_provider_refuses_is_refused_in_its_own_words(standin):
    """Status and body as they came."""
    standin.script = lambda _: Fault(status=422, message="no such shape", code="shape")
    who = identity()
    async with gateway_of(standin) as gateway, pod_of(gateway, who) as pod:
        with pytest.raises(openai.UnprocessableEntityError) as caught:
            await (await pod.openai()).chat.completions.create(model=GPT, messages=HELLO)
    assert caught.value.body == {
        "message": "no such shape",
        "type": "invalid_request_error",
        "param": None,
        "code": "shape",
    }
    assert who.fault is None


async def test_a_failing_provider_is_told_once_and_noted(standin):
    """The gateway has retried; an SDK does not multiply that. The trial learns of the first."""
    standin.script = lambda _: Fault(status=529)
    who = identity()
    async with gateway_of(standin) as gateway, pod_of(gateway, who) as pod:
        with pytest.raises(anthropic.APIStatusError) as caught:
            client = await pod.anthropic(retries=3)
            await client.messages.create(model=CLAUDE, max_tokens=9, messages=HELLO)
        (usage,) = gateway.usage_of("t1")
    assert caught.value.status_code == 529
    assert caught.value.body["error"]["type"] == "overloaded_error"
    assert len(standin.seen) == 6
    assert (usage.calls, usage.attempts) == (0, 6)
    assert who.fault is not None
    assert who.fault.kind == "provider"


async def test_a_truncated_stream_never_reaches_a_pod(standin):
    """It is whole, after another try."""
    standin.fail_next(Fault(cut="hard"), Fault(cut="clean"))
    async with gateway_of(standin) as gateway, pod_of(gateway) as pod:
        client = await pod.anthropic()
        async with client.messages.stream(model=CLAUDE, max_tokens=9, messages=HELLO) as stream:
            message = await stream.get_final_message()
    assert message.content[0].text == "heard: hello"
    assert len(standin.seen) == 3


async def test_a_model_of_the_other_provider_is_refused_in_the_callers_format(standin):
    """Bodies are passed on, not translated."""
    async with gateway_of(standin) as gateway, pod_of(gateway) as pod:
        with pytest.raises(openai.BadRequestError, match="speaks the format of anthropic"):
            await (await pod.openai()).chat.completions.create(model=CLAUDE, messages=HELLO)
        with pytest.raises(anthropic.BadRequestError, match="speaks the format of openai"):
            client = await pod.anthropic()
            await client.messages.create(model=GPT, max_tokens=9, messages=HELLO)
    assert standin.seen == []


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"", 400),
        (b"{not json", 400),
        (b"[]", 400),
        (b"{}", 400),
        (b'{"model": 3}', 400),
        (b'{"model": "gpt-test-1", "messages": "\\ud800"}', 400),
        (b'{"model": "gpt-test-1", "seed": 123456789012345678901234567890}', 400),
        (b'{"model": "' + b"x" * 2000 + b'"}', 413),
    ],
)
async def test_nonsense_is_refused_and_goes_nowhere(standin, content, status):
    """Whatever a pod sends, it gets an error of the provider's shape."""
    gateway = gateway_of(standin)
    gateway.config = gateway.config.model_copy(update={"max_body_bytes": 1000})
    async with gateway, pod_of(gateway) as pod:
        http = await pod.http()
        reply = await http.post("http://pod/v1/chat/completions", content=content)
    assert reply.status_code == status
    assert reply.json()["error"]["type"] == "invalid_request_error"
    assert standin.seen == []


async def test_other_endpoints_are_named_as_missing(standin):
    """With what there is instead."""
    async with gateway_of(standin) as gateway, pod_of(gateway) as pod:
        reply = await (await pod.http()).post("http://pod/v1/responses", content=b"{}")
    assert reply.status_code == 404
    assert "/v1/chat/completions" in reply.json()["error"]["message"]


async def test_trials_are_told_apart_by_their_sockets(standin):
    """Two at once, each with its own."""
    first, second = identity("t1"), identity("t2")
    async with (
        gateway_of(standin) as gateway,
        pod_of(gateway, first) as one,
        pod_of(gateway, second) as other,
    ):
        for pod, times in ((one, 1), (other, 2)):
            client = await pod.openai()
            for _ in range(times):
                await client.chat.completions.create(model=GPT, messages=HELLO)
        assert [gateway.spent(trial_id=t).calls for t in ("t1", "t2")] == [1, 2]
