"""Every image through every suite that takes no key, into one page of tables.

    python -m benchmarks.results --data FOLDER [--only images/bm25] [--suites practical,locomo]

(`make results ARGS="--data FOLDER"`.) A cell is one `memrig run` in Docker pods, one scenario at a
time, so that latencies are a memory system's own. What is finished in `--out` is not run again, and
what was interrupted goes on; a cell that takes longer than `--minutes` says so, and so does one
that cannot be run. Images that want a model which takes a key run their variant without one, if
they have it. `--page-only` runs nothing. The tables go into docs/results.md.
"""

import argparse
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from benchmarks.marked import between
from benchmarks.results_page import Shown, tables
from benchmarks.results_suites import SUITES, Suite
from pydantic import BaseModel

from memrig.errors import MemrigError
from memrig.model.manifest import AdapterManifest, load_manifest, split_variant
from memrig.report.model import Report

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "results.md"
OUT = ROOT / "runs" / "results"
#: What a run needs to let go of its pods once it is interrupted.
GRACE_S = 120


class Cell(BaseModel):
    """What became of a cell, kept beside its run."""

    state: Literal["done", "late", "failed"]
    minutes: float
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """An image as it is run: what `--adapter` takes, what is said of it, and why it is not run.

    `wants_key`: a key for its models is all that is missing.
    """

    name: str
    adapter: str
    note: str = ""
    refused: str = ""
    wants_key: bool = False


def entries(only: Sequence[str]) -> Iterator[Entry]:
    """The images asked for, or all there are.

    Raises:
        DataError: a manifest does not stand.
        UsageError: an image has no such variant.
    """
    folders = sorted(path.parent for path in (ROOT / "images").glob("*/adapter.toml"))
    for adapter in only or [f"images/{folder.name}" for folder in folders]:
        folder, variant = split_variant(adapter)
        manifest = load_manifest(ROOT / folder / "adapter.toml")
        yield entry(folder, manifest.as_variant(variant) if variant else manifest, variant)


def entry(folder: str, manifest: AdapterManifest, variant: str = "") -> Entry:
    """How an image is run without a key: as it is, else its first variant that takes none."""
    adapter = f"{folder}+{variant}" if variant else folder
    if manifest.modes and not {"retrieval", "reader"} & set(manifest.modes):
        return Entry(manifest.name, adapter, refused="it only answers: nothing to search")
    if _keyless(manifest.models):
        built_in = ", ".join(manifest.models)
        return Entry(manifest.name, adapter, f"with {built_in}" if built_in else "")
    for name, other in manifest.variants.items():
        chosen = manifest.as_variant(name)
        if other.models is not None and _keyless(chosen.models):
            note = f"variant `{name}`: {other.description or 'no model that takes a key'}"
            return Entry(chosen.name, f"{folder}+{name}", note)
    why = f"it asks for {', '.join(manifest.models)}, which takes a key"
    containers = (manifest.image, *manifest.services.values())
    if named := [one.reference for one in containers if one.reference]:
        why += f", and stands on {', '.join(named)}"
    return Entry(manifest.name, adapter, refused=why, wants_key=not named)


def _keyless(models: Sequence[str]) -> bool:
    return all(model.startswith("local/") for model in models)


def run_all(entry: Entry, suites: Sequence[Suite], options: argparse.Namespace) -> None:
    """Runs what is left to run of an image; building it counts in no cell's time."""
    left = [suite for suite in suites if _left(entry, suite, options)]
    if not left:
        return
    code, said = memrig(["image", "build", split_variant(entry.adapter)[0]], None)
    for suite in left:
        folder: Path = options.out / entry.name / suite.name
        folder.mkdir(parents=True, exist_ok=True)
        if code:
            cell = Cell(state="failed", minutes=0, reason=said or f"exit code {code}")
        else:
            cell = run(entry, suite, folder, options)
        (folder / "cell.json").write_text(cell.model_dump_json(indent=1), "utf-8")
        took = f"{cell.state:7} {cell.minutes:6.1f} min"
        print(f"{entry.name:20} {suite.name:14} {took}  {cell.reason}", flush=True)


def _left(entry: Entry, suite: Suite, options: argparse.Namespace) -> bool:
    if entry.refused or suite.missing(options.data):
        return False
    before = cell_of(options.out / entry.name / suite.name)
    if before is None or options.again:
        return True
    longer = before.state == "late" and before.minutes < options.minutes
    return before.state == "failed" or longer


