"""A question's page: its timeline from what was ingested to what it cost, in words."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from memrig.model.gold import shown
from memrig.model.transcript import ModelCallRecord, QuestionRecord, ToolUseRecord
from memrig.report.text import question_name
from memrig.report.units import (
    count,
    dollars,
    metric_head,
    metric_help,
    milliseconds,
    percent,
    plural,
    size,
)
from memrig.report.view_answers import score_word
from memrig.report.view_pairs import Pair
from memrig.viewer import links
from memrig.viewer.found import Episodes, Search, episodes_of, searches_of
from memrig.viewer.marks import mark_of
from memrig.viewer.parts import Badge, named
from memrig.viewer.questions import EVERY, Filter, Neighbours, neighbours_of
from memrig.viewer.shelf import Shelf
from memrig.viewer.timeline import place_of
from memrig.viewer.trace import Trace, trace_of
from memrig.viewer.words import Said, Words, pieces, words_of


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a model. `sent` and `reply` are empty where the record does not have them."""

    what: str
    note: str
    sent: tuple[Said, ...]
    reply: tuple[Said, ...]


@dataclass(frozen=True, slots=True)
class Tool:
    """One call of a tool, as the model made it and as it was answered."""

    name: str
    arguments: str
    note: str
    result: tuple[str, ...]
    is_error: bool


@dataclass(frozen=True, slots=True)
class Cited:
    """A memory that the answer cites, or that the model was shown."""

    handle: str
    note: str
    text: str
    relevant: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """What was answered. `raw` is the model's whole text where the answer was taken out of it."""

    text: tuple[str, ...]
    notes: tuple[str, ...]
    reasoning: tuple[str, ...]
    raw: tuple[str, ...]
    cited: tuple[Cited, ...]
    unknown: int
    shown: tuple[Cited, ...]


@dataclass(frozen=True, slots=True)
class Opponent:
    """What the model said that was shown everything, and how much that was."""

    text: tuple[str, ...]
    note: str


@dataclass(frozen=True, slots=True)
class VoteLine:
    """One vote of a judge."""

    score: str
    kind: str
    reply: str
    note: str


@dataclass(frozen=True, slots=True)
class Ruling:
    """What a judge made of one task."""

    task: str
    badge: Badge
    note: str
    votes: tuple[VoteLine, ...]


@dataclass(frozen=True, slots=True)
class Score:
    """One metric of the question's grade."""

    head: str
    help: str
    value: str


@dataclass(frozen=True, slots=True)
class QuestionPage:
    """One question. `settled` is False while it waits for its turn."""

    name: str
    text: str
    asked_at: str
    badges: tuple[Badge, ...]
    facts: tuple[Pair, ...]
    gold: str
    message: str
    settled: bool
    episodes: Episodes
    timeline: str
    searches: tuple[Search, ...]
    tools: tuple[Tool, ...]
    calls: tuple[Call, ...]
    silent: str
    answer: Answer | None
    opponent: Opponent | None
    rulings: tuple[Ruling, ...]
    scores: tuple[Score, ...]
    ungraded: str
    cost: tuple[Pair, ...]
    before: str
    after: str
    in_list: Neighbours | None


def question_page(
    shelf: Shelf,
    key: str,
    trial_id: str,
    scenario_id: str,
    question_id: str,
    wanted: Filter = EVERY,
) -> QuestionPage:
    """Everything about one question; `wanted` is the filter of the list it is looked at from.

    Raises:
        UsageError: there is no such run, trial, scenario or question.
        VerificationError: its files hold what the rig never writes.
    """
    directory, trace = trace_of(shelf, key, trial_id, scenario_id, question_id)
    record, asked_at = trace.record, trace.walk.question.asked_at
    keys = [call.key for call in record.paid_calls] if record else []
    words, silent = words_of(directory.record, keys)

    def href(name: str) -> str:
        return links.question(key, trial_id, scenario_id, name) if name else ""

    return QuestionPage(
        name=question_name(scenario_id, question_id),
        text=trace.walk.question.text,
        asked_at=f"{asked_at:%Y-%m-%d %H:%M}" if asked_at else "",
        badges=tuple(_badges(trace)),
        facts=tuple(_facts(trace)),
        gold=shown(trace.gold.answer) if trace.gold.answer else "",
        message=record.outcome.message if record else "",
        settled=record is not None,
        episodes=episodes_of(trace),
        timeline=place_of(key, trial_id, scenario_id, trace.walk.place),
        searches=searches_of(trace),
        tools=tuple(map(_tool, record.tool_uses)) if record else (),
        calls=tuple(_calls(record, words)) if record else (),
        silent=silent,
        answer=_answer(trace, record) if record else None,
        opponent=_opponent(record) if record else None,
        rulings=tuple(_rulings(trace)),
        scores=tuple(_scores(trace)),
        ungraded=trace.ungraded,
        cost=tuple(_cost(trace, record)) if record else (),
        before=href(trace.walk.before),
        after=href(trace.walk.after),
        in_list=neighbours_of(shelf, key, wanted, trial_id, scenario_id, question_id),
    )


