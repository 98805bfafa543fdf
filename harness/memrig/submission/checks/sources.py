"""Checks that what a memory returned claims only what it had been told by then."""

from collections.abc import Iterator

from memrig.client.host import BaselineClient
from memrig.model.gold import Gold
from memrig.model.manifest import BASELINE_PREFIX, BASELINES, Baseline
from memrig.model.transcript import (
    AnswerRecord,
    HitRecord,
    Memory,
    QuestionRecord,
    SearchRecord,
)
from memrig.submission.checks.base import Check, TrialEvidence
from memrig.submission.checks.walk import HOSTED, Met, Story, met_of, of_met, stories_of
from memrig.submission.model import Found


def _acknowledged(trial: TrialEvidence) -> Iterator[Found]:
    for met in met_of(trial):
        for episodes, turns in _claims(met):
            for name in episodes:
                if name is not None and not met.knows(name):
                    message = f"claims episode {name!r}, which it had not acknowledged by then"
                    yield Found(where=of_met(trial, met), message=message)
            for name in turns:
                if name is not None and not met.knows_turn(name):
                    message = f"claims turn {name!r}, which it had not acknowledged by then"
                    yield Found(where=of_met(trial, met), message=message)


def _claims(met: Met) -> Iterator[tuple[tuple[str | None, ...], tuple[str | None, ...]]]:
    for search in met.record.searches:
        yield from ((hit.episodes, hit.turns) for hit in search.hits)
    if met.record.answer:
        yield from ((memory.episodes, memory.turns) for memory in met.record.answer.memories)


def _hits(trial: TrialEvidence) -> Iterator[Found]:
    for met in met_of(trial):
        for search in met.record.searches:
            if len(search.hits) > search.limit:
                message = f"{len(search.hits)} hits were kept, the search had a limit of"
                yield Found(where=of_met(trial, met), message=f"{message} {search.limit}")
            short = search.surplus_hits > 0 and len(search.hits) < search.limit
            if short or search.surplus_hits < 0:
                message = (
                    f"{search.surplus_hits} hits were cut as too many, and only "
                    f"{len(search.hits)} of {search.limit} kept"
                )
                yield Found(where=of_met(trial, met), message=message)


def _baseline(trial: TrialEvidence) -> Iterator[Found]:
    """The rig's own baselines are run again."""
    kind = _kind(trial)
    if kind is None:
        return
    stories = stories_of(trial)
    for met in met_of(trial, stories):
        story = stories.get(met.record.scenario_id)
        if story is None or met.capabilities is None or not isinstance(met.record, QuestionRecord):
            continue
        gold = trial.gold.get(met.record.scenario_id, {}).get(met.record.question_id)
        for search in met.record.searches:
            if search.hits != (made := _found(kind, story, met, gold, search)):
                message = f"found {_names(search.hits)}, the rig's {kind} finds {_names(made)}"
                yield Found(where=of_met(trial, met), message=message)


def _kind(trial: TrialEvidence) -> Baseline | None:
    if trial.spec.adapter.pod != "baseline":
        return None
    name = trial.spec.adapter.name.removeprefix(BASELINE_PREFIX)
    return next((kind for kind in BASELINES if kind == name), None)


def _found(
    kind: Baseline, story: Story, met: Met, gold: Gold | None, search: SearchRecord
) -> tuple[HitRecord, ...]:
    client = BaselineClient(kind)
    shown = story.groups[: story.needs["question", met.record.question_id]]
    for episode in (episode for group in shown for episode in group):
        client.keep(episode)
    return client.search(search.query, search.limit, gold).hits


def _names(hits: tuple[HitRecord, ...]) -> str:
    names = [hit.ref_id for hit in hits]
    return f"{len(names)} ({', '.join(names[:5])}{', …' if len(names) > 5 else ''})"


def _native(trial: TrialEvidence) -> Iterator[Found]:
    """What a memory cites by itself are memories of one list, all of them cited."""
    for met in met_of(trial):
        answer = met.record.answer
        if met.mode != "native" or answer is None:
            continue
        handles = tuple(f"m{number}" for number in range(1, len(answer.memories) + 1))
        if tuple(memory.handle for memory in answer.memories) != handles or answer.cited != handles:
            message = "its citations are not the memories that it names, in their order"
            yield Found(where=of_met(trial, met), message=message)
        if any(memory.shown_tokens for memory in answer.memories):
            message = "a model of the rig's was shown memories, where none is asked"
            yield Found(where=of_met(trial, met), message=message)
        for message in _beyond(answer):
            yield Found(where=of_met(trial, met), message=message)
        if met.record.searches or met.record.model_calls:
            message = "the rig searched or called a model, though the memory answers by itself"
            yield Found(where=of_met(trial, met), message=message)


def _beyond(answer: AnswerRecord) -> Iterator[str]:
    """What an answer has that no memory's own comes with."""
    if answer.unknown_citations or answer.reserved_turn or answer.raw:
        yield (
            f"it has {answer.unknown_citations} unknown citations, a reserved turn or a raw text: "
            "those are of answers that the rig reads"
        )
    if any(memory.turns or len(memory.episodes) > 1 for memory in answer.memories):
        yield "a memory that it cites has turns, or several episodes: each has one episode at most"
    usage = answer.usage
    if usage and min(usage.model_calls, usage.input_tokens, usage.output_tokens) < 0:
        yield f"it used less than nothing of models: {usage}"


def _cited(trial: TrialEvidence) -> Iterator[Found]:
    """A memory that a model was shown came from a search, or a tool, of this question."""
    hosted = trial.spec.adapter.pod in HOSTED
    for met in met_of(trial):
        record = met.record
        if met.mode != "reader" or record.answer is None or hosted:
            continue
        found = {hit.ref_id for search in record.searches for hit in search.hits}
        strange = [memory for memory in record.answer.memories if memory.ref_id not in found]
        yield from (_strange(trial, met, memory) for memory in strange)


def _strange(trial: TrialEvidence, met: Met, memory: Memory) -> Found:
    message = f"a model was shown {memory.ref_id!r}, which no search of the question found"
    return Found(where=of_met(trial, met), message=message)


TRIAL_CHECKS: tuple[Check[TrialEvidence], ...] = (
    Check(
        "sources.acknowledged",
        "What is claimed as a source had been acknowledged by then",
        "evidence named by who was never told it",
        _acknowledged,
    ),
    Check(
        "sources.hits",
        "A search keeps no more hits than it asked for",
        "more tries at the evidence than others have",
        _hits,
    ),
    Check(
        "sources.shown",
        "What a reader was shown was found by the question's search",
        "memories slipped in beside what was found",
        _cited,
    ),
    Check(
        "sources.native",
        "What a memory cites by itself is what it named, and the rig took no part in it",
        "citations put right afterwards",
        _native,
    ),
    Check(
        "sources.baseline",
        "A baseline of the rig's found what it finds",
        "an opponent that was made weaker, or an oracle under another name",
        _baseline,
    ),
)
