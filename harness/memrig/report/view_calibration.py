"""The section on confidence and silence, worded for the page and the terminal alike."""

from collections.abc import Iterator
from dataclasses import dataclass

from memrig.report.charts import Tick
from memrig.report.charts_lines import Curve, Dot, LineChart, line_chart
from memrig.report.model_depth import CalibrationSummary
from memrig.report.units import NOT_AVAILABLE, count, metric_head, percent, plural
from memrig.report.view_pairs import Pair
from memrig.stats.calibration import Abstention, Calibration

_POINTS = 80  # more than a line of this width can show


@dataclass(frozen=True, slots=True)
class CalibrationView:
    """What confidences were worth. Without any, charts are None and `confidence` is empty."""

    accuracy: str
    confidence: tuple[Pair, ...]
    silence: tuple[Pair, ...]
    reliability: LineChart | None
    risk: LineChart | None


def calibration_view(found: CalibrationSummary | None) -> CalibrationView | None:
    """Words the calibration; None where a report has none."""
    if found is None:
        return None
    known = found.calibration
    return CalibrationView(
        accuracy=metric_head(found.accuracy),
        confidence=tuple(_confidence(known)) if known else (),
        silence=tuple(_silence(found.abstention)),
        reliability=_reliability(known) if known else None,
        risk=_risk(known) if known else None,
    )


def _confidence(found: Calibration) -> Iterator[Pair]:
    yield Pair("Answers with a confidence", count(found.n), "that did not decline")
    yield Pair("Brier score", f"{found.brier:.3f}", "0 is best; always saying 50 % gives 0.25")
    yield Pair("Calibration error (ECE)", f"{percent(found.ece)} %", "over ten bins of equal width")
    yield Pair("Risk over all coverages (AURC)", f"{found.aurc:.3f}", "lower is better")
    over = found.confidence - found.accuracy
    word = "overconfident" if over > 0 else "underconfident"
    yield Pair("Mean confidence", f"{percent(found.confidence)} %", f"{word} by {_points(over)}")
    yield Pair("Mean accuracy", f"{percent(found.accuracy)} %", "of the same answers")


def _points(difference: float) -> str:
    return f"{abs(100 * difference):.1f} points"


def _silence(found: Abstention) -> Iterator[Pair]:
    yield Pair(
        "Declined to answer", count(found.abstained), f"{count(found.right)} of them rightly"
    )
    yield Pair("Questions without an answer", count(found.unanswerable))
    yield Pair("Precision", _share(found.precision), "of what was declined")
    yield Pair("Recall", _share(found.recall), "of what has no answer")
    yield Pair("F1", _share(found.f1))


def _share(value: float | None) -> str:
    return NOT_AVAILABLE if value is None else f"{percent(value)} %"


def _reliability(found: Calibration) -> LineChart:
    dots = tuple(
        Dot(each.confidence, each.accuracy)
        for each in found.bins
        if each.confidence is not None and each.accuracy is not None
    )
    counts = [
        Tick((each.low + each.high) / 2, count(each.n)) for each in found.bins if each.n < 1000
    ]
    return line_chart(
        "reliability",
        "Accuracy by confidence",
        [Curve("accuracy", dots)],
        _ticks(),
        "confidence",
        counts=counts if len(counts) == len(found.bins) else (),
        diagonal=True,
    )


def _risk(found: Calibration) -> LineChart:
    step = max(1, -(-len(found.curve) // _POINTS))
    points = [*found.curve[:-1:step], found.curve[-1]]
    dots = tuple(Dot(point.coverage, point.risk) for point in points)
    return line_chart(
        "risk-coverage",
        "Risk by coverage",
        [Curve("share that is wrong", dots, dotted=len(dots) <= 10)],
        _ticks(),
        "share of the answers kept, the most confident first",
    )


def _ticks() -> list[Tick]:
    return [Tick(place / 4, f"{25 * place} %") for place in range(5)]


def calibration_lines(found: CalibrationSummary | None) -> Iterator[tuple[str, str]]:
    """The same in a line or two, for a terminal."""
    if found is None:
        return
    if known := found.calibration:
        measures = f"Brier {known.brier:.3f}, ECE {percent(known.ece)} %, AURC {known.aurc:.3f}"
        means = f"mean {percent(known.confidence)} %, right {percent(known.accuracy)} %"
        yield "confidence", f"{means}; {measures}; over {plural(known.n, 'answer')}"
    silence = found.abstention
    without = plural(silence.unanswerable, "question")
    yield (
        "declined",
        f"{count(silence.abstained)}, {count(silence.right)} rightly; {without} without an answer",
    )
