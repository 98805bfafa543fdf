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
    Figure,
    Said,
    Term,
    Words,
    fact_of,
    given,
    given_days,
    passages,
    union,
)
from memrig.grading.typed.concepts import Concept
from memrig.grading.typed.dates import Day
from memrig.grading.typed.denials import denying_verbs
from memrig.grading.typed.order import turned_round
from memrig.grading.typed.reading import Reading, read
from memrig.grading.typed.vocabulary import DIRECTIONS
from memrig.grading.typed.words import fold
from memrig.model.gold import TextGold

#: Credit grows from nothing to all between two shares of a fact's weight, and below the third
#: there is none: to touch upon a matter is not to state it.
SHORT_FACT = (0.3, 0.75, 0.5)
#: Of a long fact some words may be left out or said otherwise.
LONG_FACT = (0.15, 0.6, 0.35)
#: Who says no more than one word for so many of the fact's states nothing.
LEAST_WORDS = 4
#: What a word weighs that the question says already, and the least share of the others.
GIVEN, NEW = 0.25, 0.25
#: What is akin is said in part.
AKIN = 0.6
#: What it costs to deny a word, to say its opposite, and to assert what the fact denies beside.
DENIED, OPPOSED, DENIED_ASIDE = -1.0, -2.0, -4.0
#: What is left of a fact of which all is said but what it claims.
UNTOLD = 0.4
#: In a fact of so many words and numbers a number is a part among others, else it is the point.
LONG = 10
#: A sentence that has such a share of the words beside a number is about the same.
SAME = 0.15
#: What is left of a fact whose sides are exchanged: "delivery before revenue".
TURNED = 0.2
#: A sentence that has such a share of a fact's other words is about its subject.
ABOUT = 0.7
#: Of a day that the question names, a passage may hold so many other figures of the same kind.
MOST_OTHERS = 2
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
    acts = _acts(reading, text)
    if acts:
        reading = read(reading.text, reading.asking.text, acts=acts)
    fact = fact_of(text, acts, reading.asking.lacking)
    if not (fact.terms or fact.figures):
        return 0.0
    said = passages(reading, max(PASSAGE, fact.sentences))
    sentences = [passage for passage in said if len(passage.sentences) == 1]
    if _contradicted(fact, sentences):
        return 0.0
    asked = _Asked(given(reading.asking.text), given_days(reading.asking.text))
    return max((_support(fact, passage, asked) for passage in said), default=0.0)


def _acts(reading: Reading, fact: str) -> frozenset[str]:
    """The verbs of denial that a fact and an answer share: "cancelled" is what both tell of."""
    own = denying_verbs(fold(fact))
    return own & denying_verbs(reading.text) if own else own


def _contradicted(fact: Fact, sentences: Sequence[Said]) -> bool:
    """Whether another number stands where one of the fact's is expected.

    The number itself is nowhere said, and a sentence about the same has one of the same kind
    that the fact does not know.
    """
    return any(
        _is_other(fact, figure, sentence)
        for figure in fact.figures
        if not any(_has(sentence, figure) for sentence in sentences)
        for sentence in sentences
    )


def _is_other(fact: Fact, figure: Figure, said: Said) -> bool:
    about = [term for term in fact.terms if term.concept.root in figure.about]
    known = sum(not term.concept.names.isdisjoint(said.words) for term in about)
    if about and known < SAME * len(about):
        return False
    if isinstance(figure.amount, Dated):
        return any(not _is_any(fact, date) for date in said.dates)
    return any(
        figure.amount.comparable(number)
        and (figure.amount.denied or not number.denied)
        and not _is_any(fact, number)
        for number in said.numbers
    )


def _is_any(fact: Fact, found: Amount | Dated) -> bool:
    """Whether a number or date is one of the fact's."""
    return any(_same(figure.amount, found) for figure in fact.figures)


def _same(own: Amount | Dated, found: Amount | Dated) -> bool:
    if isinstance(own, Dated):
        return isinstance(found, Dated) and found.is_date(own)
    return not isinstance(found, Dated) and own.is_amount(found)


