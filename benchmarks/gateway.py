"""What the gateway costs: the same calls with and without it, in one run.

(a) an SDK straight to the provider · (b) the same SDK through a trial's Unix socket · (c) the rig's
own call, in process. The provider is the tests' stand-in, in a process of its own, which answers at
once. The three take turns call by call, so that a noisy machine is noisy for each of them. The
gateway records, as a run does.

    python benchmarks/gateway.py [--calls 500] [--at-once 64] [--json OUT]
"""

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path

import anthropic
import httpx2
import openai
from pydantic import SecretStr

from memrig.gateway.config import GatewayConfig, UpstreamSpec
from memrig.gateway.identity import TrialIdentity
from memrig.gateway.service import Gateway
from memrig.model.chat import CallContext, ChatRequest, Message

STANDIN = Path(__file__).parents[1] / "tests" / "support" / "llm_standin.py"
CLAUDE, GPT = "claude-bench", "gpt-bench"
#: As long as what a reader is shown: some 4,000 tokens.
PROMPT = "The quick brown fox jumps over the lazy dog, as it did on many a day before. " * 210

Call = Callable[[str], Awaitable[object]]


@contextmanager
def provider() -> Iterator[str]:
    """The stand-in in a process of its own."""
    process = subprocess.Popen(
        [sys.executable, str(STANDIN)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.communicate("")


def configured(url: str, folder: Path) -> GatewayConfig:
    """A gateway in front of the stand-in, in mode record."""
    key = SecretStr("bench")
    first = UpstreamSpec(
        name="a", kind="anthropic", base_url=url, key=key, models=(CLAUDE,), concurrency=256
    )
    second = UpstreamSpec(name="o", kind="openai", base_url=f"{url}/v1", key=key, concurrency=256)
    return GatewayConfig(
        mode="record",
        record=folder / "llm.sqlite",
        models=frozenset({CLAUDE, GPT}),
        upstreams=(first, second),
    )


def gpt_call(client: openai.AsyncOpenAI) -> Call:
    """One completion."""

    async def call(text: str) -> object:
        messages = [{"role": "user", "content": text}]
        return await client.chat.completions.create(model=GPT, messages=messages)  # type: ignore[arg-type]

    return call


def claude_call(client: anthropic.AsyncAnthropic) -> Call:
    """One message."""

    async def call(text: str) -> object:
        messages = [{"role": "user", "content": text}]
        return await client.messages.create(model=CLAUDE, max_tokens=50, messages=messages)  # type: ignore[arg-type]

    return call


def rig_call(gateway: Gateway, model: str) -> Call:
    """One call of the rig itself."""

    async def call(text: str) -> object:
        context = CallContext("answer", "reader", "bench", text[:12], 0)
        return await gateway.chat(ChatRequest(model, (Message("user", text),), 50), context)

    return call


@asynccontextmanager
async def ways() -> AsyncIterator[dict[str, dict[str, Call]]]:
    """All three ways for both wires, ready to be called."""
    async with AsyncExitStack() as stack:
        url = stack.enter_context(provider())
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="mr")))
        gateway = await stack.enter_async_context(Gateway(configured(url, folder)))
        socket = await stack.enter_async_context(gateway.serve(TrialIdentity("bench", 0)))

        def pod() -> httpx2.AsyncClient:
            limits = httpx2.Limits(max_connections=256, max_keepalive_connections=256)
            transport = httpx2.AsyncHTTPTransport(uds=str(socket), limits=limits)
            return httpx2.AsyncClient(transport=transport)

        gpts = [
            openai.AsyncOpenAI(api_key="k", base_url=f"{url}/v1"),
            openai.AsyncOpenAI(api_key="k", base_url="http://pod/v1", http_client=pod()),
        ]
        claudes = [
            anthropic.AsyncAnthropic(api_key="k", base_url=url),
            anthropic.AsyncAnthropic(api_key="k", base_url="http://pod", http_client=pod()),
        ]
        clients: list[openai.AsyncOpenAI | anthropic.AsyncAnthropic] = [*gpts, *claudes]
        for client in clients:
            stack.push_async_callback(client.close)
        yield {
            "openai": dict(zip("abc", [*map(gpt_call, gpts), rig_call(gateway, GPT)], strict=True)),
            "anthropic": dict(
                zip("abc", [*map(claude_call, claudes), rig_call(gateway, CLAUDE)], strict=True)
            ),
        }


async def latencies(calls: dict[str, Call], count: int) -> dict[str, list[float]]:
    """Milliseconds of each call, the ways taking turns."""
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(-20, count):
        for name, call in calls.items():
            began = time.perf_counter()
            await call(f"{number:8} {name} {PROMPT}")
            if number >= 0:
                taken[name].append((time.perf_counter() - began) * 1e3)
    return taken


async def throughput(call: Call, name: str, count: int, at_once: int) -> float:
    """Calls a second with so many in flight."""
    numbers = iter(range(count))

    async def worker() -> None:
        for number in numbers:
            await call(f"{number:8} {name} at once {PROMPT}")

    began = time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(at_once)))
    return count / (time.perf_counter() - began)


async def measure(count: int, at_once: int) -> dict[str, dict[str, dict[str, float]]]:
    """All figures, by wire and way."""
    result: dict[str, dict[str, dict[str, float]]] = {}
    async with ways() as wires:
        for wire, calls in wires.items():
            result[wire] = {}
            for name, taken in (await latencies(calls, count)).items():
                result[wire][name] = {
                    "p50": statistics.median(taken),
                    "p95": statistics.quantiles(taken, n=20)[18],
                    "rate": await throughput(calls[name], name, count, at_once),
                }
    return result


def show(result: dict[str, dict[str, dict[str, float]]], at_once: int) -> None:
    """Prints the table."""
    names = {"a": "(a) SDK, straight", "b": "(b) SDK, through the socket", "c": "(c) the rig's own"}
    print(f"{'':10} {'':28} {'p50':>9} {'p95':>9} {'p50 ÷ (a)':>10} {'added':>9} ", end="")
    print(f"{f'calls/s at {at_once}':>16}")
    for wire, rows in result.items():
        for name, row in rows.items():
            base = rows["a"]["p50"]
            print(
                f"{wire:10} {names[name]:28} {row['p50']:6.2f} ms {row['p95']:6.2f} ms "
                f"{row['p50'] / base:10.2f} {row['p50'] - base:+6.2f} ms {row['rate']:16.0f}"
            )


def main() -> None:
    """Parses the flags, measures, prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=500)
    parser.add_argument("--at-once", type=int, default=64)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    result = asyncio.run(measure(options.calls, options.at_once))
    show(result, options.at_once)
    if options.json:
        options.json.write_text(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
