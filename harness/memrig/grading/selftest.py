"""Do the typed graders tell right from wrong? Every data set that ships is put to this test.

Each gold answer is said in several ways, denied in several ways, exchanged for a wrong value,
buried among everything else, and replaced by the question, by "I don't know" and by numbers. What
each kind may score at most, or must at least, is scoring §2's. All of it is deterministic.

    python -m memrig.grading.selftest        prints the table of suite `practical`, as in docs
"""

import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

from pydantic import TypeAdapter

from memrig.grading.phrasings import dumped, negated, phrased, swapped, values_of
from memrig.grading.typed import grade_text
from memrig.model.gold import AbstentionGold, GoldAnswer

#: What a grader makes of (answer, gold, question).
GradeFn = Callable[[str, GoldAnswer, str], float]

#: What a kind of answer must score at least (True), or may score at most.
BOUNDS: Mapping[str, tuple[bool, float]] = {
    "gold": (True, 0.99),
    "negated": (False, 0.1),
    "sibling": (False, 0.0),
    "dump": (False, 0.2),
    "echo": (False, 0.05),
    "don't know": (False, 0.05),
    "numbers": (False, 0.05),
}
_IGNORANCE = (
    "I don't know.",
    "The memory does not mention that.",
    "There is no information about this in the conversation.",
    "That cannot be determined.",
)
_NUMBERS = (
    ", ".join(str(number) for number in range(1, 101)),
    " ".join(str(number) for number in range(1, 101)),
    "\n".join(str(number) for number in range(10, 4000, 10)),
)


@dataclass(frozen=True, slots=True)
class Item:
    """A question to be tested. `others` are the gold answers of its scenario, its own included."""

    question_id: str
    category: str
    question: str
    gold: GoldAnswer
    others: tuple[GoldAnswer, ...] = ()


@dataclass(frozen=True, slots=True)
class Trial:
    """One answer of the self-test and its score."""

    item: Item
    kind: str
    answer: str
    score: float

    @property
    def bounds(self) -> tuple[bool, float]:
        """What it must reach, or must not exceed. An abstention's gold is not to know."""
        if isinstance(self.item.gold, AbstentionGold) and self.kind == "don't know":
            return BOUNDS["gold"]
        return BOUNDS[self.kind]

    @property
    def passed(self) -> bool:
        """Whether the score is within bounds."""
        least, bound = self.bounds
        return self.score >= bound if least else self.score <= bound


@dataclass(frozen=True, slots=True)
class Row:
    """A category or an answer type: how many questions, and the mean score by kind of answer."""

    group: str
    questions: int
    means: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Table:
    """The outcome of a self-test."""

    by_category: tuple[Row, ...]
    by_type: tuple[Row, ...]
    trials: int
    failures: tuple[Trial, ...]


def answers_to(item: Item) -> Iterator[tuple[str, str]]:
    """Every answer that is tried on a question, with its kind."""
    yield from (("gold", text) for text in phrased(item.gold))
    yield from (("negated", text) for text in negated(item.gold))
    yield from (("sibling", text) for text in swapped(item.gold, item.others))
    yield from (("dump", text) for text in dumped(item.gold, item.others))
    yield from (("echo", text) for text in _echoes(item.question))
    yield from (("don't know", text) for text in _IGNORANCE)
    yield from (("numbers", text) for text in _NUMBERS)


def _echoes(question: str) -> Iterator[str]:
    yield question
    yield question.rstrip("?.")
    yield f"You asked: {question}"
    yield f'The question is "{question}"'


def selftest(items: Iterable[Item], grader: GradeFn = grade_text) -> Table:
    """Tries every answer on every question.

    Args:
        items: the questions of a data set.
        grader: what is tested.
    """
    trials = [
        Trial(item, kind, answer, grader(answer, item.gold, item.question))
        for item in items
        for kind, answer in answers_to(item)
    ]
    return Table(
        by_category=_rows(trials, lambda trial: trial.item.category),
        by_type=_rows(trials, lambda trial: trial.item.gold.type),
        trials=len(trials),
        failures=tuple(trial for trial in trials if not trial.passed),
    )


def _rows(trials: Sequence[Trial], group_of: Callable[[Trial], str]) -> tuple[Row, ...]:
    groups: dict[str, list[Trial]] = defaultdict(list)
    for trial in trials:
        groups[group_of(trial)].append(trial)
    return tuple(_row(name, groups[name]) for name in sorted(groups))


def _row(name: str, trials: Sequence[Trial]) -> Row:
    scores: dict[str, list[float]] = defaultdict(list)
    for trial in trials:
        scores[trial.kind].append(trial.score)
    questions = len({trial.item.question_id for trial in trials})
    return Row(name, questions, {kind: sum(s) / len(s) for kind, s in scores.items()})


def as_markdown(table: Table) -> str:
    """The table for people, as docs show it."""
    bounds = [f"{'≥' if least else '≤'} {bound:g}" for least, bound in BOUNDS.values()]
    head = "| {} | questions | " + " | ".join(BOUNDS) + " |\n|---|---:|" + "---:|" * len(BOUNDS)
    limits = f"| *must be* | | {' | '.join(bounds)} |"
    parts = []
    for title, rows in (("category", table.by_category), ("answer type", table.by_type)):
        lines = [head.format(title), limits, *map(_line, rows)]
        parts.append("\n".join(lines))
    failed = len(table.failures)
    summary = f"{table.trials:,} answers tried, {failed} out of bounds."
    return "\n\n".join([*parts, summary]) + "\n"


def _line(row: Row) -> str:
    cells = [f"{row.means[kind]:.3f}" if kind in row.means else "–" for kind in BOUNDS]
    return f"| {row.group} | {row.questions} | {' | '.join(cells)} |"


def practical_items() -> list[Item]:
    """All questions of suite `practical`'s own data."""
    reader: TypeAdapter[GoldAnswer] = TypeAdapter(GoldAnswer)
    folder = files("memrig") / "suites" / "practical_data"
    items = []
    for path in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if not path.name.endswith(".json"):
            continue
        scenario = json.loads(path.read_bytes())
        golds = tuple(reader.validate_python(q["answer"]) for q in scenario["questions"])
        items += [
            Item(f"{scenario['id']}#{q['id']}", q["category"], q["question"], gold, golds)
            for q, gold in zip(scenario["questions"], golds, strict=True)
        ]
    return items


def show(trial: Trial) -> str:
    """A failure in one line."""
    gold = "; ".join(values_of(trial.item.gold)[:1])
    return (
        f"{trial.item.question_id} {trial.item.gold.type} {trial.kind} {trial.score:.2f}: "
        f"{trial.answer[:160]!r} (gold: {gold}; question: {trial.item.question})"
    )


def main() -> None:
    """Prints the table of suite `practical`."""
    sys.stdout.write(as_markdown(selftest(practical_items())))


if __name__ == "__main__":
    main()
