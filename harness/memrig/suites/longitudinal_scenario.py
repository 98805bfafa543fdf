"""From a scope to a scenario: each question right behind the episode of its checkpoint."""

from collections.abc import Iterator
from itertools import groupby

from memrig.model.gold import Gold, TextGold
from memrig.model.scenario import Episode, Event, Question, Scenario
from memrig.suites.longitudinal_model import CheckpointQuestion, Scope


def scenario_of(scope: Scope, notes: tuple[str, ...] = ()) -> Scenario:
    """A scenario; ids stay real here, what is sent has opaque ones.

    Args:
        scope: with questions.
        notes: what a report says of it.
    """
    gold = {question.question_id: _gold(question, scope) for question in scope.questions}
    return Scenario(scope.scope_id, list(_timeline(scope)), gold, notes)


def _timeline(scope: Scope) -> Iterator[Event]:
    """Nothing but ids, times and texts: no scope, kind, type or phase.

    A question has the time of the episode before it: the newest thing that a memory holds.
    """
    asked = sorted(scope.questions, key=lambda question: question.checkpoint)  # stable
    waiting = {place: list(group) for place, group in groupby(asked, lambda q: q.checkpoint)}
    now = scope.episodes[0].timestamp
    for place in range(len(scope.episodes) + 1):
        if place:
            episode = scope.episodes[place - 1]
            now = episode.timestamp
            yield Episode(episode_id=episode.episode_id, timestamp=now, text=episode.text)
        for question in waiting.get(place, ()):
            yield Question(question_id=question.question_id, text=question.prompt, asked_at=now)


def _gold(question: CheckpointQuestion, scope: Scope) -> Gold:
    known = {episode.episode_id for episode in scope.episodes[: question.checkpoint]}
    evidence = tuple(name for name in question.evidence if name in known)
    return Gold(
        question_id=question.question_id,
        category=question.question_type,
        answer=TextGold(type="text", value=question.answer, key_facts=question.key_facts),
        evidence=evidence,
        scorable=bool(evidence),
        note="" if evidence else "the data names no evidence before the checkpoint",
    )
