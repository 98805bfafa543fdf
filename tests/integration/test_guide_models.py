"""docs/adapters.md, "Models for your adapter", is run: its code gets answers from the gateway."""

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from memrig.pod.base import GATEWAY_VARIABLE
from memrig.pod.forward import forward_to
from support.gateways import gateway_of, identity
from support.llm_standin import LlmStandIn, vector

GUIDE = (Path(__file__).parents[2] / "docs" / "adapters.md").read_text("utf-8")
MODELS = frozenset({"claude-haiku-4-5", "text-embedding-3-small"})


def block(holding: str) -> str:
    """The guide's only block of Python that holds this."""
    found = re.findall(r"^```python\n(.*?)^```$", GUIDE, re.DOTALL | re.MULTILINE)
    (only,) = [text for text in found if holding in text]
    return str(only)


@pytest.fixture
async def standin(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[LlmStandIn]:
    """A provider behind a gateway, which is where the variable points."""
    async with (
        LlmStandIn(lambda seen: f"heard: {seen.text}") as server,
        gateway_of(server, models=MODELS) as gateway,
        gateway.serve(identity()) as socket,
        forward_to(socket) as url,
    ):
        monkeypatch.setenv(GATEWAY_VARIABLE, url or "")
        yield server


async def run(source: str) -> dict[str, object]:
    names: dict[str, object] = {}
    code = compile(source, "docs/adapters.md", "exec")
    await asyncio.to_thread(exec, code, names)
    names["client"].close()  # type: ignore[attr-defined]
    return names


async def test_the_guides_messages_are_answered(standin: LlmStandIn) -> None:
    """Anthropic's SDK, by nothing but the variable."""
    names = await run(block("from anthropic import"))
    assert names["facts"] == "heard: Which facts does this hold? Ann likes tea."


async def test_the_guides_texts_are_embedded(standin: LlmStandIn) -> None:
    """OpenAI's SDK, likewise."""
    names = await run(block("from openai import"))
    assert names["vectors"] == [vector("Ann likes tea."), vector("Bob likes beer.")]
