"""Checks that what the rig did with a question is what its own code does with what came back."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime

from memrig.answering import mode_of
from memrig.answering.base import Access, Memory, Trace
from memrig.client.host import BaselineClient
from memrig.gateway.record import Exchange
from memrig.gateway.wire.formats import CHAT_WIRES
from memrig.model.chat import CallContext
from memrig.model.transcript import (
    AnswerRecord,
    CapabilitiesRecord,
    NaiveRecord,
    QuestionRecord,
)
from memrig.model.trial import Budget, Outcome, TrialSpec
from memrig.submission.checks.agentplay import AgentPlay
from memrig.submission.checks.base import Check, TrialEvidence
from memrig.submission.checks.exchanged import request_digest
from memrig.submission.checks.replay import (
    About,
    Differences,
    Over,
    RecordedChat,
    RecordedMemory,
    settle,
)
from memrig.submission.checks.replies import NO_ROW
from memrig.submission.checks.walk import HOSTED, Met, Story, dates_of, met_of, of_met, stories_of
from memrig.submission.model import Found
from memrig.trial.memory import HostMemory
from memrig.trial.naive import LIMIT_S

_NAIVE = "naive"


def _access(met: Met, spec: TrialSpec, memory: Memory, chat: RecordedChat) -> Access:
    context = CallContext(
        phase="answer",
        purpose=met.mode,
        trial_id=spec.trial_id,
        scope=met.scope,
        seed=spec.seed,
    )
    return Access(spec=spec, memory=memory, chat=chat, context=context)


def play(
    met: Met,
    capabilities: CapabilitiesRecord,
    spec: TrialSpec,
    dates: Mapping[str, datetime],
    exchanges: Mapping[str, Exchange],
) -> Differences:
    """Answers a question again, and says what came out otherwise."""
    found = Differences()
    record = met.record
    if met.mode == "native":
        _as_answered(record.outcome, record.answer, found)
        return found
    hosted = spec.adapter.pod in HOSTED
    memory = RecordedMemory(capabilities, hosted, hosted, record.searches, dates, found.say)
    chat = RecordedChat(record.model_calls, exchanges, found.say)
    access = _access(met, spec, memory, chat)
    agent: AgentPlay | None = None
    trace, outcome = Trace(), None
    with suppress(Over):
        if met.mode == "agent":
            agent = AgentPlay(met.question, access, chat, record, found.say, trace)
            outcome = agent.play()
        else:
            outcome = settle(mode_of(met.mode)(met.question, access, trace))
    if chat.broken:
        return found
    if NO_ROW in record.outcome.message and _could_be_sent(chat):
        found.say("outcome", f"{record.outcome.label}, and the request is clean JSON")
    if memory.used < len(record.searches):
        message = f"{len(record.searches)} searches are on record, the rig makes {memory.used}"
        found.say("query", message)
    if chat.left:
        message = f"{len(record.model_calls)} calls are on record, the rig makes {chat.used}"
        found.say("prompt", message)
    used = agent.used if agent is not None else 0
    if used < len(record.tool_uses):
        message = f"{len(record.tool_uses)} uses of tools are on record, the model made {used}"
        found.say("prompt", message)
    _compare(met, outcome, trace.answer, agent, found)
    return found


def _compare(
    met: Met,
    outcome: Outcome | None,
    answer: AnswerRecord | None,
    agent: AgentPlay | None,
    found: Differences,
) -> None:
    record = met.record
    _compare_outcome(record.outcome, outcome, found)
    has = record.answer
    if has is None or answer is None:
        if has is not answer:
            said = "is on record" if has else "is missing"
            found.say("answer", f"an answer {said}, which the model's replies do not come to")
        return
    left_out: set[str] = set()
    if agent is not None and agent.adopted:
        has, answer = _told_less(has), _told_less(answer)
    if agent is not None and agent.lost:
        left_out = {"memories", "cited", "unknown_citations"}
    for name in AnswerRecord.model_fields:
        old, new = getattr(has, name), getattr(answer, name)
        if name not in left_out and old != new:
            found.say("answer", f"{name} is {_cut(old)}, the model's reply comes to {_cut(new)}")


def _told_less(answer: AnswerRecord) -> AnswerRecord:
    """Without the sources of its memories: those that Retrieve adds are on record nowhere else."""
    bare = {"episodes": (), "turns": ()}
    memories = tuple(memory.model_copy(update=bare) for memory in answer.memories)
    return answer.model_copy(update={"memories": memories})


def _compare_outcome(has: Outcome, made: Outcome | None, found: Differences) -> None:
    if has.adapters_fault and made is None:
        return
    if has.status == "harness_error":  # a model's fault comes before all else; `models.faults`
        return
    timed_out = (has.status, has.kind) == ("budget_exceeded", "wall_time")
    if made is None:
        if not timed_out:
            found.say("outcome", f"{has.label}, though what is on record comes to no end")
        return
    same = (has.status, has.kind) == (made.status, made.kind) if timed_out else has == made
    if not same:
        found.say("outcome", f"{has.label}, what is on record comes to {made.label}")


def _as_answered(has: Outcome, answer: AnswerRecord | None, found: Differences) -> None:
    """Of an answer of the memory's own, only what it says of itself can be held against it."""
    if has.status in {"answered", "abstained"}:
        if answer is None:
            found.say("outcome", f"{has.label}, and there is no answer")
        elif answer.abstained != (has.status == "abstained"):
            found.say("outcome", f"{has.label}, and the answer says otherwise")
        elif not (answer.text or answer.abstained):
            found.say("answer", "it is empty, and no abstention: the rig refuses such answers")
    elif answer is not None and has.adapters_fault:
        found.say("answer", f"{has.label}, and there is an answer")


