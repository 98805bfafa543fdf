"""Built-in models answer on the same endpoints, are named as what they are, and cost nothing."""

import pytest

from memrig.gateway.config import GatewayConfig, Limit, Limits
from memrig.gateway.local import local_models
from memrig.gateway.service import Gateway
from support.gateways import ask, context, pod_of

READER = "local/extractive"
HASH = "local/hash-embed"
HELLO = [{"role": "user", "content": "What tea does Ada drink?\n\nAda drinks mint tea."}]


def gateway(**changes: object) -> Gateway:
    """With no upstream at all, and a limit in money."""
    limits = Limits(run=Limit(usd=0.01))
    settings = {"mode": "live", "models": {READER, HASH}, "limits": limits, "upstreams": ()}
    return Gateway(GatewayConfig.model_validate(settings | changes))


def test_they_are_installed():
    """With the harness."""
    assert {READER, HASH} <= set(local_models())


async def test_they_answer_the_rig_without_a_key():
    """At no cost, and by their own name."""
    async with gateway() as models:
        reply = await models.chat(ask(HELLO[0]["content"], model=READER), context())
    assert "mint" in reply.text
    assert (reply.served_model, reply.cost_usd) == (READER, 0)
    assert reply.input_tokens > 0


@pytest.mark.parametrize("stream", [False, True])
async def test_both_sdks_reach_them_streaming_or_not(stream):
    """The stream is made of the reply."""
    async with gateway() as models, pod_of(models) as pod:
        gpt, claude = await pod.openai(), await pod.anthropic()
        request = {"model": READER, "messages": HELLO}
        if stream:
            chunks = await gpt.chat.completions.create(**request, stream=True)
            first = "".join([c.choices[0].delta.content or "" async for c in chunks])
            async with claude.messages.stream(**request, max_tokens=50) as events:
                second = (await events.get_final_message()).content[0].text
        else:
            first = (await gpt.chat.completions.create(**request)).choices[0].message.content
            second = (await claude.messages.create(**request, max_tokens=50)).content[0].text
        rows = (await gpt.embeddings.create(model=HASH, input=["a b", "a b"])).data
    assert first == second
    assert "mint" in first
    assert rows[0].embedding == rows[1].embedding


async def test_they_are_recorded_like_any_other(record):
    """A replay is the same whether they have changed since or not."""
    async with gateway(mode="record", record=record) as models:
        before = await models.chat(ask(HELLO[0]["content"], model=READER), context())
    async with gateway(mode="replay-strict", record=record) as models:
        after = await models.chat(ask(HELLO[0]["content"], model=READER), context())
    assert (after.text, after.key, after.attempts) == (before.text, before.key, 0)
