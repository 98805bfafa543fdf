"""What a text claims, ready to be compared: a fact's terms, and passages of an answer."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from memrig.grading.typed.amounts import Amount, amounts
from memrig.grading.typed.clauses import Clause
from memrig.grading.typed.concepts import COMPOUND_WEIGHT, Concept, concepts
from memrig.grading.typed.dates import Day, find_dates
from memrig.grading.typed.order import Relation, relations
from memrig.grading.typed.reading import Reading, read
from memrig.grading.typed.words import STOP, fold, words

#: What a fact says by contrast ("not DNS") weighs less than its claim.
ASIDE = 0.25
#: So does under what circumstances it holds, and what it is a sign of.
TAIL = 0.5
_ACRONYM = re.compile(r"\b[A-Z]{2,5}\b")
_NAME = re.compile(r"\b[A-Z][a-z]+(?:\s+(?:(?:of|and|for|the)\s+)?[A-Z][a-z]+){1,4}\b")
#: How a denial begins that only sets a claim off: "…, not DNS", "rather than a spike".
_CONTRAST = re.compile(
    r"\W*(?:and |but )?(?:not|no|never|nor|without|rather than|instead of|as opposed to|in place of"
    r"|unlike|ruling out|excluding)\b"
)
#: "errors: 0" and "0 errors" say that there are none.
_NOUGHT = re.compile(
    r"\b[a-z_-]+\s*[:=]\s*(?:0+(?:\.0+)?%?(?![\w.:%])|none\b)|(?<![\w.,:/-])0\s+[a-z]+"
)


#: The names of concepts, and the roots that name them.
Words = Mapping[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class Dated:
    """A date, said to be so or not."""

    day: Day
    denied: bool

    def is_date(self, own: "Dated") -> bool:
        """Whether it is a fact's date, and as much denied as there."""
        return self.denied == own.denied and self.day.is_date(own.day)


@dataclass(frozen=True, slots=True)
class Figure:
    """A number or date of a fact.

    `about`: the roots of the words beside it, which tell what it is a figure of.
    """

    amount: Amount | Dated
    weight: float
    about: frozenset[str]


@dataclass(frozen=True, slots=True)
class Term:
    """One word of a fact.

    `aside`: said by contrast only; `short`: the acronym of the name that it belongs to.
    """

    concept: Concept
    denied: bool
    aside: bool
    weight: float
    short: str = ""


@dataclass(frozen=True, slots=True)
class Fact:
    """What an answer must say."""

    terms: tuple[Term, ...]
    figures: tuple[Figure, ...]
    asserted: frozenset[str]
    order: tuple[Relation, ...]
    sentences: int
    length: int


@dataclass(frozen=True, slots=True)
class Said:
    """What a stretch of text says is so, and is not so: names of concepts, each with its words."""

    asserted: Words
    denied: Words
    numbers: tuple[Amount, ...]
    dates: tuple[Dated, ...]
    order: tuple[Relation, ...] = ()
    length: int = 0
    sentences: tuple["Said", ...] = ()

    @property
    def words(self) -> frozenset[str]:
        """The names of all concepts, whether they are asserted or denied."""
        return frozenset(self.asserted) | frozenset(self.denied)


@lru_cache(maxsize=4096)
def fact_of(text: str, acts: frozenset[str] = frozenset(), things: tuple[str, ...] = ()) -> Fact:
    """Reads a key fact; `acts` are the verbs of denial that are nothing but acts in it.

    `things` may stand in it word for word, and a denial within them denies nothing.
    """
    meant = read(text, names=things, acts=acts)
    firm = [clause for clause in meant.clauses if not clause.open] or list(meant.clauses)
    only_denials = all(clause.denied for clause in firm)
    names = _names(text)
    terms: dict[tuple[str, bool], Term] = {}
    figures: list[Figure] = []
    for clause in firm:
        piece = meant.text[clause.start : clause.end]
        contrast = bool(clause.denied and not only_denials and _CONTRAST.match(piece))
        for stretch, whole in _stretches(piece):
            share = whole * (ASIDE if contrast else 1.0)
            held = list(concepts(stretch))
            for concept, weight in held:
                short, part = names.get(concept.root, ("", 1.0))
                term = Term(concept, clause.denied, contrast, weight * share * part, short)
                known = terms.get((concept.root, clause.denied))
                if known is None or known.weight < term.weight:
                    terms[concept.root, clause.denied] = term
            about = frozenset(concept.root for concept, _ in held)
            figures += _figures(stretch, clause.denied, share, about)
    return Fact(
        terms=tuple(terms.values()),
        figures=tuple(figures),
        asserted=frozenset(
            name for term in terms.values() if not term.denied for name in term.concept.names
        ),
        order=relations(meant.text),
        sentences=len(meant.sentences),
        length=len(words(meant.text)),
    )


