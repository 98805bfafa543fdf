"""Do the typed graders tell right from wrong? Every data set that ships is put to this test.

Each gold answer is said in several ways, denied in several ways, exchanged for a wrong value,
buried among everything else, and replaced by the question, by "I don't know" and by numbers. What
each kind may score at most, or must at least, is scoring §2's. All of it is deterministic.

    memrig data selftest --suite practical   prints the table of a suite, as in docs
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from memrig.grading.closed_book import Blind, ClosedBook, closed_book, commonest_by_type
from memrig.grading.phrasings import dumped, negated, phrased, swapped, values_of
from memrig.grading.typed import grade_text
from memrig.model.gold import AbstentionGold, GoldAnswer
from memrig.model.scenario import Scenario, questions_of

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
        """What it must reach, or must not exceed."""
        return BOUNDS[self.kind]

    @property
    def passed(self) -> bool:
        """Whether the score is within bounds."""
        return within(self.kind, self.score)


def within(kind: str, score: float) -> bool:
    """Whether a score, or a mean of such, is within the bound of its kind of answer."""
    least, bound = BOUNDS[kind]
    return score >= bound if least else score <= bound


@dataclass(frozen=True, slots=True)
class Row:
    """A category or an answer type: how many questions, and the mean score by kind of answer.

    `blind` is what it yields without the data: reported, and bound by nothing.
    """

    group: str
    questions: int
    means: Mapping[str, float]
    blind: ClosedBook


@dataclass(frozen=True, slots=True)
class Table:
    """The outcome of a self-test. `failures` are single answers that are out of bounds."""

    by_category: tuple[Row, ...]
    by_type: tuple[Row, ...]
    trials: int
    failures: tuple[Trial, ...]

    @property
    def breaches(self) -> tuple[str, ...]:
        """Each mean of a category or a type that is out of bounds, in words."""
        return tuple(
            f"{row.group}: {kind} scores {mean:.3f}"
            for row in (*self.by_category, *self.by_type)
            for kind, mean in row.means.items()
            if not within(kind, mean)
        )


def answers_to(item: Item) -> Iterator[tuple[str, str]]:
    """Every answer that is tried on a question, with its kind."""
    silent = isinstance(item.gold, AbstentionGold)
    yield from (("gold", text) for text in phrased(item.gold))
    yield from (("negated", text) for text in negated(item.gold))
    yield from (("sibling", text) for text in swapped(item.gold, item.others))
    yield from (("dump", text) for text in dumped(item.gold, item.others))
    yield from (("echo", text) for text in _echoes(item.question))
    # Where there is no answer, that is the right one.
    yield from (("gold" if silent else "don't know", text) for text in _IGNORANCE)
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
    asked = [_Tried(item, _blind(item, grader), tuple(_tried(item, grader))) for item in items]
    trials = [trial for one in asked for trial in one.trials]
    return Table(
        by_category=_rows(asked, lambda item: item.category),
        by_type=_rows(asked, lambda item: item.gold.type),
        trials=len(trials),
        failures=tuple(trial for trial in trials if not trial.passed),
    )


@dataclass(frozen=True, slots=True)
class _Tried:
    """A question with every answer that was tried on it."""

    item: Item
    blind: Blind
    trials: tuple[Trial, ...]


def _tried(item: Item, grader: GradeFn) -> Iterator[Trial]:
    for kind, answer in answers_to(item):
        yield Trial(item, kind, answer, grader(answer, item.gold, item.question))


def _blind(item: Item, grader: GradeFn) -> Blind:
    def score(answer: str) -> float:
        return grader(answer, item.gold, item.question)

    return Blind(item.question, item.gold, score)


def _rows(asked: Sequence[_Tried], group_of: Callable[[Item], str]) -> tuple[Row, ...]:
    usual = commonest_by_type(one.item.gold for one in asked)
    groups: dict[str, list[_Tried]] = defaultdict(list)
    for one in asked:
        groups[group_of(one.item)].append(one)
    return tuple(_row(name, groups[name], usual) for name in sorted(groups))


def _row(name: str, asked: Sequence[_Tried], usual: dict[str, str]) -> Row:
    scores: dict[str, list[float]] = defaultdict(list)
    for one in asked:
        for trial in one.trials:
            scores[trial.kind].append(trial.score)
    means = {kind: sum(scores[kind]) / len(scores[kind]) for kind in BOUNDS if kind in scores}
    return Row(name, len(asked), means, closed_book([one.blind for one in asked], usual))


def as_markdown(table: Table) -> str:
    """The table for people, as docs show it."""
    bounds = [f"{'≥' if least else '≤'} {bound:g}" for least, bound in BOUNDS.values()]
    kinds = " | ".join([*BOUNDS, "constant", "commonest"])
    head = f"| {{}} | questions | {kinds} |\n|---|---:|{'---:|' * (len(BOUNDS) + 2)}"
    limits = f"| *must be* | | {' | '.join(bounds)} | | |"
    parts = []
    for title, rows in (("category", table.by_category), ("answer type", table.by_type)):
        lines = [head.format(title), limits, *map(_line, rows)]
        parts.append("\n".join(lines))
    failed = len(table.failures)
    summary = f"{table.trials:,} answers tried, {failed} out of bounds."
    return "\n\n".join([*parts, summary]) + "\n"


def _line(row: Row) -> str:
    cells = [f"{row.means[kind]:.3f}" if kind in row.means else "–" for kind in BOUNDS]
    cells += [f"{row.blind.constant:.3f}", f"{row.blind.commonest:.3f}"]
    return f"| {row.group} | {row.questions} | {' | '.join(cells)} |"


def items_of(scenarios: Iterable[Scenario]) -> Iterator[Item]:
    """The questions of any suite's scenarios, but for those without gold."""
    for scenario in scenarios:
        questions = list(questions_of(scenario.timeline))
        answers = [scenario.gold[question.question_id].answer for question in questions]
        others = tuple(answer for answer in answers if answer is not None)
        for question, answer in zip(questions, answers, strict=True):
            if answer is not None:
                yield Item(
                    question_id=f"{scenario.scenario_id} {question.question_id}",
                    category=scenario.gold[question.question_id].category,
                    question=question.text,
                    gold=answer,
                    others=others,
                )


def show(trial: Trial) -> str:
    """A failure in one line."""
    gold = "; ".join(values_of(trial.item.gold)[:1])
    return (
        f"{trial.item.question_id} {trial.item.gold.type} {trial.kind} {trial.score:.2f}: "
        f"{trial.answer[:160]!r} (gold: {gold}; question: {trial.item.question})"
    )
