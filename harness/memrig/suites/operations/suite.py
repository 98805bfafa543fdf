"""The suite: seeded scenarios that are measured rather than asked."""

from collections.abc import Iterator
from dataclasses import dataclass

from memrig.errors import UsageError
from memrig.model.canonical import digest_of
from memrig.model.scenario import Scenario
from memrig.model.trial import Mode, PromptStyle
from memrig.suites.base import DataSource, SuiteOptions
from memrig.suites.longhorizon.lexicon import LEXICON
from memrig.suites.longhorizon.spec import FEWEST_TURNS, MOST_SEED, MOST_TURNS
from memrig.suites.longhorizon.suite import GENERATOR_VERSION as WORLD_VERSION
from memrig.suites.operations.growth import growth
from memrig.suites.operations.incidents import INCIDENTS, Filling

#: Goes up with every change to what a seed makes.
GENERATOR_VERSION = 1
TURNS, QUESTIONS = 10_000, 20
SAMPLE_TURNS = 1_000


@dataclass(frozen=True, slots=True)
class Operation:
    """What the scenarios are made from."""

    seed: int
    turns: int
    questions: int


class Operations:
    """The suite."""

    name = "operations"
    summary = "what running it takes: growth, load, freshness, restarts, leaks, failing models"
    protocols = ("operations",)
    label_sets = ("true",)
    modes: tuple[Mode, ...] = ("retrieval",)
    variants: tuple[str, ...] = ()
    orders: tuple[str, ...] = ()
    granularities: tuple[str, ...] = ()
    labels = ("published",)
    distractors = False
    seeds: tuple[int, ...] = (42,)
    made_of_seeds = True
    question_sets: tuple[str, ...] = ()
    prompt: PromptStyle = "direct"
    top_k = 10

    def top_k_for(self, options: SuiteOptions) -> int:
        """Ten, whatever is asked."""
        del options
        return self.top_k

    def source(self, options: SuiteOptions) -> DataSource:
        """The digest of all that the scenarios are made from."""
        asked = operation_of(options)
        digest = digest_of(
            {
                "generator": GENERATOR_VERSION,
                "world": WORLD_VERSION,
                "words": LEXICON.digest,
                "seed": asked.seed,
                "turns": asked.turns,
                "questions": asked.questions,
            }
        )
        note = f"generated: a memory of up to {asked.turns:,} turns a seed"
        name = f"operations {asked.turns} turns"
        return DataSource(name, f"generated from seed {asked.seed}", digest, (note,))

    def scenarios(self, options: SuiteOptions) -> Iterator[Scenario]:
        """Growth first: it takes the longest. Each gets a memory of its own."""
        asked = operation_of(options)
        yield growth(asked.seed, asked.turns, asked.questions)
        for incident in INCIDENTS:
            yield incident(Filling.upto(asked.seed, asked.turns, asked.questions))


def operation_of(options: SuiteOptions) -> Operation:
    """What the options ask for.

    Raises:
        UsageError: there is no such size or seed, or the suite takes no file.
    """
    if options.file is not None:
        raise UsageError(
            "operations makes its own lines and takes no file",
            where=f"--file {options.file}",
            fix="leave it out",
        )
    turns = SAMPLE_TURNS if options.sample else TURNS
    turns = turns if options.turns is None else options.turns
    questions = QUESTIONS if options.questions is None else options.questions
    _check("--seed", options.seed, 0, MOST_SEED)
    _check("--turns", turns, FEWEST_TURNS, MOST_TURNS)
    _check("--questions", questions, 1, 1_000)
    return Operation(options.seed, turns, questions)


def _check(flag: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise UsageError(
            f"operations takes {least:,} to {most:,} here, not {value:,}",
            where=f"{flag} {value}",
            fix="give a number in between",
        )


SUITE = Operations()
