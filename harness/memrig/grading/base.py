"""Grades, graders, and how to find them. Third parties ship one by ``memrig.graders``."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from typing import Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field

from memrig.errors import UsageError
from memrig.model.gold import Gold
from memrig.model.judgement import JudgeTask, Verdict
from memrig.model.manifest import PodKind
from memrig.model.scenario import Question
from memrig.model.transcript import QuestionRecord
from memrig.model.trial import Budget, Mode, PromptStyle

GROUP = "memrig.graders"
#: Whether a protocol has a use for a judge: never, for some of its metrics, or for every grade.
JudgeUse = Literal["none", "optional", "required"]


class Grade(BaseModel):
    """One question's grade, as a line of `grades.jsonl`. Holds no time and nothing random.

    `scores` are fractions, higher is better. `rank` is that of the first evidence (1-based; None:
    not among the hits). `ungraded` grades carry a reason, no scores, and count in no mean. `tags`
    name groups that cut across categories, such as "abstention". `agreement` is the judge's votes'.
    `weights` are those of scores that are ratios of counts, such as the number of refs cited: means
    over questions are weighted by them; where none is given it is 1. `missing` says of each metric
    that could not be measured here why not. `counts` are facts about the question that are no
    scores, such as the number of required evidence episodes. `template` names the form that the
    question shares with questions of other seeds; empty: it is the same under every seed.
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
    weights: dict[str, float] = Field(default_factory=dict)
    missing: dict[str, str] = Field(default_factory=dict)
    counts: dict[str, int] = Field(default_factory=dict)
    rank: int | None = None
    tags: tuple[str, ...] = ()
    template: str = ""
    agreement: float | None = None
    hits: int = 0
    void_claims: int = 0
    derived_hits: int = 0
    surplus_hits: int = 0


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric of a protocol: its name, and whether single scores are 0 or 1.

    A headline stands in every table, n/a where it was not measured; with `modes`, only in those.
    """

    name: str
    binary: bool
    headline: bool = False
    modes: tuple[Mode, ...] = ()

    def heads(self, mode: Mode) -> bool:
        """Whether it is a headline in this mode."""
        return self.headline and (not self.modes or mode in self.modes)


@dataclass(frozen=True, slots=True)
class Asked:
    """All that is known of one question once it is settled.

    Args:
        question: what was asked, and when.
        record: the transcript's record; for a fault of the adapter, without searches and answer.
        gold: what is right.
        texts: the scenario's episode texts by id.
        limit: how many hits were asked for, or would have been had a search been made. A metric
            that needs more is left out: it was not measured.
        verdicts: a judge's verdicts by task; empty where there was nothing to judge.
        judged: whether a judge was asked about the trial at all.
        mode: how the question was answered.
        prompt: the reader's instruction.
        naive: whether an opponent with everything so far in its context was asked too.
        pod: where the memory system ran; "given" for answers that were produced elsewhere.
        budget: what the question was allowed.
        position: how many episodes of its scenario come before it.
    """

    question: Question
    record: QuestionRecord
    gold: Gold
    texts: Mapping[str, str]
    limit: int
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    judged: bool = False
    mode: Mode = "retrieval"
    prompt: PromptStyle = "direct"
    naive: bool = False
    pod: PodKind = "process"
    budget: Budget = field(default_factory=Budget)
    position: int = 0

    @property
    def cites(self) -> bool:
        """Whether the answer could cite: a reader can where it was asked to."""
        return self.mode in {"agent", "native"} or (
            self.mode == "reader" and self.prompt == "cited"
        )


@dataclass(frozen=True, slots=True)
class Marks:
    """What a grader makes of one settled question; see `Grade` for what the members mean.

    With `ungraded` (a reason), scores are void.
    """

    scores: Mapping[str, float]
    rank: int | None = None
    derived_hits: int = 0
    ungraded: str = ""
    agreement: float | None = None
    weights: Mapping[str, float] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)


class Grader(Protocol):
    """Grades one protocol. Stateless and deterministic."""

    @property
    def protocol(self) -> str:
        """The protocol's name."""

    @property
    def version(self) -> str:
        """Changes whenever any grade could change, a judge's prompt included."""

    @property
    def modes(self) -> tuple[Mode, ...]:
        """The answering modes that leave what this protocol grades."""

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics, the headline ones marked, in the order of tables."""

    @property
    def judge(self) -> JudgeUse:
        """What a judge model is for."""

    def tasks(self, asked: Asked) -> tuple[JudgeTask, ...]:
        """What a judge must decide before this question can be graded; empty: nothing."""

    def grade(self, asked: Asked) -> Marks:
        """Scores one question."""


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
