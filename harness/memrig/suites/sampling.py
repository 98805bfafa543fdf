"""`--limit`: fewer questions, in the same proportions. Every episode is still ingested."""

import random
import tempfile
import weakref
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime

from memrig.errors import UsageError
from memrig.model.canonical import derive
from memrig.model.gold import Gold
from memrig.model.scenario import EVENT, Episode, Event, Question, Scenario, event_id
from memrig.suites.checks import check_event

#: (scenario id, question id)
Key = tuple[str, str]
#: A category and the tags that cut across it.
Stratum = tuple[str, ...]
#: Tags that begin so say what an audit found: no matter of which questions are drawn, so that both
#: label sets draw the same ones.
AUDIT_TAGS = "audited-"
#: Bytes of episodes that `pool` keeps in memory before it takes to a file.
_IN_MEMORY = 32 * 1024**2
_BEGINNING = datetime.min.replace(tzinfo=UTC)


def stratified(keys: Mapping[Key, Stratum], limit: int, seed: int) -> frozenset[Key]:
    """Draws `limit` questions so that each stratum keeps its share (largest remainders).

    Args:
        keys: every question's stratum.
        limit: how many to keep; all if there are no more.
        seed: the run's; the draw is the same for every memory system.
    """
    by_stratum: dict[Stratum, list[Key]] = defaultdict(list)
    for key in sorted(keys):
        by_stratum[keys[key]].append(key)
    share = min(1.0, limit / len(keys)) if keys else 0.0
    exact = {name: len(group) * share for name, group in by_stratum.items()}
    counts = {name: int(value) for name, value in exact.items()}
    spare = min(limit, len(keys)) - sum(counts.values())
    by_remainder = sorted(exact, key=lambda name: (counts[name] - exact[name], name))
    for name in by_remainder[:spare]:
        counts[name] += 1
    random_ = random.Random(derive(seed, "limit"))  # noqa: S311
    return frozenset(
        key for name, group in by_stratum.items() for key in random_.sample(group, counts[name])
    )


def catalog(scenarios: Iterable[Scenario]) -> dict[Key, Stratum]:
    """Every question's stratum; no timeline is read, and no scenario kept."""
    return {
        (scenario.scenario_id, name): _stratum(gold)
        for scenario in scenarios
        for name, gold in scenario.gold.items()
    }


def _stratum(gold: Gold) -> Stratum:
    tags = sorted(tag for tag in gold.tags if not tag.startswith(AUDIT_TAGS))
    return (gold.category, *tags)


def keep(scenario: Scenario, wanted: frozenset[Key]) -> Scenario:
    """The scenario with only the wanted questions."""

    def events() -> Iterator[Event]:
        for event in scenario.timeline:
            asked = isinstance(event, Question)
            if not asked or (scenario.scenario_id, event_id(event)) in wanted:
                yield event

    return replace(scenario, timeline=events())


def pool(scenarios: Iterable[Scenario]) -> Scenario:
    """All scenarios in one memory: every episode in time order, then every question.

    An episode without a timestamp stays behind the one before it in its own scenario. Ids are
    prefixed by the scenario's, so that they stay unique; each question remembers where it came
    from, so that statistics still see the clusters. Episodes beyond a few are kept on disk.

    Raises:
        DataError: an episode or a question is none that may be sent.
        UsageError: a question stands between episodes: it would be asked with what comes later; or
            a probe, which measures at its place.
    """
    timeline = _Pooled()
    gold = {}
    notes: list[str] = []
    for scenario in scenarios:
        notes.extend(scenario.notes)
        prefix = f"{scenario.scenario_id}/"
        moment = _BEGINNING
        asked = len(timeline.questions)
        for event in scenario.timeline:
            check_event(event, scenario.scenario_id)
            if event.type == "probe":
                raise _not_pooled(scenario.scenario_id)
            if isinstance(event, Episode):
                if len(timeline.questions) > asked:
                    raise _not_pooled(scenario.scenario_id)
                moment = _moment(event.timestamp) or moment
                timeline.add(moment, _prefixed(event, prefix))
            else:
                timeline.questions.append(event)
                record = scenario.gold[event.question_id]
                gold[event.question_id] = record.model_copy(
                    update={
                        "evidence": tuple(prefix + name for name in record.evidence),
                        "evidence_turns": tuple(prefix + name for name in record.evidence_turns),
                        "stale": tuple(prefix + name for name in record.stale),
                        "cluster": record.cluster or scenario.scenario_id,
                    }
                )
    timeline.sort()
    return Scenario("pooled", timeline, gold, tuple(notes))


def _not_pooled(scenario_id: str) -> UsageError:
    return UsageError(
        f"scenario {scenario_id!r} has questions or probes between its episodes; one memory for "
        "all would be asked them at the end, with all that comes later in it",
        where="--isolation pooled",
        fix="give --isolation fresh or reset",
    )


class _Pooled:
    """A timeline whose episodes lie in a file, so that only their places need sorting."""

    def __init__(self) -> None:
        self.questions: list[Question] = []
        self._places: list[tuple[datetime, int]] = []
        self._file = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115
        weakref.finalize(self, self._file.close)

    def add(self, moment: datetime, episode: Episode) -> None:
        self._places.append((moment, self._file.tell()))
        self._file.write(episode.model_dump_json().encode() + b"\n")

    def sort(self) -> None:
        self._places.sort(key=lambda place: place[0])  # stable: what is equal keeps its order

    def __iter__(self) -> Iterator[Event]:
        for _, offset in self._places:
            self._file.seek(offset)
            yield EVENT.validate_json(self._file.readline())
        yield from self.questions


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
