"""Protocols `longhorizon` and `longhorizon-retrieval`: answers in five dimensions, and ranks."""

from memrig.grading.base import Asked, JudgeUse, Marks, Metric
from memrig.grading.beside import beside, beside_metrics, derived_hits, evidence_rank
from memrig.grading.dimensions import (
    ACCURACY,
    CALIBRATION,
    DIMENSIONS,
    by_dimension,
    facts_in,
    parts_of,
    tasks_of,
    weighted,
)
from memrig.grading.judges.facts import PROMPTS, VOTES
from memrig.grading.retrieval import RetrievalGrader
from memrig.grading.typed import VERSION
from memrig.model.canonical import digest_of, short
from memrig.model.dimensions import WEIGHTS
from memrig.model.gold import Gold
from memrig.model.judgement import JudgeTask
from memrig.model.trial import Mode

#: Goes up when code changes what a grade would be; prompts are hashed.
_VERSION = 1
SCORE, CONTENT = "score", "content_score"


class LonghorizonGrader:
    """Scores an answer in every dimension that its gold has, and makes one number of them.

    `score` is Σ wᵢsᵢ ÷ Σ wᵢ over the dimensions that apply; `content_score` the same without
    confidence calibration, to compare systems by that give no confidence. Deterministic but for
    prose where a judge is asked: what that leaves undecided is missing, and never 0.
    """

    protocol = "longhorizon"
    modes: tuple[Mode, ...] = ("reader", "agent", "native")
    judge: JudgeUse = "optional"
    #: How `votes_on` counts, for a forecast.
    votes_basis = f"{VOTES} votes on each key fact, of questions with prose for gold"

    def __init__(self) -> None:
        read = [VERSION, PROMPTS.digest, VOTES, dict(WEIGHTS)]
        self.version = f"{_VERSION}-{short(digest_of(read), 8)}"
        self.metrics: tuple[Metric, ...] = (
            Metric(SCORE, binary=False, headline=True),
            *(Metric(name, binary=False, headline=name == ACCURACY) for name in DIMENSIONS),
            Metric(CONTENT, binary=False),
            *beside_metrics(),
        )

    def votes_on(self, gold: Gold) -> int:
        """How many votes a judge gives on one question, if something is said to it."""
        return VOTES * facts_in(gold)

    def tasks(self, asked: Asked) -> tuple[JudgeTask, ...]:
        """What a judge can decide about this question: key facts of prose."""
        return tasks_of(asked)

    def grade(self, asked: Asked) -> Marks:
        """Scores one question."""
        found = derived_hits(asked)
        if asked.gold.answer is None:
            return Marks({}, derived_hits=found, ungraded="the data has no answer")
        parts = parts_of(asked, f"{self.protocol}/{self.version}")
        content = [part for part in parts if part.dimension != CALIBRATION]
        values: dict[str, float | str | None] = {
            SCORE: weighted(parts),
            **by_dimension(parts),
            CONTENT: weighted(content),
        }
        agreed = [v.agreement for v in asked.verdicts.values() if v.agreement is not None]
        return Marks(
            scores={n: v for n, v in values.items() if isinstance(v, float)} | beside(asked),
            missing={name: why for name, why in values.items() if isinstance(why, str)},
            rank=evidence_rank(asked),
            derived_hits=found,
            agreement=sum(agreed) / len(agreed) if agreed else None,
        )


GRADER = LonghorizonGrader()
RETRIEVAL = RetrievalGrader("longhorizon-retrieval", stale=True)
