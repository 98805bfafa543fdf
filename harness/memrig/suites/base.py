"""What a suite is. Third parties ship one by the entry point group ``memrig.suites``."""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Protocol

from memrig.errors import UsageError
from memrig.model.scenario import Scenario

GROUP = "memrig.suites"


@dataclass(frozen=True, slots=True)
class SuiteOptions:
    """What the user asks of a suite.

    Args:
        protocol: one of the suite's protocols.
        file: data of the user's own; none: the suite's.
        sample: the suite's tiny built-in sample instead of its data.
        category_labels: which names to give the categories; "true" is the suite's own.
    """

    protocol: str
    file: Path | None = None
    sample: bool = False
    category_labels: str = "true"


@dataclass(frozen=True, slots=True)
class DataSource:
    """Where the data came from, by content. `notes` are shown in every report."""

    name: str
    origin: str
    sha256: str
    notes: tuple[str, ...] = ()


class Suite(Protocol):
    """Turns data into scenarios. Stateless: everything comes in through the options."""

    @property
    def name(self) -> str:
        """The name on the command line."""

    @property
    def summary(self) -> str:
        """One sentence for `memrig suites`."""

    @property
    def protocols(self) -> tuple[str, ...]:
        """The grading protocols that fit, the default first."""

    @property
    def label_sets(self) -> tuple[str, ...]:
        """The names of the category numberings in use, "true" first."""

    @property
    def top_k(self) -> int:
        """How many hits a question asks for."""

    def source(self, options: SuiteOptions) -> DataSource:
        """Finds the data and hashes it.

        Raises:
            DataError: the file cannot be used.
            PrerequisiteError: the data is not on this machine; names how to get it.
        """

    def scenarios(self, options: SuiteOptions) -> Iterator[Scenario]:
        """Yields the scenarios in a fixed order, each with a timeline that may be a stream.

        Raises:
            DataError: the file cannot be used; names file, field, value and fix.
        """


def suite_names() -> tuple[str, ...]:
    """The names of all installed suites."""
    return tuple(sorted({point.name for point in entry_points(group=GROUP)}))


def load_suite(name: str) -> Suite:
    """Loads an installed suite.

    Raises:
        UsageError: there is none of this name.
    """
    for point in entry_points(group=GROUP):
        if point.name == name:
            suite: Suite = point.load()
            return suite
    raise UsageError(
        f"there is no suite {name!r}", where="--suite", fix=f"one of: {', '.join(suite_names())}"
    )
