"""Typed gold answers, and what is known of a question on the host's side only (scoring §2)."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

IsoDate = Annotated[str, Field(pattern=r"^\d{4}(-\d{2}(-\d{2})?)?$")]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Item(_Frozen):
    """A named thing, with the other names that are as good."""

    value: str = Field(min_length=1)
    aliases: tuple[str, ...] = ()


class Entry(_Frozen):
    """One pair of a mapping."""

    key: str
    value: str


class NumberGold(_Frozen):
    """A quantity. `siblings` are wrong values that the conversation also holds."""

    type: Literal["number"]
    value: float
    unit: str = ""
    tolerance: float = Field(default=0, ge=0)
    siblings: tuple[float, ...] = ()


class DateGold(_Frozen):
    """A day, a month or a year, by how much of the date is given."""

    type: Literal["date"]
    value: IsoDate
    siblings: tuple[IsoDate, ...] = ()


class PeriodGold(_Frozen):
    """A stretch of time, both ends included."""

    type: Literal["period"]
    start: IsoDate
    end: IsoDate
    siblings: tuple[str, ...] = ()


class EntityGold(Item):
    """One name. `siblings` are the entities it must not be mistaken for."""

    type: Literal["entity"]
    siblings: tuple[str, ...] = ()


class SetGold(_Frozen):
    """Several names in any order."""

    type: Literal["set"]
    items: tuple[Item, ...] = Field(min_length=1)
    siblings: tuple[str, ...] = ()


class OrderedListGold(_Frozen):
    """Several names, and their order counts."""

    type: Literal["ordered_list"]
    items: tuple[Item, ...] = Field(min_length=2)
    siblings: tuple[str, ...] = ()


class MappingGold(_Frozen):
    """What belongs to what: source to claim, day to activity."""

    type: Literal["mapping"]
    entries: tuple[Entry, ...] = Field(min_length=1)
    siblings: tuple[str, ...] = ()


class BooleanGold(_Frozen):
    """Yes or no; `about` is the statement that holds or does not."""

    type: Literal["boolean"]
    value: bool
    about: str = ""


class ChoiceGold(_Frozen):
    """One of the options that the question offers."""

    type: Literal["choice"]
    value: str
    options: tuple[str, ...] = Field(min_length=2)


class TextGold(_Frozen):
    """Free text, graded by its key facts."""

    type: Literal["text"]
    value: str
    key_facts: tuple[str, ...] = ()


class AbstentionGold(_Frozen):
    """The memory does not hold the answer; the right reply says so."""

    type: Literal["abstention"]
    reason: str = ""


GoldAnswer = Annotated[
    NumberGold
    | DateGold
    | PeriodGold
    | EntityGold
    | SetGold
    | OrderedListGold
    | MappingGold
    | BooleanGold
    | ChoiceGold
    | TextGold
    | AbstentionGold,
    Field(discriminator="type"),
]


#: What an answer can be graded on beside being right (scoring §2).
Dimension = Literal[
    "factual_accuracy",
    "specificity",
    "temporal_awareness",
    "source_attribution",
    "confidence_calibration",
]
#: What it takes to answer. Only a lookup can be copied out of one statement.
Operation = Literal[
    "lookup",
    "latest",
    "as-of",
    "join",
    "count",
    "list",
    "compute",
    "attribute",
    "explain",
    "abstain",
]


class Aspect(_Frozen):
    """One dimension of a question's grade: what is right in it, and what it weighs.

    `answer` may be stricter or narrower than the question's own gold, such as the exact figure
    where a rounded one is right.
    """

    dimension: Dimension
    weight: float = Field(gt=0)
    answer: GoldAnswer


def _shown_period(gold: PeriodGold) -> str:
    return f"{gold.start} to {gold.end}"


def _shown_boolean(gold: BooleanGold) -> str:
    word = "yes" if gold.value else "no"
    return f"{word} ({gold.about})" if gold.about else word


def shown(answer: GoldAnswer) -> str:
    """The gold answer in one line, for people."""
    match answer:
        case NumberGold():
            text = f"{answer.value:.12g} {answer.unit}".strip()
        case PeriodGold():
            text = _shown_period(answer)
        case SetGold() | OrderedListGold():
            text = ", ".join(item.value for item in answer.items)
        case MappingGold():
            text = ", ".join(f"{entry.key}: {entry.value}" for entry in answer.entries)
        case BooleanGold():
            text = _shown_boolean(answer)
        case AbstentionGold():
            text = f"(no answer: {answer.reason})"
        case _:
            text = answer.value
    return text


class Gold(_Frozen):
    """Everything about a question that must not leave the host.

    `evidence` names episodes (and `evidence_turns` turns) by their real ids; `stale` names those
    that state a superseded value; `keywords` serve a lenient rule that some protocols use;
    `scorable` is False where the data has no usable evidence, so that retrieval cannot be graded,
    and `note` says why. `cluster` names the source that this question shares with others where
    that is not the scenario (pooled runs).
    `tags` name groups that cut across categories, such as "abstention". `template` names the form
    that questions of other seeds share; empty: the question is the same under every seed.
    `aspects` are the dimensions that the answer is graded in, where the data tells them apart.
    `operation` says what it takes to answer; empty: the data does not tell.
    """

    question_id: str
    category: str
    answer: GoldAnswer | None = None
    evidence: tuple[str, ...] = ()
    evidence_turns: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    scorable: bool = True
    note: str = ""
    cluster: str = ""
    tags: tuple[str, ...] = ()
    template: str = ""
    aspects: tuple[Aspect, ...] = ()
    operation: Operation | Literal[""] = ""
