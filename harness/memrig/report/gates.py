"""Gates on a comparison: a bound on a value, and no regression from a base."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import ge, gt, le, lt

from memrig.errors import GateError, UsageError
from memrig.report.comparable import CONDITIONS
from memrig.report.compare_model import ComparedMetric, ComparedRun, Comparison, GateResult
from memrig.report.view_compare import unseen
from memrig.stats.summary import OVERALL

_GATE = re.compile(
    r"\s*(?:(?P<metric>[^:<>=]+):)?(?P<group>[^<>=]+?)\s*"
    r"(?P<op>>=|<=|>|<)\s*(?P<value>-?(?:\d+(?:\.\d+)?|\.\d+))(?P<sign>%?)\s*"
)
_OPS: dict[str, Callable[[float, float], bool]] = {">=": ge, "<=": le, ">": gt, "<": lt}
#: Values are sums of floats: 0.8 of ten questions is 0.8.
_SAME = 1e-9
_FIX = "for example --gate 'overall>=0.8' or --gate 'recall_any@5:overall>=50%'"


@dataclass(frozen=True, slots=True)
class Gate:
    """`[metric:]group OP value`; without a metric, the first headline one."""

    text: str
    metric: str
    group: str
    op: str
    value: float

    def holds(self, found: float) -> bool:
        """Whether a value meets it; rounding decides nothing."""
        slack = _SAME if self.op in {">=", "<"} else -_SAME
        return _OPS[self.op](found + slack, self.value)


def parse_gate(text: str) -> Gate:
    """Reads one gate.

    Raises:
        UsageError: it is none, or its bound is no fraction.
    """
    match = _GATE.fullmatch(text)
    if match is None:
        message = "is no gate: expected [metric:]group, one of >= > <= <, and a number"
        raise UsageError(message, where=f"--gate {text!r}", fix=_FIX)
    value = float(match["value"]) / (100 if match["sign"] else 1)
    if abs(value) > 1:
        message = f"the bound {value:g} is beyond 1: values are fractions"
        whole = match["sign"] or abs(value) > 100
        fix = "write 0.8 or 80%" if whole else f"write {match['value']}% or {value / 100:g}"
        raise UsageError(message, where=f"--gate {text!r}", fix=fix)
    metric = (match["metric"] or "").strip()
    return Gate(text, metric, match["group"].strip(), match["op"], value)


def gated(found: Comparison, gates: Sequence[Gate]) -> Iterator[GateResult]:
    """Every gate on every run.

    A run that is not whole meets no gate: what it lacks might be what fails.

    Raises:
        UsageError: no run has such a metric or group.
    """
    for gate in gates:
        metric = gate.metric or found.metrics[0]
        _check_known(found, gate, metric)
        for run in found.runs:
            yield _gated(run, gate, metric)


def _check_known(found: Comparison, gate: Gate, metric: str) -> None:
    where = f"--gate {gate.text!r}"
    if metric not in found.metrics:
        message = f"{metric!r} is no headline metric of {found.protocol}"
        raise UsageError(message, where=where, fix=f"one of: {', '.join(found.metrics)}")
    groups = dict.fromkeys(g for run in found.runs for g in run.values.get(metric, {}))
    if groups and gate.group not in groups:
        message = f"there is no group {gate.group!r}"
        raise UsageError(message, where=where, fix=f"one of: {', '.join(groups)}")


def _gated(run: ComparedRun, gate: Gate, metric: str) -> GateResult:
    value = run.values.get(metric, {}).get(gate.group)
    name = f"{metric} of {gate.group}"
    if value is None:
        said, met = f"{name} was not measured", False
    else:
        said, met = f"{name} is {value:.4g}", gate.holds(value)
    if not run.complete:
        said, met = f"{said}, but the run is incomplete: {run.incomplete}", False
    return GateResult(gate=gate.text, run=run.letter, met=met, said=said)


def no_regression(found: Comparison) -> Iterator[GateResult]:
    """Each run but the base: is it shown to be worse than the base, overall or in a category?

    Raises:
        UsageError: the runs were made under other conditions, which explain any difference.
    """
    gate = f"no regression from {found.runs[0].run_id}"
    if wrong := [unlike.field for unlike in found.unlike if unlike.field in CONDITIONS]:
        message = f"the runs differ in {', '.join(wrong)}, so a difference is no regression"
        raise UsageError(message, where="--no-regression", fix="run both under the same conditions")
    for run in found.runs[1:]:
        yield _regressed(found, run, gate)


def _regressed(found: Comparison, run: ComparedRun, gate: str) -> GateResult:
    rows = [r for r in found.rows if r.run == run.letter and r.kind in {"micro", "category"}]
    worse = [row for row in rows if row.verdict == "worse"]
    counts = next(count for count in found.pairs if count.run == run.letter)
    problems = [
        f"{r.metric} of {r.group} is {_points(r.difference)} points (Holm p {r.p_holm:.2g})"
        for r in worse
    ]
    if not run.complete:
        problems.append(f"the run is incomplete: {run.incomplete}")
    if counts.only_base:
        problems.append(f"{counts.only_base} questions of the base were not asked")
    if problems:
        return GateResult(gate=gate, run=run.letter, met=False, said="; ".join(problems))
    return GateResult(gate=gate, run=run.letter, met=True, said=_unseen(found, rows))


def _unseen(found: Comparison, rows: Sequence[ComparedMetric]) -> str:
    """What would have gone unseen: not shown to be worse is not shown to be as good."""
    said = []
    for kind, what, by in (
        ("micro", OVERALL, "by metric"),
        ("category", "in a category", "by category and metric"),
    ):
        tests = sum(row.p is not None for row in found.rows if row.kind == kind)
        own = [row for row in rows if row.kind == kind]
        least = [unseen(row, max(1, tests)) for row in own]
        known = [value for value in least if value is not None]
        if known:
            said.append(f"{what}, losses under {_range(known, by)} may go unseen")
        if unknown := sum(row.verdict == "unknown" for row in own):
            said.append(f"{what}, of {unknown} of {len(own)} nothing can be said (one scenario)")
    return "; ".join(["not shown to be worse", *said])


def _range(values: Sequence[float], by: str) -> str:
    low, high = (f"{100 * value:.1f}" for value in (min(values), max(values)))
    return f"{low} points" if low == high else f"{low} to {high} points ({by})"


def _points(value: float) -> str:
    return f"{100 * value:+.1f}"


def require_gates(found: Comparison) -> None:
    """Ends with exit code 5 where a gate was not met.

    Raises:
        GateError: names each one, its run, and the figures.
    """
    if not (failed := found.failed):
        return
    names = {run.letter: f"{run.letter} ({run.name})" for run in found.runs}
    said = " | ".join(f"{g.gate}: {names[g.run]}: {g.said}" for g in failed)
    raise GateError(f"{len(failed)} of {len(found.gates)} not met: {said}", where="gates")
