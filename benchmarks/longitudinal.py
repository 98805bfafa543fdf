"""The longitudinal suite end to end: an oracle, bm25, a memory that keeps nothing, one that dumps.

Each is a real `memrig run` in mode agent, Docker pods included. The model is the tests' stand-in
with a scripted agent, in a process of its own, that answers only from what its tools returned. Then
the oracle again with 0 to 100 % of its evidence removed. No key, no network, no money.

    python benchmarks/longitudinal.py [--variant 120] [--jobs 4] [--pod process] [--file DATA.json]
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parents[1]
TESTS = ROOT / "tests"
MODEL = "gpt-4o-mini"
DUMP = "dump-everything"
SYSTEMS = ("baseline:oracle", "images/bm25", "images/none", DUMP)
SERIES = ("baseline:oracle-0", "baseline:oracle-25", "baseline:oracle-50", "baseline:oracle-75")
_PROVIDERS = ("OPENAI", "ANTHROPIC")
_KINDS = ("evidence_grounding", "evidence_coverage", "budget_compliance", "insight_depth")


async def serve() -> None:
    """Is the agent until the standard input ends; then says how often it was asked."""
    sys.path.insert(0, str(TESTS))
    standins = import_module("support.llm_standin")
    script = import_module("support.scripted_agent").series_agent
    async with standins.LlmStandIn(script) as standin:
        sys.stdout.write(f"{standin.openai_url}\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)


@contextmanager
def provider() -> Iterator[dict[str, str]]:
    """The stand-in in a process of its own: how a run finds it."""
    process = subprocess.Popen(
        [sys.executable, __file__, "--serve"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    )
    assert process.stdout is not None
    try:
        yield {"OPENAI_BASE_URL": process.stdout.readline().strip(), "OPENAI_API_KEY": "bench"}
    finally:
        process.communicate("")


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run: what it was of, how long it took, and its report."""

    system: str
    wall_s: float
    report: Mapping[str, object]

    def value(self, metric: str, group: str = "overall") -> float | None:
        """One metric's value; None where it was not measured."""
        rows = self.report["metrics"]
        assert isinstance(rows, list)
        found = (r["value"] for r in rows if r["metric"] == metric and r["group"] == group)
        return next(found, None)

    @property
    def composite(self) -> Mapping[str, object]:
        """The composite with its rows."""
        found = self.report["composite"]
        assert isinstance(found, dict)
        return found

    @property
    def advantage(self) -> float | None:
        """longitudinal_advantage."""
        rows = self.composite["rows"]
        assert isinstance(rows, list)
        found: float | None = next(
            r["value"] for r in rows if r["metric"] == "longitudinal_advantage"
        )
        return found

    @property
    def closed(self) -> list[str]:
        """The gates that closed."""
        gates = self.composite["gates"]
        assert isinstance(gates, list)
        return [gate["metric"] for gate in gates if gate["closed"]]

    @property
    def calls(self) -> int:
        """Calls of models."""
        costs = self.report["costs"]
        assert isinstance(costs, list)
        return sum(int(cost["calls"]) for cost in costs)

    @property
    def exceeded(self) -> dict[str, int]:
        """Questions by the limit that ended them."""
        timeline = self.report["timeline"]
        assert isinstance(timeline, dict)
        found: dict[str, int] = {}
        for point in timeline["checkpoints"]:
            for kind, number in point["exceeded"].items():
                found[kind] = found.get(kind, 0) + number
        return found


