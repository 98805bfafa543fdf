"""A comparison worded: for the terminal and its page alike."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memrig.report.compare_model import ComparedMetric, ComparedRun, Comparison, Verdict
from memrig.report.units import NOT_AVAILABLE, metric_head
from memrig.stats.paired import detectable

VERDICTS: dict[Verdict, str] = {
    "better": "better",
    "worse": "worse",
    "none": "no difference shown",
    "unknown": "cannot be told",
}
_RULES = {
    "bca": "BCa bootstrap over questions",
    "cluster-bootstrap": "bootstrap over scenarios",
    "cluster-t": "Student's t over scenarios",
    "t": "Student's t over questions",
    "even": "all scenarios differ alike: Student's t on the questions' own spread",
    "no-spread": "all pairs differ alike: a bound on the share that might not",
}


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What is to be said of a run against the base, in a sentence."""

    verdict: Verdict
    text: str


def points(value: float | None, *, sign: bool = True) -> str:
    """A difference in percentage points: ``+3.1``, ``-0.4``, ``0.0``."""
    if value is None:
        return NOT_AVAILABLE
    text = f"{100 * value:+.1f}" if sign else f"{100 * value:.1f}"
    return "0.0" if text in {"+0.0", "-0.0"} else text


def span(row: ComparedMetric) -> str:
    """Its interval in points: ``-2.1 to +4.0``; ``all tied, ±6.9`` where no pair differs."""
    if row.low is None or row.high is None:
        return NOT_AVAILABLE
    if row.ties == row.n and row.interval == "no-spread":
        return f"all tied, ±{points(row.high, sign=False)}"
    return f"{points(row.low)} to {points(row.high)}"


def least_text(mde: float | None) -> str:
    """A least detectable difference in points; ``>100`` where none that can be is large enough."""
    return ">100" if mde is not None and mde > 1 else points(mde, sign=False)


def p_text(p: float | None) -> str:
    """A p: ``0.031``, ``<0.001``."""
    if p is None:
        return NOT_AVAILABLE
    return "<0.001" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def effect_text(effect: float | None) -> str:
    """Cohen's d of the pairs."""
    return NOT_AVAILABLE if effect is None else f"{effect:+.2f}"


def rules(found: Comparison) -> str:
    """The rules behind the intervals, as they occur."""
    used = dict.fromkeys(row.interval for row in found.rows)
    return "; ".join(_RULES[rule] for rule in used if rule in _RULES)


def conclusions(found: Comparison) -> Iterator[Conclusion]:
    """What is shown of each run: a sentence a metric, and one for all its groups; then what is not.

    Macro means are in the tables: they say once more what overall says, or a category.
    """
    base = found.runs[0]
    for run in found.runs[1:]:
        rows = [row for row in found.rows if row.run == run.letter]
        shown: dict[tuple[str, bool, Verdict], list[ComparedMetric]] = {}
        for row in rows:
            if row.verdict in {"better", "worse"} and row.kind != "macro":
                shown.setdefault((row.metric, row.kind == "micro", row.verdict), []).append(row)
        for (_, _, verdict), alike in shown.items():
            say = _shown if len(alike) == 1 else _all_shown
            yield Conclusion(verdict, say(alike, run, base))
        yield from _not_shown([row for row in rows if row.kind == "micro"], run, base)


def unseen(row: ComparedMetric, tests: int = 1) -> float | None:
    """Under which a difference may go unseen: the MDE, at most all there is; where no pair differs
    from another, what is within the interval.

    Args:
        row: a difference.
        tests: how many share the level of 5 %.
    """
    if row.interval == "no-spread" and row.low is not None:
        return row.difference - row.low
    least = detectable(row.error, row.scenarios, tests)
    return None if least is None else min(1.0, least)


def _named(run: ComparedRun) -> str:
    return f"{run.letter} ({run.name})"


def _all_shown(rows: Sequence[ComparedMetric], run: ComparedRun, base: ComparedRun) -> str:
    """Of one metric; the table has the intervals and each p."""
    first, most = rows[0], max(row.p_holm or 0.0 for row in rows)
    groups = ", ".join(f"{row.group} {points(row.difference)}" for row in rows)
    return (
        f"{_named(run)} is {first.verdict} than {_named(base)} in {metric_head(first.metric)} of "
        f"{len(rows)} groups, in points: {groups}; p at most {p_text(most)} each"
    )


def _shown(rows: Sequence[ComparedMetric], run: ComparedRun, base: ComparedRun) -> str:
    (row,) = rows
    where = "" if row.kind == "micro" else f" of {row.group}"
    return (
        f"{_named(run)} is {row.verdict} than {_named(base)} in {metric_head(row.metric)}{where}: "
        f"{points(row.difference)} points ({span(row)}), p {p_text(row.p_holm)}"
    )


def _not_shown(
    rows: Sequence[ComparedMetric], run: ComparedRun, base: ComparedRun
) -> Iterator[Conclusion]:
    two = f"between {_named(run)} and {_named(base)}"
    none = [row for row in rows if row.verdict == "none"]
    if none:
        parts = (metric_head(row.metric) + _unseen(row) for row in none)
        yield Conclusion("none", f"no difference shown {two} overall in {', '.join(parts)}")
    if unknown := [metric_head(row.metric) for row in rows if row.verdict == "unknown"]:
        text = f"nothing can be told {two} in {', '.join(unknown)}: too few scenarios"
        yield Conclusion("unknown", text)


def _unseen(row: ComparedMetric) -> str:
    least = unseen(row)
    return f" (less than {points(least, sign=False)} points may go unseen)" if least else ""


def stamps(run: ComparedRun) -> tuple[str, ...]:
    """What every table has to say of a run."""
    first = () if run.complete else (f"INCOMPLETE: {run.incomplete}",)
    return (*first, *run.labels)


def incomplete_stamps(found: Comparison) -> tuple[str, ...]:
    """What every table of the comparison has to say beside its numbers."""
    cut = [run.letter for run in found.runs if not run.complete]
    return (f"incomplete: {', '.join(cut)}",) if cut else ()
