"""Cheats with what was counted: grades, and every kind of figure in a report."""

import json
from collections.abc import Callable

from support.submissions import Json
from support.tampering import Cheat, Tampering


def _grade(forgery: Tampering) -> None:
    path = f"{forgery.run}/grades.jsonl"
    lines = forgery.lines(path)
    scores = next(line["scores"] for line in lines if 0.0 in line["scores"].values())
    scores |= dict.fromkeys((name for name, score in scores.items() if score == 0.0), 1.0)
    forgery.put_lines(path, lines)


def _grade_left_out(forgery: Tampering) -> None:
    path = f"{forgery.run}/grades.jsonl"
    forgery.put_lines(path, forgery.lines(path)[:-1])


def _in_report(change: Callable[[Json], object]) -> Callable[[Tampering], None]:
    """Changes the report, which stays as the rig writes it."""

    def forge(forgery: Tampering) -> None:
        path = f"{forgery.run}/report.json"
        report = forgery.json(path)
        before = json.dumps(report)
        change(report)
        assert json.dumps(report) != before
        forgery.files[path] = json.dumps(report, indent=1).encode() + b"\n"

    return forge


def _interval(report: Json) -> None:
    metric = report["metrics"][0]
    middle = metric["value"]
    metric |= {name: middle for name in ("low", "high") if name in metric}


def _p50(report: Json) -> None:
    latency = next(one for one in report["latencies"] if one["phase"] == "search")
    latency["p50_ms"] = round(latency["p50_ms"] / 2, 3)


def _cost(report: Json) -> None:
    row = next(row for row in report["costs"] if row["usd"])
    row["usd"] = 0.0


def _value(report: Json) -> None:
    report["metrics"][0]["value"] = min(1.0, report["metrics"][0]["value"] + 0.05)


def _last_digit(report: Json) -> None:
    report["metrics"][0]["value"] += 1e-15


def _audits(report: Json) -> None:
    row = report["audits"]["rows"][0]
    row["verdict"] = "n/a" if row["verdict"] == "passed" else "passed"


def _settled(report: Json) -> None:
    report["questions"] |= {"planned": 5000, "settled": 5000, "graded": 5000}


CHEATS = tuple(
    Cheat(name, kind, what, gain, caught, forge, rescored=False)
    for name, kind, what, gain, caught, forge in (
        ("grade-higher", "retrieval", "grades a question higher",
         "a higher mean", "grades.recomputed", _grade),
        ("grade-dropped", "retrieval", "leaves a question's grade out",
         "a higher mean", "grades.recomputed", _grade_left_out),
        ("mean-higher", "retrieval", "reports a higher mean",
         "a higher place", "report.recomputed", _in_report(_value)),
        ("mean-last-digit", "retrieval", "changes the last digit of a mean",
         "a tie broken", "report.recomputed", _in_report(_last_digit)),
        ("interval-narrow", "retrieval", "reports an interval of no width",
         "a difference that looks significant", "report.recomputed", _in_report(_interval)),
        ("latency-p50", "retrieval", "halves the median latency in the report",
         "a system that looks fast", "report.recomputed", _in_report(_p50)),
        ("cost-nothing", "judged", "reports that a model cost nothing",
         "a system that looks cheap", "report.recomputed", _in_report(_cost)),
        ("memory-peak", "retrieval", "lowers the peak of memory in the report",
         "a system that looks thrifty", "report.recomputed",
         _in_report(lambda report: report["resources"].update(peak_memory_bytes=1_000_000))),
        ("wall-time", "retrieval", "lowers the wall time in the report",
         "a system that looks fast", "report.recomputed",
         _in_report(lambda report: report["resources"].update(wall_s=1.0))),
        ("labels-removed", "retrieval", "takes the warnings out of the report",
         "a process pod's run that looks like any other", "report.recomputed",
         _in_report(lambda report: report.update(labels=[], notes=[]))),
        ("questions-more", "retrieval", "reports more questions than were asked",
         "a run that looks large", "report.recomputed", _in_report(_settled)),
        ("audit-verdict", "retrieval", "turns the verdict of an audit round in the report",
         "a cache that does not show", "report.recomputed", _in_report(_audits)),
        ("run-id-other", "retrieval", "reports under another run's name",
         "another run's report", "report.recomputed",
         _in_report(lambda report: report.update(run_id="run-of-somebody-else"))),
    )
)  # fmt: skip
