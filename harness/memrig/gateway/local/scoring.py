"""How well each sentence of the memories supports an answer to a question."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from memrig.gateway.local.conversation import Passage
from memrig.gateway.local.dates import Grain, Moment, mentioned, stamp_day, timeless
from memrig.gateway.local.kinds import Kind, fits
from memrig.gateway.local.text import STOP, Line, content_stems, lines, stem

#: What a question's words are worth when they stand elsewhere in the same turn, or memory.
_IN_TURN, _IN_PASSAGE = 0.4, 0.15
_FITS, _FITS_NOT = 1.5, 0.7
_RIGHT_SPEAKER, _WRONG_SPEAKER = 1.3, 0.7
_OF_ONESELF = 1.2
_ASKS_BACK = 0.75
_LATER_NOW, _LATER = 0.35, 0.06
_MEANT = 1.6
_REACH: Mapping[Grain, int] = {"day": 1, "week": 4, "month": 16, "year": 200}  #: in days
_IMAGINED = 10
_MOST_STEMS = 64  #: a question of more is a text, whose end asks
_LONG = 45  #: words; a longer sentence matches by chance
_MACHINE = frozenset({"assistant", "ai", "bot", "chatbot", "system", "model"})
_NOW = re.compile(
    r"\b(?:now|currently|current|latest|newest|recent(?:ly)?|still|these days|at the moment|"
    r"so far|to date)\b"
)
_ONESELF = re.compile(r"\b(?:i|my|me|mine|we|our)\b", re.IGNORECASE)
_TOLD_BY_MACHINE = re.compile(
    r"\byou(?:'d| had)? (?:\w+ )?(?:recommend|suggest|mention|provid|told|said|gave|list|creat|"
    r"wrote|explain|describ|shar)|\bremind me\b|\b(?:previous|last|earlier) (?:chat|conversation)\b"
)
_TALK = re.compile(
    r"\bour (?:previous|last|earlier|past) (?:chat|conversation|discussion|talk)s?\b(?: about)?"
    r"|\b(?:can|could) you (?:please )?remind me\b|\bi (?:was wondering|wanted to|remember)\b"
    r"|\bif you could\b|\b(?:going|looking|thinking|checking|check|go) (?:back|through|over)\b"
    r"|\b(?:confirm|follow up|remind me|earlier)\b|\byou(?:'d| had)? \w+ed (?:me )?(?:that|about)?"
)
_ORDINAL = re.compile(r"\b(\d{1,3})(?:st|nd|rd|th)\b")
_ITEM = re.compile(r"^\W*(\d{1,3})[.):]\s")


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


def rank(
    question: str, kind: Kind, passages: Sequence[Passage], now: date | None = None
) -> list[Support]:
    """Every sentence that shares a word with the question, best first; ties go to the later one.

    With `now`, the day on which it is asked, memories of the time that the question names ("last
    Saturday") count more.
    """
    wanted = essentials(question)
    places = list(_places(wanted, passages))
    weights = _weights(wanted, places)
    total = math.fsum(weights.values())
    if not total:
        return []
    days = [stamp_day(passage.date) for passage in passages]
    asked = question.lower()
    meant = mentioned(question, now) if now else None
    machine = bool(_TOLD_BY_MACHINE.search(asked))
    oneself = not machine and bool(_ONESELF.search(asked))
    timely = _near(days, meant) if meant else _lateness(days, asked)
    judge = _Judge(kind, weights, timely, machine, oneself)
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


def essentials(question: str) -> list[str]:
    """The stems that a question turns on: talk about the talk is left out, "7th" is item 7."""
    plain = timeless(_TALK.sub(" ", question.lower()))
    stems = content_stems(plain) or content_stems(question)
    return stems[-_MOST_STEMS:] + [f"#{number}" for number in _ORDINAL.findall(plain)]


def _places(wanted: Iterable[str], passages: Sequence[Passage]) -> Iterable[_Place]:
    """Sentences with their matches. Only words that begin as a wanted one does are stemmed."""
    known = frozenset(wanted)
    alike = _alike(known)
    for number, passage in enumerate(passages):
        for line in lines(passage.text):
            text = f"{line.speaker} {line.text}".lower()
            own = {stem(word) for word in alike.findall(text) if word not in STOP} & known
            if (item := _ITEM.match(line.text)) and (name := f"#{item[1]}") in known:
                own.add(name)
            yield _Place(line, number, frozenset(own))


def _alike(stems: Iterable[str]) -> re.Pattern[str]:
    """Words that may have one of these stems: an ending may turn a third letter y into i."""
    starts = sorted({name[:2] if name[2:3] == "i" else name[:3] for name in stems})
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, starts))})[^\W_]*(?:[.,:/][0-9]+)*")


def _weights(wanted: Sequence[str], places: Sequence[_Place]) -> Mapping[str, float]:
    """The inverse document frequency of each stem over the sentences.

    A few sentences tell little of how rare a word is: some imagined ones stand beside them. And a
    word that never comes is no rarer than one that comes once.
    """
    counts = Counter(found for place in places for found in place.own)
    size = len(places) + _IMAGINED
    return {name: math.log(1 + size / max(1, counts[name])) for name in wanted}


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


def _near(days: Sequence[date | None], meant: Moment) -> Sequence[float]:
    """A factor for each memory: those of the time that is asked about count more."""
    reach = _REACH[meant.grain]
    return [_MEANT if day and abs((day - meant.day).days) <= reach else 1.0 for day in days]


@dataclass(frozen=True, slots=True)
class _Judge:
    kind: Kind
    weights: Mapping[str, float]
    timely: Sequence[float]
    machine: bool
    oneself: bool

    def held(self, own: frozenset[str], near: set[str], far: set[str]) -> float:
        """The weight of what is matched; none where the whole turn matches nothing."""
        weight = self.weights
        # Exact sums: a set's order differs between processes, and with it a plain sum's last bit.
        inside = math.fsum(weight[name] for name in own)
        if not near:
            return 0.0
        around = math.fsum(weight[name] for name in near - own)
        farther = math.fsum(weight[name] for name in far - near)
        return inside + _IN_TURN * around + _IN_PASSAGE * farther

    def factor(self, place: _Place) -> float:
        line = place.line
        factor = self.timely[place.passage]
        fitting = fits(self.kind, line.text)
        if fitting is not None:
            factor *= _FITS if fitting else _FITS_NOT
        if line.speaker:
            right = (line.speaker in _MACHINE) == self.machine
            factor *= _RIGHT_SPEAKER if right else _WRONG_SPEAKER
        if self.oneself and _ONESELF.search(line.text):
            factor *= _OF_ONESELF
        if line.text.endswith("?"):
            factor *= _ASKS_BACK
        return factor / (1 + max(0, len(line.text.split()) - _LONG) / _LONG)
