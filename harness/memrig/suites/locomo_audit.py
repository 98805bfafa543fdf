"""What an audit found wrong with LoCoMo's gold labels (format of dial481/locomo-audit).

A list of ``{question_id, question, golden_answer, error_type, correct_answer, …}``, ids being
``locomo_<index of the dialogue>_qa<index of the question>``. The published gold stays what answers
are graded against; tags tell the affected questions apart, so that both scores are shown.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from memrig.errors import DataError
from memrig.suites.fields import expect, parsed, some_text, unreadable
from memrig.suites.sampling import AUDIT_TAGS

#: The gold answer is wrong, ambiguous or incomplete.
ERROR = f"{AUDIT_TAGS}error"
#: The gold answer is right, its evidence is not.
CITATION = f"{AUDIT_TAGS}citation"
#: The audit left the gold answer as it is: the score without the wrong ones.
CLEAN = f"{AUDIT_TAGS}clean"

_CITATION_TYPE = "WRONG_CITATION"
_ID = re.compile(r"locomo_(\d+)_qa(\d+)")
#: The next step where audit and data do not fit.
WRONG_AUDIT = "give the audit of this very file, or leave --labels and --audit-file out"


@dataclass(frozen=True, slots=True)
class Finding:
    """One question's problem."""

    where: str
    question: str
    published: str
    error: str
    correct: str

    @property
    def tags(self) -> tuple[str, ...]:
        """For the question's gold record."""
        return (CITATION, CLEAN) if self.error == _CITATION_TYPE else (ERROR,)

    @property
    def note(self) -> str:
        """For people who look at a single answer."""
        return f"audit: {self.error.lower().replace('_', ' ')}; correct: {self.correct}"

    def check(self, question: str, answer: str) -> None:
        """Compares with the question that it names.

        Raises:
            DataError: it is another question, or another published answer.
        """
        for field, said, found in (
            ("question", self.question, question),
            ("golden_answer", self.published, answer),
        ):
            if said != found:
                message = f"is {said!r:.80}, the data has {found!r:.80}"
                raise DataError(message, where=f"{self.where}.{field}", fix=WRONG_AUDIT)


#: By index of the dialogue and of the question.
Findings = Mapping[tuple[int, int], Finding]


def read_audit(path: Path) -> dict[tuple[int, int], Finding]:
    """Reads an audit's findings.

    Raises:
        DataError: the file cannot be used; names field, value and fix.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise unreadable(path, error, f"--audit-file {path}") from error
    findings: dict[tuple[int, int], Finding] = {}
    listed = expect(parsed(data, str(path), WRONG_AUDIT), list, str(path), WRONG_AUDIT)
    for number, item in enumerate(listed):
        where = f"{path}: [{number}]"
        key, finding = _finding(expect(item, dict, where), where)
        if key in findings:
            raise DataError("names a question twice", where=f"{where}.question_id", fix="keep one")
        findings[key] = finding
    return findings


def _finding(fields: Mapping[str, object], where: str) -> tuple[tuple[int, int], Finding]:
    name = some_text(fields.get("question_id"), f"{where}.question_id")
    found = _ID.fullmatch(name)
    if found is None:
        message = f"{name!r} is not an id like 'locomo_0_qa12'"
        raise DataError(message, where=f"{where}.question_id", fix=WRONG_AUDIT)
    values = {
        key: expect(fields.get(key), str, f"{where}.{key}")
        for key in ("question", "golden_answer", "error_type", "correct_answer")
    }
    finding = Finding(
        where=where,
        question=values["question"],
        published=values["golden_answer"],
        error=values["error_type"],
        correct=values["correct_answer"],
    )
    return (int(found[1]), int(found[2])), finding
