"""Verdicts of the official LongMemEval evaluator, as it leaves them: a hypothesis file with labels.

Each line is a JSON object ``{"question_id", "hypothesis", "autoeval_label": {"model", "label"}}``;
fields beside these are a user's own and left alone.
"""

from collections.abc import Iterable, Iterator

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memrig.errors import DataError
from memrig.grading.judges.base import ANSWER
from memrig.model.judgement import Verdict, Vote

#: What a verdict of the evaluator's carries in place of a grader of ours.
OFFICIAL = "longmemeval-official-evaluator"
_FIX = "give the file that the official evaluate_qa.py wrote (<hypotheses>.eval-results-<model>)"


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, protected_namespaces=())


class AutoevalLabel(_Strict):
    """The evaluator's verdict and the judge it asked."""

    model: str = Field(min_length=1)
    label: bool


class OfficialLine(_Strict):
    """One line of the evaluator's file."""

    question_id: str = Field(min_length=1)
    hypothesis: str
    autoeval_label: AutoevalLabel


def read_official(lines: Iterable[str], where: str) -> Iterator[OfficialLine]:
    """Reads the evaluator's lines; blank ones are passed over.

    Args:
        lines: of the file.
        where: the file, for errors.

    Raises:
        DataError: a line is not the evaluator's, or a question occurs twice.
    """
    seen: dict[str, int] = {}
    for number, text in enumerate(lines, 1):
        if not text.strip():
            continue
        place = f"{where}:{number}"
        try:
            line = OfficialLine.model_validate_json(text)
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(str(part) for part in first["loc"]) or "the line"
            message = f"{field}: {first['msg']}, got {first['input']!r:.80}"
            raise DataError(message, where=place, fix=_FIX) from error
        if line.question_id in seen:
            message = f"question {line.question_id!r} was in line {seen[line.question_id]} already"
            raise DataError(message, where=place, fix="keep one line a question")
        seen[line.question_id] = number
        yield line


def official_verdict(
    line: OfficialLine, trial_id: str, scenario_id: str, protocol: str = "longmemeval-compatible"
) -> Verdict:
    """The evaluator's verdict as one of ours: a single vote, whose reply the file does not hold."""
    score = float(line.autoeval_label.label)
    model = line.autoeval_label.model
    return Verdict(
        trial_id=trial_id,
        scenario_id=scenario_id,
        question_id=line.question_id,
        protocol=protocol,
        model=model,
        task=ANSWER,
        votes=(Vote(score=score, served_model=model),),
        quorum=1,
        score=score,
        agreement=None,
        grader=OFFICIAL,
    )
