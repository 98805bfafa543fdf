"""Answers given in a file, in either of the forms that they come in."""

from pathlib import Path

from memrig.model.given import GivenAnswer
from memrig.suites.answers_file import read_answers, read_lines
from memrig.suites.longmemeval_files import read_hypotheses


def read_given(path: Path) -> dict[str, GivenAnswer]:
    """Reads answers by question id: our own lines, or LongMemEval's hypotheses.

    The first line tells which: only the latter have a ``hypothesis``.

    Raises:
        DataError: names line, field, value and fix.
    """
    _, first = next(iter(read_lines(path)))
    if "hypothesis" not in first:
        return read_answers(path)
    found = read_hypotheses(path)
    return {name: GivenAnswer(answer=item.text) for name, item in found.items()}