#: Where it begins to be told under what circumstances, or what a thing is a sign of.
_TAIL = re.compile(
    r"(?P<tail>\b(?:during|while|amid|amidst|throughout|despite|alongside|indicat(?:ing|es|ed)"
    r"|suggest(?:ing|s|ed)|imply(?:ing)?|implies|reflect(?:ing|s)|signall?ing|demonstrating"
    r"|pointing to|consistent with|in line with|as (?:seen|shown|evidenced|reflected)"
    r"|(?<!lated )(?<!lates )(?<!cides )(?<!iated )(?<!lated )(?<!pared )(?<!icts )(?<!start )"
    r"(?<!links )(?<!inked )(?<!lation )with)\b)"
    r"|(?P<head>[,;](?=\s)|\bto\s+(?=[~$]?\d|approximately|about|nearly)|\band\s+(?=[a-z]+ed\b))"
)


def _stretches(piece: str) -> Iterator[tuple[str, float]]:
    """A clause cut up into its claim and what is told around it, each with its share of weight."""
    begin, share = 0, 1.0
    for found in _TAIL.finditer(piece):
        yield piece[begin : found.start()], share
        begin, share = found.start(), TAIL if found.lastgroup == "tail" else 1.0
    yield piece[begin:], share


def _figures(stretch: str, denied: bool, share: float, about: frozenset[str]) -> Iterator[Figure]:
    for number in amounts(stretch, denied=denied):
        yield Figure(number, share, about)
    for day in find_dates(stretch):
        if day.month is not None:
            yield Figure(Dated(day, denied), share, about)


def _names(text: str) -> dict[str, tuple[str, float]]:
    """The roots of a fact's names, each with the name's initials and its share of one weight.

    "San Francisco" is hardly more than one word, and may be called SF.
    """
    found: dict[str, tuple[str, float]] = {}
    for name in _NAME.findall(text):
        parts = [part for part in name.split() if part[0].isupper()]
        short = "".join(part[0] for part in parts).lower()
        known = ("" if short in STOP else short, min(1.0, COMPOUND_WEIGHT / len(parts)))
        found |= {c.root: known for part in parts for c, _ in concepts(fold(part))}
    return found


@lru_cache(maxsize=1024)
def given(question: str) -> frozenset[str]:
    """The roots of what a folded question says."""
    return frozenset(concept.root for concept, _ in concepts(question))


@lru_cache(maxsize=1024)
def given_days(question: str) -> tuple[Day, ...]:
    """The dates that a question names: an answer need not repeat them."""
    return tuple(day for day in find_dates(question) if day.month is not None)


@lru_cache(maxsize=512)
def passages(reading: Reading, longest: int) -> tuple[Said, ...]:
    """What every run of one to `longest` sentences says."""
    grouped: dict[int, list[Clause]] = {}
    for clause in reading.clauses:
        if not clause.open:
            grouped.setdefault(clause.sentence, []).append(clause)
    sentences = [_sentence(reading, parts) for parts in grouped.values()]
    return tuple(
        replace(
            _together(sentences[first : first + length]),
            sentences=tuple(sentences[first : first + length]),
        )
        for length in range(1, longest + 1)
        for first in range(len(sentences) - length + 1)
    )


def _sentence(reading: Reading, clauses: Sequence[Clause]) -> Said:
    said = _together(_said(reading, clause) for clause in clauses)
    text = reading.text[clauses[0].start : clauses[-1].end]
    return replace(said, order=relations(text), length=len(words(text)))


def _said(reading: Reading, clause: Clause) -> Said:
    piece = reading.text[clause.start : clause.end]
    so: dict[str, frozenset[str]] = {}
    not_so: dict[str, frozenset[str]] = {}
    for concept, _ in concepts(_NOUGHT.sub(" ", piece)):
        _add(so, concept.names, concept.root)
        _add(not_so, concept.contrary, concept.root)
    for found in _NOUGHT.finditer(piece):
        for concept, _ in concepts(found.group()):
            _add(not_so, concept.names, concept.root)
    numbers = amounts(piece, denied=clause.denied)
    dates = tuple(Dated(day, clause.denied) for day in find_dates(piece) if day.month is not None)
    if clause.denied:
        return Said(not_so, so, numbers, dates)
    return Said(so, not_so, numbers, dates)


def _add(held: dict[str, frozenset[str]], names: Iterable[str], root: str) -> None:
    for name in names:
        held[name] = held.get(name, frozenset()) | {root}


def _together(parts: Iterable[Said]) -> Said:
    parts = list(parts)
    return Said(
        union(part.asserted for part in parts),
        union(part.denied for part in parts),
        tuple(number for part in parts for number in part.numbers),
        tuple(date for part in parts for date in part.dates),
        tuple(relation for part in parts for relation in part.order),
        sum(part.length for part in parts),
    )


def union(parts: Iterable[Words]) -> Words:
    """All that several stretches say."""
    joined: dict[str, frozenset[str]] = {}
    for part in parts:
        for name, roots in part.items():
            joined[name] = joined.get(name, frozenset()) | roots
    return joined
