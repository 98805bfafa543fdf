"""Whether a right answer is also exact: the figure with its unit, the full date."""

from memrig.grading.typed.dates import find_dates, iso
from memrig.grading.typed.numbers import find_numbers, meanings
from memrig.grading.typed.single import NumberKind
from memrig.grading.typed.words import fold, stem, words
from memrig.model.gold import DateGold, GoldAnswer, NumberGold


def exact(answer: str, gold: GoldAnswer, question: str = "") -> bool:
    """Whether nothing that the gold says of its value is left out.

    A unit may be left to a question that names it. Values of other types have no less exact form
    that is still right.

    Args:
        answer: one that is right.
        gold: the typed gold answer.
        question: what was asked.
    """
    text = fold(answer)
    if isinstance(gold, NumberGold) and gold.unit:
        return _names(question, gold.unit) or _with_unit(text, gold)
    if isinstance(gold, DateGold):
        return _full(text, gold)
    return True


def _names(question: str, unit: str) -> bool:
    known = meanings(unit).keys()
    spelled = {stem(word) for word in words(unit)}
    asked = words(fold(question))
    return any(stem(word) in spelled or known & meanings(word).keys() for word in asked)


def _with_unit(text: str, gold: NumberGold) -> bool:
    kind = NumberKind(gold.model_copy(update={"tolerance": 0}), "")
    return any(kind.named(quantity) and kind.right(quantity) for quantity in find_numbers(text))


def _full(text: str, gold: DateGold) -> bool:
    right = iso(gold.value)
    return any(
        date.is_date(right) and (date.year is not None or right.year is None)
        for date in find_dates(text)
    )
