"""An answer in its dimensions (scoring §2), each deterministic unless its gold is prose.

Weights are `memrig.model.dimensions`'; why these is in ADR 0014.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from memrig.grading.base import Asked
from memrig.grading.judges.delimit import clean
from memrig.grading.judges.facts import fact_names, fact_tasks
from memrig.grading.judges.tally import mean_score
from memrig.grading.typed import grade_text
from memrig.grading.typed.abstention import abstains
from memrig.grading.typed.precision import exact
from memrig.model.dimensions import WEIGHTS
from memrig.model.gold import AbstentionGold, Aspect, Dimension, Gold, GoldAnswer, TextGold
from memrig.model.judgement import JudgeTask

ACCURACY: Dimension = "factual_accuracy"
CALIBRATION: Dimension = "confidence_calibration"
DIMENSIONS: tuple[Dimension, ...] = tuple(WEIGHTS)


@dataclass(frozen=True, slots=True)
class Part:
    """One dimension of one answer. `score` is None where a judge was asked and did not decide.

    `why` then says so.
    """

    dimension: Dimension
    weight: float
    score: float | None
    why: str = ""


def aspects_of(gold: Gold) -> tuple[Aspect, ...]:
    """What the answer is compared with in each dimension: accuracy first, by the gold answer.

    Gold that names an aspect of accuracy itself has its own answer and weight there.
    """
    if gold.answer is None:
        return ()
    if any(aspect.dimension == ACCURACY for aspect in gold.aspects):
        return gold.aspects
    own = Aspect(dimension=ACCURACY, weight=WEIGHTS[ACCURACY], answer=gold.answer)
    return (own, *gold.aspects)


def tasks_of(asked: Asked) -> tuple[JudgeTask, ...]:
    """What a judge decides: the key facts of aspects in prose, of answers that say something."""
    answer = asked.record.answer
    if answer is None or silent(asked):
        return ()
    text = clean(answer.text)
    return tuple(
        task
        for name, _, gold in _prose(asked.gold)
        for task in fact_tasks(name, asked.question.text, text, facts_of(gold))
    )


def facts_of(gold: TextGold) -> tuple[str, ...]:
    """The key facts; a text without any is its own."""
    return gold.key_facts or (gold.value,)


def facts_in(gold: Gold) -> int:
    """How many key facts of prose a judge is asked about."""
    return sum(len(facts_of(prose)) for _, _, prose in _prose(gold))


def _prose(gold: Gold) -> Iterator[tuple[str, Aspect, TextGold]]:
    """The aspects in prose, each with its name among the tasks."""
    for number, aspect in enumerate(aspects_of(gold)):
        if isinstance(aspect.answer, TextGold):
            yield _name(number, aspect), aspect, aspect.answer


def _name(number: int, aspect: Aspect) -> str:
    return f"{number} {aspect.dimension}"


def silent(asked: Asked) -> bool:
    """Whether nothing was answered: no text, a declared abstention, or one in plain words."""
    answer = asked.record.answer
    if answer is None or answer.abstained or asked.record.outcome.status == "abstained":
        return True
    text = clean(answer.text)
    return not text or abstains(text, asked.question.text, plainly=True)


def parts_of(asked: Asked, grader: str) -> tuple[Part, ...]:
    """The dimensions that apply, in the order of the gold's aspects; calibration comes last.

    Args:
        asked: the question.
        grader: on whose terms a judge must have decided.
    """
    found = [
        _part(asked, aspect, _name(number, aspect), grader)
        for number, aspect in enumerate(aspects_of(asked.gold))
    ]
    return (*found, *_calibrated(asked, found))


def _part(asked: Asked, aspect: Aspect, name: str, grader: str) -> Part:
    score = _score(asked, aspect.answer, name, grader)
    if isinstance(score, str):
        return Part(aspect.dimension, aspect.weight, None, score)
    if aspect.dimension == "specificity" and score and not _exact(asked, aspect.answer):
        score = 0.0
    return Part(aspect.dimension, aspect.weight, score)


def _exact(asked: Asked, gold: GoldAnswer) -> bool:
    answer = asked.record.answer
    return answer is None or exact(answer.text, gold, asked.question.text)


def _score(asked: Asked, gold: GoldAnswer, name: str, grader: str) -> float | str:
    answer = asked.record.answer
    declared = asked.record.outcome.status == "abstained"
    if answer is None:
        return float(declared and isinstance(gold, AbstentionGold))
    if isinstance(gold, TextGold) and asked.judged:
        if silent(asked):
            return 0.0
        return mean_score(asked.verdicts, fact_names(name, len(facts_of(gold))), grader)
    return grade_text(answer.text, gold, asked.question.text, answer.abstained or declared)


def _calibrated(asked: Asked, parts: Sequence[Part]) -> Iterator[Part]:
    """1 - (confidence - accuracy)², where a number was given for something that was said."""
    answer = asked.record.answer
    if answer is None or answer.confidence is None or silent(asked):
        return
    weight = WEIGHTS[CALIBRATION]
    accuracy = weighted([part for part in parts if part.dimension == ACCURACY])
    if isinstance(accuracy, str):
        yield Part(CALIBRATION, weight, None, accuracy)
    elif accuracy is not None:
        yield Part(CALIBRATION, weight, 1 - (answer.confidence - accuracy) ** 2)


def weighted(parts: Sequence[Part]) -> float | str | None:
    """Σ wᵢsᵢ ÷ Σ wᵢ; why not, where one of them is undecided; None of nothing.

    What is undecided is never left out of the sum: grades would hang on what the judge happened
    to manage.
    """
    total = 0.0
    for part in parts:
        if part.score is None:
            return part.why
        total += part.weight * part.score
    return total / sum(part.weight for part in parts) if parts else None


def by_dimension(parts: Sequence[Part]) -> Mapping[str, float | str]:
    """Each dimension that applies, with its score or why there is none."""
    found: dict[str, float | str] = {}
    for dimension in DIMENSIONS:
        value = weighted([part for part in parts if part.dimension == dimension])
        if value is not None:
            found[dimension] = value
    return found
