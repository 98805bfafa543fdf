"""Free text: which key facts does an answer state?

A fact is its meaningful words, each with the polarity of the clause that it stands in, and its
numbers and dates. It is found where one passage of the answer holds most of these words with the
same polarity, and all its numbers. Words of the opposite polarity speak against it. Words that
the question gives away count for little: to repeat them is no answer. A fact may name
alternatives: "a | b".
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from memrig.grading.typed.dates import Day, find_dates
from memrig.grading.typed.numbers import Quantity, find_numbers
from memrig.grading.typed.reading import Clause, Reading, read
from memrig.grading.typed.words import NEGATIVES, STOP, stem, tokens
from memrig.model.gold import TextGold

#: A fact counts in full from this share of its words on, and not at all up to the lower one.
FULL, LEAST = 0.7, 0.5
#: Of a long fact some words may be left out or said otherwise.
LONG, FULL_LONG, LEAST_LONG = 8, 0.6, 0.4
#: What a word weighs that the question says already.
GIVEN = 0.25
#: A passage is at most so many sentences in a row, or as many as the fact has.
PASSAGE = 3


@dataclass(frozen=True, slots=True)
class Stated:
    """What a stretch of text states: signed word stems, numbers and dates."""

    words: frozenset[tuple[str, bool]]
    numbers: frozenset[float]
    dates: tuple[Day, ...]


def grade_facts(reading: Reading, gold: TextGold) -> float:
    """The mean over the key facts of how far each is stated."""
    facts = gold.key_facts or (gold.value,)
    return sum(fact_score(reading, fact) for fact in facts) / len(facts)


def fact_score(reading: Reading, fact: str) -> float:
    """How far one fact is stated: 1, 0, or between where only part of its words are there."""
    return max(_best(reading, part) for part in fact.split("|"))


def _best(reading: Reading, fact: str) -> float:
    meant = read(fact)
    firm = [clause for clause in meant.clauses if not clause.open]
    wanted = _stated(meant, firm or meant.clauses)
    if not (wanted.words or wanted.numbers or wanted.dates):
        return 0.0
    given = reading.asking.stems
    passages = _passages(reading, max(PASSAGE, len(meant.sentences)))
    return max((_support(wanted, passage, given) for passage in passages), default=0.0)


def _passages(reading: Reading, longest: int) -> Iterator[Stated]:
    """Every run of one to `longest` sentences."""
    grouped: dict[int, list[Clause]] = {}
    for clause in reading.clauses:
        if not clause.open:
            grouped.setdefault(clause.sentence, []).append(clause)
    sentences = list(grouped.values())
    for length in range(1, longest + 1):
        for first in range(len(sentences) - length + 1):
            run = sentences[first : first + length]
            yield _stated(reading, [clause for sentence in run for clause in sentence])


def _stated(reading: Reading, clauses: Sequence[Clause]) -> Stated:
    signed: set[tuple[str, bool]] = set()
    numbers: set[float] = set()
    dates: list[Day] = []
    for clause in clauses:
        piece = reading.text[clause.start : clause.end]
        denied = clause.denied
        signed |= {(word, denied) for word in _telling(piece)}
        if not denied:
            numbers |= {quantity.value for quantity in _numbers(piece)}
            dates += [date for date in find_dates(piece) if date.month is not None]
    return Stated(frozenset(signed), frozenset(numbers), tuple(dates))


def _telling(piece: str) -> Iterator[str]:
    for word, _, _ in tokens(piece):
        if word not in STOP and word not in NEGATIVES and not word[0].isdigit():
            yield stem(word)


def _numbers(piece: str) -> list[Quantity]:
    return [quantity for quantity in find_numbers(piece) if not quantity.weak]


def _support(wanted: Stated, said: Stated, given: frozenset[str]) -> float:
    if not wanted.numbers <= said.numbers:
        return 0.0
    if not all(any(date.is_date(gold) for date in said.dates) for gold in wanted.dates):
        return 0.0
    found = wanted.words & said.words
    opposed = {
        (word, denied) for word, denied in wanted.words - found if (word, not denied) in said.words
    }
    whole = _weight(wanted.words, given)
    share = (_weight(found, given) - _weight(opposed, given)) / whole if whole else 1.0
    least, full = (LEAST_LONG, FULL_LONG) if len(wanted.words) >= LONG else (LEAST, FULL)
    return min(1.0, max(0.0, (share - least) / (full - least)))


def _weight(words: Iterable[tuple[str, bool]], given: frozenset[str]) -> float:
    return sum(GIVEN if word in given else 1.0 for word, _ in words)
