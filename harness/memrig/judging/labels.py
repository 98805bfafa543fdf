"""Answers with labels: what a judge is measured against. Format: docs/judges.md."""

from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memrig.errors import DataError

_FORMAT = "see docs/judges.md for the fields of a line"


class LabelledAnswer(BaseModel):
    """One line: an answer, and whether it is right.

    Args:
        id: unique in the file.
        question: what was asked.
        gold: what is right; with `abstention`, why there is no answer.
        answer: what is judged.
        label: whether it is right.
        type: a LongMemEval type whose rule the label presumes; such lines are left out under
            protocols that know no types.
        kind: what sort of answer it is, such as "vague-wrong"; a table groups by it.
        abstention: whether the right answer is that there is none.
        pair: the id of a line with the same answer in another length.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    id: str = Field(min_length=1)
    question: str = Field(min_length=1)
    gold: str = Field(min_length=1)
    answer: str = Field(pattern=r"\S")
    label: bool
    type: str = ""
    kind: str = ""
    abstention: bool = False
    pair: str = ""

    @property
    def group(self) -> str:
        """The kind, or what the label says where none is given."""
        return self.kind or ("right" if self.label else "wrong")


def default_labels() -> tuple[LabelledAnswer, ...]:
    """The set that ships: invented facts, several kinds of right and wrong answers."""
    source = files("memrig.grading.judges") / "calibration.jsonl"
    return parse_labels(source.read_text("utf-8").split("\n"), source.name)


def read_labels(path: Path) -> tuple[LabelledAnswer, ...]:
    """Reads a user's labelled answers.

    Raises:
        DataError: the file cannot be read, or a line cannot be used.
    """
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        fix = "give a file of JSON lines in UTF-8"
        raise DataError(f"cannot be read ({error})", where=str(path), fix=fix) from error
    return parse_labels(text.split("\n"), str(path))


def parse_labels(lines: Iterable[str], where: str) -> tuple[LabelledAnswer, ...]:
    """Reads labelled answers, one JSON object a line; blank lines are passed over.

    Args:
        lines: of the file.
        where: the file, for errors.

    Raises:
        DataError: names file, line, field, value and fix.
    """
    items: list[LabelledAnswer] = []
    places: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        place = f"{where}:{number}"
        item = _item(line, place)
        if item.id in places:
            message = f"id: {item.id!r} is taken, by {places[item.id]}"
            raise DataError(message, where=place, fix="give every line an id of its own")
        places[item.id] = place
        items.append(item)
    if not items:
        raise DataError("holds no labelled answers", where=where, fix=_FORMAT)
    _check_pairs(items, places)
    return tuple(items)


def _item(line: str, place: str) -> LabelledAnswer:
    try:
        return LabelledAnswer.model_validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "the line"
        message = f"{field}: {first['msg']}, got {first['input']!r:.80}"
        raise DataError(message, where=place, fix=_FORMAT) from error


def _check_pairs(items: Sequence[LabelledAnswer], places: dict[str, str]) -> None:
    labels = {item.id: item.label for item in items}
    for item in items:
        if not item.pair:
            continue
        if item.pair == item.id or item.pair not in labels:
            message = f"pair: {item.pair!r} is no other line's id"
            raise DataError(
                message, where=places[item.id], fix="name the line with the other length"
            )
        if labels[item.pair] != item.label:
            message = f"pair: {item.pair!r} is labelled {labels[item.pair]}, this line {item.label}"
            fix = "the same answer has the same label in any length"
            raise DataError(message, where=places[item.id], fix=fix)
