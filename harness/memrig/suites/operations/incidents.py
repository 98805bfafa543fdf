"""Small memories that something befalls: what is new, a kill, another scope, failing models."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Self, get_args

from memrig.model.gold import Gold, TextGold
from memrig.model.scenario import (
    Episode,
    Event,
    FreshnessProbe,
    LeakProbe,
    LookFor,
    ModelFault,
    OutageProbe,
    Probe,
    Question,
    RestartProbe,
    Scenario,
)
from memrig.suites.operations.facts import Fact, facts, planted, secret_facts, spread
from memrig.suites.operations.told import lines

#: Turns that a memory holds before something befalls it.
_TURNS = 200
#: One line in so many is a planted fact.
_ONE_IN = 10
_MOST_QUESTIONS = 10
_FRESH, _OUTAGE = 20, 8
#: Seconds that an episode is looked for without a barrier.
_PATIENCE_S = 5.0
_FAULTS: tuple[ModelFault, ...] = get_args(ModelFault)


@dataclass(frozen=True, slots=True)
class Filling:
    """What every one of these scenarios begins with.

    Args:
        seed: of its lines and facts.
        turns: how many lines are told before something happens.
        questions: asked before it, about planted facts.
    """

    seed: int
    turns: int
    questions: int

    @classmethod
    def upto(cls, seed: int, turns: int, questions: int) -> Self:
        """As many lines and questions as these scenarios take at most."""
        return cls(seed, min(turns, _TURNS), min(questions, _MOST_QUESTIONS))


@dataclass(frozen=True, slots=True)
class _Told:
    """Lines in order, and the facts among them by episode id."""

    episodes: tuple[Episode, ...]
    facts: dict[str, Fact]

    @property
    def looks(self) -> tuple[LookFor, ...]:
        """A search for each fact."""
        return tuple(fact.look(name) for name, fact in self.facts.items())


def freshness(filling: Filling) -> Scenario:
    """Facts that are looked for from their acknowledgement on."""
    known, new = _parted(filling, "freshness", _FRESH)
    probe = FreshnessProbe(
        probe_id="freshness", episodes=new.episodes, searches=new.looks, patience_s=_PATIENCE_S
    )
    return _scenario("freshness", filling, known, probe)


def restart(filling: Filling) -> Scenario:
    """Every container is killed and started again."""
    known, _ = _parted(filling, "restart", 0)
    return _scenario(
        "restart", filling, known, RestartProbe(probe_id="restart", searches=known.looks)
    )


def leak(filling: Filling) -> Scenario:
    """Secrets that must be gone when the next scope begins."""
    drawn = list(islice(secret_facts(filling.seed), filling.turns // _ONE_IN))
    told = lines(filling.seed, "leak", filling.turns)
    known = _among(told, (fact for fact, _ in drawn), _ONE_IN)
    following = lines(filling.seed, "leak, next scope", filling.turns // 2)
    probe = LeakProbe(
        probe_id="leak",
        episodes=tuple(_renamed(episode, "next-") for episode in following),
        searches=known.looks,
        secrets=tuple(secret for _, secret in drawn),
    )
    return _scenario("leak", filling, known, probe)


def outage(fault: ModelFault, filling: Filling) -> Scenario:
    """The memory's own models fail while it is told and asked things, and come back."""
    name = f"outage-{fault}"
    known, extra = _parted(filling, name, 2 * _OUTAGE)
    probe = OutageProbe(
        probe_id=name,
        fault=fault,
        episodes=extra.episodes[:_OUTAGE],
        searches=spread(known.looks, _OUTAGE),
        after=extra.episodes[_OUTAGE:],
        searches_after=extra.looks,
    )
    return _scenario(name, filling, known, probe)


#: In the order of the suite.
INCIDENTS: tuple[Callable[[Filling], Scenario], ...] = (
    freshness,
    restart,
    leak,
    *(partial(outage, fault) for fault in _FAULTS),
)


def _parted(filling: Filling, purpose: str, number: int) -> tuple[_Told, _Told]:
    """The lines before something happens, and so many facts that are told later."""
    told = list(lines(filling.seed, purpose, filling.turns + number))
    drawn = facts(filling.seed, purpose)
    known = _among(told[: filling.turns], drawn, _ONE_IN)
    return known, _among(told[filling.turns :], drawn, 1)


def _among(told: Iterable[Episode], drawn: Iterator[Fact], one_in: int) -> _Told:
    """Lines of which one in so many gives way to a fact."""
    episodes: list[Episode] = []
    found: dict[str, Fact] = {}
    for place, episode in enumerate(told):
        if place % one_in == one_in // 2:
            fact = next(drawn)
            found[episode.episode_id] = fact
            episodes.append(planted(episode, fact))
        else:
            episodes.append(episode)
    return _Told(tuple(episodes), found)


def _scenario(name: str, filling: Filling, known: _Told, probe: Probe) -> Scenario:
    """Lines, questions about the facts among them, and then what happens."""
    chosen = spread(tuple(known.facts.items()), filling.questions)
    asked = {f"{name}-{number:02d}": pair for number, pair in enumerate(chosen, 1)}
    last = known.episodes[-1].timestamp
    timeline: list[Event] = [
        *known.episodes,
        *(
            Question(question_id=key, text=fact.query, asked_at=last)
            for key, (_, fact) in asked.items()
        ),
        probe,
    ]
    gold = {
        key: Gold(
            question_id=key,
            category=name,
            answer=TextGold(type="text", value=fact.text),
            evidence=(episode_id,),
            template=key,
        )
        for key, (episode_id, fact) in asked.items()
    }
    return Scenario(f"{name}-{filling.seed}", timeline, gold)


def _renamed(episode: Episode, prefix: str) -> Episode:
    turns = tuple(
        turn.model_copy(update={"turn_id": prefix + turn.turn_id}) for turn in episode.turns
    )
    return episode.model_copy(update={"episode_id": prefix + episode.episode_id, "turns": turns})