def _has(said: Said, figure: Figure) -> bool:
    held: tuple[Amount | Dated, ...] = (*said.numbers, *said.dates)
    return any(_same(figure.amount, found) for found in held)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the question gives away: the roots of its words, and the dates that it names."""

    roots: frozenset[str]
    days: tuple[Day, ...]

    def names(self, figure: Figure) -> bool:
        """Whether a figure is a date that the question is about: an answer need not repeat it."""
        dated = figure.amount
        if not isinstance(dated, Dated) or dated.denied:
            return False
        return any(day.is_date(dated.day) for day in self.days)


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


@dataclass(frozen=True, slots=True)
class _Found:
    """How much of a fact a passage has: of all, of what is new, of its claims, of its figures."""

    words: _Share
    new: _Share
    claim: _Share
    figures: _Share
    reversed: bool

    @property
    def new_is_there(self) -> bool:
        """Whether enough is there that the question does not say."""
        return self.words.value >= NEW and (self.new.whole < 1 or self.new.value >= NEW)


def _found(fact: Fact, said: Said, asked: _Asked) -> _Found:
    words, new, claim, figures = _Share(), _Share(), _Share(), _Share()
    matcher = _Matcher(fact, said)
    for term in fact.terms:
        says, known = matcher.says(term), term.concept.root in asked.roots
        words.add(term.weight * (GIVEN if known else 1.0), says)
        if not known:
            new.add(term.weight, max(0.0, says))
        if term.concept.telling and not term.denied:
            claim.add(term.weight, max(0.0, says))
    for figure in fact.figures:
        if asked.names(figure):  # another date in its place is a contradiction, and was looked for
            words.add(figure.weight * GIVEN, 1.0)
            continue
        for share in (words, new, figures):
            share.add(figure.weight, float(_has(said, figure)))
    turned = matcher.reversed or any(_reversed(fact, sentence) for sentence in said.sentences)
    return _Found(words, new, claim, figures, turned)


def _support(fact: Fact, said: Said, asked: _Asked) -> float:
    """How far a passage states a fact."""
    found = _found(fact, said, asked)
    bare = found.figures.whole and found.figures.value == 1  # "184 ms", to a question for it
    if (said.length * LEAST_WORDS <= fact.length and not bare) or _lists(fact, said, asked):
        return 0.0
    if found.reversed or not found.new_is_there:
        return 0.0
    long = len(fact.terms) >= LONG
    compound = len(fact.terms) + len(fact.figures) >= LONG
    nothing, enough, least = LONG_FACT if long else SHORT_FACT
    if found.words.value < least or (not compound and found.figures.value < 1):
        return 0.0
    credit = min(1.0, (found.words.value - nothing) / (enough - nothing))
    if found.figures.whole:
        credit *= 1 - found.figures.whole / found.words.whole * (1 - found.figures.value)
    if turned_round(fact.order, said.order):
        credit *= TURNED
    return credit if long else credit * (UNTOLD + (1 - UNTOLD) * min(1.0, 2 * found.claim.value))


def _lists(fact: Fact, said: Said, asked: _Asked) -> bool:
    """Whether a passage names figure upon figure where the question wants that of one day."""
    dates = [figure for figure in fact.figures if asked.names(figure)]
    if not dates or any(_has(said, figure) for figure in dates):
        return False
    own = [f.amount for f in fact.figures if isinstance(f.amount, Amount)]
    others = [number for number in said.numbers if not any(o.is_amount(number) for o in own)]
    return sum(any(o.comparable(number) for o in own) for number in others) > MOST_OTHERS


def _reversed(fact: Fact, sentence: Said) -> bool:
    """Whether a sentence is about the fact's subject and says the opposite direction of it."""
    so = sentence.asserted
    turned = any(
        not ((term.concept.opposites & DIRECTIONS) - fact.asserted).isdisjoint(so)
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
        self._own = fact.asserted
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
        opposites = concept.opposites - self._own
        self.reversed |= not (opposites & DIRECTIONS).isdisjoint(same)
        return _gainsaid(concept, opposites, same, other)

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


def _gainsaid(concept: Concept, opposites: frozenset[str], asserted: Words, denied: Words) -> float:
    """What it costs that a word of the fact is denied, or its opposite asserted."""
    if not concept.names.isdisjoint(denied) or not concept.contrary.isdisjoint(asserted):
        return DENIED
    return 0.0 if opposites.isdisjoint(asserted) else OPPOSED
