"""When things are told: how many turns a block has, how far changes lie apart, what day it is.

Places are counted in ticks, so that more than one thing can be planned between two turns; whoever
is told first gets the earlier turn. All draws are integers made from one float of `random`, whose
product is exact to the bit on every platform.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import cache

from memrig.suites.longhorizon.model import Block
from memrig.suites.longhorizon.schema import SHARES

#: A stream of floats in [0, 1), as `random.Random.random` gives.
Chance = Callable[[], float]

#: Ticks of a turn.
TICKS = 16
#: Minutes between turns of a world that is no longer than this.
_PACE, _LOOSE = 150, 5_000
#: Minutes between the turns that a longer world has beyond: 100,000 turns take 1,378 days.
_PACKED = 13


def below(chance: Chance, limit: int) -> int:
    """An integer in [0, `limit`)."""
    return int(chance() * limit)


def quotas(turns: int) -> dict[Block, int]:
    """How many turns each block has; the sum is `turns`.

    By largest remainder, except that `contradictory` has a multiple of three, for the sources of
    a topic are told one by one; what is over goes to `people`.
    """
    found = {block: turns * share // 100 for block, share in SHARES.items()}
    rest = sorted(SHARES, key=lambda block: -(turns * SHARES[block] % 100))
    for block in rest[: turns - sum(found.values())]:
        found[block] += 1
    over = found["contradictory"] % 3
    found["contradictory"] -= over
    found["people"] += over
    return found


def gap(chance: Chance, horizon: int) -> int:
    """How far two tellings of one key lie apart, in ticks: log-uniform from a turn to `horizon`.

    The octaves [horizon/2, horizon), [horizon/4, horizon/2) … are equally likely, and every length
    within one.
    """
    octaves = max(1, (horizon // TICKS).bit_length() - 1)
    top = horizon >> below(chance, octaves)
    return top // 2 + below(chance, top - top // 2)


def chain(chance: Chance, horizon: int, changes: int) -> list[int]:
    """Where a value and its changes are told, in ticks below `horizon`.

    Gaps are drawn first and the start uniformly in what they leave. Changes that would lie beyond
    the horizon are left out: there may be fewer than asked for.
    """
    places, span = [0], 0
    for _ in range(changes):
        span += gap(chance, horizon)
        if span >= horizon:
            break
        places.append(span)
    start = below(chance, horizon - places[-1])
    return [start + place for place in places]


def together(chance: Chance, horizon: int, count: int) -> list[int]:
    """As `chain`, but with exactly `count` places, drawn again until they fit."""
    while len(places := chain(chance, horizon, count - 1)) < count:
        pass
    return places


def even(chance: Chance, first: int, horizon: int, count: int) -> list[int]:
    """`count` places from `first` on, one in each of as many equal parts."""
    width = horizon - first
    return [
        first + (width * number + below(chance, width)) // count if count else 0
        for number in range(count)
    ]


@cache
def _minutes(turns: int) -> int:
    """How long so many turns take."""
    loose = min(turns, _LOOSE)
    return _PACE * loose + _PACKED * (turns - loose)


@dataclass(frozen=True, slots=True)
class Calendar:
    """The days of a world.

    Args:
        base: the proleptic ordinal of its first day, a Monday.
        turns: how many turns there are.
    """

    base: int
    turns: int

    @classmethod
    def drawn(cls, chance: Chance, turns: int) -> "Calendar":
        """A calendar that begins on a Monday of 2030 to 2035."""
        first = date(2030, 1, 7).toordinal()
        return cls(first + 7 * below(chance, 312), turns)

    def minute(self, index: int, jitter: float) -> int:
        """When a turn is told, in minutes from the first midnight; never before the turn before."""
        minutes = _minutes(self.turns)
        return 480 + minutes * index // self.turns + int(jitter * (minutes // self.turns))

    def ordinal(self, minute: int) -> int:
        """The day of a minute."""
        return self.base + minute // 1440
