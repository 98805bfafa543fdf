"""Who did what to whom, as far as a few words tell it: before, after, because of, than, from … to.

The words beside such a word are compared: "revenue before delivery" is not "delivery before
revenue", nor "revenue after delivery". Nothing is parsed; where the neighbours do not decide, the
order is taken to be right.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from memrig.grading.typed.concepts import concepts

#: How many words on each side are looked at; a comparison's subject stands further off.
BESIDE, BESIDE_THAN = 2, 4
_KINDS: tuple[tuple[str, bool, str], ...] = (
    ("cause", True, (r"(?:caused|driven|triggered|produced|induced|explained|prompted|brought about"
     r"|provoked|fuell?ed) (?:mainly |mostly |partly |largely )?by|due to|because(?: of)?|owing to"
     r"|attribut(?:able|ed) to|as a result of|thanks to|on account of|stem(?:s|med|ming)? from"
     r"|result(?:s|ed|ing)? from|originat(?:es|ed|ing) (?:in|from)|follow(?:s|ed) from|led by")),
    ("cause", False, (r"(?:caus|trigger|produc|induc|explain|prompt|provok)(?:e|es|ed|s|ing)?"
     r"|le(?:d|ads?|ading) to|result(?:s|ed|ing)? in|contribut(?:es?|ed|ing) to"
     r"|br(?:ings?|ought) about|cascad(?:es?|ed|ing) into")),
    ("time", False, r"before|prior to|ahead of|preced(?:e|es|ed|ing)|until"),
    ("time", True, r"after|following|follow(?:s|ed)?|subsequent to|since|once"),
    ("than", False, r"than"),
)  # fmt: skip
_RELATION = re.compile(
    r"\b(?:" + "|".join(f"(?P<r{i}>{words})" for i, (_, _, words) in enumerate(_KINDS)) + r")\b"
)
_FROM_TO = re.compile(
    r"\bfrom\s+(?P<old>[^,;.]{1,60}?)\s+(?:down |up |back )?to\s+(?P<new>[^,;.]{1,40})"
)

Names = frozenset[str]


@dataclass(frozen=True, slots=True)
class Relation:
    """Two sides of a word that ties them: earlier and later, cause and effect.

    Each side is its words, nearest first, each as the names of its concept.
    """

    kind: str
    first: tuple[Names, ...]
    second: tuple[Names, ...]


@lru_cache(maxsize=8192)
def relations(sentence: str) -> tuple[Relation, ...]:
    """What a folded sentence sets in an order."""
    return tuple(_found(sentence))


def _found(sentence: str) -> Iterator[Relation]:
    matches = list(_RELATION.finditer(sentence))
    for number, match in enumerate(matches):
        begin = matches[number - 1].end() if number else 0
        end = matches[number + 1].start() if number + 1 < len(matches) else len(sentence)
        kind, turned, _ = _KINDS[int((match.lastgroup or "r0")[1:])]
        near = BESIDE_THAN if kind == "than" else BESIDE
        left = tuple(reversed(_names(sentence[begin : match.start()])))[:near]
        right = _names(sentence[match.end() : end])[:near]
        if not left and turned:  # "after the storm, the leak grew": the comma is the tie
            left, right = right[2:], right[:2]
        if left and right:
            yield Relation(kind, *((right, left) if turned else (left, right)))
    for change in _FROM_TO.finditer(sentence):
        yield Relation("change", _names(change["old"], 3), _names(change["new"], 3))


_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def _names(text: str, most: int = 99) -> tuple[Names, ...]:
    found = [frozenset({number}) for number in _NUMBER.findall(text)]
    return tuple([*found, *(concept.names for concept, _ in concepts(text))][:most])


def turned_round(own: Iterable[Relation], said: Iterable[Relation]) -> bool:
    """Whether a text says one of a fact's relations the other way round, and never as it is."""
    said = tuple(said)
    for relation in own:
        verdicts = [_verdict(relation, other) for other in said if other.kind == relation.kind]
        if verdicts and min(verdicts) < 0 and max(verdicts) <= 0:
            return True
    return False


def _verdict(own: Relation, said: Relation) -> int:
    """1 where two relations agree, -1 where their sides are exchanged, 0 where nothing tells."""
    straight = _alike(own.first, said.first), _alike(own.second, said.second)
    crossed = _alike(own.first, said.second), _alike(own.second, said.first)
    if min(crossed) > 0 and (min(straight) == 0 or sum(crossed) > sum(straight)):
        return -1
    return int(min(straight) > 0)


def _alike(one: tuple[Names, ...], other: tuple[Names, ...]) -> int:
    return sum(any(names & others for others in other) for names in one)
