"""A transcript, walked through: of every question, what the memory had been told when it was met.

The timeline is the verifier's own; the transcript only says how far it was played.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from memrig.model.scenario import (
    Episode,
    Event,
    FreshnessProbe,
    LeakProbe,
    OutageProbe,
    Probe,
    Question,
    episodes_of,
)
from memrig.model.transcript import (
    AttemptRecord,
    AuditAskRecord,
    CapabilitiesRecord,
    FaultRecord,
    IngestRecord,
    ModelCallRecord,
    PodRecord,
    ProbeRecord,
    QuestionRecord,
)
from memrig.model.trial import Mode, TrialSpec
from memrig.submission.checks.base import TrialEvidence, of_trial
from memrig.trial.audits import plan_of, rechunked

#: Pods that live in the rig's own process: nothing comes over a wire.
HOSTED = frozenset({"baseline", "given"})
Settled = QuestionRecord | AuditAskRecord
_AskKey = tuple[str, str, str, str]


@dataclass(slots=True)
class Story:
    """A scenario's timeline by what has to happen when.

    `groups` are its runs of episodes: each is one ingest stream. `needs` tells how many of them
    come before a question or a probe.
    """

    groups: list[list[Episode]] = field(default_factory=list)
    episodes: dict[str, Episode] = field(default_factory=dict)
    group_of: dict[str, int] = field(default_factory=dict)
    questions: dict[str, Question] = field(default_factory=dict)
    probes: dict[str, Probe] = field(default_factory=dict)
    needs: dict[tuple[str, str], int] = field(default_factory=dict)


def story_of(events: Iterable[Event]) -> Story:
    """The story that a timeline tells."""
    story = Story()
    streaming = False
    for event in events:
        if isinstance(event, Episode):
            if not streaming:
                story.groups.append([])
            story.groups[-1].append(event)
            story.episodes[event.episode_id] = event
            story.group_of[event.episode_id] = len(story.groups) - 1
        elif isinstance(event, Question):
            story.questions[event.question_id] = event
            story.needs["question", event.question_id] = len(story.groups)
        else:
            story.probes[event.probe_id] = event
            story.needs["probe", event.probe_id] = len(story.groups)
        streaming = isinstance(event, Episode)
    return story


def stories_of(trial: TrialEvidence) -> dict[str, Story]:
    """The stories of a trial's scenarios."""
    return {name: story_of(events) for name, events in trial.events.items()}


@dataclass(slots=True)
class Told:
    """What one memory has acknowledged of one scenario, in order; it grows."""

    places: dict[str, int] = field(default_factory=dict)
    turns: dict[str, int] = field(default_factory=dict)

    def add(self, episode_id: str, turns: Iterable[str] = ()) -> None:
        """One more episode."""
        place = self.places.setdefault(episode_id, len(self.places))
        for turn in turns:
            self.turns.setdefault(turn, place)


@dataclass(frozen=True, slots=True)
class Met:
    """A question as it was met: what was asked, of which memory, and what came of it.

    `told` is shared and grows; the first `count` of it were acknowledged by then. `capabilities` is
    None where nobody was asked: a fault had ended the trial, or would not let it begin.
    """

    record: Settled
    question: Question
    mode: Mode
    scope: str
    capabilities: CapabilitiesRecord | None
    told: Told
    count: int
    attempt: int

    def knows(self, episode_id: str) -> bool:
        """Whether the memory had acknowledged the episode."""
        return self.told.places.get(episode_id, self.count) < self.count

    def knows_turn(self, turn_id: str) -> bool:
        """Whether the memory had acknowledged the turn's episode."""
        return self.told.turns.get(turn_id, self.count) < self.count


