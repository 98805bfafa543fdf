"""Everything that is on disk about one question: what was known, found, said, judged, paid."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from memrig.errors import MemrigError, UsageError
from memrig.grading.base import Grade, Grader, load_grader
from memrig.grading.grade import graded
from memrig.model.gold import Gold
from memrig.model.judgement import Verdict
from memrig.model.scenario import Episode, Question
from memrig.model.transcript import (
    Ack,
    CapabilitiesRecord,
    FlushRecord,
    IngestRecord,
    QuestionRecord,
    Record,
    ResetRecord,
    StreamRecord,
)
from memrig.model.trial import TrialSpec
from memrig.runs.directory import RunDirectory
from memrig.runs.judge import truth_of, verdicts_of
from memrig.viewer.live import transcript_of
from memrig.viewer.scenarios import scenario_of
from memrig.viewer.shelf import Shelf
from memrig.viewer.tail import records

_KINDS = frozenset(
    {"attempt", "capabilities", "reset", "ingest", "ingest_end", "flush", "question"}
)
#: The episodes right before a question that are shown whatever they hold.
_LATEST = 3


@dataclass(frozen=True, slots=True)
class Placed:
    """An episode, and its place in the scenario, from 0."""

    place: int
    episode: Episode


@dataclass(slots=True)
class Memory:
    """What the memory had been given when the question was asked. Durations in nanoseconds."""

    acks: dict[str, Ack] = field(default_factory=dict)
    stream_ns: int = 0
    flush_ns: int | None = None
    items: int | None = None


@dataclass(frozen=True, slots=True)
class Walk:
    """What a scenario's timeline says of a question.

    Args:
        question: what was asked.
        position: how many episodes come before it.
        place: how many events of any kind do.
        episodes: those that matter: evidence, superseded ones, sources of hits, the latest.
        latest: the ids of those right before it.
        before: the question before it in the scenario, and the one after it; empty for none.
        after: see `before`.
    """

    question: Question
    position: int
    place: int
    episodes: Mapping[str, Placed]
    latest: tuple[str, ...]
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Trace:
    """One question.

    Args:
        spec: its trial.
        walk: the question in its timeline.
        gold: what is right.
        record: how it was settled; None: it is not yet.
        memory: what had been ingested by then.
        grade: None where it cannot be graded here; `ungraded` says why.
        grader: whose grade it is.
        verdicts: a judge's.
        ungraded: see `grade`.
    """

    spec: TrialSpec
    walk: Walk
    gold: Gold
    record: QuestionRecord | None
    memory: Memory
    grade: Grade | None
    grader: Grader | None
    verdicts: tuple[Verdict, ...]
    ungraded: str


def trace_of(
    shelf: Shelf, key: str, trial_id: str, scenario_id: str, question_id: str
) -> tuple[RunDirectory, Trace]:
    """Puts together what is known of a question, settled or not; grades it on the spot.

    Raises:
        UsageError: there is no such run, trial, scenario or question.
        VerificationError: the transcript or the gold holds what the rig never writes.
    """
    directory = shelf.run(key)
    spec = shelf.spec(directory, trial_id)
    scenario = scenario_of(directory, spec, scenario_id)
    gold = scenario.gold().get(question_id)
    if gold is None:
        raise UsageError(f"there is no question {question_id!r}", where=f"scenario={scenario_id}")
    memory, record, declared = _played(directory, trial_id, scenario_id, question_id)
    wanted = {*gold.evidence, *gold.stale, *_sources(record)}
    walk = _walk(directory, spec, scenario_id, question_id, wanted)
    judge = shelf.lock(directory).judge
    grade, grader, verdicts, ungraded = _graded(directory, spec, judge, record, declared)
    return directory, Trace(
        spec=spec,
        walk=walk,
        gold=gold,
        record=record,
        memory=memory,
        grade=grade,
        grader=grader,
        verdicts=verdicts,
        ungraded=ungraded,
    )


def _sources(record: QuestionRecord | None) -> set[str]:
    """The episodes that anything returned claims to come from."""
    if record is None:
        return set()
    claimed = {name for s in record.searches for hit in s.hits for name in hit.episodes}
    if record.answer is not None:
        claimed |= {name for memory in record.answer.memories for name in memory.episodes}
    return {name for name in claimed if name is not None}


def _walk(
    directory: RunDirectory, spec: TrialSpec, scenario_id: str, question_id: str, wanted: set[str]
) -> Walk:
    """Reads a timeline once; keeps only the episodes that matter."""
    episodes: dict[str, Placed] = {}
    latest: deque[Placed] = deque(maxlen=_LATEST)
    found: Question | None = None
    place = position = line = 0
    before = after = ""
    for number, event in enumerate(scenario_of(directory, spec, scenario_id).events()):
        if isinstance(event, Episode):
            placed = Placed(place, event)
            place += 1
            if event.episode_id in wanted:
                episodes[event.episode_id] = placed
            if found is None:
                latest.append(placed)
        elif isinstance(event, Question) and event.question_id == question_id:
            found, position, line = event, place, number
        elif isinstance(event, Question) and found is None:
            before = event.question_id
        elif isinstance(event, Question):
            after = after or event.question_id
    if found is None:
        raise UsageError(f"there is no question {question_id!r}", where=f"scenario={scenario_id}")
    episodes |= {placed.episode.episode_id: placed for placed in latest}
    names = tuple(placed.episode.episode_id for placed in latest)
    return Walk(found, position, line, episodes, names, before, after)


def _played(
    directory: RunDirectory, trial_id: str, scenario_id: str, question_id: str
) -> tuple[Memory, QuestionRecord | None, CapabilitiesRecord | None]:
    """The memory as it was when the question was asked, and how that ended."""
    path = transcript_of(directory, trial_id)
    memory, declared = Memory(), None
    for record in records(path, _KINDS) if path else ():
        if isinstance(record, CapabilitiesRecord):
            declared = record
        elif isinstance(record, QuestionRecord):
            if (record.scenario_id, record.question_id) == (scenario_id, question_id):
                return memory, record, declared
        else:
            memory = _after(memory, record, scenario_id)
    return memory, None, declared


def _after(memory: Memory, record: Record, scenario_id: str) -> Memory:
    """The memory once a record was written. A new attempt and a reset begin with an empty one."""
    match record:
        case IngestRecord() if record.scenario_id == scenario_id:
            memory.acks.update({ack.episode_id: ack for ack in record.acks})
        case StreamRecord() if record.scenario_id == scenario_id:
            memory.stream_ns += record.ns
        case FlushRecord() if record.scenario_id == scenario_id:
            memory.flush_ns, memory.items = record.ns, record.total_items
        case IngestRecord() | StreamRecord() | FlushRecord():
            pass
        case ResetRecord() if memory.acks:
            return Memory()
        case ResetRecord():
            pass
        case _:
            return Memory()
    return memory


def _graded(
    directory: RunDirectory,
    spec: TrialSpec,
    judge: str,
    record: QuestionRecord | None,
    declared: CapabilitiesRecord | None,
) -> tuple[Grade | None, Grader | None, tuple[Verdict, ...], str]:
    """Grades the one question, as `memrig score` would, and writes nothing."""
    if record is None:
        return None, None, (), "not settled yet"
    try:
        verdicts = verdicts_of(directory, spec.trial_id, judge)
        key = spec.trial_id, record.scenario_id, record.question_id
        said = tuple((verdicts or {}).get(key, {}).values())
        grader = load_grader(spec.protocol)
        lines: Sequence[Record] = [item for item in (declared, record) if item is not None]
        truth = partial(truth_of, directory, spec)
        (_, grade), *_rest = graded(spec, lines, truth, grader, verdicts)
    except MemrigError as error:
        return None, None, (), str(error)
    return grade, grader, said, grade.reason
