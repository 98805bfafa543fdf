"""`longhorizon` as a suite: one seed, one world, one scenario."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from memrig.errors import UsageError
from memrig.model.canonical import digest_of
from memrig.model.scenario import Episode, Event, Question, Scenario, Turn
from memrig.model.trial import Mode, PromptStyle
from memrig.suites.base import DataSource, SuiteOptions
from memrig.suites.longhorizon.allocate import allocate, per_category, quotas
from memrig.suites.longhorizon.lexicon import LEXICON
from memrig.suites.longhorizon.log import EventLog
from memrig.suites.longhorizon.model import Turn as ToldTurn
from memrig.suites.longhorizon.programs import CATEGORIES
from memrig.suites.longhorizon.questions import WorldQuestion
from memrig.suites.longhorizon.render import told
from memrig.suites.longhorizon.spec import (
    QUESTION_SETS,
    QUESTIONS,
    SAMPLE_QUESTIONS,
    SAMPLE_TURNS,
    TURNS,
    WorldSpec,
)
from memrig.suites.longhorizon.world import simulate

#: Goes up with every change to what a seed makes: simulator, renderer, programs or allocation.
GENERATOR_VERSION = 2


def digest_of_world(spec: WorldSpec) -> str:
    """The digest of everything that decides what is generated.

    The generator is a pure function of these: tests generate worlds again and compare, and the
    digests of worlds that are in the tests change whenever it makes something else.
    """
    return digest_of(
        {
            "generator": GENERATOR_VERSION,
            "words": LEXICON.digest,
            "seed": spec.seed,
            "turns": spec.turns,
            "questions": spec.questions,
            "question_set": spec.question_set,
        }
    )


def questions_about(log: EventLog, spec: WorldSpec) -> tuple[WorldQuestion, ...]:
    """The questions about a world that was simulated, in the order of asking.

    Raises:
        UsageError: it does not have so many.
    """
    holdout = spec.question_set == "holdout"
    return allocate(log, LEXICON, spec.questions, holdout=holdout)


def spec_of(options: SuiteOptions) -> WorldSpec:
    """The world that the options ask for.

    Raises:
        UsageError: there is none of this size, or the suite takes no file.
    """
    if options.file is not None:
        message = "longhorizon makes its own world and takes no file"
        raise UsageError(message, where=f"--file {options.file}", fix="leave it out")
    turns, questions = TURNS, QUESTIONS
    if options.sample:
        turns, questions = SAMPLE_TURNS, SAMPLE_QUESTIONS
    spec = WorldSpec(
        options.seed,
        turns if options.turns is None else options.turns,
        questions if options.questions is None else options.questions,
        "holdout" if options.question_set == "holdout" else "standard",
    )
    spec.check()
    return spec


class LongHorizon:
    """The suite."""

    name = "longhorizon"
    summary = "a seeded world that changes over 5,000 turns and more, asked in 15 categories"
    protocols = ("longhorizon", "longhorizon-retrieval")
    label_sets = ("true",)
    modes: tuple[Mode, ...] = ("reader", "retrieval", "agent", "native")
    variants: tuple[str, ...] = ()
    orders: tuple[str, ...] = ()
    granularities: tuple[str, ...] = ()
    labels = ("published",)
    distractors = False
    seeds: tuple[int, ...] = (42, 123, 456, 789)
    made_of_seeds = True
    question_sets: tuple[str, ...] = QUESTION_SETS
    prompt: PromptStyle = "direct"
    top_k = 10

    def top_k_for(self, options: SuiteOptions) -> int:
        """Ten, whatever is asked."""
        del options
        return self.top_k

    def source(self, options: SuiteOptions) -> DataSource:
        """The digest of all that the world is made from; nothing is made for it."""
        spec = spec_of(options)
        name = f"longhorizon {spec.turns} turns {spec.question_set}"
        return DataSource(
            name, f"generated from seed {spec.seed}", digest_of_world(spec), _notes(spec)
        )

    def scenarios(self, options: SuiteOptions) -> Iterator[Scenario]:
        """The world of the seed; its turns are streamed, and must be read before the next call."""
        spec = spec_of(options)
        with EventLog.create() as log:
            simulate(log, LEXICON, spec.seed, spec.turns)
            questions = questions_about(log, spec)
            yield Scenario(
                scenario_id=f"world-{spec.seed}",
                timeline=_Timeline(log, questions),
                gold={question.question_id: question.gold() for question in questions},
                notes=_shortages(spec, questions),
            )


def _notes(spec: WorldSpec) -> tuple[str, ...]:
    size = f"{spec.turns:,} turns and {spec.questions:,} questions a seed"
    said = f"generated: {size}, question set {spec.question_set}"
    return (said,)


def _shortages(spec: WorldSpec, questions: Sequence[WorldQuestion]) -> tuple[str, ...]:
    """A note where a category could not be given its share."""
    wanted, there = quotas(spec.questions), per_category(questions)
    short = [f"{name} {there[name]}" for name in CATEGORIES if there[name] < wanted[name]]
    if not short:
        return ()
    return (f"the world has fewer questions than its share of: {', '.join(short)}",)


@dataclass(frozen=True, slots=True)
class _Timeline:
    """Turns as they are told, and questions when they are asked. Can be read more than once."""

    log: EventLog
    questions: Sequence[WorldQuestion]

    def __iter__(self) -> Iterator[Event]:
        waiting = {
            told: tuple(found) for told, found in groupby(self.questions, lambda q: q.asked_after)
        }
        for turn in told(self.log, LEXICON):
            now = datetime.fromisoformat(turn.told_at)
            yield _episode(turn, now)
            for question in waiting.get(turn.index + 1, ()):
                yield Question(question_id=question.question_id, text=question.text, asked_at=now)


def _episode(turn: ToldTurn, now: datetime) -> Episode:
    said = Turn(turn_id=turn.turn_id, speaker=turn.speaker, text=turn.text)
    return Episode(episode_id=turn.turn_id, timestamp=now, text=turn.text, turns=(said,))


SUITE = LongHorizon()
