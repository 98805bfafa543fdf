"""`report.json`: recall by depth and distance, scores by what answering takes, and calibration."""

from pydantic import BaseModel, ConfigDict

from memrig.model.gold import Operation
from memrig.stats.calibration import Abstention, Calibration
from memrig.stats.intervals import Method


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Estimate(_Frozen):
    """A mean over `n` questions as a fraction, with its 95 % interval where one can be given."""

    value: float
    n: int
    low: float | None
    high: float | None
    interval: Method


class PlaceBin(_Frozen):
    """Questions whose evidence stands between `low` and `high`.

    For depths: fractions of the episodes before the question, `low` included and `high` not. For
    distances: episodes between the evidence and the question, both included. `score` and `recall`
    are None where nothing was measured.
    """

    low: float
    high: float
    n: int
    score: Estimate | None
    recall: Estimate | None


class DepthSummary(_Frozen):
    """How place matters, over `questions` of scenarios of at least `least_episodes` episodes.

    The place of a question's evidence is that of its last one before the question: with it, all
    has been told. `score` and `recall` name the metrics; empty where the run has none.
    `left_out` questions of such scenarios have no evidence before them, or no grade;
    `beyond_reader` count in recall only: a built-in reader cannot answer them anywhere.
    """

    score: str
    recall: str
    least_episodes: int
    questions: int
    left_out: int
    beyond_reader: int
    by_depth: tuple[PlaceBin, ...]
    by_distance: tuple[PlaceBin, ...]


class OperationRow(_Frozen):
    """The questions that take one operation to answer."""

    operation: Operation
    n: int
    score: Estimate | None
    recall: Estimate | None


class CategoryLimit(_Frozen):
    """What a reader that copies out of one statement can do in a category of `n` questions.

    `beyond` of them need more; `why` counts them by what they need. `score_within` is over the
    others, `score_beyond` over these.
    """

    category: str
    n: int
    beyond: int
    why: dict[str, int]
    score_within: Estimate | None
    score_beyond: Estimate | None


class OperationSummary(_Frozen):
    """Scores by what it takes to answer, where the data tells.

    `reader` and `limits` (every category) are given where a built-in reader answered: it copies
    out of one statement, and what needs more is beyond it whatever the memory returns.
    """

    score: str
    recall: str
    rows: tuple[OperationRow, ...]
    reader: str = ""
    limits: tuple[CategoryLimit, ...] = ()


class CalibrationSummary(_Frozen):
    """What confidences were worth, and whether silence fell where there was nothing to say.

    `accuracy` names the metric that confidences are held against.
    """

    accuracy: str
    calibration: Calibration | None
    abstention: Abstention