def _badges(trace: Trace) -> Iterator[Badge]:
    yield Badge(named(trace.gold.category))
    yield from (Badge(named(tag)) for tag in trace.gold.tags if tag != trace.gold.category)
    if trace.record is None:
        yield Badge("not settled yet")
        return
    if trace.grade is not None:
        yield mark_of(trace.grade).badge
    status = trace.record.outcome.status
    if status != "answered":
        yield Badge(trace.record.outcome.label, "warn" if status == "abstained" else "bad")


def _facts(trace: Trace) -> Iterator[Pair]:
    spec = trace.spec
    yield Pair("Adapter", f"{named(spec.adapter.name)} {named(spec.adapter.version)}")
    yield Pair("Mode", spec.mode)
    if spec.answer and spec.answer.model:
        yield Pair("Model", spec.answer.model)
    yield Pair("Seed", str(spec.seed))
    if trace.gold.operation:
        yield Pair("Takes", trace.gold.operation)


# ---------------------------------------------------------------------------------------- answers


def _tool(use: ToolUseRecord) -> Tool:
    note = f"{milliseconds(use.ns / 1e6)}, {size(use.payload_bytes)}"
    return Tool(use.name, use.arguments_json, note, pieces(use.result), use.is_error)


def _calls(record: QuestionRecord, words: Mapping[str, Words]) -> Iterator[Call]:
    for number, call in enumerate(record.paid_calls, 1):
        found = words.get(call.key)
        served = "" if call.served_model in {"", call.model} else f", served as {call.served_model}"
        yield Call(
            what=f"{number}. {call.purpose}: {call.model}{served}",
            note=_call_note(call),
            sent=found.sent if found else (),
            reply=found.reply if found else (),
        )


def _call_note(call: ModelCallRecord) -> str:
    parts = [
        milliseconds(call.ns / 1e6),
        f"{count(call.input_tokens)} tokens in, {count(call.output_tokens)} out",
        dollars(call.cost_usd),
    ]
    parts += [plural(call.attempts, "attempt")] if call.attempts > 1 else []
    parts += [f"stopped by {call.stop_reason}"] if call.stop_reason != "end" else []
    return " · ".join(parts)


def _answer(trace: Trace, record: QuestionRecord) -> Answer | None:
    answer = record.answer
    if answer is None:
        return None
    notes = ["declined to answer"] if answer.abstained else []
    notes += [f"confidence {answer.confidence:.2f}"] if answer.confidence is not None else []
    notes += ["in the turn reserved for it, its budget used up"] if answer.reserved_turn else []
    memories = {memory.handle: memory for memory in answer.memories}
    texts = {hit.ref_id: hit.text for search in record.searches for hit in search.hits}
    evidence = set(trace.gold.evidence)

    def cited(handle: str) -> Cited:
        memory = memories[handle]
        sources = ", ".join(name or "(void)" for name in memory.episodes)
        tokens = f"{count(memory.shown_tokens)} tokens" if memory.shown_tokens else ""
        note = " · ".join(filter(None, [sources, tokens]))
        text = texts.get(memory.ref_id, "")
        return Cited(handle, note, text, not evidence.isdisjoint(memory.episodes))

    return Answer(
        text=pieces(answer.text),
        notes=tuple(notes),
        reasoning=pieces(answer.reasoning),
        raw=pieces(answer.raw) if answer.raw != answer.text else (),
        cited=tuple(cited(handle) for handle in answer.cited if handle in memories),
        unknown=answer.unknown_citations,
        shown=tuple(map(cited, memories)),
    )


