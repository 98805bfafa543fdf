"""`memrig data lint`: finds a file's format by its shape and names each defect."""

import json
from pathlib import Path

from memrig.errors import DataError
from memrig.suites.base import SuiteOptions
from memrig.suites.conversations import FORMAT, Problem, lint_set
from memrig.suites.locomo import SUITE as LOCOMO


def lint_file(path: Path) -> list[Problem]:
    """Every defect of a file, errors and warnings.

    Raises:
        DataError: the file cannot be read, is not JSON, or is of no known format.
    """
    try:
        raw = json.loads(path.read_bytes())
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror})", where=str(path)) from error
    except ValueError as error:
        raise DataError(f"is not JSON: {error}", where=str(path)) from error
    if isinstance(raw, dict) and "format" in raw:
        return lint_set(raw)[0]
    if isinstance(raw, list):
        return _lint_locomo(path)
    raise DataError(
        "is of no format that memrig knows",
        where=str(path),
        fix=f"a list of dialogues (LoCoMo), or an object with format {FORMAT!r} (docs/formats.md)",
    )


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
