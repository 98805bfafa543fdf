"""The files of LongMemEval's own evaluator: hypotheses out, hypotheses and verdicts in.

A hypothesis file holds an object of ``question_id`` and ``hypothesis`` a line. The evaluator writes
the same lines with ``autoeval_label: {model, label}`` beside it. Other fields, which some systems
add, are ignored.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from memrig.suites.answers_file import add_once, read_lines
from memrig.suites.fields import expect, some_text


@dataclass(frozen=True, slots=True)
class OfficialVerdict:
    """What the official evaluator decided, and by which judge model."""

    correct: bool
    model: str


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A system's answer to one question, with a verdict where the file carries one."""

    text: str
    verdict: OfficialVerdict | None = None


def write_hypotheses(path: Path, answers: Mapping[str, str]) -> None:
    """Writes answers by question id, in their order, for the official evaluator.

    An existing file is replaced in one step.
    """
    lines = [
        json.dumps({"question_id": name, "hypothesis": text}, ensure_ascii=False)
        for name, text in answers.items()
    ]
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        aside.write_text("".join(line + "\n" for line in lines), "utf-8")
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


def read_hypotheses(path: Path) -> dict[str, Hypothesis]:
    """Reads hypotheses by question id, with the official evaluator's verdicts where they are there.

    Raises:
        DataError: names line, field, value and fix.
    """
    found: dict[str, Hypothesis] = {}
    for where, fields in read_lines(path):
        name = some_text(fields.get("question_id"), f"{where}: question_id")
        text = expect(fields.get("hypothesis"), str, f"{where}: hypothesis")
        verdict = _verdict(fields.get("autoeval_label"), f"{where}: autoeval_label")
        add_once(found, name, Hypothesis(text, verdict), where)
    return found


def _verdict(raw: object, where: str) -> OfficialVerdict | None:
    if raw is None:
        return None
    fields = expect(raw, dict, where)
    return OfficialVerdict(
        correct=expect(fields.get("label"), bool, f"{where}.label"),
        model=some_text(fields.get("model"), f"{where}.model"),
    )