def run(entry: Entry, suite: Suite, folder: Path, options: argparse.Namespace) -> Cell:
    """Runs a cell and says what became of it."""
    data = suite.flags(options.data, folder)
    command = ["run", "--adapter", entry.adapter, "--pod", "docker", "--jobs", "1", *data]
    began = time.monotonic()
    code, said = memrig([*command, "--out", str(folder / _fresh(folder, options))], options.minutes)
    if code is None:
        return Cell(state="late", minutes=options.minutes, reason=_progress(folder / "run"))
    minutes = (time.monotonic() - began) / 60
    if code:
        return Cell(state="failed", minutes=minutes, reason=said or f"exit code {code}")
    return Cell(state="done", minutes=minutes)


def _fresh(folder: Path, options: argparse.Namespace) -> str:
    """The run's folder; with `--again`, what is in it is set aside first."""
    target = folder / "run"
    if options.again and target.exists():
        target.rename(folder / f"run-{int(target.stat().st_mtime)}")
    return target.name


def cell_of(folder: Path) -> Cell | None:
    """What became of a cell; None if it was never run."""
    path = folder / "cell.json"
    return Cell.model_validate_json(path.read_bytes()) if path.exists() else None


def memrig(arguments: Sequence[str], minutes: float | None) -> tuple[int | None, str]:
    """Runs memrig; returns its exit code, None where it took too long, and its error in a line."""
    command = [str(Path(sys.executable).parent / "memrig"), *arguments]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            _, errors = process.communicate(timeout=minutes and minutes * 60)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            try:
                process.communicate(timeout=GRACE_S)
            except subprocess.TimeoutExpired:
                process.terminate()
            return None, ""
    return process.returncode, error_in(errors)


def error_in(said: str) -> str:
    """What an `error:` says, without its fix and without this machine's folders."""
    _, found, rest = said.partition("error: ")
    lines: list[str] = []
    for line in rest.splitlines() if found else []:
        if line.strip().startswith("fix:"):
            break
        lines.append(line.strip())
    return " ".join(lines).strip().replace(f"{ROOT}/", "")


def _progress(run: Path) -> str:
    """How far an unfinished run came."""
    planned = len(list((run / "specs").glob("*"))) if run.exists() else 0
    done = [path for path in (run / "trials").glob("*") if path.suffix != ".partial"]
    return f"{len(done)} of {planned} trials" if planned else "it had not been planned"


def shown(entry: Entry, suite: Suite, options: argparse.Namespace) -> Shown:
    """What the page says of a cell."""
    folder: Path = options.out / entry.name / suite.name
    cell = cell_of(folder)
    if cell and cell.state == "done":
        report = Report.model_validate_json((folder / "run" / "report.json").read_bytes())
        return Shown(entry.name, suite, report=report, note=entry.note)
    why = entry.refused or suite.missing(options.data)
    if cell and cell.state == "late":
        why = f"did not finish in {cell.minutes:.0f} min ({cell.reason})"
    elif cell:
        why = f"could not be run: {cell.reason}"
    return Shown(entry.name, suite, why=why or "not run yet", note=entry.note)


def main() -> None:
    """Runs what is left to run, then writes the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, help="the folder with LoCoMo's and LongMemEval's file")
    parser.add_argument("--only", action="append", default=[], help="an image; repeatable")
    parser.add_argument("--suites", default=",".join(SUITES), help="some, separated by commas")
    parser.add_argument(
        "--minutes", type=float, default=30, help="the longest that a cell may take"
    )
    parser.add_argument("--out", type=Path, default=OUT, help="where the runs are kept")
    parser.add_argument("--again", action="store_true", help="run what is done, once more")
    parser.add_argument("--page-only", action="store_true", help="run nothing")
    parser.add_argument("--page", type=Path, default=PAGE)
    options = parser.parse_args()
    names = [name for name in options.suites.split(",") if name]
    if unknown := [name for name in names if name not in SUITES]:
        parser.error(f"--suites {unknown[0]}: known are {', '.join(SUITES)}")
    try:
        chosen, everything = list(entries(options.only)), list(entries(()))
    except MemrigError as error:
        sys.exit(f"error: {error}")
    for one in [] if options.page_only else chosen:
        run_all(one, [SUITES[name] for name in names], options)
    listed = everything + [one for one in chosen if one not in everything]
    cells = [shown(one, suite, options) for suite in SUITES.values() for one in listed]
    between(options.page, "results", tables(cells))


if __name__ == "__main__":
    main()
