"""One answer against one typed gold: a score from 0 to 1, with no judge (scoring §2)."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from memrig.grading.typed.abstention import abstains, only_abstains
from memrig.grading.typed.dump import names_everything, runs_on
from memrig.grading.typed.equations import worked_out
from memrig.grading.typed.facts import fact_score, grade_facts
from memrig.grading.typed.named import (
    grade_choice,
    grade_entity,
    grade_mapping,
    grade_ordered_list,
    grade_set,
)
from memrig.grading.typed.reading import Reading, read
from memrig.grading.typed.single import (
    grade_boolean,
    grade_date,
    grade_number,
    grade_period,
)
from memrig.grading.typed.sources import attributed
from memrig.grading.typed.standing import on_the_day
from memrig.grading.typed.words import fold
from memrig.model.gold import (
    AbstentionGold,
    BooleanGold,
    ChoiceGold,
    DateGold,
    EntityGold,
    GoldAnswer,
    MappingGold,
    NumberGold,
    OrderedListGold,
    PeriodGold,
    SetGold,
    TextGold,
)

#: Changes whenever any score could change.
VERSION = "6"

#: Each takes the gold of its own type.
_GRADERS: Mapping[type, Callable[[Reading, Any], float]] = {
    NumberGold: grade_number,
    DateGold: grade_date,
    PeriodGold: grade_period,
    BooleanGold: grade_boolean,
    ChoiceGold: grade_choice,
    EntityGold: grade_entity,
    SetGold: grade_set,
    OrderedListGold: grade_ordered_list,
    MappingGold: grade_mapping,
    TextGold: grade_facts,
}

#: Of what is claimed, and of what held on a day, one value is asked for.
_UNDATED = (NumberGold, EntityGold, ChoiceGold)
_ONE_VALUE = (*_UNDATED, DateGold)

_FINAL = re.compile(
    r"(?:^|\n|(?<=[.!?]))[\s*]{0,6}(?:final )?answer\**\s?:[\s*]{0,6}(?=\S)", re.IGNORECASE
)


def grade_text(answer: str, gold: GoldAnswer, question: str = "", abstained: bool = False) -> float:
    """How right an answer is, from 0 to 1.

    Args:
        answer: what was said, as prose or as a bare value.
        gold: the typed gold answer.
        question: what was asked. An echo of it is no answer, and what it denies or dates itself is
            understood.
        abstained: whether the answer was marked as an abstention.
    """
    answer = _concluded(answer)
    if isinstance(gold, AbstentionGold):
        return float(abstained or abstains(answer, question))
    reading = _reading(answer, gold, question, abstained)
    return 0.0 if reading is None else _GRADERS[type(gold)](reading, gold)


def grade_each_fact(
    answer: str, gold: TextGold, question: str = "", abstained: bool = False
) -> tuple[float, ...]:
    """How far each key fact is stated, from 0 to 1; their mean is what `grade_text` gives."""
    reading = _reading(_concluded(answer), gold, question, abstained)
    return tuple(0.0 if reading is None else fact_score(reading, f) for f in gold.key_facts)


def _reading(answer: str, gold: GoldAnswer, question: str, abstained: bool) -> Reading | None:
    """An answer as it is read; None where it says nothing, or everything there is."""
    # Of several statements one may be that there is no evidence of something else.
    silent = only_abstains if isinstance(gold, TextGold) else _abstains_plainly
    if abstained or not answer.strip() or runs_on(answer, gold) or silent(answer, question):
        return None
    if isinstance(gold, _ONE_VALUE):
        answer = attributed(answer, question)
    if isinstance(gold, NumberGold) and "=" in answer:
        answer = worked_out(fold(answer))
    reading = read(answer, question, _names(gold))
    if names_everything(reading, gold):
        return None
    return on_the_day(reading) if isinstance(gold, _UNDATED) else reading


def _abstains_plainly(answer: str, question: str) -> bool:
    return abstains(answer, question, plainly=True)


def _names(gold: GoldAnswer) -> tuple[str, ...]:
    match gold:
        case EntityGold():
            return (gold.value, *gold.aliases)
        case SetGold() | OrderedListGold():
            return tuple(name for item in gold.items for name in (item.value, *item.aliases))
        case ChoiceGold():
            return gold.options
        case _:
            return ()


def _concluded(answer: str) -> str:
    """What follows the one mark "Answer:", where the answer concludes with it."""
    marks = list(_FINAL.finditer(answer))
    return answer[marks[0].end() :] if len(marks) == 1 else answer
