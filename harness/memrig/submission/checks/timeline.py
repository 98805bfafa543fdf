"""Checks that a transcript is how the rig plays a timeline: all of it, once, each at its time."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from memrig.client.convert import CONTRACT_MAJOR
from memrig.model.scenario import Probe, RestartProbe
from memrig.model.transcript import (
    AttemptRecord,
    AuditAskRecord,
    CapabilitiesRecord,
    FaultRecord,
    FlushRecord,
    IngestRecord,
    PodRecord,
    ProbeRecord,
    QuestionRecord,
    Record,
    ResetRecord,
    StreamRecord,
    UsageRecord,
)
from memrig.model.trial import Outcome
from memrig.submission.checks.base import Check, TrialEvidence, of_trial
from memrig.submission.checks.declared import STARTED, refused
from memrig.submission.checks.order import FIRST, following
from memrig.submission.checks.times import DECLARED, last_attempt
from memrig.submission.checks.walk import HOSTED, Story, stories_of
from memrig.submission.model import Found

#: What each check of this module is told of: its id, the scenario, the question, the objection.
_Note = tuple[str, str, str, str]


@dataclass(slots=True)
class _Play:
    """How far an attempt has played the scenarios of a scored trial."""

    trial: TrialEvidence
    stories: Mapping[str, Story]
    fault: Outcome | None = None
    group: Counter[str] = field(default_factory=Counter)
    acked: dict[str, set[str]] = field(default_factory=dict)
    streamed: str = ""
    resets: int = 0
    fresh_resets: int = 0

    def take(self, record: Record) -> Iterator[_Note]:
        match record:
            case AttemptRecord():
                self._begin()
            case FaultRecord():
                self.fault = record.outcome
            case ResetRecord():
                self.resets += 1
                self.fresh_resets += 1
            case IngestRecord():
                yield from self._entered(record.scenario_id)
                yield from self._acks(record)
            case StreamRecord():
                yield from self._ended(record)
            case FlushRecord():
                yield from self._flushed(record)
            case ProbeRecord():
                yield from self._probe(record)
            case QuestionRecord():
                yield from self._question(record)
            case _:
                pass

    def _begin(self) -> None:
        self.group.clear()
        self.acked.clear()
        self.streamed = ""
        self.resets = self.fresh_resets = 0

    def _entered(self, scenario: str, *, leak: bool = False) -> Iterator[_Note]:
        """Before each scenario but the first, a memory that is shared is emptied once.

        A leak probe empties it itself, if it comes so far.
        """
        fresh, self.fresh_resets = self.fresh_resets, 0
        names = [ref.scenario_id for ref in self.trial.spec.scenarios]
        if scenario not in names:
            return
        wanted = names.index(scenario) + (self.trial.spec.adapter.pod == "endpoint")
        if leak and fresh and self.resets == wanted + 1:
            self.resets = wanted
        if self.resets != wanted:
            message = f"the memory was emptied {self.resets} times before it, expected {wanted}"
            yield "timeline.reset", scenario, "", message
            self.resets = wanted

    def _acks(self, record: IngestRecord) -> Iterator[_Note]:
        name = record.scenario_id
        story = self.stories.get(name)
        acked = self.acked.setdefault(name, set())
        for ack in record.acks:
            group = story.group_of.get(ack.episode_id) if story else None
            if group is None:
                message = f"acknowledged {ack.episode_id!r}, which is no episode of it"
                yield "timeline.acknowledged", name, "", message
            elif ack.episode_id in acked:
                message = f"acknowledged {ack.episode_id!r} twice"
                yield "timeline.acknowledged", name, "", message
            elif group > self.group[name]:
                message = f"took {ack.episode_id!r} in before its time"
                yield "timeline.acknowledged", name, "", message
            acked.add(ack.episode_id)

    def _ended(self, record: StreamRecord) -> Iterator[_Note]:
        name = record.scenario_id
        self.streamed = name
        story, group = self.stories.get(name), self.group[name]
        if story is None or group >= len(story.groups):
            yield "timeline.streams", name, "", "ended a stream that its timeline does not have"
            return
        episodes = story.groups[group]
        acked = self.acked.get(name, set())
        if missing := [one.episode_id for one in episodes if one.episode_id not in acked]:
            message = f"never acknowledged {missing[0]!r} (of {len(missing)}) by its stream's end"
            yield "timeline.acknowledged", name, "", message
        size = sum(len(one.text.encode()) for one in episodes)
        for what, has, wanted in (
            ("episodes", record.episodes, len(episodes)),
            ("text_bytes", record.text_bytes, size),
        ):
            if has != wanted:
                message = f"{what} of a stream: {has}, the timeline has {wanted}"
                yield "timeline.streams", name, "", message

    def _flushed(self, record: FlushRecord) -> Iterator[_Note]:
        name = record.scenario_id
        if self.streamed != name:
            yield "timeline.streams", name, "", "passed the barrier, with no stream before it"
        self.streamed = ""
        self.group[name] += 1

    def _probe(self, record: ProbeRecord) -> Iterator[_Note]:
        name, story = record.scenario_id, self.stories.get(record.scenario_id)
        probe = story.probes.get(record.probe_id) if story else None
        if story is None or probe is None or probe.kind != record.probe:
            message = f"{record.probe_id!r} is no {record.probe} probe of it"
            yield "timeline.probes", name, "", message
            return
        yield from self._entered(name, leak=probe.kind == "leak")
        if story.needs["probe", record.probe_id] != self.group[name]:
            message = f"{record.probe_id!r} was not measured at its place of the timeline"
            yield "timeline.probes", name, "", message

    def _question(self, record: QuestionRecord) -> Iterator[_Note]:
        name, question = record.scenario_id, record.question_id
        if self.fault is not None:
            if record.outcome != self.fault or not _untouched(record):
                message = f"{record.outcome.label}, though {self.fault.label} had ended the trial"
                yield "timeline.faults", name, question, message
            return
        yield from self._entered(name)
        story = self.stories.get(name)
        needs = story.needs.get(("question", question)) if story else None
        if needs is None:
            return  # `questions.settled` says so
        has = self.group[name]
        if has < needs:
            message = f"asked when {has} of the {needs} streams before it had passed the barrier"
            yield "timeline.told", name, question, message
        if has > needs:
            message = "asked when episodes were in that come after it"
            yield "timeline.told", name, question, message


def _untouched(record: QuestionRecord) -> bool:
    """Whether nobody was asked: what a fault leaves open gets its outcome, and nothing else."""
    came = record.searches or record.answer or record.model_calls or record.tool_uses
    return not (came or record.naive or record.ns or record.memory_ns)


def _notes(trial: TrialEvidence) -> Iterator[_Note]:
    if trial.spec.kind != "scored":
        return
    play = _Play(trial, stories_of(trial))
    for record in trial.records:
        yield from play.take(record)


def _noted(check_id: str) -> Callable[[TrialEvidence], Iterable[Found]]:
    def find(trial: TrialEvidence) -> Iterator[Found]:
        for name, scenario, question, message in _notes(trial):
            if name == check_id:
                yield Found(where=of_trial(trial, scenario, question), message=message)

    return find


def _order(trial: TrialEvidence) -> Iterator[Found]:
    lawful = FIRST
    for number, record in enumerate(trial.records, 1):
        if record.kind not in lawful:
            message = f"record {number} is {record.kind}, lawful there: {', '.join(sorted(lawful))}"
            yield Found(where=of_trial(trial), message=message)
        lawful = following(trial.spec.kind, record.kind)
    if trial.records and trial.records[-1].kind != "close":
        yield Found(where=of_trial(trial), message="it was never closed")
    yield from _ended_early(trial)


def _ended_early(trial: TrialEvidence) -> Iterator[Found]:
    """A pod is measured before it goes, whatever happened in it; without one, a fault was the end.

    Of an audits trial nothing is measured but what its audits ask.
    """
    if trial.spec.kind != "scored":
        return
    last = last_attempt(trial.records)
    if any(isinstance(record, PodRecord) for record in last):
        if not any(isinstance(record, UsageRecord) for record in last):
            message = "its last pod is gone, and nobody noted what it had used"
            yield Found(where=of_trial(trial), message=message)
    elif not any(isinstance(record, FaultRecord) for record in trial.records):
        yield Found(where=of_trial(trial), message="its last attempt began no pod, without a fault")


def _attempts(trial: TrialEvidence) -> Iterator[Found]:
    """Numbers, and what a later attempt may not go on with."""
    last: int | None = None
    faulted = asked = changes = measured = False
    for record in trial.records:
        match record:
            case AttemptRecord():
                if last is not None and record.number != last + 1:
                    message = f"attempt {record.number} follows attempt {last}"
                    yield Found(where=of_trial(trial), message=message)
                elif last is None and record.number < 1:
                    message = f"begins with attempt {record.number}"
                    yield Found(where=of_trial(trial), message=message)
                if not faulted and (measured or (asked and changes)):
                    message = (
                        f"attempt {record.number} goes on with a memory that cannot be the same: "
                        "the rig begins such a trial anew"
                    )
                    yield Found(where=of_trial(trial), message=message)
                last = record.number
            case FaultRecord():
                faulted = True
            case QuestionRecord():
                asked = True
            case ProbeRecord() | AuditAskRecord():
                measured = True
            case CapabilitiesRecord():
                changes = changes or "questions_change_memory" in record.optional
            case _:
                pass


def _abandoned(trial: TrialEvidence) -> Iterator[Found]:
    """Attempts are set aside only where the memory could not be continued."""
    first = next((one for one in trial.records if isinstance(one, AttemptRecord)), None)
    if first is None or first.number <= 1 or trial.spec.kind == "audits":
        return
    declared = [one for one in trial.records if isinstance(one, CapabilitiesRecord)]
    changes = any("questions_change_memory" in one.optional for one in declared)
    probes = any(story.probes for story in stories_of(trial).values())
    if declared and not changes and not probes:
        message = f"begins with attempt {first.number}: nothing let those before it be set aside"
        yield Found(where=of_trial(trial), message=message)


def _faulty(trial: TrialEvidence) -> Iterator[Found]:
    yield from _noted("timeline.faults")(trial)
    faulted = False
    for record in trial.records:
        if faulted and isinstance(record, PodRecord):
            yield Found(where=of_trial(trial), message="a pod was started after the fault")
        faulted = faulted or (isinstance(record, FaultRecord) and trial.spec.kind == "scored")


def _probes(trial: TrialEvidence) -> Iterator[Found]:
    """Each is measured in its place and, unless a fault came before it, is there."""
    yield from _noted("timeline.probes")(trial)
    if trial.spec.kind != "scored":
        return
    faulted = any(isinstance(record, FaultRecord) for record in trial.records)
    seen = Counter(
        (record.scenario_id, record.probe_id)
        for record in trial.records
        if isinstance(record, ProbeRecord)
    )
    for name, story in stories_of(trial).items():
        for probe in story.probes.values():
            count = seen[name, probe.probe_id]
            if not count and not faulted:
                message = f"{probe.probe_id!r} was never measured"
                yield Found(where=of_trial(trial, name), message=message)
            if count > 1 and not _several(probe):
                message = f"{probe.probe_id!r} was measured {count} times"
                yield Found(where=of_trial(trial, name), message=message)


def _several(probe: Probe) -> bool:
    return isinstance(probe, RestartProbe)  # each container in turn


def _boots(trial: TrialEvidence) -> Iterator[Found]:
    if trial.spec.adapter.pod not in STARTED:
        return
    seen: set[str] = set()
    for record in trial.records:
        if isinstance(record, CapabilitiesRecord):
            if record.boot_id in seen:
                message = f"two pods were served by one process (boot_id {record.boot_id!r})"
                yield Found(where=of_trial(trial), message=message)
            seen.add(record.boot_id)


def _handshakes(trial: TrialEvidence) -> Iterator[Found]:
    """A memory system is the same one all the way, and speaks a contract that this rig knows."""
    first: CapabilitiesRecord | None = None
    for record in trial.records:
        if not isinstance(record, CapabilitiesRecord):
            continue
        first = first or record
        for message in refused(record, hosted=trial.spec.adapter.pod in HOSTED):
            yield Found(where=of_trial(trial), message=message)
        if record.contract_version.split(".")[0] != CONTRACT_MAJOR:
            message = f"it speaks contract {record.contract_version}, expected {CONTRACT_MAJOR}.x"
            yield Found(where=of_trial(trial), message=message)
        for name in DECLARED:
            now, before = getattr(record, name), getattr(first, name)
            if now != before:
                message = f"{name}: {before!r} at first, {now!r} in a later pod"
                yield Found(where=of_trial(trial), message=message)


TRIAL_CHECKS: tuple[Check[TrialEvidence], ...] = (
    Check(
        "timeline.order",
        "Records stand in an order in which the rig writes them",
        "a transcript put together from pieces",
        _order,
    ),
    Check(
        "timeline.attempts",
        "Attempts are numbered, and go on only with a memory that can be the same",
        "answers of a memory that had learnt from the questions",
        _attempts,
    ),
    Check(
        "timeline.abandoned",
        "No attempt was set aside without need",
        "attempts that went badly, dropped",
        _abandoned,
    ),
    Check(
        "timeline.acknowledged",
        "Every episode is acknowledged once, with its own stream, and no other",
        "episodes told twice, or before their time, or left out where they are costly",
        _noted("timeline.acknowledged"),
    ),
    Check(
        "timeline.streams",
        "Streams and barriers are those of the timeline, by count and bytes",
        "throughput of text that nobody sent",
        _noted("timeline.streams"),
    ),
    Check(
        "timeline.told",
        "A question is asked when all before it has passed the barrier, and nothing after it",
        "answers from what is only told later",
        _noted("timeline.told"),
    ),
    Check(
        "timeline.reset",
        "A shared memory is emptied before each further scenario",
        "one memory for scenarios that must not know each other",
        _noted("timeline.reset"),
    ),
    Check(
        "timeline.faults",
        "After a fault nothing is asked, and what was open has its outcome",
        "a crash on hard questions that counts for nothing",
        _faulty,
    ),
    Check(
        "timeline.probes",
        "Every probe is measured, in its place",
        "measurements left out, or made when they are cheap",
        _probes,
    ),
    Check(
        "timeline.handshake",
        "The memory system declares the same in every pod",
        "another system for some of the questions; one that need not find anything",
        _handshakes,
    ),
    Check(
        "timeline.boots",
        "Every pod was a process of its own",
        "one warm process, passed off as fresh pods; a boot_id that never changes looks the same, "
        "so it is a warning",
        _boots,
        severity="warning",
    ),
)
