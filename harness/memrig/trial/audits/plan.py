"""What the audits of a trial ask, in order: made from its spec and its scenario alone.

Whoever has these two can tell what a whole transcript holds.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from memrig.model.scenario import Episode, Event, Question, episodes_of
from memrig.model.transcript import AuditName, AuditPart
from memrig.model.trial import TrialSpec
from memrig.trial.audits.words import (
    Canary,
    Poison,
    make_canaries,
    make_poisons,
    paraphrase,
)

#: Questions of a scenario that are asked again and again.
QUESTIONS = 12
#: Facts that are told, facts that are not, and questions with a poison.
PLANTED, CONTROLS, POISONED = 4, 2, 3
_REFILL = (
    "The weather has been all over the place this week.",
    "I finally got around to sorting the post on the kitchen table.",
    "We had soup again, and nobody complained for once.",
    "Remind me to return the ladder before the weekend.",
)


@dataclass(frozen=True, slots=True)
class PlannedAsk:
    """One thing to ask. With `answered` it is asked in the trial's own mode, else searched for."""

    audit: AuditName
    part: AuditPart
    question: Question
    answered: bool = False

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What its record must say: audit, part, question id and text."""
        return self.audit, self.part, self.question.question_id, self.question.text


@dataclass(frozen=True, slots=True)
class AuditPlan:
    """Everything that one audits trial does.

    Args:
        questions: those of the scenario that are asked.
        planted: invented facts that are told among its episodes.
        controls: invented facts that are not.
        poisons: episodes told once the questions were asked.
        refill: what another scope holds, told after the reset.
        episodes: how many the scenario has.
    """

    questions: tuple[Question, ...]
    planted: tuple[Canary, ...]
    controls: tuple[Canary, ...]
    poisons: tuple[Poison, ...]
    refill: tuple[Episode, ...]
    episodes: int

    @property
    def repeat(self) -> tuple[PlannedAsk, ...]:
        """Each question as it stands, at once again, and in other words."""
        return tuple(
            ask
            for number, question in enumerate(self.questions)
            for ask in (
                PlannedAsk("repeat", "first", question),
                PlannedAsk("repeat", "second", question),
                PlannedAsk("repeat", "paraphrase", _reworded(question, number)),
            )
        )

    @property
    def canary(self) -> tuple[PlannedAsk, ...]:
        """Facts that were told, then facts that were not."""
        return (
            *_asks(self.planted, "canary", "planted", answered=True),
            *_asks(self.controls, "canary", "control", answered=True),
        )

    @property
    def poison(self) -> tuple[PlannedAsk, ...]:
        """The questions that a poison is for, once more."""
        poisoned = {poison.question_id for poison in self.poisons}
        chosen = (q for q in self.questions if q.question_id in poisoned)
        return tuple(PlannedAsk("poison", "poisoned", q, answered=True) for q in chosen)

    @property
    def emptied(self) -> tuple[PlannedAsk, ...]:
        """Everything again, from a memory that was just emptied."""
        return (
            *_asks(self.planted, "reset", "emptied", answered=True),
            *(PlannedAsk("reset", "emptied", question) for question in self.questions),
        )

    @property
    def refilled(self) -> tuple[PlannedAsk, ...]:
        """Everything again, from a memory that was emptied and holds something else."""
        return (
            *_asks(self.planted, "reset", "refilled", answered=False),
            *(PlannedAsk("reset", "refilled", question) for question in self.questions),
        )

    @property
    def rechunk(self) -> tuple[PlannedAsk, ...]:
        """The questions once more, where the same was told in other chunks."""
        return tuple(PlannedAsk("rechunk", "rechunked", question) for question in self.questions)

    @property
    def asks(self) -> tuple[PlannedAsk, ...]:
        """All of it, in order."""
        parts = (self.repeat, self.canary, self.poison, self.emptied, self.refilled, self.rechunk)
        return tuple(ask for part in parts for ask in part)

    def told(self, events: Iterable[Event]) -> Iterator[Episode]:
        """The scenario's episodes with the planted facts evenly among them, each at its time."""
        after = _places(self.episodes, len(self.planted))
        for number, episode in enumerate(episodes_of(events), 1):
            yield episode
            for canary, place in zip(self.planted, after, strict=True):
                if place == number:
                    yield Episode(
                        episode_id=canary.canary_id, timestamp=episode.timestamp, text=canary.text
                    )

    @property
    def poisoned(self) -> tuple[Episode, ...]:
        """The poisons as episodes."""
        return tuple(Episode(episode_id=p.episode_id, text=p.text) for p in self.poisons)


@dataclass(frozen=True, slots=True)
class AuditWork:
    """How much an audits trial asks for, at most, before it starts.

    Args:
        told: how often each episode of the scenario is told.
        searched: plain searches.
        answered: questions in the trial's own mode.
    """

    told: int
    searched: int
    answered: int


def work_of(questions: int) -> AuditWork:
    """What a scenario of so many questions makes an audits trial do."""
    asked = min(questions, QUESTIONS)
    return AuditWork(
        told=2,
        searched=6 * asked + PLANTED,  # thrice, emptied, refilled, rechunked
        answered=2 * PLANTED + CONTROLS + min(asked, POISONED),
    )


def plan_of(spec: TrialSpec, events: Iterable[Event]) -> AuditPlan:
    """The plan of an audits trial.

    Args:
        spec: the trial.
        events: its scenario's timeline.
    """
    found: list[Question] = []
    speaker = ""
    episodes = 0
    for event in events:
        if isinstance(event, Question):
            found.append(event)
        elif isinstance(event, Episode):
            episodes += 1
            speaker = speaker or _speaker_of(event)
    questions = _spread(found, QUESTIONS)
    speaker = speaker or "Robin"
    canaries = make_canaries(spec, speaker, PLANTED + CONTROLS)
    poisoned = tuple((q.question_id, q.text) for q in _spread(questions, POISONED))
    return AuditPlan(
        questions=questions,
        planted=canaries[:PLANTED],
        controls=canaries[PLANTED:],
        poisons=make_poisons(spec, speaker, poisoned),
        refill=tuple(
            Episode(episode_id=f"audit/refill-{number}", text=f"{speaker}: {line}")
            for number, line in enumerate(_REFILL, 1)
        ),
        episodes=episodes,
    )


def _speaker_of(episode: Episode) -> str:
    """Who is named at the beginning of an episode; empty where nobody is."""
    head, colon, _ = episode.text.partition(":")
    return head if colon and len(head) <= 40 and "\n" not in head else ""


def _spread(questions: Sequence[Question], most: int) -> tuple[Question, ...]:
    """So many of them, from the first to the last at even distances."""
    if len(questions) <= most:
        return tuple(questions)
    return tuple(questions[place * len(questions) // most] for place in range(most))


def _places(episodes: int, count: int) -> tuple[int, ...]:
    """After how many episodes each of the facts is told."""
    return tuple(max(1, episodes * (number + 1) // (count + 1)) for number in range(count))


def _reworded(question: Question, number: int) -> Question:
    return question.model_copy(update={"text": paraphrase(question.text, number)})


def _asks(
    canaries: Iterable[Canary], audit: AuditName, part: AuditPart, *, answered: bool
) -> Iterator[PlannedAsk]:
    for canary in canaries:
        question = Question(question_id=canary.canary_id, text=canary.question)
        yield PlannedAsk(audit, part, question, answered)