def _opponent(record: QuestionRecord) -> Opponent | None:
    naive = record.naive
    if naive is None:
        return None
    note = f"It was shown the newest {count(naive.shown)} of {plural(naive.episodes, 'episode')}."
    if naive.answer is None:
        return Opponent((), f"It gave no answer: {naive.failure}. {note}")
    return Opponent(pieces(naive.answer.text), note)


# ---------------------------------------------------------------------------------------- verdicts


def _rulings(trace: Trace) -> Iterator[Ruling]:
    for verdict in trace.verdicts:
        word = score_word(verdict.score)
        votes = tuple(
            VoteLine(
                score=score_word(vote.score) or "missing",
                kind=_colour(vote.score),
                reply=vote.reply.strip() or vote.reason,
                note=_vote_note(vote.input_tokens + vote.output_tokens, vote.cost_usd, vote.ns),
            )
            for vote in verdict.votes
        )
        agreed = "" if verdict.agreement is None else f"{percent(verdict.agreement)} % agree"
        note = " · ".join(filter(None, [verdict.model, agreed, verdict.reason]))
        badge = Badge(word or "no verdict", _colour(verdict.score))
        yield Ruling(verdict.task, badge, note, votes)


def _vote_note(tokens: int, usd: float | None, ns: int) -> str:
    return f"{count(tokens)} tokens, {dollars(usd)}, {milliseconds(ns / 1e6)}"


def _colour(score: float | None) -> str:
    return "warn" if score is None or 0 < score < 1 else "good" if score else "bad"


def _scores(trace: Trace) -> Iterator[Score]:
    if trace.grade is None or trace.grader is None:
        return
    names = [metric.name for metric in trace.grader.metrics]
    for name in dict.fromkeys([*names, *trace.grade.scores]):
        if name in trace.grade.scores:
            value = percent(trace.grade.scores[name])
        elif name in trace.grade.missing:
            value = f"n/a: {trace.grade.missing[name]}"
        else:
            continue
        yield Score(metric_head(name), metric_help(name), value)


# -------------------------------------------------------------------------------------------- cost


def _cost(trace: Trace, record: QuestionRecord) -> Iterator[Pair]:
    budget, searches = trace.spec.budget, record.searches
    yield Pair("Time", milliseconds(record.ns / 1e6), f"budget {budget.wall_time_s:g} s")
    yield Pair("of it, the memory system", milliseconds(record.memory_ns / 1e6))
    if record.model_calls:
        yield Pair("of it, model and rig", milliseconds(record.answer_ns / 1e6))
    paid = sum(search.payload_bytes for search in searches)
    paid += sum(use.payload_bytes for use in record.tool_uses) if not searches else 0
    yield Pair("Returned by the memory", size(paid), f"budget {size(budget.payload_bytes)}")
    if record.answer and record.answer.memories:
        tokens = sum(memory.shown_tokens for memory in record.answer.memories)
        yield Pair("Tokens of memories shown", count(tokens), "by the rig's estimate")
    yield from _money(trace, record)


def _money(trace: Trace, record: QuestionRecord) -> Iterator[Pair]:
    naive = record.naive.model_calls if record.naive else ()
    for name, calls in (("Answering model", record.model_calls), ("Naive opponent", naive)):
        if calls:
            tokens = sum(call.input_tokens + call.output_tokens for call in calls)
            usd = _sum([call.cost_usd for call in calls])
            note = f"{plural(len(calls), 'call')}, {count(tokens)} tokens"
            yield Pair(name, dollars(usd), note)
    votes = [vote for verdict in trace.verdicts for vote in verdict.votes]
    if votes:
        tokens = sum(vote.input_tokens + vote.output_tokens for vote in votes)
        note = f"{plural(len(votes), 'vote')}, {count(tokens)} tokens"
        yield Pair("Judge", dollars(_sum([vote.cost_usd for vote in votes])), note)
    if record.answer and record.answer.usage:
        usage = record.answer.usage
        tokens = usage.input_tokens + usage.output_tokens
        note = f"{count(tokens)} tokens, by its own count"
        yield Pair("Its own models", plural(usage.model_calls, "call"), note)


def _sum(costs: list[float | None]) -> float | None:
    """One call without a price makes the sum unknown."""
    known = [usd for usd in costs if usd is not None]
    return sum(known) if len(known) == len(costs) else None
