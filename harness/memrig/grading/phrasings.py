"""Gold answers put into words, right and wrong, for the graders' self-test. No chance in it."""

import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta

from memrig.grading.typed.words import fold, listed, words
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
    shown,
)

_SIGNS = {"GBP": "£{}", "EUR": "€{}", "USD": "${}", "%": "{}%"}
_MONTHS = listed(
    "January February March April May June July August September October November December"
)

#: Frames for a right value. They hedge nothing and add nothing.
_RIGHT = (
    "{}",
    "{}.",
    "The answer is {}.",
    "It is {}.",
    "According to the conversation, it is {}.",
    "As far as the notes tell, the answer is {}.",
)
_WRONG = (
    "It is not {}.",
    "It isn't {}.",
    "It was never {}.",
    "It is not true that it is {}.",
    "It is false that the answer is {}.",
    "{}, no longer.",
    "The answer is {}. That is not true.",
)
_SAID = ("{}", "The answer is {}.", "It is {}.")


def values_of(gold: GoldAnswer) -> list[str]:
    """The gold's value as one writes it, in every spelling that must be as good."""
    match gold:
        case NumberGold():
            texts = _numbers(gold.value, gold.unit)
        case DateGold():
            texts = _dates(gold.value)
        case PeriodGold():
            texts = _periods(gold.start, gold.end)
        case EntityGold():
            texts = [gold.value, *gold.aliases]
        case SetGold() | OrderedListGold():
            names = [item.value for item in gold.items]
            texts = [", ".join(names)]
            if len(names) > 1:
                texts += ["\n".join(f"- {name}" for name in names), _and(names)]
        case MappingGold():
            texts = _pairs([(entry.key, entry.value) for entry in gold.entries])
        case _:
            texts = [shown(gold) if isinstance(gold, AbstentionGold | BooleanGold) else gold.value]
    return texts


def _and(names: Sequence[str]) -> str:
    return ", ".join(names[:-1]) + f" and {names[-1]}" if len(names) > 1 else names[0]


def _numbers(value: float, unit: str) -> list[str]:
    plain, grouped = f"{value:.12g}", f"{value:,.12g}"
    sign = _SIGNS.get(unit, "{} " + unit)
    return list(dict.fromkeys([sign.format(plain).strip(), sign.format(grouped).strip(), plain]))


def _dates(text: str) -> list[str]:
    parts = [int(part) for part in text.split("-")]
    if len(parts) == 1:
        return [text]
    month = _MONTHS[parts[1] - 1]
    if len(parts) == 2:
        return [text, f"{month} {parts[0]}"]
    year, _, day = parts
    return [text, f"{day} {month} {year}", f"{month} {day}, {year}", f"the {_nth(day)} of {month}"]


def _nth(day: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{day}{'th' if 10 < day < 14 else ending}"


def _periods(start: str, end: str) -> list[str]:
    pairs = zip(_dates(start)[:3], _dates(end)[:3], strict=True)
    return [text for first, last in pairs for text in (f"{first} to {last}", f"{first} – {last}")]


def _pairs(entries: Sequence[tuple[str, str]]) -> list[str]:
    colons = [f"{key}: {value}" for key, value in entries]
    return [", ".join(colons), "\n".join(colons), _and([f"{v} for {k}" for k, v in entries])]


def phrased(gold: GoldAnswer) -> Iterator[str]:
    """Right answers: the bare value and whole sentences."""
    match gold:
        case BooleanGold():
            yield from _booleans(gold.value, gold.about)
        case AbstentionGold():
            return
        case TextGold():
            yield gold.value
            yield f"According to the conversation: {gold.value}"
        case MappingGold():
            yield from values_of(gold)
        case _:
            for value in values_of(gold):
                yield from (frame.format(value) for frame in _frames(gold, value))


def _frames(gold: GoldAnswer, value: str) -> tuple[str, ...]:
    """A list over several lines stands alone."""
    del gold
    return ("{}",) if "\n" in value else _RIGHT


def _booleans(value: bool, about: str) -> list[str]:
    word = "Yes" if value else "No"
    texts = [word, f"{word}.", f"The answer is {word.lower()}."]
    if about and value:
        texts += [f"Yes, {about}.", f"{about}.", f"It is true that {about}."]
    elif about:
        texts += [f"No, it is not the case that {about}.", f"It is not true that {about}."]
    return texts


def negated(gold: GoldAnswer) -> Iterator[str]:
    """The gold denied."""
    match gold:
        case AbstentionGold():
            return
        case BooleanGold():
            yield from _booleans(not gold.value, gold.about)
        case TextGold():
            yield from _denied_text(gold.value)
        case MappingGold():
            yield f"It is not true that it is {values_of(gold)[0]}."
            yield f"It is false that it is {values_of(gold)[2]}."
            yield f"It is {values_of(gold)[0]}. That is not true."
        case _:
            values = [value for value in values_of(gold) if "\n" not in value]
            yield from (frame.format(value) for value in values for frame in _WRONG)


_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9])|;\s+")


