"""What a world is made from: the part of the suite that the command line knows at once."""

from dataclasses import dataclass
from typing import Literal

from memrig.errors import UsageError

TURNS, QUESTIONS = 5_000, 200
SAMPLE_TURNS, SAMPLE_QUESTIONS = 300, 30
FEWEST_TURNS, MOST_TURNS = 100, 100_000
#: Integers that every reader of JSON keeps exact.
MOST_SEED = 2**53 - 1
#: One for each category.
FEWEST_QUESTIONS = 15

#: The files of a world that is written out.
TURNS_FILE, EVENTS_FILE, QUESTIONS_FILE = "turns.jsonl", "events.jsonl", "questions.jsonl"
FILES = (TURNS_FILE, EVENTS_FILE, QUESTIONS_FILE)

QuestionSet = Literal["standard", "holdout"]
QUESTION_SETS: tuple[QuestionSet, ...] = ("standard", "holdout")


@dataclass(frozen=True, slots=True)
class WorldSpec:
    """All that a world and the questions about it depend on, beside the generator itself."""

    seed: int
    turns: int = TURNS
    questions: int = QUESTIONS
    question_set: QuestionSet = "standard"

    def check(self) -> None:
        """Refuses a seed or a size that is not offered.

        Raises:
            UsageError: names flag and value.
        """
        if not 0 <= self.seed <= MOST_SEED:
            raise UsageError(
                f"a seed is a number from 0 to {MOST_SEED}, not {self.seed}",
                where=f"--seed {self.seed}",
                fix="give a number in between",
            )
        if not FEWEST_TURNS <= self.turns <= MOST_TURNS:
            raise UsageError(
                f"a world has {FEWEST_TURNS} to {MOST_TURNS:,} turns, not {self.turns:,}",
                where=f"--turns {self.turns}",
                fix="give a number in between",
            )
        if self.questions < FEWEST_QUESTIONS:
            raise UsageError(
                f"there are {FEWEST_QUESTIONS} categories, and each has a question at least",
                where=f"--questions {self.questions}",
                fix=f"ask for {FEWEST_QUESTIONS} or more",
            )
