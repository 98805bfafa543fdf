"""Synapse side by side: its published LoCoMo protocol in a bare loop, and the same under memrig.

Same version, same file, same questions, one after the other on one machine:

(a) `benchmarks/synapse_loop.py` in a virtual environment with the release that images/synapse pins;
(b) `memrig run --adapter images/synapse+published --suite locomo`, in Docker pods.

    python -m benchmarks.synapse --file locomo10.json [--dialogues 2] [--keep FOLDER] [--write]

The published rule compares evidence strings as they are; memrig repairs those of nine questions
first. Both sides are scored by both rules. Exit code 1 where they differ by more than half a
point. Expect ten minutes a side. `--keep` leaves everything in a folder, and what is finished
there is not run again; `--write` puts the tables into docs/results.md.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.marked import between

from memrig.grading.ranking import first_rank
from memrig.grading.retrieval import hits_of
from memrig.model.transcript import QuestionRecord
from memrig.report.model import Report
from memrig.suites.locomo import LABELS, repair_evidence
from memrig.trial.directory import load_trial

ROOT = Path(__file__).parents[1]
IMAGE = ROOT / "images" / "synapse"
PAGE = ROOT / "docs" / "results.md"
KS = (1, 5, 10)
#: Points of a percentage that the two sides may differ by.
TOLERANCE = 0.5

Key = tuple[str, int]
Row = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question: its category, and its evidence by either rule."""

    category: str
    exact: frozenset[str]
    repaired: frozenset[str]


@dataclass(frozen=True, slots=True)
class Side:
    """What one side found, by question, and what it took."""

    hits: Mapping[Key, tuple[str | None, ...]]
    wall_s: float
    turns_per_s: float
    search_ms: float
    peak_mib: float


def asked_of(file: Path) -> dict[Key, Asked]:
    """The questions that name evidence, by dialogue and index."""
    found: dict[Key, Asked] = {}
    for data in json.loads(file.read_bytes()):
        sessions = (v for k, v in data["conversation"].items() if re.fullmatch(r"session_\d+", k))
        known = {turn["dia_id"] for session in sessions for turn in session}
        for index, qa in enumerate(data["qa"]):
            raw = qa.get("evidence") or []
            repaired = frozenset(repair_evidence(raw, known).turns)
            if raw:
                label = LABELS["true"][qa["category"] - 1]
                found[data["sample_id"], index] = Asked(label, frozenset(raw), repaired)
    return found


def scores(
    asked: Mapping[Key, Asked], side: Side, rule: str, category: str | None = None
) -> tuple[int, Row]:
    """How many questions count, and recall at 1, 5, 10 and MRR at 10 over them, in percent."""
    ranks = []
    for key, question in asked.items():
        evidence: frozenset[str] = getattr(question, rule)
        if evidence and category in (None, question.category):
            ranks.append(first_rank(side.hits[key][: max(KS)], evidence))
    total = [float(sum(rank is not None and rank <= k for rank in ranks)) for k in KS]
    total.append(sum(1 / rank for rank in ranks if rank is not None))
    return len(ranks), tuple(100 * one / len(ranks) for one in total)


def bare(folder: Path, file: Path) -> Side:
    """Side (a): runs the loop, unless it has been run in this folder."""
    out = folder / "loop.jsonl"
    if not out.exists():
        home = folder / "home"  # Synapse writes a receipt of every recall below it
        home.mkdir(exist_ok=True)
        aside = out.with_suffix(".part")
        environment = {**os.environ, "HOME": str(home), "PYTHONHASHSEED": "0"}
        # -P: this folder's synapse.py is not the library.
        command = [str(_python(folder)), "-P", str(ROOT / "benchmarks" / "synapse_loop.py")]
        subprocess.run([*command, str(file), str(aside)], env=environment, check=True)
        aside.replace(out)
    *rows, costs = map(json.loads, out.read_text("utf-8").splitlines())
    ingest_s = sum(one["ingest_s"] for one in costs["costs"])
    return Side(
        {(row["dialogue"], row["index"]): tuple(row["hits"]) for row in rows},
        costs["wall_s"],
        sum(one["turns"] for one in costs["costs"]) / ingest_s,
        median(s for one in costs["costs"] for s in one["search_s"]) * 1e3,
        costs["peak_bytes"] / 2**20,
    )


def _python(folder: Path) -> Path:
    """The Python of a virtual environment with the release that the image pins."""
    made = folder / "venv"
    python = made / "bin" / "python"
    if not python.exists():
        venv.create(made, with_pip=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, f"synapse-ai-memory=={pinned()}"], check=True)
    return python


def pinned() -> str:
    """The release that images/synapse has locked."""
    found = re.search(r"synapse-ai-memory==(\S+)", (IMAGE / "requirements.lock").read_text("utf-8"))
    assert found
    return found[1]