@dataclass(slots=True)
class _Walk:
    trial: TrialEvidence
    stories: Mapping[str, Story]
    asks: Mapping[_AskKey, tuple[Question, bool]]
    others: Mapping[str, Episode]
    capabilities: CapabilitiesRecord | None = None
    attempt: int = 0
    faulted: bool = False
    told: dict[str, Told] = field(default_factory=dict)

    def began(self, record: AttemptRecord | PodRecord) -> None:
        if isinstance(record, AttemptRecord):
            self.attempt = record.number
        self.capabilities = None
        self.told = {}

    def ingested(self, record: IngestRecord) -> None:
        story = self.stories.get(record.scenario_id, Story())
        told = self.told.setdefault(record.scenario_id, Told())
        for ack in record.acks:
            name = ack.episode_id
            episode = story.episodes.get(name) or self.others.get(name)
            if ack.status != "rejected":
                told.add(name, (turn.turn_id for turn in episode.turns) if episode else ())

    def probed(self, record: ProbeRecord) -> None:
        """What a probe told the memory can be a source from then on; it is not acknowledged here.

        Which of its episodes were taken in is not on record.
        """
        story = self.stories.get(record.scenario_id, Story())
        told = self.told.setdefault(record.scenario_id, Told())
        told.add(f"{record.probe_id}/after-{record.subject}")
        for episode in _episodes(story.probes.get(record.probe_id)):
            told.add(episode.episode_id, (turn.turn_id for turn in episode.turns))

    def met(self, record: Settled) -> Met | None:
        found = self._question(record)
        if found is None:
            return None
        question, mode, scope = found
        told = self.told.setdefault(record.scenario_id, Told())
        return Met(
            record=record,
            question=question,
            mode=mode,
            scope=scope,
            capabilities=None if self.faulted else self.capabilities,
            told=told,
            count=len(told.places),
            attempt=self.attempt,
        )

    def _question(self, record: Settled) -> tuple[Question, Mode, str] | None:
        spec, name = self.trial.spec, record.scenario_id
        if isinstance(record, QuestionRecord):
            story = self.stories.get(name)
            question = story.questions.get(record.question_id) if story else None
            scope = f"{name}/{record.question_id}#{spec.repeat}"
            return None if question is None else (question, spec.mode, scope)
        key = record.audit, record.part, record.question_id, record.text
        if key not in self.asks:
            return None
        asked, answered = self.asks[key]
        searchable = bool(self.capabilities and self.capabilities.search_modes)
        mode: Mode = "retrieval" if searchable and not answered else spec.mode
        place = f"audits/{record.audit}/{record.part}/{record.question_id}"
        return asked, mode, f"{name}/{place}#{spec.repeat}"


def met_of(trial: TrialEvidence, stories: Mapping[str, Story] | None = None) -> Iterator[Met]:
    """Every question of a trial that is one of its scenarios', as it was met."""
    walk = _Walk(trial, stories or stories_of(trial), _asks(trial), _told(trial))
    for record in trial.records:
        match record:
            case AttemptRecord() | PodRecord():
                walk.began(record)
            case CapabilitiesRecord():
                walk.capabilities = record
            case IngestRecord():
                walk.ingested(record)
            case ProbeRecord():
                walk.probed(record)
            case FaultRecord():
                walk.faulted = True
            case QuestionRecord() | AuditAskRecord():
                if met := walk.met(record):
                    yield met
            case _:
                pass


def of_met(trial: TrialEvidence, met: Met) -> str:
    """Where in a trial a question stands."""
    return of_trial(trial, met.record.scenario_id, met.record.question_id)


def paid_calls(record: Settled) -> tuple[ModelCallRecord, ...]:
    """Every call of the rig's for a question, its opponent's included."""
    return record.paid_calls if isinstance(record, QuestionRecord) else record.model_calls


def dates_of(trial: TrialEvidence) -> dict[str, dict[str, datetime]]:
    """When each episode happened that a memory was told, where that is known, by scenario."""
    told: dict[str, Iterable[Episode]] = {
        name: episodes_of(events) for name, events in trial.events.items()
    }
    for ref in trial.spec.scenarios if trial.spec.kind == "audits" else ():
        told[ref.scenario_id] = _told_in_audits(trial.spec, trial.events.get(ref.scenario_id, ()))
    return {
        name: {one.episode_id: one.timestamp for one in episodes if one.timestamp is not None}
        for name, episodes in told.items()
    }


def _told_in_audits(spec: TrialSpec, events: tuple[Event, ...]) -> Iterator[Episode]:
    """All that an audits trial tells a memory."""
    plan = plan_of(spec, events)
    yield from plan.told(events)
    yield from plan.poisoned
    yield from plan.refill
    yield from (chunk.episode for chunk in rechunked(events))


def _asks(trial: TrialEvidence) -> dict[_AskKey, tuple[Question, bool]]:
    if trial.spec.kind != "audits":
        return {}
    plan = plan_of(trial.spec, trial.events.get(trial.spec.scenarios[0].scenario_id, ()))
    return {ask.key: (ask.question, ask.answered) for ask in plan.asks}


def _told(trial: TrialEvidence) -> dict[str, Episode]:
    """What an audits trial tells beside the timeline, by id; nothing in any other."""
    if trial.spec.kind != "audits":
        return {}
    events = trial.events.get(trial.spec.scenarios[0].scenario_id, ())
    return {one.episode_id: one for one in _told_in_audits(trial.spec, events)}


def episodes_told(probe: Probe) -> int:
    """How many episodes a probe tells a memory at most, but for those after a restart."""
    return len(_episodes(probe))


def _episodes(probe: Probe | None) -> tuple[Episode, ...]:
    match probe:
        case FreshnessProbe() | LeakProbe():
            return probe.episodes
        case OutageProbe():
            return (*probe.episodes, *probe.after)
        case _:
            return ()