def play_naive(
    met: Met, naive: NaiveRecord, story: Story, spec: TrialSpec, exchanges: Mapping[str, Exchange]
) -> Differences:
    """Has the opponent answer again, which is shown all episodes so far."""
    found = Differences()
    client = BaselineClient("full-context")
    shown = story.groups[: story.needs["question", met.record.question_id]]
    episodes = [episode for group in shown for episode in group]
    for episode in episodes:
        client.keep(episode)
    chat = RecordedChat(naive.model_calls, exchanges, found.say)
    dates = {one.episode_id: one.timestamp for one in episodes if one.timestamp is not None}
    memory = HostMemory(client, settle(client.capabilities()), dates, None)
    own = spec.model_copy(update={"budget": Budget(wall_time_s=LIMIT_S)})
    trace = Trace()
    with suppress(Over):
        settle(mode_of("reader")(met.question, _access(met, own, memory, chat), trace))
    if chat.broken:
        return found
    if chat.left:
        found.say("prompt", f"the opponent made {len(naive.model_calls)} calls, expected 1")
    if naive.episodes != len(episodes):
        message = f"the opponent had {naive.episodes} episodes, the timeline has {len(episodes)}"
        found.say("answer", message)
    answer = trace.answer
    said = answer if answer and (answer.text or answer.abstained) else None
    if naive.answer != said:
        found.say("answer", "the opponent's answer is not what its reply comes to")
    elif said is None and not naive.failure:
        found.say("answer", "the opponent has neither an answer nor a failure")
    if NO_ROW in naive.failure and _could_be_sent(chat):
        found.say("answer", "the opponent's request is clean JSON: nothing kept it from a model")
    if naive.shown != (len(said.memories) if said else 0):
        found.say("answer", f"the opponent was shown {naive.shown} episodes by its own count")
    return found


def _could_be_sent(chat: RecordedChat) -> bool:
    """Whether the request that has no call on record is one that a model can be sent."""
    if chat.unasked is None:
        return False
    try:
        return all(request_digest(wire, chat.unasked) for wire in CHAT_WIRES.values())
    except TypeError:
        return False


def _cut(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 120 else text[:119] + "…"


def _played(trial: TrialEvidence) -> Iterator[tuple[Met, Differences]]:
    stories = stories_of(trial)
    dates = dates_of(trial)
    exchanges, spec = trial.run.models.exchanges, trial.spec
    for met in met_of(trial, stories):
        name, record = met.record.scenario_id, met.record
        if met.capabilities is not None:
            yield met, play(met, met.capabilities, spec, dates.get(name, {}), exchanges)
        if isinstance(record, QuestionRecord) and record.naive and name in stories:
            yield met, play_naive(met, record.naive, stories[name], spec, exchanges)


class _Latest:
    """What was found in the trial that was looked at last: four checks look at the same."""

    def __init__(self) -> None:
        self._trial: TrialEvidence | None = None
        self._found: list[tuple[str, Differences]] = []

    def of(self, trial: TrialEvidence) -> list[tuple[str, Differences]]:
        """Where and what, for every question with differences."""
        if trial is not self._trial:
            played = ((of_met(trial, met), differences) for met, differences in _played(trial))
            self._found = [item for item in played if item[1].found]
            self._trial = trial
        return self._found


_LATEST = _Latest()


def _about(about: About) -> Callable[[TrialEvidence], Iterable[Found]]:
    def find(trial: TrialEvidence) -> Iterator[Found]:
        for where, differences in _LATEST.of(trial):
            yield from (Found(where=where, message=text) for text in differences.of(about))

    return find


TRIAL_CHECKS: tuple[Check[TrialEvidence], ...] = (
    Check(
        "sources.query",
        "The memory was searched with what the mode searches with, once or as the model asked",
        "queries that help a memory along, or several of which the best counts",
        _about("query"),
    ),
    Check(
        "models.prompts",
        "What a model was sent is what the rig makes of the question and the memory's results",
        "prompts with more in them than the memory found, the answer for one",
        _about("prompt"),
    ),
    Check(
        "models.answers",
        "An answer is what the model's recorded reply comes to",
        "answers that no model gave",
        _about("answer"),
    ),
    Check(
        "budgets.outcomes",
        "A question ended as its budget and what came back make it end",
        "a budget that was broken, passed off as kept; a wrong answer as an abstention",
        _about("outcome"),
    ),
)
