"""`--limit`: fewer questions, in the same proportions. Every episode is still ingested."""

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime

from memrig.model.canonical import derive
from memrig.model.scenario import Episode, Event, Scenario

#: (scenario id, question id)
Key = tuple[str, str]
_BEGINNING = datetime.min.replace(tzinfo=UTC)


def stratified(keys: Mapping[Key, str], limit: int, seed: int) -> frozenset[Key]:
    """Draws `limit` questions so that each category keeps its share (largest remainders).

    Args:
        keys: every question's category.
        limit: how many to keep; all if there are no more.
        seed: the run's; the draw is the same for every memory system.
    """
    by_category: dict[str, list[Key]] = defaultdict(list)
    for key in sorted(keys):
        by_category[keys[key]].append(key)
    share = min(1.0, limit / len(keys)) if keys else 0.0
    exact = {name: len(group) * share for name, group in by_category.items()}
    counts = {name: int(value) for name, value in exact.items()}
    spare = min(limit, len(keys)) - sum(counts.values())
    by_remainder = sorted(exact, key=lambda name: (counts[name] - exact[name], name))
    for name in by_remainder[:spare]:
        counts[name] += 1
    random_ = random.Random(derive(seed, "limit"))  # noqa: S311
    return frozenset(
        key for name, group in by_category.items() for key in random_.sample(group, counts[name])
    )


def catalog(scenarios: Iterable[Scenario]) -> dict[Key, str]:
    """Every question's category; no timeline is read, and no scenario kept."""
    return {
        (scenario.scenario_id, name): gold.category
        for scenario in scenarios
        for name, gold in scenario.gold.items()
    }


def keep(scenario: Scenario, wanted: frozenset[Key]) -> Scenario:
    """The scenario with only the wanted questions."""

    def events() -> Iterator[Event]:
        for event in scenario.timeline:
            if isinstance(event, Episode) or (scenario.scenario_id, event.question_id) in wanted:
                yield event

    return replace(scenario, timeline=events())


def pool(scenarios: Iterable[Scenario]) -> Scenario:
    """All scenarios in one memory: every episode in time order, then every question.

    An episode without a timestamp stays behind the one before it in its own scenario. Ids are
    prefixed by the scenario's, so that they stay unique; each question remembers where it came
    from, so that statistics still see the clusters.
    """
    episodes: list[tuple[datetime, Episode]] = []
    questions: list[Event] = []
    gold = {}
    notes: list[str] = []
    for scenario in scenarios:
        notes.extend(scenario.notes)
        prefix = f"{scenario.scenario_id}/"
        moment = _BEGINNING
        for event in scenario.timeline:
            if isinstance(event, Episode):
                moment = _moment(event.timestamp) or moment
                episodes.append((moment, _prefixed(event, prefix)))
            else:
                questions.append(event)
                record = scenario.gold[event.question_id]
                gold[event.question_id] = record.model_copy(
                    update={
                        "evidence": tuple(prefix + name for name in record.evidence),
                        "evidence_turns": tuple(prefix + name for name in record.evidence_turns),
                        "stale": tuple(prefix + name for name in record.stale),
                        "cluster": record.cluster or scenario.scenario_id,
                    }
                )
    episodes.sort(key=lambda pair: pair[0])  # stable: what is equal keeps its order
    timeline = [*(episode for _, episode in episodes), *questions]
    return Scenario("pooled", timeline, gold, tuple(notes))


def _moment(timestamp: datetime | None) -> datetime | None:
    """Comparable with any other; a time without a zone is UTC, as on the wire."""
    if timestamp is None or timestamp.tzinfo is not None:
        return timestamp
    return timestamp.replace(tzinfo=UTC)


def _prefixed(episode: Episode, prefix: str) -> Episode:
    turns = tuple(
        turn.model_copy(update={"turn_id": prefix + turn.turn_id}) for turn in episode.turns
    )
    return episode.model_copy(update={"episode_id": prefix + episode.episode_id, "turns": turns})
