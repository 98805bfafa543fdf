"""Gateways in front of the stand-in, and SDK clients behind a trial's socket."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import anthropic
import httpx2
import openai
from pydantic import SecretStr

from memrig.gateway.config import GatewayConfig, GatewayMode, Limits, RetryPolicy, UpstreamSpec
from memrig.gateway.identity import TrialIdentity
from memrig.gateway.service import Gateway
from memrig.model.chat import CallContext, ChatRequest, Message, Phase
from support.llm_standin import LlmStandIn

CLAUDE = "claude-test-1"
GPT = "gpt-test-1"
EMBED = "embed-test-1"
MODELS = frozenset({CLAUDE, GPT, EMBED})
KEY = "sk-planted-0123456789"
#: Retries without a pause worth speaking of.
QUICK = RetryPolicy(initial_s=0.001, max_s=0.002, jitter=0)


class Prices:
    """Every model costs the same: 1 dollar for a million tokens in, 2 out."""

    def cost(self, model: str, input_tokens: int, output_tokens: int) -> float | None:
        """None for models that are called unknown."""
        if "unknown" in model:
            return None
        return (input_tokens + 2 * output_tokens) / 1e6


def upstreams_of(standin: LlmStandIn, **changes: object) -> tuple[UpstreamSpec, ...]:
    """The stand-in as both providers."""
    key = SecretStr(KEY)
    first = {"name": "anthropic", "kind": "anthropic", "models": ("claude-*",), "key": key}
    second = {"name": "openai", "kind": "openai", "key": key}
    return (
        UpstreamSpec.model_validate(first | {"base_url": standin.anthropic_url} | changes),
        UpstreamSpec.model_validate(second | {"base_url": standin.openai_url} | changes),
    )


def gateway_of(
    standin: LlmStandIn | None,
    *,
    mode: GatewayMode = "live",
    record: Path | None = None,
    limits: Limits | None = None,
    retry: RetryPolicy = QUICK,
    models: frozenset[str] = MODELS,
    timeout_s: float = 10,
) -> Gateway:
    """A gateway in front of a stand-in; None: of nobody."""
    config = GatewayConfig(
        mode=mode,
        record=record,
        models=models,
        limits=limits or Limits(),
        retry=retry,
        upstreams=upstreams_of(standin) if standin else (),
        timeout_s=timeout_s,
    )
    return Gateway(config, prices=Prices())


def ask(text: str = "what?", model: str = GPT, *, stream: bool = False) -> ChatRequest:
    """A request of one message."""
    return ChatRequest(model, (Message("user", text),), max_tokens=50, stream=stream)


def context(phase: Phase = "answer", trial: str = "t1", scope: str = "s1/q1") -> CallContext:
    """Where the rig's own calls come from."""
    return CallContext(phase=phase, purpose="reader", trial_id=trial, scope=scope, seed=7)


def identity(trial: str = "t1", phase: Phase = "ingest", scope: str = "s1") -> TrialIdentity:
    """A trial at work."""
    return TrialIdentity(trial_id=trial, seed=7, phase=phase, scope=scope)


class PodSide:
    """What an unmodified SDK inside a pod has: an address, and a key of no worth."""

    def __init__(self, socket: Path, stack: AsyncExitStack) -> None:
        self.socket = socket
        self._stack = stack

    def _http(self) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(
            transport=httpx2.AsyncHTTPTransport(uds=str(self.socket), verify=False)
        )

    async def openai(self, base: str = "http://pod/v1", retries: int = 0) -> openai.AsyncOpenAI:
        """OpenAI's client."""
        client = openai.AsyncOpenAI(
            api_key="pod-key", base_url=base, http_client=self._http(), max_retries=retries
        )
        self._stack.push_async_callback(client.close)
        return client

    async def anthropic(
        self, base: str = "http://pod", retries: int = 0
    ) -> anthropic.AsyncAnthropic:
        """Anthropic's client."""
        client = anthropic.AsyncAnthropic(
            api_key="pod-key", base_url=base, http_client=self._http(), max_retries=retries
        )
        self._stack.push_async_callback(client.close)
        return client

    async def http(self) -> httpx2.AsyncClient:
        """A bare client."""
        client = self._http()
        self._stack.push_async_callback(client.aclose)
        return client


@asynccontextmanager
async def pod_of(gateway: Gateway, who: TrialIdentity | None = None) -> AsyncIterator[PodSide]:
    """A served trial, seen from within its pod."""
    async with AsyncExitStack() as stack:
        socket = await stack.enter_async_context(gateway.serve(who or identity()))
        yield PodSide(socket, stack)
