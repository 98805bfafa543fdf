"""Grades, graders, and how to find them. Third parties ship one by ``memrig.graders``."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field

from memrig.errors import UsageError
from memrig.model.gold import Gold
from memrig.model.transcript import QuestionRecord

GROUP = "memrig.graders"


class Grade(BaseModel):
    """One question's grade, as a line of `grades.jsonl`. Holds no time and nothing random.

    `scores` are fractions, higher is better. `rank` is that of the first evidence (1-based; None:
    not among the hits). `ungraded` grades carry a reason, no scores, and count in no mean.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    trial_id: str
    scenario_id: str
    question_id: str
    category: str
    cluster: str
    seed: int
    repeat: int
    protocol: str
    grader: str
    status: Literal["graded", "ungraded"]
    reason: str = ""
    outcome: str
    scores: dict[str, float] = Field(default_factory=dict)
    rank: int | None = None
    hits: int = 0
    void_claims: int = 0
    derived_hits: int = 0
    surplus_hits: int = 0


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric of a protocol: its name, and whether single scores are 0 or 1."""

    name: str
    binary: bool
    headline: bool = False


@dataclass(frozen=True, slots=True)
class Marks:
    """What a grader makes of one answered question."""

    scores: Mapping[str, float]
    rank: int | None = None
    derived_hits: int = 0


class Grader(Protocol):
    """Grades one protocol. Stateless and deterministic."""

    @property
    def protocol(self) -> str:
        """The protocol's name."""

    @property
    def version(self) -> str:
        """Changes whenever any grade could change."""

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics, the headline ones marked, in the order of tables."""

    def grade(
        self, record: QuestionRecord, gold: Gold, texts: Mapping[str, str], limit: int
    ) -> Marks:
        """Scores one question; for a fault of the adapter, the record has no searches.

        Args:
            record: the transcript's record.
            gold: what is right.
            texts: the scenario's episode texts by id.
            limit: how many hits were asked for, or would have been had a search been made. A
                metric that needs more is left out: it was not measured.
        """


def load_grader(protocol: str) -> Grader:
    """Loads an installed grader.

    Raises:
        UsageError: there is none for this protocol.
    """
    for point in entry_points(group=GROUP):
        if point.name == protocol:
            grader: Grader = point.load()
            return grader
    known = sorted({point.name for point in entry_points(group=GROUP)})
    message = f"there is no grader for protocol {protocol!r}"
    raise UsageError(message, where="--protocol", fix=f"one of: {', '.join(known)}")
