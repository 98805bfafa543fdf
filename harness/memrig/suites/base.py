"""What a suite is. Third parties ship one by the entry point group ``memrig.suites``."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Protocol

from memrig.errors import UsageError
from memrig.model.scenario import Scenario
from memrig.model.trial import Mode, PromptStyle

GROUP = "memrig.suites"


@dataclass(frozen=True, slots=True)
class SuiteOptions:
    """What the user asks of a suite.

    Args:
        protocol: one of the suite's protocols.
        file: data of the user's own; none: the suite's.
        sample: the suite's tiny built-in sample instead of its data.
        category_labels: which names to give the categories; "true" is the suite's own.
        variant: which of the suite's published files; empty: the suite's default.
        order: in which order episodes come; empty: the suite's default.
        granularity: what becomes an episode; empty: the suite's default.
        labels: whose gold labels: "published", or "audited" (by `audit_file`).
        audit_file: what an audit found wrong with the published labels.
        distractors: distractor episodes for each signal episode; none: as the data has them.
        distractor_file: where distractor episodes come from; none: the data's own.
        seed: what a suite that makes its own world makes it from.
        turns: of such a world; none: the suite's default.
        questions: about such a world; none: the suite's default.
        question_set: which of the suite's sets of questions; empty: the suite's default.
    """

    protocol: str
    file: Path | None = None
    sample: bool = False
    category_labels: str = "true"
    variant: str = ""
    order: str = ""
    granularity: str = ""
    labels: str = "published"
    audit_file: Path | None = None
    distractors: float | None = None
    distractor_file: Path | None = None
    seed: int = 0
    turns: int | None = None
    questions: int | None = None
    question_set: str = ""


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
    def modes(self) -> tuple[Mode, ...]:
        """The answering modes that fit, the default first; a protocol may fit fewer."""

    @property
    def variants(self) -> tuple[str, ...]:
        """The published files to choose from, the default first; empty: there is one."""

    @property
    def orders(self) -> tuple[str, ...]:
        """The orders of episodes, the default first; empty: no choice."""

    @property
    def granularities(self) -> tuple[str, ...]:
        """What can be an episode, the default first; empty: no choice."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Whose gold labels there are, "published" first."""

    @property
    def distractors(self) -> bool:
        """Whether a stream of distractors can be put among the episodes, at a ratio."""

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of a run where the user names none; empty: the rig's own one."""

    @property
    def made_of_seeds(self) -> bool:
        """Whether scenarios are made from the seed, with so many turns and questions."""

    @property
    def question_sets(self) -> tuple[str, ...]:
        """The sets of questions to choose from, the default first; empty: there is one."""

    @property
    def prompt(self) -> PromptStyle:
        """What a reader is told where the user does not choose."""

    @property
    def top_k(self) -> int:
        """How many hits a question asks for, where the protocol says nothing else."""

    def top_k_for(self, options: SuiteOptions) -> int:
        """How many hits a question asks for under these options."""

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


def check_options(suite: Suite, options: SuiteOptions) -> None:
    """Refuses a choice that the suite does not offer.

    Raises:
        UsageError: names flag, value and what there is to choose from.
    """
    if options.protocol not in suite.protocols:
        raise _refused(suite, "--protocol", options.protocol, suite.protocols)
    for flag, value, offered in (
        ("--category-labels", options.category_labels, suite.label_sets),
        ("--variant", options.variant, suite.variants),
        ("--order", options.order, suite.orders),
        ("--granularity", options.granularity, suite.granularities),
        ("--labels", options.labels, suite.labels),
        ("--question-set", options.question_set, suite.question_sets),
    ):
        if value and value not in offered:
            raise _refused(suite, flag, value, offered)
    if options.sample:
        _check_sample(options)
    _check_distractors(suite, options)
    _check_made(suite, options)
    if (options.labels == "audited") != (options.audit_file is not None):
        raise UsageError(
            "--labels audited and --audit-file go together, only one was given",
            where=f"--labels {options.labels}",
            fix="give both, or neither",
        )


def _refused(suite: Suite, flag: str, value: str, offered: tuple[str, ...]) -> UsageError:
    if not offered:
        return UsageError(
            f"{suite.name} takes no {flag}", where=f"{flag} {value}", fix="leave it out"
        )
    message = f"{suite.name} has no {flag.removeprefix('--').replace('-', ' ')} {value!r}"
    return UsageError(message, where=flag, fix=f"one of: {', '.join(offered)}")


def _check_sample(options: SuiteOptions) -> None:
    for flag, given in (
        ("--file", options.file),
        ("--variant", options.variant),
        ("--audit-file", options.audit_file),
    ):
        if given:
            message = f"{flag} and --sample exclude each other"
            raise UsageError(message, where=f"{flag} {given}", fix="give one of them")


def _check_distractors(suite: Suite, options: SuiteOptions) -> None:
    for flag, given in (
        ("--distractors", options.distractors),
        ("--distractor-file", options.distractor_file),
    ):
        if given is not None and not suite.distractors:
            shown = f"{given:g}" if isinstance(given, float) else str(given)
            raise _refused(suite, flag, shown, ())
    ratio = options.distractors
    if ratio is not None and not (math.isfinite(ratio) and ratio >= 0):
        message = "is no ratio of distractor to signal episodes"
        raise UsageError(message, where=f"--distractors {ratio:g}", fix="give 0, 0.5, 1, 3, …")
    if ratio == 0 and options.distractor_file is not None:
        message = "--distractors 0 and --distractor-file exclude each other"
        raise UsageError(message, where="--distractors 0", fix="give one of them")


def _check_made(suite: Suite, options: SuiteOptions) -> None:
    for flag, given in (("--turns", options.turns), ("--questions", options.questions)):
        if given is not None and not suite.made_of_seeds:
            raise _refused(suite, flag, str(given), ())


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
