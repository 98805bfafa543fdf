"""The conformance matrix: every image that memrig ships, every check.

``python -m benchmarks.conformance [--only IMAGE …]`` runs `memrig conformance --slow` on each image
in Docker, keeps the reports below ``runs/conformance``, and writes docs/conformance-matrix.md
between its markers. What is not run anew stands as it was kept. Models that need a key are those
of the tests' stand-in, and so are the two containers of cems that a registry has: what the contract
asks does not depend on what a model says.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

from benchmarks.marked import between
from benchmarks.standin import provider, subjects

from memrig.conformance import ConformanceReport
from memrig.conformance.catalogue import CHECKS
from memrig.runs.lock import this_machine

ROOT = Path(__file__).parents[1]
CEMS = "images/cems"
PAGE = ROOT / "docs" / "conformance-matrix.md"
KEPT = ROOT / "runs" / "conformance"
_MARKS = {"passed": "✓", "failed": "✗", "error": "!", "not_applicable": "–"}
_PATIENCE_S = 3600


def check(adapter: str) -> None:
    """Runs all checks on one adapter, and keeps the report or the reason why there is none."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = _with_standin(Path(scratch)) if adapter == CEMS else adapter
        done = subprocess.run(
            [
                *(str(Path(sys.executable).with_name("memrig")), "conformance", str(folder)),
                *("--pod", "docker", "--slow", "--json"),
            ],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=_PATIENCE_S,
            check=False,
        )
    KEPT.mkdir(parents=True, exist_ok=True)
    stamp = {"date": datetime.now(UTC).strftime("%Y-%m-%d"), "adapter": adapter}
    if done.stdout.lstrip().startswith("{"):
        stamp["report"] = done.stdout
    else:
        stamp["reason"] = " ".join(done.stderr.split())[-400:] or f"exit code {done.returncode}"
    _file(adapter).write_text(json.dumps(stamp), "utf-8")


def _with_standin(into: Path) -> Path:
    folder: Path = import_module("support.cems_pod").standin_folder(into)
    return folder


def _file(adapter: str) -> Path:
    return KEPT / f"{adapter.removeprefix('images/').replace('+', '-')}.json"


def table(adapters: list[str]) -> str:
    """Checks down, images across; below it, what failed and what could not be had."""
    kept = {name: json.loads(_file(name).read_text()) for name in adapters if _file(name).exists()}
    reports = {
        name: ConformanceReport.model_validate_json(entry["report"])
        for name, entry in kept.items()
        if "report" in entry
    }
    heads = [_head(name) for name in reports]
    lines = [f"| check | {' | '.join(heads)} |", "|---" * (len(heads) + 1) + "|"]
    for item in CHECKS:
        cells = [_cell(report, item.id) for report in reports.values()]
        lines.append(f"| `{item.id}` | {' | '.join(cells)} |")
    totals = [f"{r.counts['passed']} of {_asked(r)}" for r in reports.values()]
    lines.append(f"| **passed of those that apply** | {' | '.join(totals)} |")
    dates = sorted({entry["date"] for entry in kept.values()})
    machine = this_machine()
    head = (
        f"{len(CHECKS)} checks, {len(reports)} adapters, Docker, {' and '.join(dates)}; "
        f"{machine.cores} cores, {machine.memory_bytes / 1e9:.0f} GB. ✓ passed, – does not apply, "
        "✗ failed, ! the check could not be carried out.\n"
    )
    return "\n".join([head, *lines, "", *_failures(reports), *_missing(kept)])


def _head(name: str) -> str:
    short = name.removeprefix("images/")
    return f"{short} (stand-in)" if name == CEMS else short


def _cell(report: ConformanceReport, check_id: str) -> str:
    found = [_MARKS[result.status] for result in report.results if result.id == check_id]
    return found[0] if found else ""


def _asked(report: ConformanceReport) -> int:
    return len(report.results) - report.counts["not_applicable"]


def _failures(reports: dict[str, ConformanceReport]) -> list[str]:
    return [
        f"- {name}: `{result.id}` {result.message}"
        for name, report in reports.items()
        for result in report.results
        if result.status in {"failed", "error"}
    ]


def _missing(kept: dict[str, dict[str, str]]) -> list[str]:
    return [
        f"- {name} was not checked: {entry['reason']}"
        for name, entry in kept.items()
        if "reason" in entry
    ]


def main() -> None:
    """Checks what was asked for, and writes the page of all that is kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", metavar="ADAPTER", help="such as images/bm25")
    parser.add_argument("--page-only", action="store_true", help="run nothing, write the page")
    options = parser.parse_args()
    adapters = subjects()
    with provider():
        for adapter in [] if options.page_only else options.only or adapters:
            print(f"checking {adapter}", flush=True)
            check(adapter)
            between(PAGE, "matrix", table(adapters))
    between(PAGE, "matrix", table(adapters))


if __name__ == "__main__":
    main()
