"""How well each sentence of the memories supports an answer to a question."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from memrig.gateway.local.conversation import Passage
from memrig.gateway.local.dates import stamp_day
from memrig.gateway.local.kinds import Kind, fits
from memrig.gateway.local.text import STOP, Line, content_stems, lines, stem, words

#: What a question's words are worth when they stand elsewhere in the same turn, or memory.
_IN_TURN, _IN_PASSAGE = 0.4, 0.15
_FITS, _FITS_NOT = 1.25, 0.8
_STATED_BY_RIGHT_SPEAKER = 1.3
_ASKS_BACK = 0.75
_LATER_NOW, _LATER = 0.25, 0.06
_LONG = 45  #: words; a longer sentence matches by chance
_MACHINE = frozenset({"assistant", "ai", "bot", "chatbot", "system", "model"})
_NOW = re.compile(
    r"\b(?:now|currently|current|latest|newest|recent(?:ly)?|still|these days|at the moment|"
    r"so far|to date)\b"
)
_TOLD_BY_MACHINE = re.compile(
    r"\byou(?:'d| had)? (?:\w+ )?(?:recommend|suggest|mention|provid|told|said|gave|list|creat|"
    r"wrote|explain|describ|shar)|\bremind me\b|\b(?:previous|last|earlier) (?:chat|conversation)\b"
)


@dataclass(frozen=True, slots=True)
class Support:
    """One sentence and what speaks for it.

    Args:
        line: the sentence.
        passage: where it stands.
        day: when it was told, where that is known.
        score: what sentences are ranked by; 0 or more.
        coverage: the share of the question's weight that the sentence and its surroundings hold,
            from 0 to 1. Decides whether there is an answer at all.
        order: where the sentence stands among all.
    """

    line: Line
    passage: Passage
    day: date | None
    score: float
    coverage: float
    order: int


@dataclass(slots=True)
class _Place:
    """A sentence with the question's stems that it, its turn and its memory hold."""

    line: Line
    passage: int
    own: frozenset[str]


def rank(question: str, kind: Kind, passages: Sequence[Passage]) -> list[Support]:
    """Every sentence that shares a word with the question, best first; ties go to the later one."""
    wanted = content_stems(question)
    places = list(_places(wanted, passages))
    weights = _weights(wanted, places)
    total = sum(weights.values())
    if not total:
        return []
    days = [stamp_day(passage.date) for passage in passages]
    asked = question.lower()
    judge = _Judge(kind, weights, _lateness(days, asked), bool(_TOLD_BY_MACHINE.search(asked)))
    turns, whole = _surroundings(places)
    found = []
    for order, place in enumerate(places):
        near, far = turns[place.passage, place.line.turn], whole[place.passage]
        held = judge.held(place.own, near, far)
        if held:
            score = held * judge.factor(place)
            where = (passages[place.passage], days[place.passage])
            found.append(Support(place.line, *where, score, held / total, order))
    found.sort(key=lambda support: (-support.score, -support.order))
    return found


def _places(wanted: Iterable[str], passages: Sequence[Passage]) -> Iterable[_Place]:
    """Sentences with their matches. Only words that begin as a wanted one does are stemmed."""
    known = frozenset(wanted)
    starts = {name[:2] for name in known}
    for number, passage in enumerate(passages):
        for line in lines(passage.text):
            own = frozenset(
                found
                for word in words(line.text)
                if word[:2] in starts and word not in STOP and (found := stem(word)) in known
            )
            yield _Place(line, number, own)


def _weights(wanted: Sequence[str], places: Sequence[_Place]) -> Mapping[str, float]:
    """The inverse document frequency of each stem over the sentences, Robertson's form above 0."""
    counts = Counter(found for place in places for found in place.own)
    size = len(places)
    return {
        name: math.log(1 + (size - counts[name] + 0.5) / (counts[name] + 0.5)) for name in wanted
    }


def _surroundings(
    places: Iterable[_Place],
) -> tuple[Mapping[tuple[int, int], set[str]], Mapping[int, set[str]]]:
    turns: dict[tuple[int, int], set[str]] = defaultdict(set)
    whole: dict[int, set[str]] = defaultdict(set)
    for place in places:
        turns[place.passage, place.line.turn] |= place.own
        whole[place.passage] |= place.own
    return turns, whole


def _lateness(days: Sequence[date | None], asked: str) -> Sequence[float]:
    """A factor for each memory: later ones count a little more, much more when now is asked."""
    gain = _LATER_NOW if _NOW.search(asked) else _LATER
    known = sorted({day for day in days if day})
    at = {day: 1 + gain * n / max(1, len(known) - 1) for n, day in enumerate(known)}
    return [at[day] if day else 1.0 for day in days]


@dataclass(frozen=True, slots=True)
class _Judge:
    kind: Kind
    weights: Mapping[str, float]
    lateness: Sequence[float]
    machine: bool

    def held(self, own: frozenset[str], near: set[str], far: set[str]) -> float:
        """The weight of what is matched; none where the whole turn matches nothing."""
        weight = self.weights
        inside = sum(weight[name] for name in own)
        if not near:
            return 0.0
        around = sum(weight[name] for name in near - own)
        farther = sum(weight[name] for name in far - near)
        return inside + _IN_TURN * around + _IN_PASSAGE * farther

    def factor(self, place: _Place) -> float:
        line = place.line
        factor = self.lateness[place.passage]
        fitting = fits(self.kind, line.text)
        if fitting is not None:
            factor *= _FITS if fitting else _FITS_NOT
        if line.speaker and (line.speaker in _MACHINE) == self.machine:
            factor *= _STATED_BY_RIGHT_SPEAKER
        if line.text.endswith("?"):
            factor *= _ASKS_BACK
        return factor / (1 + max(0, len(line.text.split()) - _LONG) / _LONG)
