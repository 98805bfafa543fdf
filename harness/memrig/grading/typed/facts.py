"""Free text: which key facts does an answer state?

A fact is its words, each with the polarity of the clause that it stands in, and its numbers and
dates. It is found where one passage of the answer says most of them with the same polarity, and
no other number instead. A word is said by its derivations and by words of the same meaning; to say
the opposite speaks against the fact. Words that the question gives away, and those of which every
report is full, count for little. A fact may name alternatives: "a | b".
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memrig.grading.typed.amounts import Amount
from memrig.grading.typed.claims import (
    Dated,
    Fact,
    Said,
    Term,
    Words,
    fact_of,
    given,
    passages,
    union,
)
from memrig.grading.typed.reading import Reading
from memrig.grading.typed.vocabulary import DIRECTIONS
from memrig.model.gold import TextGold

#: Credit grows from nothing to all between two shares of a fact's weight, and below the third
#: there is none: to touch upon a matter is not to state it.
SHORT_FACT = (0.3, 0.75, 0.5)
#: Of a long fact some words may be left out or said otherwise.
LONG_FACT = (0.15, 0.6, 0.35)
#: What a word weighs that the question says already, and the least share of the other words.
GIVEN, NEW = 0.25, 0.34
#: What is akin is said in part.
AKIN = 0.6
#: What it costs to deny a word, to say its opposite, and to assert what the fact denies beside.
DENIED, OPPOSED, DENIED_ASIDE = -1.0, -2.0, -4.0
#: What is left of a fact of which all is said but what it claims.
UNTOLD = 0.4
#: Of a fact of so many words a number is a part among others; of a shorter one it is the point.
LONG = 10
#: What a number weighs, and how much more if it is left out.
FIGURE, LEFT_OUT = 0.5, 1.5
#: A sentence that has such a share of a fact's other words is about its subject.
ABOUT = 0.7
#: A passage is at most so many sentences in a row, or as many as the fact has.
PASSAGE = 3


def grade_facts(reading: Reading, gold: TextGold) -> float:
    """The mean over the key facts of how far each is stated."""
    facts = gold.key_facts or (gold.value,)
    return sum(fact_score(reading, fact) for fact in facts) / len(facts)


def fact_score(reading: Reading, fact: str) -> float:
    """How far one fact is stated: 1, 0, or between where only part of its words are there."""
    return max(_best(reading, part) for part in fact.split("|"))


def _best(reading: Reading, text: str) -> float:
    fact = fact_of(text)
    if not (fact.terms or fact.numbers or fact.dates):
        return 0.0
    asked = given(reading.asking.text)
    said = passages(reading, max(PASSAGE, fact.sentences))
    numbers = [number for passage in said for number in passage.numbers]
    dates = [date for passage in said for date in passage.dates]
    if not _may_be_left_out(fact, numbers, dates):
        said = tuple(passage for passage in said if _all_there(fact, passage))
    return max((_support(fact, passage, asked) for passage in said), default=0.0)


def _may_be_left_out(fact: Fact, numbers: Sequence[Amount], dates: Sequence[Dated]) -> bool:
    """Whether a number or date may be missing: from a long fact, where none stands in its place.

    Of a short fact a number is the point, and another one than the fact's is a false answer.
    """
    if len(fact.terms) < LONG:
        return False
    strange = [n for n in numbers if not any(own.is_amount(n) for own in fact.numbers)]
    lacking = [own for own in fact.numbers if not any(own.is_amount(n) for n in numbers)]
    if any(own.comparable(other) for own in lacking for other in strange):
        return False
    lacks = any(not any(day.is_date(own) for day in dates) for own in fact.dates)
    return not (lacks and any(not any(day.is_date(own) for own in fact.dates) for day in dates))


def _missing(fact: Fact, said: Said) -> int:
    """How many of the fact's numbers and dates a passage does not have."""
    numbers = sum(not any(own.is_amount(n) for n in said.numbers) for own in fact.numbers)
    return numbers + sum(not any(day.is_date(own) for day in said.dates) for own in fact.dates)


def _all_there(fact: Fact, said: Said) -> bool:
    return _missing(fact, said) == 0


@dataclass(slots=True)
class _Share:
    """How much of a weight is found."""

    whole: float = 0.0
    found: float = 0.0

    def add(self, weight: float, part: float) -> None:
        self.whole += weight
        self.found += weight * part

    @property
    def value(self) -> float:
        return self.found / self.whole if self.whole else 1.0


