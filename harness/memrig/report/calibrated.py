"""What a run's confidences were worth, and whether it kept silent where it should."""

from collections.abc import Iterator, Sequence

from memrig.grading.dimensions import ACCURACY
from memrig.report.model_depth import CalibrationSummary
from memrig.report.settled import Settled, score_name
from memrig.stats.calibration import Forecast, abstention, calibration


def calibration_summary(settled: Sequence[Settled]) -> CalibrationSummary | None:
    """Calibration and abstention over a run's graded answers.

    None where no answer was graded, or no answer gave a confidence, none declined and every
    question has one.
    """
    rows = [row for row in settled if row.graded]
    forecasts = list(_forecasts(rows))
    found, silence = calibration(forecasts), abstention(forecasts)
    if found is None and not silence.abstained and not silence.unanswerable:
        return None
    by_dimension = any(ACCURACY in row.grade.scores for row in rows)
    return CalibrationSummary(
        accuracy=ACCURACY if by_dimension else score_name(rows),
        calibration=found,
        abstention=silence,
    )


def _forecasts(rows: Sequence[Settled]) -> Iterator[Forecast]:
    for row in rows:
        accuracy = row.accuracy
        if accuracy is not None:
            yield Forecast(row.confidence, accuracy, row.abstained, row.answerable)
