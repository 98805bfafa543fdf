"""How a graded question went, in a word, and what kind of ending that is."""

from dataclasses import dataclass
from typing import Literal

from memrig.grading.base import Grade
from memrig.report.scores import score_of
from memrig.report.view_answers import score_word
from memrig.viewer.parts import Badge

Kind = Literal["right", "partly", "wrong", "fault", "ungraded"]
#: In the order of filters.
KINDS: tuple[Kind, ...] = ("right", "partly", "wrong", "fault", "ungraded")
#: What the kinds mean where answers were graded, and where only ranks were.
WORDS: dict[Kind, tuple[str, str]] = {
    "right": ("right", "found first"),
    "partly": ("partly right", "found further down"),
    "wrong": ("wrong", "not found"),
    "fault": ("faults", "faults"),
    "ungraded": ("not graded", "not graded"),
}
Evidence = Literal["found", "missed", ""]
#: What is said of each; nothing where there is none to be found, or nothing was searched.
EVIDENCE: dict[Evidence, str] = {"found": "evidence found", "missed": "evidence not found"}
_FAULTS = frozenset({"adapter_error", "adapter_crashed", "timeout", "harness_error"})
_COLOURS = {"right": "good", "partly": "warn", "wrong": "bad", "fault": "bad", "ungraded": ""}


@dataclass(frozen=True, slots=True)
class Mark:
    """How one question went."""

    kind: Kind
    text: str

    @property
    def badge(self) -> Badge:
        """The word on its colour."""
        return Badge(self.text, _COLOURS[self.kind])


def mark_of(grade: Grade) -> Mark:
    """How a question went: by its answer where answers were graded, else by its evidence's rank."""
    if grade.outcome in _FAULTS:
        return Mark("fault", grade.outcome.replace("_", " "))
    if grade.status == "ungraded":
        return Mark("ungraded", "not graded")
    score = score_of(grade)
    if score is not None:
        kind: Kind = "right" if score >= 1 else "wrong" if score <= 0 else "partly"
        return Mark(kind, score_word(score))
    if grade.missing and grade.rank is None and not grade.scores:
        return Mark("ungraded", "not measured")
    return _by_rank(grade.rank)


def evidence_of(grade: Grade) -> Evidence:
    """Whether any evidence was among what the memory returned."""
    if grade.rank is not None:
        return "found"
    shares = [
        value
        for name, value in grade.scores.items()
        if name.startswith("recall_any@") or name == "evidence_retrieved"
    ]
    return "" if not shares else "found" if any(shares) else "missed"


def standing_of(grade: Grade) -> float | None:
    """What tells whether a question went better in one run than in another; None: nothing does."""
    kind = mark_of(grade).kind
    if kind in {"fault", "ungraded"}:
        return 0.0 if kind == "fault" else None
    score = score_of(grade)
    return score if score is not None else 1 / grade.rank if grade.rank else 0.0


def _by_rank(rank: int | None) -> Mark:
    if rank is None:
        return Mark("wrong", "evidence not found")
    return Mark("right" if rank == 1 else "partly", f"evidence at rank {rank}")
