"""Time and memory of verifying an archive, by the number of its questions.

    python -m benchmarks.verify [--questions 500,1000,5000] [--write]

An archive is a run of bm25 on made worlds (longhorizon, 1,000 turns and 500 questions each), once
searched and once answered by the built-in reader, so that there is a record of models; or of a
baseline with a trial for each question (LongMemEval's sample, so often). Runs are kept below --out
and not made twice. Each archive is verified by `memrig submission verify` in a
process of its own, whose CPU time and peak memory the kernel tells (`wait4`); of --rounds the one
with the least CPU time is shown. CPU time says something on a machine that is busy with other
things, too. With --write, the table is put into docs/submissions.md.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.marked import between

import memrig
from memrig import RunConfig
from memrig.report.model import Report
from memrig.runs.lock import Machine, this_machine
from memrig.submission.keys import new_key
from memrig.submission.pack import pack

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "submissions.md"
OUT = ROOT / "runs" / "verify"
MEMRIG = Path(sys.executable).with_name("memrig")
#: Questions of one world: a seed each.
EACH = 500
#: Questions of LongMemEval's sample, each with a trial of its own.
SAMPLE, REPEATS = 8, 5
FIRST_SEED = 42
#: The aim, for the largest.
MOST_S, MOST_MB = 60, 500
#: What is run, by what it is called in the table.
Shape = Callable[[int], dict[str, object]]


def _searched(questions: int) -> dict[str, object]:
    return {**_worlds(questions), "mode": "retrieval", "protocol": "longhorizon-retrieval"}


def _read(questions: int) -> dict[str, object]:
    return {**_worlds(questions), "mode": "reader", "reader_model": "local/extractive"}


def _worlds(questions: int) -> dict[str, object]:
    """Worlds, each of a seed of its own.

    Raises:
        ValueError: so many questions do not fill worlds.
    """
    if questions < EACH or questions % EACH:
        raise ValueError(f"{questions} questions: worlds have {EACH} each")
    return {
        "adapter": str(ROOT / "images" / "bm25"),
        "pod": "process",
        "suite": "longhorizon",
        "turns": 1_000,
        "questions": EACH,
        "seeds": tuple(range(FIRST_SEED, FIRST_SEED + questions // EACH)),
    }


def _alone(questions: int) -> dict[str, object]:
    seeds = -(-questions // (SAMPLE * REPEATS))
    return {
        "adapter": "baseline:full-context",
        "suite": "longmemeval",
        "sample": True,
        "mode": "reader",
        "reader_model": "local/extractive",
        "repeats": REPEATS,
        "seeds": tuple(range(seeds)),
    }


SHAPES: Mapping[str, Shape] = {
    "searched": _searched,
    "read": _read,
    "read, a trial each": _alone,
}


@dataclass(frozen=True, slots=True)
class Verified:
    """One archive, verified: seconds, and bytes of memory at the peak."""

    name: str
    questions: int
    size: int
    wall_s: float
    cpu_s: float
    peak_bytes: int


def made(name: str, questions: int, out: Path) -> Path:
    """An archive with so many questions; made once.

    Raises:
        ValueError: a run cannot have so many.
    """
    slug = f"{name.replace(', ', '-').replace(' ', '-')}-{questions}"
    file = out / f"{slug}.memrig"
    if file.exists():
        return file
    out.mkdir(parents=True, exist_ok=True)
    key = out / "key"
    if not key.exists():
        new_key(key)
    run = out / slug
    memrig.run(RunConfig.model_validate({**SHAPES[name](questions), "out": run}))
    pack([run], file, key=key)
    return file


def asked(file: Path) -> int:
    """How many questions an archive's run settled: whole worlds and repeats may be a few more."""
    report = Report.model_validate_json((file.with_suffix("") / "report.json").read_bytes())
    return report.questions.settled


def verified(name: str, file: Path, rounds: int) -> Verified:
    """Verifies it as a user would; the best of some rounds.

    Raises:
        RuntimeError: it is not valid.
    """
    found = [_once(file) for _ in range(rounds)]
    wall, cpu, _ = min(found, key=lambda one: one[1])
    peak = max(one[2] for one in found)
    return Verified(name, asked(file), file.stat().st_size, wall, cpu, peak)


def _once(file: Path) -> tuple[float, float, int]:
    """Wall and CPU seconds, and the peak in bytes."""
    command = [str(MEMRIG), "submission", "verify", str(file)]
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{file} did not verify: exit code {process.returncode}")
    wall = time.perf_counter() - began
    return wall, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


def table(rows: list[Verified], machine: Machine, day: str) -> Iterator[str]:
    """The page's table, and what it says of the aim."""
    yield "| questions | how | archive | time | CPU time | of it a question | peak memory |"
    yield "|---|---|---|---|---|---|---|"
    for row in rows:
        yield (
            f"| {row.questions:,} | {row.name} | {row.size / 1e6:.1f} MB | {row.wall_s:.1f} s "
            f"| {row.cpu_s:.1f} s | {row.cpu_s / row.questions * 1e3:.1f} ms "
            f"| {row.peak_bytes / 1e6:.0f} MB |"
        )
    yield ""
    yield (
        f"Measured on {machine.cpu}, {machine.cores} cores, {machine.system} {machine.kernel}, "
        f"{day}: bm25 on worlds of 1,000 turns and {EACH} questions; or, with a trial each, a "
        "baseline on LongMemEval's sample. Each row is a process of its own, start and imports "
        "included. "
    ) + aim(rows)


def aim(rows: list[Verified]) -> str:
    """Whether the largest are within the aim."""
    largest = max(row.questions for row in rows)
    missed = [
        f"{row.name} takes {row.wall_s:.0f} s and {row.peak_bytes / 1e6:.0f} MB"
        for row in rows
        if row.questions == largest
        and (row.wall_s > MOST_S or row.peak_bytes > MOST_MB * 1_000_000)
    ]
    said = f"not met: {'; '.join(missed)}" if missed else "met"
    return f"The aim, {MOST_S} s and {MOST_MB} MB for {largest:,} questions, is {said}."


def numbers(text: str) -> list[int]:
    """Integers, separated by commas."""
    return [int(part) for part in text.split(",") if part]


def main() -> None:
    """Makes what is not there, verifies, prints, and writes the page if it is told to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--questions", type=numbers, default=[500, 1_000, 5_000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=OUT, help="where runs and archives are kept")
    parser.add_argument("--write", action="store_true", help="put the table into the page")
    options = parser.parse_args()
    rows = [
        verified(name, made(name, questions, options.out), options.rounds)
        for name in SHAPES
        for questions in options.questions
    ]
    text = "\n".join(table(rows, this_machine(), f"{datetime.now(UTC):%Y-%m-%d}"))
    print(text)
    if options.write:
        between(PAGE, "verify", text)


if __name__ == "__main__":
    main()
