"""What a provider says reaches a pod and the record without the keys that the gateway holds."""

from pathlib import Path

import pytest

from support.gateways import CLAUDE, GPT, KEY, gateway_of, pod_of
from support.llm_standin import LlmStandIn, Say

HELLO = [{"role": "user", "content": "hello"}]


@pytest.mark.parametrize("stream", [False, True])
async def test_a_key_that_a_provider_says_goes_no_further(
    standin: LlmStandIn, tmp_path: Path, stream: bool
) -> None:
    """Not even in the pieces of a stream, none of which holds it whole; the rest is as it was."""
    standin.script = lambda _: Say(f"It is {KEY}, of course.", output_tokens=9)
    record = tmp_path / "llm.sqlite"
    async with (
        gateway_of(standin, mode="record", record=record) as gateway,
        pod_of(gateway) as pod,
    ):
        claude, gpt = await pod.anthropic(), await pod.openai()
        if stream:
            async with claude.messages.stream(model=CLAUDE, max_tokens=9, messages=HELLO) as events:
                said = [await events.get_final_text()]
            chunks = await gpt.chat.completions.create(model=GPT, messages=HELLO, stream=True)
            said.append("".join([c.choices[0].delta.content or "" async for c in chunks]))
        else:
            message = await claude.messages.create(model=CLAUDE, max_tokens=9, messages=HELLO)
            completion = await gpt.chat.completions.create(model=GPT, messages=HELLO)
            said = [message.content[0].text, completion.choices[0].message.content]
        used = gateway.spent().output_tokens

    assert said == ["It is [key], of course."] * 2
    assert used == 18
    assert KEY.encode() not in record.read_bytes()