def run(
    system: str, chosen: Sequence[str], folder: Path, environment: Mapping[str, str], pod: str
) -> Run:
    """Runs `memrig run` to its end.

    Raises:
        RuntimeError: it failed.
    """
    out = folder / system.replace(":", "-").replace("/", "-")
    adapter = str(_dumping(folder)) if system == DUMP else system
    of_pod = [] if adapter.startswith("baseline:") else ["--pod", pod]
    bare = {k: v for k, v in os.environ.items() if not k.startswith(_PROVIDERS)}
    command = [str(Path(sys.executable).parent / "memrig"), "run", "--suite", "longitudinal"]
    command += ["--adapter", adapter, *of_pod, *chosen, "--out", str(out), "--json"]
    began = time.monotonic()
    done = subprocess.run(
        command, env={**bare, **environment}, capture_output=True, text=True, cwd=ROOT, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{system}: exit code {done.returncode}\n{done.stderr[-2000:]}")
    wall_s = time.monotonic() - began
    return Run(system, wall_s, json.loads((out / "report.json").read_bytes()))


def _dumping(folder: Path) -> Path:
    """The folder of the adapter that returns all it holds, whatever is asked."""
    sys.path.insert(0, str(TESTS))
    made: Path = import_module("support.lying").lying(folder, "everything")
    return made


def show(runs: Sequence[Run]) -> None:
    """A line a run."""
    print("| system | composite | ungated | gates closed | advantage | fact recall | by type |")
    print("|---|---|---|---|---|---|---|")
    for each in runs:
        numbers = (
            each.composite["value"],
            each.composite["ungated"],
            ", ".join(each.closed) or "none",
            each.advantage,
            each.value("fact_recall"),
        )
        by_kind = (f"{kind} {_number(each.value('fact_recall', kind))}" for kind in _types(each))
        print(f"| {each.system} | {' | '.join(map(_number, numbers))} | {', '.join(by_kind)} |")
    print()
    print("| system | grounding | coverage | compliance | depth | limits hit | calls | wall |")
    print("|---|---|---|---|---|---|---|---|")
    for each in runs:
        values = [_number(each.value(kind)) for kind in _KINDS]
        hit = ", ".join(f"{kind} {number}" for kind, number in each.exceeded.items()) or "none"
        print(
            f"| {each.system} | {' | '.join(values)} | {hit} | {each.calls} | {each.wall_s:.1f} s |"
        )
    print()


def _types(each: Run) -> list[str]:
    timeline = each.report["timeline"]
    assert isinstance(timeline, dict)
    return list(timeline["categories"])


def _number(value: object) -> str:
    if value is None:
        return "n/a"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def problems(runs: Mapping[str, Run]) -> Iterator[str]:
    """What is not as it should be."""
    values = {name: each.composite["value"] for name, each in runs.items()}
    oracle, bm25 = values["baseline:oracle"], values["images/bm25"]
    assert isinstance(oracle, float)
    assert isinstance(bm25, float)
    for name in ("images/none", DUMP):
        other = values[name]
        if not (isinstance(other, float) and oracle > bm25 > other):
            yield f"the composites are not in order: {values}"
    if "evidence_grounding" not in runs["images/none"].closed:
        yield "images/none is not stopped by the gate of grounding"
    if "budget_compliance" not in runs[DUMP].closed or "payload_bytes" not in runs[DUMP].exceeded:
        yield "the dump is not stopped by its payload"
    rising = [runs[name].advantage for name in (*SERIES, "baseline:oracle")]
    if any(one is None or other is None or one >= other for one, other in pairwise(rising)):
        yield f"longitudinal_advantage does not rise with the evidence: {rising}"


def main() -> None:
    """Prints the tables; exit code 1 where something is not as it should be."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--variant", default="40", help="of the shipped dataset: 40 or 120")
    parser.add_argument("--file", type=Path, help="other data")
    parser.add_argument("--jobs", default="4")
    parser.add_argument("--budget", default="standard")
    parser.add_argument("--pod", default="docker", choices=["docker", "process"])
    parser.add_argument("--keep", type=Path, help="leave the runs in this folder")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        asyncio.run(serve())
        return
    data = ["--file", str(arguments.file)] if arguments.file else ["--variant", arguments.variant]
    chosen = [*data, "--mode", "agent", "--reader-model", MODEL]
    chosen += ["--jobs", arguments.jobs, "--budget", arguments.budget]
    runs: dict[str, Run] = {}
    with tempfile.TemporaryDirectory(prefix="memrig-longitudinal-") as scratch:
        folder = arguments.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        with provider() as environment:
            for system in (*SYSTEMS, *SERIES):
                runs[system] = run(system, chosen, folder, environment, arguments.pod)
                print(f"{system}: {runs[system].wall_s:.1f} s", file=sys.stderr)
    show([runs[name] for name in SYSTEMS])
    show([runs[name] for name in (*SERIES, "baseline:oracle")])
    wrong = list(problems(runs))
    print("\n".join(wrong) or "as it should be")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
