"""Defects of data files, as a lint names them and a run refuses them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from memrig.errors import DataError


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with a data file: where, what, and how to mend it."""

    severity: Literal["error", "warning"]
    where: str
    message: str
    fix: str


def errors_of(problems: Sequence[Problem]) -> list[Problem]:
    """Those that stop a run."""
    return [problem for problem in problems if problem.severity == "error"]


def refusal(errors: Sequence[Problem], where: str) -> DataError:
    """That a file is refused: its first error, and how many more there are.

    Args:
        errors: at least one.
        where: the file.
    """
    first = errors[0]
    more = f" (and {len(errors) - 1} more; see `memrig data lint`)" if len(errors) > 1 else ""
    return DataError(first.message + more, where=f"{where}: {first.where}", fix=first.fix)
