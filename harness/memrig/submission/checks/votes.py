"""What a judge had to decide in a trial, and the calls that its votes must have made."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

from memrig.errors import UsageError
from memrig.gateway.record import Exchange
from memrig.gateway.wire.formats import CHAT_WIRES
from memrig.grading.base import Grader, load_grader
from memrig.grading.grade import Truth, asked_of
from memrig.judging.panel import ASKED_AT_MOST
from memrig.judging.trial import tasks_of
from memrig.model.chat import ChatRequest, Message
from memrig.model.judgement import JudgeTask, Verdict, Vote
from memrig.model.scenario import episodes_of
from memrig.model.transcript import CapabilitiesRecord, QuestionRecord
from memrig.runs.audit_judge import steering_asked, steering_tasks
from memrig.submission.checks.base import TrialEvidence
from memrig.submission.checks.exchanged import Place, chat_wire, request_digest
from memrig.submission.checks.walk import Story, stories_of
from memrig.trial.audits import plan_of

#: Identical calls that an interrupted judge may have made before, at most.
_OCCURRENCES = 8


@dataclass(frozen=True, slots=True)
class Wanted:
    """One verdict that a trial must have."""

    scenario_id: str
    question_id: str
    task: JudgeTask
    scope: str

    @property
    def key(self) -> tuple[str, str, str]:
        """What names it in its trial."""
        return self.scenario_id, self.question_id, self.task.name


def name_of(verdict: Verdict) -> tuple[str, str, str]:
    """What names a verdict in its trial."""
    return verdict.scenario_id, verdict.question_id, verdict.task


def grader_of(trial: TrialEvidence) -> Grader | None:
    """The trial's grader; None where it is not installed, which `config.grader` says."""
    return _grader(trial.spec.protocol)


@lru_cache(maxsize=8)
def _grader(protocol: str) -> Grader | None:
    # Kept: looking through all that is installed takes longer than the rest of a small trial.
    try:
        return load_grader(protocol)
    except UsageError:
        return None


def wanted_of(trial: TrialEvidence) -> Iterator[Wanted]:
    """Every verdict that a judged trial must have, in order; none where no judge is asked."""
    if not trial.run.lock.judge or trial.spec.mode == "retrieval":
        return
    grader = grader_of(trial)
    if grader is None:
        return
    if trial.spec.kind == "scored":
        yield from _of_answers(trial, grader)
    elif trial.spec.kind == "audits":
        yield from _of_steering(trial, grader)


def _of_answers(trial: TrialEvidence, grader: Grader) -> Iterator[Wanted]:
    stories = stories_of(trial)
    known = [
        record
        for record in trial.records
        if isinstance(record, CapabilitiesRecord)
        or (isinstance(record, QuestionRecord) and _known(trial, stories, record))
    ]
    truths = {name: _truth(trial, name, story) for name, story in stories.items()}
    for asked in asked_of(trial.spec, known, truths.__getitem__, {}):
        record = asked.record
        scope = f"{record.scenario_id}/{record.question_id}/r{trial.spec.repeat}"
        for task in tasks_of(asked, grader):
            yield Wanted(record.scenario_id, record.question_id, task, f"{scope}/{task.name}")


def _known(trial: TrialEvidence, stories: Mapping[str, Story], record: QuestionRecord) -> bool:
    name, question = record.scenario_id, record.question_id
    asked = name in stories and question in stories[name].questions
    return asked and question in trial.gold.get(name, {})


def _truth(trial: TrialEvidence, name: str, story: Story) -> Truth:
    texts: dict[str, str] = {}
    positions: dict[str, int] = {}
    for event in trial.events[name]:
        if event.type == "question":
            positions[event.question_id] = len(texts)
        elif event.type == "episode":
            texts[event.episode_id] = event.text
    return Truth(story.questions, trial.gold.get(name, {}), texts, positions)


def _of_steering(trial: TrialEvidence, grader: Grader) -> Iterator[Wanted]:
    name = trial.spec.scenarios[0].scenario_id
    events = trial.events.get(name, ())
    story = stories_of(trial).get(name)
    if story is None or not any(episodes_of(events)) or name not in trial.gold:
        return
    truth = _truth(trial, name, story)
    for item in steering_asked(trial.spec, plan_of(trial.spec, events), truth):
        question = item.asked.record.question_id
        scope = f"{name}/audits/judge/{question}/r{trial.spec.repeat}"
        for task in steering_tasks(item, grader):
            yield Wanted(name, question, task, f"{scope}/{task.name}")


@dataclass(frozen=True, slots=True)
class Ballot:
    """One vote, and the calls that it must have made: number, key, exchange if it is there."""

    wanted: Wanted
    verdict: Verdict
    number: int
    vote: Vote
    calls: tuple[tuple[str, Exchange | None], ...]


def ballots_of(trial: TrialEvidence) -> Iterator[Ballot]:
    """Every vote of a verdict that had to be given."""
    wanted = {one.key: one for one in wanted_of(trial)}
    for verdict in trial.verdicts:
        one = wanted.get(name_of(verdict))
        if one is None:
            continue
        for number, vote in enumerate(verdict.votes):
            calls = tuple(_calls(trial, one, number, vote))
            yield Ballot(one, verdict, number, vote, calls)


def keys_of(trial: TrialEvidence) -> Iterator[str]:
    """The keys of all calls that a trial's votes made."""
    for ballot in ballots_of(trial):
        yield from (key for key, _ in ballot.calls)


def _calls(
    trial: TrialEvidence, wanted: Wanted, number: int, vote: Vote
) -> Iterator[tuple[str, Exchange | None]]:
    """The calls of one vote, in the order in which it was asked for."""
    exchanges = trial.run.models.exchanges
    named = exchanges.get(vote.key)
    digests = tuple(_digests(wanted.task, trial.run.lock.judge, named))
    first = named.occurrence if named else 0
    for attempt in range(min(vote.asked, ASKED_AT_MOST)):
        keys = [
            Place(digest, trial.spec.seed, attempt, number, wanted.scope, occurrence).key
            for digest in digests
            for occurrence in range(first, first + _OCCURRENCES)
        ]
        key = next((one for one in keys if one in exchanges), keys[0] if keys else "")
        yield key, exchanges.get(key)


def _digests(task: JudgeTask, model: str, named: Exchange | None) -> Iterator[str]:
    """The hash of what the judge must have been sent, in the formats that it may be spoken to."""
    request = ChatRequest(
        model=model,
        messages=(Message("user", task.prompt),),
        max_tokens=task.max_tokens,
        system=task.system,
    )
    wire = chat_wire(named) if named else None
    with suppress(TypeError):  # no clean JSON: it was never sent
        for one in (wire,) if wire else CHAT_WIRES.values():
            yield request_digest(one, request)
