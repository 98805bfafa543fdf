"""Every question of LongMemEval by a reader and a judge whose provider fails now and then.

Three runs by the command line: (a) against a sound provider, (b) against one that answers every
20th request with a 429, a 500 or half a reply, (c) a strict replay of (b) with nobody to call. The
provider is the tests' stand-in, in a process of its own; its reader quotes the line of the
memories that fits best, its judge compares words. No key, no network, no money.

    python benchmarks/answers.py DATA/longmemeval_oracle.json [--adapter images/bm25] [--limit 50]
"""

import argparse
import asyncio
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

TESTS = Path(__file__).parents[1] / "tests"
READER, JUDGE = "gpt-4o-mini", "claude-haiku-4-5"
_PROVIDERS = ("OPENAI", "ANTHROPIC")


async def serve(every: int) -> None:
    """Is the provider until the standard input ends; then says how often it was asked."""
    sys.path.insert(0, str(TESTS))
    standins = import_module("support.llm_standin")
    scripts = import_module("support.model_runs")
    faults = (
        standins.Fault(status=429, retry_after="0.2"),
        standins.Fault(status=500),
        standins.Fault(cut="clean"),
        standins.Fault(cut="hard"),
    )
    sound = scripts.models
    script = scripts.failing(sound, every, faults) if every else sound
    async with standins.LlmStandIn(script) as standin:
        sys.stdout.write(f"{standin.anthropic_url}\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)
        sys.stdout.write(f"{len(standin.seen)}\n")


@dataclass(slots=True)
class Provider:
    """The stand-in in a process of its own. `requests` is known once it is gone."""

    url: str
    requests: int = 0

    @property
    def environment(self) -> dict[str, str]:
        """How a run finds it."""
        keys = {f"{name}_API_KEY": "bench" for name in _PROVIDERS}
        return {"OPENAI_BASE_URL": f"{self.url}/v1", "ANTHROPIC_BASE_URL": self.url, **keys}


@contextmanager
def provider(every: int) -> Iterator[Provider]:
    """A provider that fails every so many requests; 0: never."""
    command = [sys.executable, __file__, "--serve", str(every)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )
    assert process.stdout is not None
    found = Provider(process.stdout.readline().strip())
    try:
        yield found
    finally:
        said, _ = process.communicate("")
        found.requests = int(said or 0)


@dataclass(frozen=True, slots=True)
class Run:
    """One run: what it took, and what it left."""

    folder: Path
    wall_s: float
    peak_mib: float

    @property
    def grades(self) -> list[bytes]:
        """A line a question."""
        return (self.folder / "grades.jsonl").read_bytes().splitlines()

    @property
    def questions(self) -> dict[str, object]:
        """What became of them."""
        report = json.loads((self.folder / "report.json").read_bytes())
        counts: dict[str, object] = report["questions"]
        return counts

    def attempts(self) -> Counter[str]:
        """Attempts in the record, by how they ended."""
        query = "SELECT COALESCE(status, 0), error, COUNT(*) FROM attempts GROUP BY 1, 2"
        with closing(sqlite3.connect(self.folder / "llm.sqlite")) as record:
            rows = record.execute(query).fetchall()
        ended: Counter[str] = Counter()
        for status, error, count in rows:
            ended[f"{status} {error}".strip() if error else "ok"] += count
        return ended


def run(chosen: list[str], out: Path, environment: Mapping[str, str], *more: str) -> Run:
    """Runs `memrig run` to its end.

    Raises:
        RuntimeError: it failed.
    """
    bare = {k: v for k, v in os.environ.items() if not k.startswith(_PROVIDERS)}
    command = [str(Path(sys.executable).parent / "memrig"), "run", *chosen, "--out", str(out)]
    began = time.monotonic()
    with (out.parent / f"{out.name}.log").open("w+") as log:
        process = subprocess.Popen(
            [*command, "--json", *more], env={**bare, **environment}, stdout=log, stderr=log
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            log.seek(0)
            raise RuntimeError(log.read()[-2000:])
    return Run(out, time.monotonic() - began, usage.ru_maxrss / 1024)


def differences(one: Run, other: Run) -> dict[str, object]:
    """The questions whose grades differ, with the fields in which they do."""
    found: dict[str, object] = {}
    for left, right in zip(map(json.loads, one.grades), map(json.loads, other.grades), strict=True):
        if left != right:
            fields = [name for name in left if left[name] != right.get(name)]
            pairs = {name: (left[name], right.get(name)) for name in fields}
            found[f"differs: {left['question_id']}"] = pairs
    return found


def compare(arguments: argparse.Namespace, folder: Path) -> dict[str, object]:
    """Makes the three runs and holds them against each other."""
    chosen = ["--adapter", arguments.adapter, "--suite", "longmemeval", "--variant", "oracle"]
    chosen += ["--file", str(arguments.file), "--mode", "reader"]
    chosen += ["--reader-model", READER, "--judge-model", JUDGE]
    if arguments.limit:
        chosen += ["--limit", str(arguments.limit)]
    with provider(0) as sound:
        plain = run(chosen, folder / "plain", sound.environment)
    with provider(arguments.every) as shaky:
        faulty = run(chosen, folder / "faulty", shaky.environment)
    record = str(folder / "faulty" / "llm.sqlite")
    replayed = run(
        chosen, folder / "replayed", {}, "--llm", "replay-strict", "--llm-record", record
    )
    wrong = differences(plain, faulty)
    attempts = faulty.attempts()
    return {
        "adapter": arguments.adapter,
        "questions": faulty.questions["settled"],
        "graded": faulty.questions["graded"],
        "wrong grades": len(wrong),
        **wrong,
        "requests that reached the provider": shaky.requests,
        "attempts in the record": attempts.total(),
        "how they ended": dict(sorted(attempts.items())),
        "replay identical": replayed.grades == faulty.grades,
        "wall seconds (sound, failing, replayed)": [
            round(one.wall_s, 1) for one in (plain, faulty, replayed)
        ],
        "peak MiB of the rig (sound, failing, replayed)": [
            round(one.peak_mib) for one in (plain, faulty, replayed)
        ],
    }


def main() -> None:
    """Prints the comparison; exit code 1 where a grade is wrong or the replay differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, nargs="?", help="longmemeval_oracle.json")
    parser.add_argument("--adapter", default="baseline:oracle")
    parser.add_argument("--every", type=int, default=20, help="a fault each so many requests")
    parser.add_argument("--limit", type=int, default=0, help="questions; 0: all")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    parser.add_argument("--keep", type=Path, help="leave the runs in this folder")
    parser.add_argument("--serve", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve is not None:
        asyncio.run(serve(arguments.serve))
        return
    if arguments.file is None:
        parser.error("give LongMemEval's file")
    with tempfile.TemporaryDirectory(prefix="memrig-answers-") as scratch:
        folder = arguments.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        figures = compare(arguments, folder)
    for name, value in figures.items():
        print(f"{name:48} {value}")
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1) + "\n")
    sound = figures["wrong grades"] == 0 and figures["replay identical"] is True
    same = figures["requests that reached the provider"] == figures["attempts in the record"]
    sys.exit(0 if sound and same else 1)


if __name__ == "__main__":
    main()
