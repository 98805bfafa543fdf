"""Free text: which key facts does an answer state?

A fact is its words, each with the polarity of the clause that it stands in, and its numbers and
dates. It is found where one passage of the answer says most of them with the same polarity, and
no other number instead. A word is said by its derivations and by words of the same meaning; to say
the opposite speaks against the fact. Words that the question gives away, and those of which every
report is full, count for little. A fact may name alternatives: "a | b".
"""

from collections.abc import Iterable
from dataclasses import dataclass

from memrig.grading.typed.claims import Fact, Said, Term, Words, fact_of, given, passages
from memrig.grading.typed.reading import Reading
from memrig.model.gold import TextGold

#: Credit grows from nothing to all between two shares of a fact's weight, and below the third
#: there is none: to touch upon a matter is not to state it.
SHORT_FACT = (0.3, 0.75, 0.45)
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
    return max((_support(fact, passage, asked) for passage in said), default=0.0)


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
    figures = _figures(fact, said)
    if figures is None:
        return 0.0
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
    there, missing = figures
    words.add(FIGURE * there, 1.0)
    words.add((FIGURE + LEFT_OUT) * missing, 0.0)
    nothing, enough, least = LONG_FACT if len(fact.terms) >= LONG else SHORT_FACT
    if words.value < least:
        return 0.0
    credit = min(1.0, (words.value - nothing) / (enough - nothing))
    if len(fact.terms) >= LONG:
        return credit
    return credit * (UNTOLD + (1 - UNTOLD) * min(1.0, 2 * claim.value))


def _figures(fact: Fact, said: Said) -> tuple[int, int] | None:
    """How many numbers and dates are there, and left out; None where another is there instead."""
    missing = [own for own in fact.numbers if not any(own.is_amount(o) for o in said.numbers)]
    undated = [own for own in fact.dates if not any(d.is_date(own) for d in said.dates)]
    every = len(fact.numbers) + len(fact.dates)
    if not missing and not undated:
        return every, 0
    strange = [o for o in said.numbers if not any(own.is_amount(o) for own in fact.numbers)]
    if any(own.comparable(other) for own in missing for other in strange):
        return None
    if undated and any(not any(d.is_date(own) for own in fact.dates) for d in said.dates):
        return None
    if len(fact.terms) < LONG:
        return None
    out = len(missing) + len(undated)
    return every - out, out


class _Matcher:
    """Finds a fact's terms in a passage, each of the passage's words for one term only."""

    def __init__(self, fact: Fact, said: Said) -> None:
        self._said = said
        self._taken = {term.concept.root for term in fact.terms}

    def says(self, term: Term) -> float:
        """1 where a term is said, part where something akin is; below 0 where it is gainsaid."""
        same, other = self._said.asserted, self._said.denied
        if term.denied:
            same, other = other, same
        concept = term.concept
        if (
            concept.root in same
            or term.short in same
            or self._takes(same, concept.names)
            or self._takes(other, concept.contrary)
            or (term.denied and self._takes(other, concept.opposites))
        ):
            return 1.0
        if self._takes(same, concept.akin):
            return AKIN
        return _gainsaid_denial(term, other) if term.denied else _gainsaid(term, same, other)

    def _takes(self, words: Words, names: Iterable[str]) -> bool:
        for name in names:
            for root in sorted(words.get(name, ())):
                if root not in self._taken:
                    self._taken.add(root)
                    return True
        return False


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
