"""What is odd in a longitudinal dataset but stops no run: a lint's warnings, a report's notes."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import time

from memrig.model.longitudinal import CONTROL, FORMAT, SYNTHESIS
from memrig.suites.longitudinal_format import read_dataset
from memrig.suites.longitudinal_model import CheckpointQuestion, Dataset, Kind, Scope
from memrig.suites.problems import Problem

#: How many names a note gives.
_SHOWN = 3
#: A stream has a rhythm of its own if so many of its episodes, on average, share a time of day.
_RHYTHM = 3


@dataclass(frozen=True, slots=True)
class Oddity:
    """Something that is handled by rule. `note` says how, for all of its kind in a report.

    `name` is the question's or the episode's; empty where it concerns the whole scope.
    """

    where: str
    message: str
    fix: str
    note: str
    name: str = ""


def looks_longitudinal(raw: dict[str, object]) -> bool:
    """Whether an object is meant to be of this format, by its name or its shape."""
    return raw.get("format") == FORMAT or "scopes" in raw


def lint_dataset(raw: object) -> list[Problem]:
    """Every defect of a parsed file, errors first."""
    problems, dataset = read_dataset(raw)
    if dataset is None:
        return problems
    found = [item for scope in dataset.scopes for item in oddities(scope)]
    found += balance(dataset)
    return problems + [Problem("warning", item.where, item.message, item.fix) for item in found]


def notes(found: Sequence[Oddity], where: str = "") -> tuple[str, ...]:
    """The same for a report: one line for each kind, with how many there are and their names."""
    kinds: dict[str, list[str]] = defaultdict(list)
    for item in found:
        kinds[item.note].append(item.name)
    return tuple(
        _line(where, note, [name for name in names if name]) for note, names in kinds.items()
    )


def _line(where: str, note: str, names: Sequence[str]) -> str:
    head = f"{where}: {note}" if where else note
    more = ", …" if len(names) > _SHOWN else ""
    return f"{head}: {len(names)} ({', '.join(names[:_SHOWN])}{more})" if names else head


def oddities(scope: Scope) -> Iterator[Oddity]:
    """What is odd in one scope."""
    yield from _of_stream(scope)
    places = {episode.episode_id: n for n, episode in enumerate(scope.episodes, 1)}
    distracting = {e.episode_id for e in scope.episodes if e.kind == "distractor"}
    for question in scope.questions:
        yield from _of_facts(question)
        yield from _of_evidence(question, places)
        for name in question.evidence:
            if name in distracting:
                yield Oddity(
                    f"question {question.question_id!r}: ground_truth.required_evidence_refs",
                    f"names {name!r}, which is marked as a distractor",
                    "mark the episode as signal; --distractors treats it as one",
                    "distractors that a question requires, kept as signal",
                    name,
                )


def _of_stream(scope: Scope) -> Iterator[Oddity]:
    where = f"scope {scope.scope_id!r}"
    stamps = [episode.timestamp for episode in scope.episodes]
    if repeated := len(stamps) - len(set(stamps)):
        message = f"episodes with the timestamp of another one: {repeated}"
        note = f"{message}; they keep their order"
        yield Oddity(where, message, "nothing to do: they keep their order", note)
    yield from _of_times(scope, where)
    if not scope.as_filed:
        message = "episodes are not in time order in the file"
        fix = "nothing to do: they are put into it, and checkpoints count in it"
        yield Oddity(where, message, fix, f"{message}; they were put into it")
    if not scope.questions:
        message = "no question is about this scope"
        yield Oddity(where, message, "ask something, or leave it out", f"{message}; it is not run")
        return
    trailing = len(stamps) - max(question.checkpoint for question in scope.questions)
    if trailing:
        message = f"episodes after the last checkpoint: {trailing}"
        fix = "nothing to do: they are ingested, and nothing is asked after them"
        yield Oddity(where, message, fix, f"{message}; nothing is asked after them")
    if untold := sum(not episode.kind for episode in scope.episodes):
        message = f"episodes that say neither signal nor distractor: {untold}"
        fix = "give meta.episode_type; --distractors takes them for signal"
        yield Oddity(where, message, fix, f"{message}; they count as signal")


def _of_times(scope: Scope, where: str) -> Iterator[Oddity]:
    """Whether a memory could drop the distractors by the clock alone."""
    clocks: dict[Kind, list[time]] = defaultdict(list)
    for episode in scope.episodes:
        clocks[episode.kind].append(episode.timestamp.time())
    story, other = clocks["signal"] + clocks[""], clocks["distractor"]
    rhythmic = any(_RHYTHM * len(set(times)) <= len(times) for times in (story, other) if times)
    if story and other and rhythmic and set(story).isdisjoint(other):
        message = "times of day tell every distractor from the story"
        fix = "draw both from the same times, or run with --distractors, which gives them the same"
        yield Oddity(where, message, fix, f"{message}: a memory could drop them unread")


def _of_facts(question: CheckpointQuestion) -> Iterator[Oddity]:
    if question.key_facts:
        return
    where = f"question {question.question_id!r}: ground_truth.key_facts"
    message, note = "is empty: fact_recall cannot be measured", "questions without key facts"
    if question.question_type in CONTROL:
        message = "is empty in a control question: longitudinal_advantage leaves it out"
        note = "control questions without key facts, left out of longitudinal_advantage"
    yield Oddity(where, message, "write what a right answer must say", note, question.question_id)


def _of_evidence(question: CheckpointQuestion, places: dict[str, int]) -> Iterator[Oddity]:
    where = f"question {question.question_id!r}: ground_truth.required_evidence_refs"
    late = [name for name in question.evidence if places[name] > question.checkpoint]
    for name in late:
        message = f"{name!r} is episode {places[name]}, after the checkpoint {question.checkpoint}"
        fix = "move the checkpoint, or leave the ref out: it is required of nobody"
        note = "evidence after its checkpoint, required of nobody"
        yield Oddity(where, message, fix, note, f"{question.question_id}: {name}")
    if len(late) == len(question.evidence):
        message = "leaves no evidence before the checkpoint: evidence_coverage cannot be measured"
        note = "questions without evidence"
        yield Oddity(where, message, "name the episodes that show it", note, question.question_id)


def balance(dataset: Dataset) -> Iterator[Oddity]:
    """Whether longitudinal_advantage can be measured at all: synthesis against control."""
    asked = [question for scope in dataset.scopes for question in scope.questions]
    for name, types in (("control", CONTROL), ("synthesis", SYNTHESIS)):
        found = [question for question in asked if question.question_type in types]
        if not any(question.key_facts for question in found):
            what = f"no {name} question has key facts" if found else f"there is no {name} question"
            message = f"{what}: longitudinal_advantage is n/a"
            fix = f"add key facts to a question of type {', '.join(sorted(types))}"
            yield Oddity("questions", message, fix, message)
