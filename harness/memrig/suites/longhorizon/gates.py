"""What a world must be like, measured: the data gates of the long-horizon suite.

The figures are taken from the log and from the texts as they are told, in one pass. The bounds are
those of a world of the standard length; a short one has too few arcs for some of them.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from memrig.suites.longhorizon.log import EventLog
from memrig.suites.longhorizon.model import NO_FACT, TRUTH, Block, EventKind, PlannedTurn
from memrig.suites.longhorizon.schema import SHARES

#: Parts of the horizon that are looked at one by one.
PARTS = 10


@dataclass(frozen=True, slots=True)
class Figures:
    """How a world is.

    Args:
        turns: how many it has.
        facts: distinct (entity, attribute, value) of truth and claims.
        texts: distinct texts of turns.
        factless: turns that tell no fact: small talk, suppositions, rumours.
        talk: turns that tell nothing at all, among them.
        retelling: turns that only tell again what was told before.
        blocks: turns of each block.
        parts: for each block, its turns in each tenth of the horizon.
        kinds: events of each kind.
        later: updates that hold only from a day after they are told.
        gaps: distances in turns between the tellings of two values of a key in a row, counted by
            octave: place 0 is [turns/2, turns), place 1 [turns/4, turns/2) and so on.
        longest: the longest of these distances, in turns.
        depths: facts told in each tenth of the horizon.
        entities: how many entities are told about.
        siblings: entities with a near-miss of their name.
        held_out: entities of the holdout set.
    """

    turns: int
    facts: int
    texts: int
    factless: int
    talk: int
    retelling: int
    blocks: dict[Block, int]
    parts: dict[Block, tuple[int, ...]]
    kinds: dict[EventKind, int]
    later: int
    gaps: tuple[int, ...]
    longest: int
    depths: tuple[int, ...]
    entities: int
    siblings: int
    held_out: int


class _Survey:
    """Counts turn by turn."""

    def __init__(self, turns: int) -> None:
        self.turns = turns
        self.facts: set[tuple[str, str, str]] = set()
        self.factless = self.talk = self.retelling = self.later = self.longest = 0
        self.parts = {block: [0] * PARTS for block in SHARES}
        self.kinds: Counter[EventKind] = Counter()
        self.gaps = [0] * turns.bit_length()
        self.depths = [0] * PARTS
        self.entities: set[str] = set()
        self._last: dict[tuple[str, str], int] = {}

    def add(self, turn: PlannedTurn) -> None:
        part = turn.index * PARTS // self.turns
        self.parts[turn.block][part] += 1
        kinds = {event.kind for event in turn.events}
        self.factless += kinds <= NO_FACT
        self.talk += not kinds
        self.retelling += kinds == {"recalled"}
        for event in turn.events:
            self.kinds[event.kind] += 1
            self.entities.add(event.entity)
            if event.kind in TRUTH or event.kind == "claimed":
                self.facts.add((event.entity, event.attribute, event.value))
                self.depths[part] += 1
            if event.kind in TRUTH:
                self.later += event.kind == "updated" and event.valid_from > turn.told_at[:10]
                self._gap((event.entity, event.attribute), turn.index)

    def _gap(self, key: tuple[str, str], index: int) -> None:
        if (before := self._last.get(key)) is not None:
            distance = index - before
            self.gaps[((self.turns - 1) // distance).bit_length() - 1] += 1
            self.longest = max(self.longest, distance)
        self._last[key] = index


def survey(log: EventLog, texts: Iterable[str]) -> Figures:
    """Measures a world.

    Args:
        log: of the world.
        texts: of its turns, as they are told.
    """
    found = _Survey(log.turns)
    for turn in log.planned():
        found.add(turn)
    everybody = [entity for entity in log.entities() if entity.entity_id in found.entities]
    return Figures(
        turns=log.turns,
        facts=len(found.facts),
        texts=len({*map(hash, texts)}),
        factless=found.factless,
        talk=found.talk,
        retelling=found.retelling,
        blocks={block: sum(parts) for block, parts in found.parts.items()},
        parts={block: tuple(parts) for block, parts in found.parts.items()},
        kinds=dict(found.kinds),
        later=found.later,
        gaps=tuple(found.gaps),
        longest=found.longest,
        depths=tuple(found.depths),
        entities=len(everybody),
        siblings=sum(bool(entity.sibling) for entity in everybody),
        held_out=sum(entity.holdout for entity in everybody),
    )


@dataclass(frozen=True, slots=True)
class Gate:
    """A bound on a figure: met where `least` ≤ `figure` ≤ `most`."""

    name: str
    figure: float
    least: float
    most: float

    @property
    def met(self) -> bool:
        """Whether the figure lies within."""
        return self.least <= self.figure <= self.most


def gates(figures: Figures) -> tuple[Gate, ...]:
    """All bounds on a world of the standard length, in fixed order; shares are of one."""
    turns = figures.turns
    shares = [abs(figures.blocks[block] / turns - share / 100) for block, share in SHARES.items()]
    spread = [PARTS * min(parts) / figures.blocks[block] for block, parts in figures.parts.items()]
    # Octaves of less than four turns hold one or two lengths each: too coarse to be even.
    whole = figures.gaps[: turns.bit_length() - 3]
    octaves = [count * len(whole) / max(1, sum(whole)) for count in whole]
    depths = [count * PARTS / sum(figures.depths) for count in figures.depths]
    return (
        Gate("distinct facts for each turn", figures.facts / turns, 0.6, 5),
        Gate("unique texts", figures.texts / turns, 0.8, 1),
        Gate("turns without a fact", figures.factless / turns, 0, 0.2),
        Gate("small talk", figures.talk / turns, 0, 0.03),
        Gate("furthest block from its share", max(shares), 0, 0.01),
        Gate("thinnest tenth of a block, of its mean", min(spread), 0.25, 1),
        Gate("rarest octave of gaps, of the mean", min(octaves), 0.5, 1),
        Gate("commonest octave of gaps, of the mean", max(octaves), 1, 1.6),
        Gate("longest gap, of the horizon", figures.longest / turns, 0.8, 1),
        Gate("facts in the thinnest tenth, of the mean", min(depths), 0.8, 1),
        Gate("facts in the thickest tenth, of the mean", max(depths), 1, 1.2),
    )
