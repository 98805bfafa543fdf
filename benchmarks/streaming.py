"""Memory and time of planning LongMemEval: a synthetic file of S's size, read, spooled, limited.

Run as ``python benchmarks/streaming.py [--megabytes 300] [--file FILE]``. The peak is that of this
process from its start (`ru_maxrss`), with all that `memrig run` imports for planning.
"""

import argparse
import json
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import memrig.runs.plan  # noqa: F401  what planning imports counts, too
from memrig.suites.base import SuiteOptions
from memrig.suites.longmemeval import SUITE
from memrig.suites.sampling import catalog, pool, stratified
from memrig.suites.spool import spool

T = TypeVar("T")
SESSIONS, TURNS = 48, 10
TYPES = ("single-session-user", "multi-session", "temporal-reasoning", "knowledge-update")
VOCABULARY = [f"{a}{b}{c}" for a in "bdfklmnprst" for b in "aeiou" for c in ("la", "nd", "rs", "t")]


def questions(megabytes: int, seed: int) -> Iterator[str]:
    """Records of about 0.55 MB each, as JSON, until there are enough."""
    rng = random.Random(seed)  # noqa: S311
    written, number = 0, 0
    while written < megabytes * 1_000_000:
        record = json.dumps(_record(rng, number))
        written += len(record)
        number += 1
        yield record


def _record(rng: random.Random, number: int) -> dict[str, object]:
    evidence = rng.randrange(SESSIONS)
    ids = [f"{'answer_' if n == evidence else ''}{number}_{n}" for n in range(SESSIONS)]
    return {
        "question_id": f"q{number}{'_abs' if number % 17 == 0 else ''}",
        "question_type": TYPES[number % len(TYPES)],
        "question": " ".join(rng.choices(VOCABULARY, k=12)),
        "answer": rng.choice(VOCABULARY),
        "question_date": "2023/06/01 (Thu) 10:00",
        "haystack_dates": [f"2023/05/{n % 28 + 1:02d} (Mon) 08:{n:02d}" for n in range(SESSIONS)],
        "haystack_session_ids": ids,
        "haystack_sessions": [_session(rng, n == evidence) for n in range(SESSIONS)],
        "answer_session_ids": [ids[evidence]],
    }


def _session(rng: random.Random, evidence: bool) -> list[dict[str, object]]:
    turns: list[dict[str, object]] = []
    for n in range(TURNS):
        text = " ".join(rng.choices(VOCABULARY, k=80 if n % 2 == 0 else 370))
        turns.append({"role": "assistant" if n % 2 else "user", "content": text})
        if evidence:
            turns[-1]["has_answer"] = n == 2
    return turns


def generate(path: Path, megabytes: int) -> None:
    """Writes the file, a record at a time."""
    with path.open("w", encoding="utf-8") as file:
        file.write("[")
        for number, record in enumerate(questions(megabytes, seed=2026)):
            file.write(("," if number else "") + record)
        file.write("]")


def timed(what: str, step: Callable[[], T]) -> T:
    """Runs a step and prints how long it took and the peak so far."""
    began = time.perf_counter()
    result = step()
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{what:44} {seconds:7.1f} s   peak {peak:5.0f} MiB")
    return result


def main() -> None:
    """Parses the flags, generates, measures, prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=300)
    parser.add_argument("--file", type=Path, help="a LongMemEval file instead of a synthetic one")
    flags = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="memrig-streaming-") as name:
        folder = Path(name)
        path = flags.file or folder / "synthetic.json"
        timed("start", lambda: None)
        if not flags.file:
            timed("generate", lambda: generate(path, flags.megabytes))
        print(f"{path.name}: {path.stat().st_size / 1e6:.0f} MB", file=sys.stderr)
        options = SuiteOptions("longmemeval-compatible", file=path)
        timed("hash and check (source)", lambda: SUITE.source(options))
        found = timed("catalog for --limit", lambda: catalog(SUITE.scenarios(options)))
        timed("draw 50", lambda: stratified(found, 50, 2026))
        plain, pooled = folder / "plain", folder / "pooled"
        refs = timed("spool", lambda: [spool(s, plain) for s in SUITE.scenarios(options)])
        timed("pool and spool", lambda: spool(pool(SUITE.scenarios(options)), pooled))
        print(f"{len(refs)} questions, {sum(ref.episodes for ref in refs)} episodes")


if __name__ == "__main__":
    main()
