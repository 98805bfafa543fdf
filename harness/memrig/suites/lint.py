"""`memrig data lint`: finds a file's format by its shape and names each defect."""

from pathlib import Path
from typing import BinaryIO

from memrig.errors import DataError
from memrig.suites.base import SuiteOptions
from memrig.suites.conversations import FORMAT, lint_set
from memrig.suites.fields import check_is_file, parsed, unreadable
from memrig.suites.locomo import SUITE as LOCOMO
from memrig.suites.longitudinal_lint import lint_dataset, looks_longitudinal
from memrig.suites.longmemeval import SUITE as LONGMEMEVAL
from memrig.suites.longmemeval_data import looks_like_records
from memrig.suites.longmemeval_scenario import ALL_TURNS, shape_of
from memrig.suites.longmemeval_survey import survey
from memrig.suites.problems import Problem

#: Bytes looked at to tell a list from an object; JSON may begin with spaces.
_HEAD = 4096


def lint_file(path: Path) -> list[Problem]:
    """Every defect of a file, errors and warnings.

    Raises:
        DataError: the file cannot be read, is not JSON, or is of no known format.
    """
    check_is_file(path, str(path))  # a pipe cannot be read from its start again
    try:
        with path.open("rb") as file:
            # Records are never read at once: they may be far larger than memory.
            if _is_list(file) and looks_like_records(file):
                return _lint_longmemeval(path)
        raw = parsed(path.read_bytes(), str(path))
    except OSError as error:
        raise unreadable(path, error) from error
    if isinstance(raw, dict) and raw.get("format") != FORMAT and looks_longitudinal(raw):
        return lint_dataset(raw)
    if isinstance(raw, dict) and "format" in raw:
        return lint_set(raw)[0]
    if isinstance(raw, list):
        return _lint_locomo(path)
    raise DataError(
        "is of no format that memrig knows",
        where=str(path),
        fix="a list of dialogues (LoCoMo) or of questions (LongMemEval), an object with scopes "
        f"(longitudinal), or one with format {FORMAT!r} (docs/formats.md)",
    )


def _is_list(file: BinaryIO) -> bool:
    """Whether a list may begin here. An object is not for the streaming parser at all.

    Leaves the file at its start.
    """
    head = file.read(_HEAD)
    file.seek(0)
    return head.lstrip()[:1] in {b"[", b""}


def _lint_locomo(path: Path) -> list[Problem]:
    """What stops a run is an error; what the suite repairs or leaves out is a warning."""
    options = SuiteOptions(LOCOMO.protocols[0], file=path)
    problems: list[Problem] = []
    try:
        for scenario in LOCOMO.scenarios(options):
            problems.extend(
                Problem("warning", scenario.scenario_id, note, "nothing to do: it is handled")
                for note in scenario.notes
            )
    except DataError as error:
        problems.append(Problem("error", error.where, error.message, error.fix))
    return problems


def _lint_longmemeval(path: Path) -> list[Problem]:
    """As for LoCoMo; records are checked up to the first error."""
    handled = "nothing to do: it is handled"
    try:
        with path.open("rb") as file:
            found = survey(file, str(path), shape_of(ALL_TURNS, "", ""))
    except DataError as error:
        return [Problem("error", error.where, error.message, error.fix)]
    return [Problem("warning", LONGMEMEVAL.name, note, handled) for note in found.notes]
