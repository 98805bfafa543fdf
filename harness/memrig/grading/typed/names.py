"""Names in texts: where an entity is mentioned, by any of its names, and how it is meant."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from memrig.grading.typed.reading import Reading, Status
from memrig.grading.typed.words import NEGATIVES, STOP, fold, singular, stem, tokens

_ARTICLES = frozenset(("a", "an", "the", "and"))


@dataclass(frozen=True, slots=True)
class Mention:
    """A place where a name stands."""

    start: int
    end: int

    def overlaps(self, other: "Mention") -> bool:
        """Whether two mentions share a letter."""
        return self.start < other.end and other.start < self.end


@lru_cache(maxsize=8192)
def _parts(name: str) -> tuple[str, ...]:
    """The words of a name that must stand in a row."""
    return tuple(singular(word) for word, _, _ in tokens(fold(name)) if word not in _ARTICLES)


@lru_cache(maxsize=1024)
def _row(folded: str) -> tuple[tuple[str, int, int], ...]:
    return tuple(
        (singular(word), start, end) for word, start, end in tokens(folded) if word not in _ARTICLES
    )


def mentions(folded: str, names: Iterable[str]) -> list[Mention]:
    """Where any of the names stands, word for word, but for articles and plurals."""
    row = _row(folded)
    found: set[Mention] = set()
    for parts in {_parts(name) for name in names} - {()}:
        for at in range(len(row) - len(parts) + 1):
            if all(row[at + n][0] == part for n, part in enumerate(parts)):
                found.add(Mention(row[at][1], row[at + len(parts) - 1][2]))
    return sorted(outside(found, found), key=lambda mention: mention.start)


def loose_mentions(reading: Reading, names: Iterable[str]) -> list[Mention]:
    """Clauses that hold all the meaningful words of a longer name, in whatever order."""
    found = []
    for wanted in {_meaning(name) for name in names}:
        if len(wanted) < 2:
            continue
        for clause in reading.clauses:
            piece = reading.text[clause.start : clause.end]
            placed = [(stem(word), start, end) for word, start, end in tokens(piece)]
            hits = [(start, end) for word, start, end in placed if word in wanted]
            if wanted <= {word for word, _, _ in placed}:
                start = clause.start + min(start for start, _ in hits)
                found.append(Mention(start, clause.start + max(end for _, end in hits)))
    return found


@lru_cache(maxsize=8192)
def _meaning(name: str) -> frozenset[str]:
    return frozenset(
        stem(word)
        for word, _, _ in tokens(fold(name))
        if word not in STOP and word not in NEGATIVES
    )


def named(reading: Reading, names: Sequence[str]) -> list[Mention]:
    """All mentions of something by its names."""
    exact = mentions(reading.text, names)
    return exact or loose_mentions(reading, names)


def outside(found: Iterable[Mention], others: Iterable[Mention]) -> list[Mention]:
    """Those that are no part of a longer name: "Solveig" in "Solveig's brother"."""
    longer = list(others)
    return [
        mention
        for mention in found
        if not any(
            mention.overlaps(other) and other.end - other.start > mention.end - mention.start
            for other in longer
        )
    ]


def by_status(reading: Reading, found: Iterable[Mention]) -> dict[Status, list[Mention]]:
    """Mentions by how they are meant."""
    sorted_: dict[Status, list[Mention]] = {status: [] for status in Status}
    for mention in found:
        sorted_[reading.status(mention.start, mention.end)].append(mention)
    return sorted_
