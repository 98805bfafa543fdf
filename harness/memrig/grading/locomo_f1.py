"""Protocol `locomo-f1`: LoCoMo's official answer metric over all five categories.

The overall value is the mean over all questions, the adversarial ones included, as the authors'.
Most published numbers leave these out: they carry the tag "adversarial", so that a report shows
them apart. A declared abstention counts as the official words do; without that, an agent that
abstains as told to would score 0 for its manner of saying so.
"""

from memrig.grading.answers import AnswerGrader
from memrig.grading.base import Asked
from memrig.grading.locomo_text import ADVERSARIAL, official_f1
from memrig.model.gold import AbstentionGold, Gold, GoldAnswer, shown

_TAG = "locomo:"


def true_category(gold: Gold) -> int | None:
    """The file's own category number, whatever label set names it; None where it is not told."""
    for tag in gold.tags:
        number = tag.removeprefix(_TAG)
        if tag != number and number.isdigit():
            return int(number)
    return None


class LocomoF1(AnswerGrader):
    """`f1`, not binary: half of the words earn half of the score."""

    def __init__(self) -> None:
        super().__init__("locomo-f1", "f1", "1")

    def ungraded(self, gold: Gold) -> str:
        """The rule depends on the category."""
        if true_category(gold) is None:
            return "the gold does not tell its LoCoMo category"
        return ""

    def score(self, asked: Asked, answer: GoldAnswer, text: str, abstained: bool) -> float:
        """By the rule of the question's category."""
        category = true_category(asked.gold) or 0
        if category == ADVERSARIAL and abstained:
            return 1.0
        gold = "" if isinstance(answer, AbstentionGold) else shown(answer)
        return official_f1(text, gold, category)


GRADER = LocomoF1()
