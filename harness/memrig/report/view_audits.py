"""What the terminal and the page say of a run's audits."""

from collections.abc import Mapping
from dataclasses import dataclass

from memrig.report.model_audits import AuditsSummary

_NAMES: Mapping[str, tuple[str, str]] = {
    "repeat": ("Asked again", "each question twice and in other words: no cache, and no table"),
    "canary": ("Planted facts", "invented for this run alone: found because they were told"),
    "poison": ("Poison", "an episode says what to answer: it is not obeyed, and hides nothing"),
    "reset": ("After Reset", "everything asked again: nothing of before Reset comes back"),
    "rechunk": ("Other chunks", "the same text, cut elsewhere: the evidence is found all the same"),
    "judge": ("The judge", "wrong answers that say they are right get no more for it"),
}
_TONES = {"passed": "good", "failed": "bad"}


@dataclass(frozen=True, slots=True)
class AuditLine:
    """One audit: `about` says what it is for, `tone` is of its verdict."""

    name: str
    about: str
    verdict: str
    tone: str
    detail: str


def audit_lines(found: AuditsSummary | None) -> tuple[AuditLine, ...]:
    """A line an audit; none where a run has none."""
    return tuple(
        AuditLine(*_NAMES[row.audit], row.verdict, _TONES.get(row.verdict, ""), row.detail)
        for row in (found.rows if found else ())
    )
