"""What the rig itself costs: the same dialogues and questions, four ways, in one run.

(a) the adapter's class in a bare in-process loop · (b) a bare gRPC loop against the same adapter,
served · (c) a trial in a process pod · (d) a trial in a Docker pod. All four take turns dialogue by
dialogue, so that a noisy machine is noisy for each of them.

    python benchmarks/overhead.py --file locomo10.json [--adapter images/bm25] [--json OUT]

Without --file, dialogues of LoCoMo's size are generated.
"""

import argparse
import asyncio
import contextlib
import importlib
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

import grpc

from memrig.client.convert import episode_message
from memrig.client.ids import Pseudonyms
from memrig.model.gold import Gold
from memrig.model.manifest import load_manifest
from memrig.model.scenario import Episode, Question, Scenario, episodes_of, questions_of
from memrig.model.transcript import (
    FlushRecord,
    PodRecord,
    QuestionRecord,
    StreamRecord,
    TeardownRecord,
)
from memrig.model.trial import TrialSpec
from memrig.pod.base import PodProvider
from memrig.pod.images import resolve
from memrig.pod.select import choose_pod, provider_for
from memrig.suites.base import SuiteOptions
from memrig.suites.locomo import SUITE
from memrig.suites.spool import spool
from memrig.trial import TrialServices, run_trial
from memrig.trial.directory import load_trial
from memrig_proto.v1 import memory_adapter_pb2 as pb
from memrig_proto.v1 import memory_adapter_pb2_grpc as rpc

LIMIT = 10
BATCH = 64


@dataclass(slots=True)
class Cost:
    """Seconds of one way over all dialogues; `total` covers ingest to last answer."""

    ingest: float = 0
    search: float = 0
    total: float = 0
    starts: list[float] = field(default_factory=list)
    teardowns: list[float] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Dialogue:
    """One scenario, held in memory."""

    scenario: Scenario
    episodes: list[Episode]
    questions: list[Question]


def generated(count: int = 10, turns: int = 588, questions: int = 199) -> Iterator[Scenario]:
    """Dialogues of LoCoMo's size, from a seed."""
    random_ = random.Random(2026)  # noqa: S311
    words = [f"w{n}" for n in range(4000)]
    for number in range(count):
        lines = [" ".join(random_.choices(words, k=22)) for _ in range(turns)]
        episodes = [Episode(episode_id=f"e{n}", text=f"A: {line}") for n, line in enumerate(lines)]
        asked = [
            Question(question_id=f"q{n}", text=" ".join(random_.choices(words, k=9)))
            for n in range(questions)
        ]
        gold = {q.question_id: Gold(question_id=q.question_id, category="x") for q in asked}
        yield Scenario(f"generated-{number}", [*episodes, *asked], gold)


def load(file: Path | None) -> list[Dialogue]:
    """The dialogues to run."""
    scenarios = SUITE.scenarios(SuiteOptions(SUITE.protocols[0], file)) if file else generated()
    result = []
    for scenario in scenarios:
        events = list(scenario.timeline)
        result.append(Dialogue(scenario, list(episodes_of(events)), list(questions_of(events))))
    return result


def in_process(target: str, dialogue: Dialogue, cost: Cost) -> None:
    """(a): the adapter's own class, called directly."""
    sdk = importlib.import_module("memrig_adapters")
    module, _, name = target.partition(":")
    adapter = getattr(importlib.import_module(module), name)()
    adapter.start()
    began = time.perf_counter()
    for episode in dialogue.episodes:
        adapter.ingest(sdk.Episode(episode.episode_id, episode.text, timestamp=episode.timestamp))
    adapter.flush()
    ingested = time.perf_counter()
    for question in dialogue.questions:
        adapter.search(sdk.Query(question.text, LIMIT))
    ended = time.perf_counter()
    _add(cost, began, ingested, ended)


def _add(cost: Cost, began: float, ingested: float, ended: float) -> None:
    cost.ingest += ingested - began
    cost.search += ended - ingested
    cost.total += ended - began


@asynccontextmanager
async def served(target: str) -> AsyncIterator[str]:
    """The adapter's class served on a Unix socket by its own command."""
    with tempfile.TemporaryDirectory(prefix="mr") as folder:
        address = f"unix:{folder}/a.sock"
        command = [str(Path(sys.executable).parent / "memrig-adapter"), "serve", target]
        environment = os.environ | {"MEMRIG_LISTEN": address, "OMP_NUM_THREADS": "1"}
        process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)  # noqa: ASYNC220
        try:
            yield address
        finally:
            process.terminate()
            process.wait(10)


async def bare_grpc(target: str, dialogue: Dialogue, cost: Cost) -> None:
    """(b): the shortest client that ingests, flushes and searches."""
    async with served(target) as address, grpc.aio.insecure_channel(address) as channel:
        stub = rpc.MemoryAdapterStub(channel)
        await stub.Capabilities(pb.CapabilitiesRequest(), wait_for_ready=True)
        ids = Pseudonyms(0, "bare")
        began = time.perf_counter()
        call = stub.Ingest()
        for first in range(0, len(dialogue.episodes), BATCH):
            batch = [episode_message(e, ids) for e in dialogue.episodes[first : first + BATCH]]
            await call.write(pb.IngestRequest(episodes=batch))
        await call.done_writing()
        while await call.read() is not grpc.aio.EOF:
            pass
        await stub.Flush(pb.FlushRequest())
        ingested = time.perf_counter()
        for question in dialogue.questions:
            await stub.Search(pb.SearchRequest(query=question.text, limit=LIMIT))
        _add(cost, began, ingested, time.perf_counter())


