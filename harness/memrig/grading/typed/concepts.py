"""Words as the concepts that they name: stems across derivations, and groups of meaning."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

from memrig.grading.typed.vocabulary import (
    AKIN,
    DENYING,
    GENERIC,
    GROUPS,
    IRREGULAR,
    NOT_DENYING,
    OPPOSITES,
    PHRASES,
    RELATION,
    TELLING,
)
from memrig.grading.typed.words import NEGATIVES, STOP, stem, tokens

#: What a word weighs of which every report is full, and one that ties others together.
GENERIC_WEIGHT, RELATION_WEIGHT = 0.3, 0.5
#: What a hyphenated name weighs in all: "geo-lookup" is hardly more than one word.
COMPOUND_WEIGHT = 1.5

_ENDINGS = (
    (re.compile(r"bil$"), "bl"),
    (re.compile(r"(?<=n)[ct]$"), ""),
    (re.compile(r"(?<=[a-z]{4})ur$"), ""),
    (re.compile(r"(?<=[a-z]{3})ment$"), ""),
    (re.compile(r"(?<=[a-z]{3})([bdfgmnprt])\1$"), r"\1"),
    (re.compile(r"(?<=[a-z]{4})[aeiouy]+$"), ""),
)
_PHRASES = tuple((re.compile(pattern), word) for pattern, word in PHRASES)
_PREFIX = re.compile(r"un(?=[a-z]{4})|non(?=[a-z]{4})|(?:in|im|ir|il|dis|ab)(?=[a-z]{4})")
_EMPTY = (STOP - {"before", "after", "because"}) | NEGATIVES


@lru_cache(maxsize=65536)
def root(word: str) -> str:
    """What a word's derivations share: "failure" and "failing", "stability" and "stable"."""
    if word[0].isdigit():
        return word
    plain = IRREGULAR.get(word, word)
    found = stem(plain[:-2] if plain.endswith(("edly", "ingly")) else plain)
    for ending, kept in _ENDINGS:
        found = ending.sub(kept, found)
    return found


# The tables of roots are made at the first word: a command that grades nothing needs no stemmer.
@cache
def _groups_of() -> dict[str, frozenset[str]]:
    groups: dict[str, set[str]] = {}
    for name, members in GROUPS.items():
        for word in members.split():
            groups.setdefault(root(word), set()).add(name)
    return {word: frozenset(names) for word, names in groups.items()}


@cache
def _roots(words: frozenset[str]) -> frozenset[str]:
    return frozenset(root(word) for word in words)


def _related(pairs: tuple[tuple[str, str], ...]) -> dict[str, frozenset[str]]:
    related: dict[str, set[str]] = {}
    for one, other in pairs:
        related.setdefault(one, set()).add(other)
        related.setdefault(other, set()).add(one)
    return {name: frozenset(others) for name, others in related.items()}


_OPPOSITES, _AKIN = _related(OPPOSITES), _related(AKIN)


@dataclass(frozen=True, slots=True)
class Concept:
    """One word's meaning.

    `names`: its root and the groups of the same meaning; `opposites` and `akin`: groups that
    gainsay it, or are near; `contrary`: roots that, denied, are it ("incomplete").
    """

    root: str
    names: frozenset[str]
    opposites: frozenset[str]
    akin: frozenset[str]
    contrary: frozenset[str]
    weight: float
    telling: bool


@lru_cache(maxsize=65536)
def concept(word: str) -> Concept:
    """The concept of a folded word."""
    own = root(word)
    groups = _groups_of().get(own, frozenset())
    opposites = frozenset(name for group in groups for name in _OPPOSITES.get(group, ()))
    akin = frozenset(name for group in groups for name in _AKIN.get(group, ()))
    weight = 1.0
    if own in _roots(GENERIC):
        weight = GENERIC_WEIGHT
    elif groups & RELATION:
        weight = RELATION_WEIGHT
    return Concept(
        root=own,
        names=groups | {own},
        opposites=opposites - groups,
        akin=akin - groups,
        contrary=_contrary(word, own),
        weight=weight,
        telling=bool(groups & TELLING) and own not in _roots(GENERIC),
    )


def _contrary(word: str, own: str) -> frozenset[str]:
    prefix = _PREFIX.match(word)
    if prefix is None or NOT_DENYING.match(word):
        return frozenset()
    if prefix.group() not in ("un", "non") and own not in _roots(DENYING):
        return frozenset()
    return frozenset({root(word[prefix.end() :])})


def concepts(piece: str) -> Iterator[tuple[Concept, float]]:
    """The concepts of a folded piece of text with their weights, in order.

    Numbers and empty words are left out.
    """
    for pattern, word in _PHRASES:
        piece = pattern.sub(word, piece)
    found = tokens(piece)
    for run in _compounds(piece, found):
        share = min(1.0, COMPOUND_WEIGHT / len(run))
        for word in run:
            if word not in _EMPTY and not word[0].isdigit():
                meant = concept(word)
                yield meant, meant.weight * share


def _compounds(piece: str, found: list[tuple[str, int, int]]) -> list[list[str]]:
    """The words, those of one hyphenated name together."""
    runs: list[list[str]] = []
    last = -1
    for word, start, end in found:
        if runs and start == last + 1 and piece[last] in "-_/":
            runs[-1].append(word)
        else:
            runs.append([word])
        last = end
    return runs