def _support(fact: Fact, said: Said, asked: frozenset[str]) -> float:
    """How far a passage states a fact."""
    words, new, claim = _Share(), _Share(), _Share()
    matcher = _Matcher(fact, said)
    for term in fact.terms:
        says, known = matcher.says(term), term.concept.root in asked
        words.add(term.weight * (GIVEN if known else 1.0), says)
        if not known:
            new.add(term.weight, max(0.0, says))
        if term.concept.telling and not term.denied:
            claim.add(term.weight, max(0.0, says))
    if words.value < NEW or (new.whole >= 1 and new.value < NEW):
        return 0.0
    if matcher.reversed or any(_reversed(fact, sentence) for sentence in said.sentences):
        return 0.0
    missing = _missing(fact, said)
    words.add(FIGURE * (len(fact.numbers) + len(fact.dates) - missing), 1.0)
    words.add((FIGURE + LEFT_OUT) * missing, 0.0)
    nothing, enough, least = LONG_FACT if len(fact.terms) >= LONG else SHORT_FACT
    if words.value < least:
        return 0.0
    credit = min(1.0, (words.value - nothing) / (enough - nothing))
    if len(fact.terms) >= LONG:
        return credit
    return credit * (UNTOLD + (1 - UNTOLD) * min(1.0, 2 * claim.value))


def _reversed(fact: Fact, sentence: Said) -> bool:
    """Whether a sentence is about the fact's subject and says the opposite direction of it."""
    so = sentence.asserted
    turned = any(
        not (term.concept.opposites & DIRECTIONS).isdisjoint(so)
        and term.concept.names.isdisjoint(so)
        for term in fact.terms
        if not term.denied
    )
    if not turned:
        return False
    subject = [term.concept.root for term in fact.terms if not term.concept.opposites & DIRECTIONS]
    return bool(subject) and sum(root in so for root in subject) >= ABOUT * len(subject)


class _Matcher:
    """Finds a fact's terms in a passage, each of the passage's words for one term only.

    `reversed`: it says "falling" where the fact says "rising", and nowhere "rising".
    """

    def __init__(self, fact: Fact, said: Said) -> None:
        self._asserted, self._denied, self._contrary = said.asserted, said.denied, said.denied
        if any(_put_by_denial(term, said) for term in fact.terms):
            self._asserted, self._denied = union((said.asserted, said.denied)), {}
        self._taken = {term.concept.root for term in fact.terms}
        self.reversed = False

    def says(self, term: Term) -> float:
        """1 where a term is said, part where something akin is; below 0 where it is gainsaid."""
        same, other = self._asserted, self._denied
        if term.denied:
            same, other = other, same
        concept = term.concept
        if (
            concept.root in same
            or term.short in same
            or self._takes(same, concept.names)
            or (not term.denied and self._takes(self._contrary, concept.contrary))
            or (term.denied and self._takes(other, concept.opposites))
        ):
            return 1.0
        if self._takes(same, concept.akin):
            return AKIN
        if term.denied:
            return _gainsaid_denial(term, other)
        self.reversed |= not (concept.opposites & DIRECTIONS).isdisjoint(same)
        return _gainsaid(term, same, other)

    def _takes(self, words: Words, names: Iterable[str]) -> bool:
        for name in names:
            for root in sorted(words.get(name, ())):
                if root not in self._taken:
                    self._taken.add(root)
                    return True
        return False


def _put_by_denial(term: Term, said: Said) -> bool:
    """Whether a clause is denied only because it says so: "not reliable" for "unreliable"."""
    return not term.denied and not term.concept.contrary.isdisjoint(said.denied)


def _gainsaid_denial(term: Term, asserted: Words) -> float:
    """What it costs that a word is asserted which the fact denies: that very word, no other."""
    if term.concept.root not in asserted:
        return 0.0
    return DENIED_ASIDE if term.aside else DENIED


def _gainsaid(term: Term, asserted: Words, denied: Words) -> float:
    """What it costs that a word of the fact is denied, or its opposite asserted."""
    concept = term.concept
    if not concept.names.isdisjoint(denied) or not concept.contrary.isdisjoint(asserted):
        return DENIED
    return 0.0 if concept.opposites.isdisjoint(asserted) else OPPOSED
