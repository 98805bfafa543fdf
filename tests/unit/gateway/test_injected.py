"""What befalls a memory system's own calls on purpose: at its socket, in the provider's words."""

import time
from collections.abc import AsyncIterator

import anthropic
import openai
import pytest

from memrig.gateway.identity import Injected, TrialIdentity
from memrig.gateway.service import Gateway
from support.gateways import CLAUDE, EMBED, GPT, PodSide, context, gateway_of, identity, pod_of
from support.gateways import ask as asked
from support.llm_standin import LlmStandIn


@pytest.fixture
async def gateway(standin: LlmStandIn) -> AsyncIterator[Gateway]:
    async with gateway_of(standin) as made:
        yield made


async def chat(pod: PodSide) -> str:
    """What the model said."""
    client = await pod.openai(retries=2)
    reply = await client.chat.completions.create(
        model=GPT, messages=[{"role": "user", "content": "hello"}]
    )
    return reply.choices[0].message.content or ""


async def refused(pod: PodSide) -> list[int]:
    """The status of each SDK's error, chat and embeddings."""
    gpt, claude = await pod.openai(retries=2), await pod.anthropic(retries=2)
    statuses = []
    message = {"role": "user", "content": "hello"}
    calls = (
        gpt.chat.completions.create(model=GPT, messages=[message]),  # type: ignore[list-item]
        gpt.embeddings.create(model=EMBED, input="hello"),
        claude.messages.create(model=CLAUDE, max_tokens=9, messages=[message]),  # type: ignore[list-item]
    )
    for call in calls:
        with pytest.raises((openai.APIStatusError, anthropic.APIStatusError)) as caught:
            await call
        statuses.append(caught.value.status_code)
    return statuses


def struck(fault: str, delay_s: float = 0.0) -> TrialIdentity:
    """A trial whose memory's calls meet a fault."""
    who = identity()
    who.injected = Injected(fault, delay_s)  # type: ignore[arg-type]
    return who


@pytest.mark.parametrize(("fault", "status"), [("refuses", 400), ("down", 503)])
async def test_a_fault_is_said_as_a_provider_says_it(
    gateway: Gateway, standin: LlmStandIn, fault: str, status: int
) -> None:
    """Unmodified SDKs take it for good; nobody was asked, nothing is charged, nobody is blamed."""
    who = struck(fault)
    async with pod_of(gateway, who) as pod:
        assert await refused(pod) == [status] * 3
    assert who.injected is not None
    assert who.injected.met == 3
    assert who.fault is None
    assert standin.seen == []
    assert gateway.usage_of(who.trial_id) == ()


async def test_a_slow_model_answers_in_the_end(gateway: Gateway, standin: LlmStandIn) -> None:
    """After the delay, and charged as ever."""
    who = struck("slow", 0.2)
    began = time.monotonic()
    async with pod_of(gateway, who) as pod:
        assert await chat(pod) == "heard: hello"
    assert time.monotonic() - began >= 0.2
    assert len(standin.seen) == 1
    assert [usage.calls for usage in gateway.usage_of(who.trial_id)] == [1]


async def test_a_fault_is_over_when_it_is_taken_back(gateway: Gateway) -> None:
    """The next call goes through."""
    who = struck("down")
    async with pod_of(gateway, who) as pod:
        with pytest.raises(openai.APIStatusError):
            await chat(pod)
        who.injected = None
        assert await chat(pod) == "heard: hello"


async def test_the_rigs_own_calls_are_spared(gateway: Gateway) -> None:
    """A reader of the same trial gets its answer."""
    who = struck("down")
    async with pod_of(gateway, who):
        reply = await gateway.chat(asked("hello"), context(trial=who.trial_id))
    assert reply.text == "heard: hello"


async def test_another_trials_memory_is_spared(gateway: Gateway) -> None:
    """A fault is one trial's."""
    async with pod_of(gateway, struck("down")), pod_of(gateway, identity("t2")) as other:
        assert await chat(other) == "heard: hello"