def measured(folder: Path, file: Path) -> tuple[Side, Report]:
    """Side (b): runs memrig, which does not do again what is done."""
    out = folder / "run"
    if not (out / "report.json").exists():
        command = [
            str(Path(sys.executable).parent / "memrig"),
            "run",
            "--adapter",
            f"{IMAGE}+published",
        ]
        command += ["--suite", "locomo", "--protocol", "locomo-any", "--mode", "retrieval"]
        command += ["--pod", "docker", "--jobs", "1", "--file", str(file), "--out", str(out)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    report = Report.model_validate_json((out / "report.json").read_bytes())
    search = next(one.p50_ms for one in report.latencies if one.phase == "search")
    peak = report.resources.peak_memory_bytes or 0
    rate = report.ingest.episodes_per_s or 0.0
    wall_s = sum(one.wall_s for one in report.executions)
    return Side(dict(_hits(out / "trials")), wall_s, rate, search, peak / 2**20), report


def _hits(trials: Path) -> Iterator[tuple[Key, tuple[str | None, ...]]]:
    """What each question found: the one source that each hit names."""
    for folder in sorted(trials.iterdir()):
        for record in load_trial(folder)[2]:
            if isinstance(record, QuestionRecord):
                index = int(record.question_id.rpartition("#")[2])
                claims = (hit.episodes for hit in hits_of(record))
                found = tuple(claimed[0] if claimed else None for claimed in claims)
                yield (record.scenario_id, index), found


def table(asked: Mapping[Key, Asked], bare: Side, rig: Side) -> Iterator[str]:
    """The two sides by category, by the repaired rule, and overall by both rules."""
    names = [f"R@{k}" for k in KS] + ["MRR"]
    yield "| | n | " + " | ".join(f"{name} bare | memrig | Δ" for name in names) + " |"
    yield "|---|" + "---|" * (1 + 3 * len(names))
    groups: list[tuple[str, str, str | None]] = [
        (name, "repaired", name) for name in LABELS["true"]
    ]
    groups += [("all", "repaired", None), ("all, evidence as it stands", "exact", None)]
    for label, rule, category in groups:
        n, ours = scores(asked, bare, rule, category)
        _, theirs = scores(asked, rig, rule, category)
        cells = (f"{a:.2f} | {b:.2f} | {b - a:+.2f}" for a, b in zip(ours, theirs, strict=True))
        yield f"| {label} | {n:,} | " + " | ".join(cells) + " |"


def costs(bare: Side, rig: Side) -> Iterator[str]:
    """What each side took."""
    yield "| | wall time | ingest, turns/s | search p50 | peak memory |"
    yield "|---|---|---|---|---|"
    for name, side in (("bare loop", bare), ("memrig, Docker pod", rig)):
        yield (
            f"| {name} | {side.wall_s:.0f} s | {side.turns_per_s:.1f} | {side.search_ms:.2f} ms |"
            f" {side.peak_mib:.0f} MiB |"
        )


def differences(asked: Mapping[Key, Asked], bare: Side, rig: Side) -> Iterator[float]:
    """By how many points the two differ overall, by either rule."""
    for rule in ("repaired", "exact"):
        ours, theirs = (scores(asked, side, rule)[1] for side in (bare, rig))
        yield from (abs(a - b) for a, b in zip(ours, theirs, strict=True))


def page(asked: Mapping[Key, Asked], bare: Side, rig: Side, report: Report) -> str:
    """All of it as Markdown."""
    same = sum(bare.hits[key] == rig.hits[key] for key in asked)
    machine = report.machine
    day = f"{report.executions[0].started_at:%Y-%m-%d}"
    said = (
        f"synapse-ai-memory {pinned()}, LoCoMo (`{report.data.sha256[:19]}…`), measured on {day}"
        f" ({machine.cores} cores, {machine.cpu}); image `{report.adapter.digest[:19]}…`,"
        f" memrig {report.memrig_version}. Percent; Δ is memrig less the bare loop."
    )
    alike = f"The ten hits of {same:,} of {len(asked):,} questions are the same, in the same order."
    lines = [said, "", *table(asked, bare, rig), "", alike, "", *costs(bare, rig)]
    return "\n".join(lines)


def _cut(file: Path, dialogues: int | None, folder: Path) -> Path:
    """The file, or one of its first dialogues."""
    if dialogues is None:
        return file
    cut = folder / f"first-{dialogues}.json"
    cut.write_text(json.dumps(json.loads(file.read_bytes())[:dialogues]), "utf-8")
    return cut


def main() -> None:
    """Runs both sides and compares; exit code 1 where they differ."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--file", type=Path, required=True, help="locomo10.json")
    parser.add_argument("--dialogues", type=int, help="the first few alone")
    parser.add_argument("--keep", type=Path, help="work in this folder, and go on from what it has")
    parser.add_argument("--write", action="store_true", help=f"into {PAGE.relative_to(ROOT)}")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="memrig-synapse-") as scratch:
        folder: Path = chosen.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        file = _cut(chosen.file.resolve(), chosen.dialogues, folder)
        ours = bare(folder.resolve(), file)
        rig, report = measured(folder.resolve(), file)
        asked = asked_of(file)
    text = page(asked, ours, rig, report)
    print(text)
    if chosen.write:
        between(PAGE, "side by side", text)
    worst = max(differences(asked, ours, rig))
    print(f"\nthe two differ by {worst:.2f} points at most")
    sys.exit(1 if worst > TOLERANCE else 0)


if __name__ == "__main__":
    main()