def _denied_text(value: str) -> Iterator[str]:
    """Each statement denied: "It is not true that A. B." would assert B."""
    sentences = [part.rstrip(".") for part in _SENTENCE.split(value)]
    for frame in ("It is not true that {}.", "It is false that {}."):
        yield " ".join(frame.format(part[0].lower() + part[1:]) for part in sentences)
    closing = "That is not true." if len(sentences) == 1 else "None of this is true."
    yield f"{value.rstrip('.')}. {closing}"


def siblings_of(gold: GoldAnswer) -> list[str]:  # noqa: PLR0911  (one for each type)
    """Wrong values of the gold's kind: its own siblings, or what can be made of itself."""
    match gold:
        case NumberGold():
            return [_numbers(value, gold.unit)[0] for value in gold.siblings]
        case DateGold():
            return [_dates(value)[-1] for value in gold.siblings]
        case PeriodGold():
            return list(gold.siblings) or _shifted(gold)
        case EntityGold():
            return list(gold.siblings)
        case SetGold():
            return [_and(gold.siblings)] if gold.siblings else []
        case OrderedListGold():
            names = [item.value for item in gold.items]
            return [", ".join(reversed(names)), ", ".join([*names[1:], names[0]])]
        case MappingGold():
            return _crossed(gold)
        case ChoiceGold():
            return [option for option in gold.options if option != gold.value]
        case _:
            return []


def _shifted(gold: PeriodGold) -> list[str]:
    """The same stretch a week later, and with one end wrong."""
    if len(gold.start) < 10:
        return []
    first, last = date.fromisoformat(gold.start), date.fromisoformat(gold.end)
    week = timedelta(days=7)
    return [
        f"{first + week} to {last + week}",
        f"{first} to {last + week}",
        f"{first - week} to {last}",
    ]


def _crossed(gold: MappingGold) -> list[str]:
    """Every key with its neighbour's value."""
    keys = [entry.key for entry in gold.entries]
    values = [entry.value for entry in gold.entries]
    crossed = list(zip(keys, [*values[1:], values[0]], strict=True))
    return _pairs(crossed) if len(keys) > 1 else []


def swapped(gold: GoldAnswer, others: Sequence[GoldAnswer]) -> Iterator[str]:
    """A wrong value in the gold's place; for free text its figures changed, and other texts.

    Other texts are those of the scenario that state no part of it: they have no key fact, no
    figure and no four words in a row in common with it.
    """
    if isinstance(gold, TextGold):
        yield from _other_texts(gold, others)
        return
    if isinstance(gold, BooleanGold):
        yield "No." if gold.value else "Yes."
        return
    alone = isinstance(gold, MappingGold)
    for value in siblings_of(gold):
        yield from ([value] if alone else (frame.format(value) for frame in _SAID))


def _other_texts(gold: TextGold, others: Sequence[GoldAnswer]) -> Iterator[str]:
    own = _told(gold)
    for other in others:
        if isinstance(other, TextGold) and own.isdisjoint(_told(other)):
            yield other.value
    if gold.key_facts and all(_FIGURE.search(fact) for fact in gold.key_facts):
        yield _FIGURE.sub(lambda found: f"{float(found.group()) * 1.5 + 7:.4g}", gold.value)


def _told(gold: TextGold) -> set[str]:
    """Its figures and days, and all of four words in a row, in its text and its key facts."""
    texts = (gold.value, *gold.key_facts)
    rows = [words(fold(text)) for text in texts]
    stretches = {" ".join(row[n : n + 4]) for row in rows for n in range(max(1, len(row) - 3))}
    return stretches | {found for text in texts for found in _DIGITS.findall(text)}


_DIGITS = re.compile(r"\d[\d.,-]*\d|\d")
#: A figure of a measure; the parts of dates and times, and names like p99, are none.
_FIGURE = re.compile(r"(?<![\w:-])\d+(?:\.\d+)?(?![\w:-])")


def dumped(gold: GoldAnswer, others: Sequence[GoldAnswer]) -> Iterator[str]:
    """The gold among everything else: its siblings, and all values of the scenario."""
    if isinstance(gold, AbstentionGold):
        return
    if isinstance(gold, BooleanGold):
        yield "Yes and no."
        yield f"Yes, {gold.about}. No, it is not the case that {gold.about}."
        return
    near = [values_of(gold)[0], *siblings_of(gold)]
    if len(near) > 1 and not isinstance(gold, OrderedListGold | MappingGold):
        yield ", ".join(near)
        yield " or ".join(reversed(near))
        yield " ".join(f"It is {value}." for value in near)
    every = [values_of(other)[0] for other in others] + siblings_of(gold)
    if len(others) > 4:
        yield ", ".join(every)
        yield "\n".join(every)
        yield " ".join(f"The answer is {value.rstrip('.')}." for value in every)
