"""Speed, memory and make-up of the worlds of the long-horizon suite.

Run as ``python benchmarks/longhorizon.py [--turns 5000,100000] [--rounds 3] [--gates 42,123,…]``.
Each size is made in a process of its own, so that its peak (`ru_maxrss`) is its own: the log is
simulated into a temporary file, then all turns are put into words, one at a time. The best of the
rounds is shown; CPU time (`process_time`) also says something on a machine that is busy with other
things. The gates are those of `memrig.suites.longhorizon.gates`, at 5,000 turns.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator

from memrig.suites.longhorizon.gates import Figures, gates, survey
from memrig.suites.longhorizon.lexicon import LEXICON
from memrig.suites.longhorizon.log import EventLog
from memrig.suites.longhorizon.render import told
from memrig.suites.longhorizon.world import simulate

SEED, STANDARD = 42, 5_000
Measured = dict[str, float]


def peak() -> float:
    """This process's peak in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measured(turns: int) -> Measured:
    """One world, in seconds and MiB."""
    before, began, used = peak(), time.perf_counter(), time.process_time()
    with EventLog.create() as log:
        simulate(log, LEXICON, SEED, turns)
        simulated = time.perf_counter()
        characters = sum(len(turn.text) for turn in told(log, LEXICON))
        ended = time.perf_counter()
    return {
        "cpu": time.process_time() - used,
        "simulate": simulated - began,
        "tell": ended - simulated,
        "before": before,
        "peak": peak(),
        "characters": characters,
    }


def in_a_child(turns: int) -> Measured:
    """The same, in a process of its own."""
    command = [sys.executable, __file__, "--child", str(turns)]
    found = subprocess.run(command, check=True, capture_output=True, text=True)
    measures: Measured = json.loads(found.stdout)
    return measures


def speeds(sizes: list[int], rounds: int) -> Iterator[str]:
    """The table of speed and memory."""
    yield (
        "| turns | simulate | put into words | turns/s | turns/s of CPU time | peak "
        "| of it before the first turn | text |"
    )
    yield "|---|---|---|---|---|---|---|---|"
    for turns in sizes:
        runs = [in_a_child(turns) for _ in range(rounds)]
        best = min(runs, key=lambda run: run["cpu"])
        whole = best["simulate"] + best["tell"]
        top = max(run["peak"] for run in runs)
        yield (
            f"| {turns:,} | {best['simulate']:.2f} s | {best['tell']:.2f} s "
            f"| {turns / whole:,.0f} | {turns / best['cpu']:,.0f} | {top:.0f} MiB "
            f"| {best['before']:.0f} MiB | {best['characters'] / 1e6:.1f} MB |"
        )


def figures(seed: int) -> Figures:
    """What a standard world is like."""
    with EventLog.create() as log:
        simulate(log, LEXICON, seed, STANDARD)
        return survey(log, (turn.text for turn in told(log, LEXICON)))


def makeup(seeds: list[int]) -> Iterator[str]:
    """The table of gates, a column for each seed."""
    found = [gates(figures(seed)) for seed in seeds]
    yield "| gate | bounds | " + " | ".join(f"seed {seed}" for seed in seeds) + " |"
    yield "|---|---|" + "---|" * len(seeds)
    for row in zip(*found, strict=True):
        cells = [f"{gate.figure:.3f}" + ("" if gate.met else " MISSED") for gate in row]
        yield f"| {row[0].name} | {row[0].least:g} to {row[0].most:g} | " + " | ".join(cells) + " |"


def numbers(text: str) -> list[int]:
    """A list of integers, separated by commas."""
    return [int(part) for part in text.split(",") if part]


def main() -> None:
    """Parses the flags, measures, prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=numbers, default=[STANDARD, 100_000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--gates", type=numbers, default=[42, 123, 456, 789, 1001])
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    flags = parser.parse_args()
    if flags.child:
        print(json.dumps(measured(flags.child)))
        return
    for line in speeds(flags.turns, flags.rounds):
        print(line, flush=True)
    print()
    for line in makeup(flags.gates) if flags.gates else ():
        print(line, flush=True)


if __name__ == "__main__":
    main()