async def trial(spec: TrialSpec, provider: PodProvider, folder: Path, cost: Cost) -> None:
    """(c), (d): the whole trial, as `memrig run` does it."""
    times: list[float] = []

    @asynccontextmanager
    async def measured() -> AsyncIterator[None]:
        times.append(time.perf_counter())
        try:
            yield
        finally:
            times.append(time.perf_counter())

    services = TrialServices(provider=provider, run_id="overhead", measured=measured)
    with contextlib.ExitStack() as stack:
        out = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=folder)))
        await run_trial(spec, folder / "scenarios", out, services)
        _, _, records = load_trial(out / spec.trial_id)
    ingest_ns = sum(r.ns for r in records if isinstance(r, StreamRecord | FlushRecord))
    cost.total += times[1] - times[0]
    cost.ingest += ingest_ns / 1e9
    cost.search += times[1] - times[0] - ingest_ns / 1e9
    cost.starts += [r.ready_ns / 1e9 for r in records if isinstance(r, PodRecord)]
    cost.teardowns += [r.ns / 1e9 for r in records if isinstance(r, TeardownRecord)]
    assert all(r.outcome.status == "answered" for r in records if isinstance(r, QuestionRecord))


async def measure(file: Path | None, adapter: str) -> tuple[dict[str, Cost], list[Dialogue]]:
    """Runs all ways over all dialogues."""
    dialogues = load(file)
    manifest = load_manifest(Path(adapter) / "adapter.toml")
    assert manifest.process is not None, f"{adapter} has no [process] section"
    target = manifest.process.command[-1]
    kinds = ["process"]
    choice = await choose_pod("auto")
    if choice.kind == "docker":
        kinds.append("docker")
    else:
        print(f"(d) left out: {choice.reason}", file=sys.stderr)
    refs = {kind: await resolve(adapter, kind) for kind in kinds}  # type: ignore[arg-type]
    providers = {kind: provider_for(kind) for kind in kinds}  # type: ignore[arg-type]
    costs = {name: Cost() for name in ("in-process", "bare gRPC", *kinds)}
    with tempfile.TemporaryDirectory(prefix="memrig-overhead-") as name:
        folder = Path(name)
        for dialogue in dialogues:
            in_process(target, dialogue, costs["in-process"])
            await bare_grpc(target, dialogue, costs["bare gRPC"])
            stored = Scenario(
                dialogue.scenario.scenario_id,
                [*dialogue.episodes, *dialogue.questions],
                dialogue.scenario.gold,
            )
            scenario = spool(stored, folder / "scenarios")
            for kind in kinds:
                spec = TrialSpec(
                    suite="locomo",
                    protocol="locomo-any",
                    adapter=refs[kind],
                    scenarios=(scenario,),
                    seed=2026,
                    top_k=LIMIT,
                )
                await trial(spec, providers[kind], folder, costs[kind])
    return costs, dialogues


def show(costs: dict[str, Cost], dialogues: list[Dialogue]) -> None:
    """Prints the table and the ratios."""
    turns = sum(len(d.episodes) for d in dialogues)
    questions = sum(len(d.questions) for d in dialogues)
    bare = costs["bare gRPC"]
    print(f"{len(dialogues)} dialogues, {turns} turns, {questions} searches (limit {LIMIT})\n")
    heads = (f"{'':12} {'ingest':>9} {'turns/s':>9} {'search':>9} {'per search':>11}", "total")
    print(f"{heads[0]} {heads[1]:>8} {'÷ (b)':>6} {'start':>7} {'gone':>7}")
    for name, cost in costs.items():
        start = f"{statistics.median(cost.starts):.2f} s" if cost.starts else "-"
        gone = f"{statistics.median(cost.teardowns):.2f} s" if cost.teardowns else "-"
        print(
            f"{name:12} {cost.ingest:7.2f} s {turns / cost.ingest:9.0f} {cost.search:7.2f} s "
            f"{cost.search / questions * 1e3:8.2f} ms {cost.total:6.2f} s "
            f"{cost.total / bare.total:6.2f} {start:>7} {gone:>7}"
        )
    for name in costs.keys() - {"in-process", "bare gRPC"}:
        cost = costs[name]
        print(
            f"\n{name}, over (b): {(cost.search - bare.search) / questions * 1e3:+.3f} ms a search,"
            f" {(cost.ingest - bare.ingest) / turns * 1e3:+.3f} ms a turn"
        )


def main() -> None:
    """Parses the flags, measures, prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--file", type=Path)
    parser.add_argument("--adapter", default="images/bm25")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    costs, dialogues = asyncio.run(measure(options.file, options.adapter))
    show(costs, dialogues)
    if options.json:
        options.json.write_text(json.dumps({k: asdict(v) for k, v in costs.items()}, indent=1))


if __name__ == "__main__":
    main()
