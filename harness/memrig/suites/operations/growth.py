"""`growth`: a memory that is filled to one size after the other, and measured at each."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

from memrig.model.canonical import derive
from memrig.model.gold import Gold, TextGold
from memrig.model.scenario import (
    Episode,
    Event,
    LoadProbe,
    LookFor,
    Question,
    Scenario,
    UsageProbe,
)
from memrig.suites.operations.facts import Fact, facts, planted, spread
from memrig.suites.operations.told import lines

#: Sizes at which a memory is measured, as far as it grows, and its last size. Those below a
#: hundredth of that are left out: what they add is lost in the size of the empty pod.
SIZES = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
#: One line in so many is a planted fact, up to a place and after it: facts are not without end.
_ONE_IN, _ONE_IN_LATER, _LATER = 20, 200, 10_000
#: Different queries of a load probe.
_QUERIES = 40
_CLIENTS = (1, 8)


@dataclass(frozen=True, slots=True)
class _Planted:
    place: int
    episode_id: str
    fact: Fact

    def look(self) -> LookFor:
        return self.fact.look(self.episode_id)


def sizes_to(turns: int) -> tuple[int, ...]:
    """The sizes at which a memory of so many turns is measured, the last one being all."""
    return (*(size for size in SIZES if turns / 100 <= size < turns), turns)


def growth(seed: int, turns: int, questions: int) -> Scenario:
    """The scenario; its timeline is a stream that can be read more than once.

    Args:
        seed: of the world and of what is planted.
        turns: the last size.
        questions: at each size, about facts that are spread over all that was told by then.
    """
    asked = {size: spread(_planted_until(seed, turns, size), questions) for size in sizes_to(turns)}
    gold = {
        _question_id(size, number): _gold(size, number, one)
        for size, chosen in asked.items()
        for number, one in enumerate(chosen, 1)
    }
    return Scenario(f"growth-{seed}", _Timeline(seed, turns, asked), gold)


def _planted_until(seed: int, turns: int, size: int) -> list[_Planted]:
    return [one for one in _places(seed, turns) if one.place < size]


def _places(seed: int, turns: int) -> Iterator[_Planted]:
    """What is planted where: one line of every few."""
    chance = random.Random(derive(seed, "operations", "places"))  # noqa: S311
    drawn = facts(seed, "growth")
    first = 0
    while first < turns:
        one_in = _ONE_IN if first < _LATER else _ONE_IN_LATER
        place = first + chance.randrange(one_in)
        first += one_in
        if place < turns:
            yield _Planted(place, f"t{place:06d}", next(drawn))


def _question_id(size: int, number: int) -> str:
    return f"growth-{size}-{number:02d}"


def _gold(size: int, number: int, one: _Planted) -> Gold:
    return Gold(
        question_id=_question_id(size, number),
        category=f"growth-{size}",
        answer=TextGold(type="text", value=one.fact.text),
        evidence=(one.episode_id,),
        template=f"growth-{size}-{number:02d}",
    )


@dataclass(frozen=True, slots=True)
class _Timeline:
    seed: int
    turns: int
    asked: dict[int, tuple[_Planted, ...]]

    def __iter__(self) -> Iterator[Event]:
        yield UsageProbe(probe_id="usage-0")
        waiting = _places(self.seed, self.turns)
        following = next(waiting, None)
        for place, episode in enumerate(lines(self.seed, "growth", self.turns)):
            told = episode
            if following is not None and following.place == place:
                told = planted(episode, following.fact)
                following = next(waiting, None)
            yield told
            if place + 1 in self.asked:
                yield from self._measured(place + 1, told)

    def _measured(self, size: int, last: Episode) -> Iterator[Event]:
        yield UsageProbe(probe_id=f"usage-{size}")
        looks = tuple(one.look() for one in spread(self._until(size), _QUERIES))
        for clients in _CLIENTS:
            probe_id = f"load-{size}-{clients}"
            yield LoadProbe(probe_id=probe_id, clients=clients, searches=looks)
        for number, one in enumerate(self.asked[size], 1):
            yield Question(
                question_id=_question_id(size, number),
                text=one.fact.query,
                asked_at=last.timestamp,
            )

    def _until(self, size: int) -> list[_Planted]:
        return _planted_until(self.seed, self.turns, size)
