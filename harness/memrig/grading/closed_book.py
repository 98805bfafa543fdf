"""What can be scored without a memory: the best constant answer, and the commonest value.

Reported beside the self-test, without a bound: a category whose best constant answer scores .4 says
little below that, whatever stands in its table.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from memrig.grading.phrasings import values_of
from memrig.model.gold import AbstentionGold, GoldAnswer

#: The one answer that needs no knowledge.
SILENCE = "I don't know."
#: How many of a group's most frequent values are tried as its constant answer.
_TRIED = 8


@dataclass(frozen=True, slots=True)
class Blind:
    """A question as one sees it who has read nothing: its text, its gold, how answers score."""

    question: str
    gold: GoldAnswer
    score: Callable[[str], float]


@dataclass(frozen=True, slots=True)
class ClosedBook:
    """What a group of questions yields without its data.

    `constant` is the mean score of the one answer that does best, `answer` that answer;
    `commonest` the mean score of answering each question with the most frequent value of its type.
    """

    constant: float
    answer: str
    commonest: float


def commonest_by_type(golds: Iterable[GoldAnswer]) -> dict[str, str]:
    """The most frequent value of each type of answer; the first of those that are as frequent."""
    counts: dict[str, Counter[str]] = {}
    for gold in golds:
        counts.setdefault(gold.type, Counter())[_value(gold)] += 1
    return {name: found.most_common(1)[0][0] for name, found in counts.items()}


def closed_book(group: Sequence[Blind], commonest: dict[str, str]) -> ClosedBook:
    """What a group yields.

    Args:
        group: its questions, at least one.
        commonest: the most frequent value of each type over the whole data.
    """
    frequent = Counter(_value(one.gold) for one in group).most_common(_TRIED)
    tried = dict.fromkeys([SILENCE, *(value for value, _ in frequent)])
    scores = {answer: fmean(one.score(answer) for one in group) for answer in tried}
    best = max(scores, key=lambda answer: scores[answer])
    usual = fmean(one.score(commonest[one.gold.type]) for one in group)
    return ClosedBook(scores[best], best, usual)


def _value(gold: GoldAnswer) -> str:
    return SILENCE if isinstance(gold, AbstentionGold) else values_of(gold)[0]
